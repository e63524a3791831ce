"""Which readings a backend follows over a whole search, from the cases that conform."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from conformance.check.combinations import CLAUSE_NAMES, Packed, readings_in
from conformance.check.judge import Judged
from conformance.check.readings import Poll, Separators, settled
from conformance.check.report import ClauseReport
from conformance.check.results import separators
from conformance.dtypes import name_of
from conformance.vector import Vector

_Key = tuple[bytes, bytes, bool, tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Vote:
    """A kind of conforming case, by the smallest there was."""

    vector: Vector
    accepted: Packed
    touched: np.ndarray[tuple[int], np.dtype[np.bool_]]
    excused: bool
    values: Separators


class Votes:
    """One vote for each kind of case: the readings that explain it, and what may separate them."""

    def __init__(self) -> None:
        self._votes: dict[_Key, _Vote] = {}

    def add(self, vector: Vector, judged: Judged) -> None:
        """Count a conforming vector, the only one of what was judged."""
        touched = judged.touched[0]
        if not touched.any():
            return
        vote = _vote(vector, judged)
        key = (vote.accepted.tobytes(), touched.tobytes(), vote.excused, vote.values)
        known = self._votes.get(key)
        if known is None or size_of(vector) < size_of(known.vector):
            self._votes[key] = vote

    def reports(self) -> tuple[ClauseReport, ...]:
        """Return a report for each clause that touches a case; they count kinds of cases."""
        return _settled(self._voting)[1]

    def refuted(self) -> list[Vector]:
        """Return cases whose exception is right only under a reading that others rule out."""
        votes = list(self._votes.values())
        wrong, _ = _settled(votes)
        return [vote.vector for vote, each in zip(votes, wrong, strict=True) if each]

    def refute(self, vector: Vector, judged: Judged) -> bool:
        """Say whether the exception that answers a conforming vector is such a one."""
        if not (judged.excused[0] and judged.touched[0].any()):
            return False
        return _settled([*self._voting, _vote(vector, judged)])[0][-1]

    @property
    def _voting(self) -> list[_Vote]:
        return [vote for vote in self._votes.values() if not vote.excused]

    def followed(self) -> dict[str, str]:
        """Return the readings that are settled."""
        return {
            clause.clause: clause.followed
            for clause in self.reports()
            if clause.status == "followed" and clause.followed is not None
        }

    def witnesses(self, clause: str) -> tuple[Vector, ...]:
        """Return, for each reading of a clause that some cases need, the smallest of them."""
        axis = CLAUSE_NAMES.index(clause)
        smallest: dict[str, Vector] = {}
        for vote in self._votes.values():
            if vote.excused or not vote.touched[axis]:
                continue
            needed = readings_in(vote.accepted, clause)
            if len(needed) == 1:
                (reading,) = needed
                known = smallest.get(reading)
                if known is None or size_of(vote.vector) < size_of(known):
                    smallest[reading] = vote.vector
        return tuple(smallest.values())


def _vote(vector: Vector, judged: Judged) -> _Vote:
    """Return the vote of a vector, the only one of what was judged."""
    case = vector.case
    data = case.inputs[0]
    values = separators(case.operator, name_of(data.dtype), data.ndim - 2, case.attributes)
    return _Vote(vector, judged.accepted[0], judged.touched[0], bool(judged.excused[0]), values)


def _settled(votes: list[_Vote]) -> tuple[list[bool], tuple[ClauseReport, ...]]:
    """Return which votes are exceptions that the readings refute, and the readings."""
    if not votes:
        return [], ()
    wrong, reports = settled(
        Poll.of([(np.array([v.accepted for v in votes]), np.array([v.touched for v in votes]))]),
        np.array([vote.excused for vote in votes]),
        lambda name: [getattr(vote.values, name) for vote in votes],
    )
    return wrong.tolist(), reports


def size_of(vector: Vector) -> tuple[int, int]:
    """Return what is less for a smaller or plainer vector."""
    case = vector.case
    return prod(case.inputs[0].shape), len(case.id)
