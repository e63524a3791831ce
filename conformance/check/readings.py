"""Which reading of each disputed clause a backend follows, from the vectors it conforms to.

Every conforming vector votes with the set of combinations of readings that explain it. One
combination that explains all of them settles every clause. Where there is none, the fewest
clauses that must vary are found; each is then either split by one attribute or inconsistent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from conformance.check.combinations import (
    CLAUSE_NAMES,
    NESTED,
    READING_NAMES,
    SHAPE,
    Packed,
    Sets,
    unpack,
)
from conformance.check.report import ClauseReport

Bools = npt.NDArray[np.bool_]
Values = Callable[[str], Sequence[str]]
Split = tuple[str, dict[str, str]]

ATTRIBUTES = ("operator", "dtype", "axes", "auto_pad", "rounding_type", "exclude_pad")
"""What may separate the readings of a backend: the usual ways to choose between kernels."""
EITHER = "either"

_NESTED = [axis for axis, name in enumerate(CLAUSE_NAMES) if name in NESTED]
_PLAIN = [axis for axis in range(len(SHAPE)) if axis not in _NESTED]


def readings_followed(accepted: Packed, touched: Bools, values: Values) -> tuple[ClauseReport, ...]:
    """Return a report for each clause that touches a vector.

    One row for each conforming vector: `accepted` is the packed set of combinations that explain
    it, never empty, and `touched` says for each clause whether it touches the vector.
    `values(attribute)` gives the value each vector has of one of `ATTRIBUTES`; it is asked only
    where readings differ.
    """
    concerned = [axis for axis in (*_PLAIN, *_NESTED) if touched[:, axis].any()]
    distinct, row = np.unique(accepted, axis=0, return_inverse=True)
    votes = _Votes(unpack(distinct), row.ravel(), touched, values)
    for size in range(len(concerned) + 1):
        found = [
            votes.reports(varying, common, concerned)
            for varying in combinations(concerned, size)
            if (common := votes.common(varying)).any()
        ]
        if found:
            break
    # Several clauses may explain a difference: one that an attribute splits does it better.
    fewest = min(found, key=lambda each: sum(clause.status == "inconsistent" for clause in each))
    return tuple(sorted(fewest, key=lambda clause: CLAUSE_NAMES.index(clause.clause)))


@dataclass(frozen=True, slots=True, eq=False)
class _Votes:
    """The distinct sets that explain vectors, which of them each has, and what touches it."""

    sets: Sets
    row: npt.NDArray[np.intp]
    touched: Bools
    values: Values

    def common(self, varying: Sequence[int]) -> Sets:
        """Return what explains every vector if some clauses, by axis, may vary."""
        freed = self.sets
        for axis in varying:
            freed = _freed(freed, axis + 1)
        found: Sets = freed.all(axis=0)
        return found

    def reports(
        self, varying: Sequence[int], common: Sets, concerned: Sequence[int]
    ) -> list[ClauseReport]:
        """Return the reports on clauses, of which `varying` vary, given what is common."""
        # The strictest arithmetic that explains everything, even if it settles other clauses.
        for axis in _NESTED:
            common = common if axis in varying else _with_first(common, axis)
        chosen = common
        for axis in _PLAIN:
            chosen = chosen if axis in varying else _with_first(chosen, axis)
        splits = self._splits(varying, chosen)
        found = []
        for axis in concerned:
            mine = self.touched[:, axis]
            counts = self._counts(axis, chosen, mine)
            shared = {"clause": CLAUSE_NAMES[axis], "counts": counts, "touched": int(mine.sum())}
            left = np.flatnonzero(_projected(common, axis))
            split = splits.get(axis)
            if split:
                by, values = split
                found.append(ClauseReport(**shared, status="split", by=by, values=values))
            elif axis in varying:
                found.append(ClauseReport(**shared, status="inconsistent"))
            elif len(left) > 1:
                found.append(ClauseReport(**shared, status="either"))
            else:
                followed = READING_NAMES[axis][left[0]]
                found.append(ClauseReport(**shared, status="followed", followed=followed))
        return found

    def _counts(self, axis: int, chosen: Sets, mine: Bools) -> Mapping[str, int]:
        """Count per reading of a clause the vectors that only it explains."""
        alone = _projected(self.sets & _freed(chosen, axis), axis, leading=1)[self.row[mine]]
        if axis in _NESTED:
            # What a strict reading explains, every loose one does: a vector counts once.
            alone &= np.arange(alone.shape[1]) == alone.argmax(axis=1)[:, None]
        only = alone[alone.sum(axis=1) == 1].sum(axis=0).tolist()
        return dict(zip(READING_NAMES[axis], only, strict=True))

    def _splits(self, varying: Sequence[int], chosen: Sets) -> dict[int, Split]:
        """Return, for the clauses that one attribute splits, that attribute and its values."""
        found: dict[int, Split] = {}
        if not varying:
            return found
        sets = self.sets[self.row] & chosen
        for axis in varying:
            mine = np.flatnonzero(self.touched[:, axis])
            possible = _projected(sets, axis, leading=1)
            for attribute in ATTRIBUTES:
                column = np.array(self.values(attribute), str)
                values, group = np.unique(column[mine], return_inverse=True)
                agreed = np.ones((len(values), SHAPE[axis]), np.bool_)
                np.logical_and.at(agreed, group, possible[mine])
                if len(values) > 1 and agreed.any(axis=1).all():
                    found[axis] = attribute, {
                        str(value): _reading_of(axis, row)
                        for value, row in zip(values, agreed, strict=True)
                    }
                    only = np.ones((len(sets), SHAPE[axis]), np.bool_)
                    only[mine] = agreed[group]
                    extent = [len(sets), *(n if i == axis else 1 for i, n in enumerate(SHAPE))]
                    sets = sets & only.reshape(extent)
                    break
        return found


def _freed(sets: Sets, axis: int) -> Sets:
    """Let one clause have any reading."""
    return np.broadcast_to(sets.any(axis=axis, keepdims=True), sets.shape)


def _with_first(sets: Sets, axis: int) -> Sets:
    """Keep the combinations with the first reading of a clause that is left."""
    first = _projected(sets, axis).argmax()
    extent = [n if i == axis else 1 for i, n in enumerate(SHAPE)]
    return sets & (np.arange(SHAPE[axis]) == first).reshape(extent)


def _projected(sets: Sets, axis: int, leading: int = 0) -> Bools:
    """Return the readings of one clause that are in sets, of shape (..., readings)."""
    others = tuple(i + leading for i in range(len(SHAPE)) if i != axis)
    found: Bools = sets.any(axis=others)
    return found


def _reading_of(axis: int, possible: Bools) -> str:
    left = np.flatnonzero(possible)
    return READING_NAMES[axis][left[0]] if len(left) == 1 else EITHER
