"""Which reading of each disputed clause a backend follows, from the vectors it conforms to.

Every conforming vector votes with the set of combinations of readings that explain it. One
combination that explains all of them settles every clause. Where there is none, the fewest
clauses that must vary are found; each is then either split by one attribute or inconsistent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.check.combinations import (
    CLAUSE_NAMES,
    NESTED,
    READING_NAMES,
    SHAPE,
    Packed,
    Sets,
    pack,
    unpack,
)
from conformance.check.report import ClauseReport, Status

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]
Values = Callable[[str], Sequence[str]]
Split = tuple[str, dict[str, str]]


class Separators(NamedTuple):
    """What may separate the readings of a backend: the usual ways to choose between kernels."""

    operator: str
    dtype: str
    axes: str
    auto_pad: str
    rounding_type: str
    exclude_pad: str


ATTRIBUTES = Separators._fields
EITHER = "either"

_NESTED = [axis for axis, name in enumerate(CLAUSE_NAMES) if name in NESTED]
_PLAIN = [axis for axis in range(len(SHAPE)) if axis not in _NESTED]


def settled(poll: Poll, excused: Bools, values: Values) -> tuple[Bools, tuple[ClauseReport, ...]]:
    """Return which exceptions the readings refute, and a report for each clause that votes.

    `values` as in `readings_followed`. `excused` are answers that conform only because
    some element is undefined under some reading: exceptions, which have no say in the readings.
    """
    values = cache(values)
    vote = ~excused
    wrong = refuted(poll, excused, values)
    if not vote.any():
        return wrong, ()
    reports = readings_followed(poll.among(vote), lambda name: list(compress(values(name), vote)))
    return wrong, reports


def refuted(poll: Poll, excused: Bools, values: Values) -> Bools:
    """Say which exceptions no explanation of the other vectors excuses; all as in `settled`.

    One attribute may split each clause, and only exceptions may show one side of a split. So an
    exception is not refuted if, for some two attributes, the vectors that are like it in both
    leave it an excuse.
    """
    wrong = excused.copy()
    if not wrong.any():
        return wrong
    packed = pack(poll.sets)
    value = cache(lambda name: _grouping(values(name)))
    for alike in ((), *combinations(ATTRIBUTES, 2)):
        group = np.zeros(len(wrong), np.intp)
        for name in alike:
            group = group * len(wrong) + value(name)
        for each in np.unique(group[wrong]):
            mine = np.flatnonzero(wrong & (group == each))
            common = poll.among(~excused & (group == each)).possible()
            wrong[mine] = ~(packed[poll.row[mine], None] & common).any(axis=(1, 2))
    return wrong


def readings_followed(poll: Poll, values: Values) -> tuple[ClauseReport, ...]:
    """Return a report for each clause that touches a vector.

    `values(attribute)` gives the value each vector has of one of `ATTRIBUTES`; it is asked only
    where readings differ.
    """
    # Several clauses may explain a difference: one that an attribute splits does it better.
    found = [poll.reports(*each, values) for each in poll.fewest_varying()]
    best = min(found, key=lambda each: sum(clause.status == "inconsistent" for clause in each))
    return tuple(sorted(best, key=lambda clause: CLAUSE_NAMES.index(clause.clause)))


@dataclass(frozen=True, slots=True, eq=False)
class Poll:
    """What some conforming vectors say of readings, a row each.

    `sets` are the distinct sets of combinations that explain a vector, none of them empty; `row`
    says which each vector has, and `touched`, of shape (vectors, clauses), which clauses touch it.
    """

    sets: Sets
    row: Ints
    touched: Bools

    @classmethod
    def of(cls, parts: Iterable[tuple[Packed, Bools]]) -> Poll:
        """Take the packed set of each vector, and what touches it, part by part.

        Many vectors have few distinct sets: all of theirs are never there at once.
        """
        tables, rows, touched = [], [], []
        known = 0
        for accepted, mine in parts:
            table, row = np.unique(accepted, axis=0, return_inverse=True)
            tables.append(table)
            rows.append(known + row.ravel())
            touched.append(mine)
            known += len(table)
        distinct, place = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
        row = place.ravel()[np.concatenate(rows)]
        return cls(unpack(distinct), row, np.concatenate(touched))

    def among(self, these: Bools) -> Poll:
        """Return what some of the vectors say."""
        if these.all():
            return self  # a copy for a million vectors is felt
        kept, row = np.unique(self.row[these], return_inverse=True)
        return Poll(self.sets[kept], row, self.touched[these])

    @property
    def concerned(self) -> list[int]:
        """The axes of the clauses that touch a vector."""
        return [axis for axis in (*_PLAIN, *_NESTED) if self.touched[:, axis].any()]

    def fewest_varying(self) -> list[tuple[tuple[int, ...], Sets]]:
        """Return the smallest sets of axes that must vary, each with what is common then."""
        found: list[tuple[tuple[int, ...], Sets]] = []
        for size in range(len(self.concerned) + 1):
            for varying in combinations(self.concerned, size):
                common = self._common(varying)
                if common.any():
                    found.append((varying, common))
            if found:
                break
        return found

    def possible(self) -> Packed:
        """Return what is common under each of the smallest sets of axes that must vary, packed."""
        return np.array([pack(common) for _, common in self.fewest_varying()])

    def _common(self, varying: Sequence[int]) -> Sets:
        """Return what explains every vector if some clauses, by axis, may vary."""
        freed = self.sets
        for axis in varying:
            freed = _freed(freed, axis + 1)
        return np.asarray(freed.all(axis=0))

    def reports(self, varying: Sequence[int], common: Sets, values: Values) -> list[ClauseReport]:
        """Return the reports on clauses, of which `varying` vary, given what is common."""
        # The strictest arithmetic that explains everything, even if it settles other clauses.
        for axis in _NESTED:
            common = common if axis in varying else _with_first(common, axis)
        chosen = common
        for axis in _PLAIN:
            chosen = chosen if axis in varying else _with_first(chosen, axis)
        splits = self._splits(varying, chosen, values) | self._strictest(chosen, values)
        found = []
        for axis in self.concerned:
            left = np.flatnonzero(_projected(common, axis))
            by, split = splits.get(axis, (None, {}))
            status: Status = "followed" if len(left) == 1 else "either"
            if by:
                status = "split"
            elif axis in varying:
                status = "inconsistent"
            found.append(
                ClauseReport(
                    clause=CLAUSE_NAMES[axis],
                    status=status,
                    followed=READING_NAMES[axis][left[0]] if status == "followed" else None,
                    by=by,
                    values=split,
                    counts=self._counts(axis, chosen),
                    touched=int(self.touched[:, axis].sum()),
                )
            )
        return found

    def _alone(self, axis: int, chosen: Sets) -> Bools:
        """Return, for each vector a clause touches, its possible readings, the others chosen."""
        possible = _projected(self.sets & _freed(chosen, axis), axis, leading=1)
        return possible[self.row[self.touched[:, axis]]]

    def _counts(self, axis: int, chosen: Sets) -> Mapping[str, int]:
        """Count per reading of a clause the vectors that only it explains."""
        alone = self._alone(axis, chosen)
        if axis in _NESTED:
            # What a strict reading explains, every loose one does: a vector counts once.
            alone &= np.arange(alone.shape[1]) == alone.argmax(axis=1)[:, None]
        only = alone[alone.sum(axis=1) == 1].sum(axis=0).tolist()
        return dict(zip(READING_NAMES[axis], only, strict=True))

    def _splits(self, varying: Sequence[int], chosen: Sets, values: Values) -> dict[int, Split]:
        """Return, for the clauses that one attribute splits, that attribute and its values."""
        found: dict[int, Split] = {}
        sets = self.sets[self.row] & chosen if varying else self.sets[:0]
        for axis in varying:
            mine = np.flatnonzero(self.touched[:, axis])
            possible = _projected(sets, axis, leading=1)
            for attribute in ATTRIBUTES:
                names, group, agreed = _grouped(values(attribute), mine, possible[mine])
                if agreed.any(axis=1).all():
                    followed = [_reading_of(axis, row) for row in agreed]
                    found[axis] = attribute, dict(zip(names, followed, strict=True))
                    only = np.ones((len(sets), SHAPE[axis]), np.bool_)
                    only[mine] = agreed[group]
                    extent = [len(sets), *(n if i == axis else 1 for i, n in enumerate(SHAPE))]
                    sets = sets & only.reshape(extent)
                    break
        return found

    def _strictest(self, chosen: Sets, values: Values) -> dict[int, Split]:
        """Return the strictest arithmetic of each element type, where types differ in it."""
        found: dict[int, Split] = {}
        for axis in _NESTED:
            loose = _projected(chosen, axis).argmax() > 0
            if loose and axis in self.concerned:
                mine = np.flatnonzero(self.touched[:, axis])
                names, _, agreed = _grouped(values("dtype"), mine, self._alone(axis, chosen))
                strictest = [READING_NAMES[axis][first] for first in agreed.argmax(axis=1)]
                if len(set(strictest)) > 1:
                    found[axis] = "dtype", dict(zip(names, strictest, strict=True))
        return found


def _grouped(values: Sequence[str], mine: Ints, possible: Bools) -> tuple[list[str], Ints, Bools]:
    """Return the values of some vectors, which each has, and the readings possible for each."""
    names, group = np.unique(np.array(values, str)[mine], return_inverse=True)
    agreed = np.ones((len(names), possible.shape[1]), np.bool_)
    np.logical_and.at(agreed, group, possible)
    return names.tolist(), group, agreed


def _grouping(values: Sequence[str]) -> Ints:
    """Return a number below their count for each of some values, the same for equal ones."""
    _, group = np.unique(np.array(values, str), return_inverse=True)
    return group


def _freed(sets: Sets, axis: int) -> Sets:
    """Let one clause have any reading."""
    return np.broadcast_to(sets.any(axis=axis, keepdims=True), sets.shape)


def _with_first(sets: Sets, axis: int) -> Sets:
    """Keep the combinations with the first reading of a clause that is left."""
    first = _projected(sets, axis).argmax()
    extent = [n if i == axis else 1 for i, n in enumerate(SHAPE)]
    kept: Sets = sets & (np.arange(SHAPE[axis]) == first).reshape(extent)
    return kept


def _projected(sets: Sets, axis: int, leading: int = 0) -> Bools:
    """Return the readings of one clause that are in sets, of shape (..., readings)."""
    others = tuple(i + leading for i in range(len(SHAPE)) if i != axis)
    return np.asarray(sets.any(axis=others))


def _reading_of(axis: int, possible: Bools) -> str:
    left = np.flatnonzero(possible)
    return READING_NAMES[axis][left[0]] if len(left) == 1 else EITHER
