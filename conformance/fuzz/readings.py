"""Which readings a backend follows over a whole search, from the cases that conform."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from conformance.check.combinations import CLAUSE_NAMES, Packed, combinations_in
from conformance.check.judge import Judged
from conformance.check.readings import ATTRIBUTES, readings_followed, refuted
from conformance.check.report import ClauseReport
from conformance.check.results import separator
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
    values: tuple[str, ...]


class Votes:
    """One vote for each kind of case: the readings that explain it, and what may separate them."""

    def __init__(self) -> None:
        self._votes: dict[_Key, _Vote] = {}

    def add(self, vector: Vector, judged: Judged) -> None:
        """Count a conforming vector, the only one of what was judged."""
        touched = judged.touched[0]
        if not touched.any():
            return
        case, accepted, excused = vector.case, judged.accepted[0], bool(judged.excused[0])
        data = case.inputs[0]
        values = tuple(
            separator(name, case.operator, name_of(data.dtype), data.ndim - 2, case.attributes)
            for name in ATTRIBUTES
        )
        key = (accepted.tobytes(), touched.tobytes(), excused, values)
        known = self._votes.get(key)
        if known is None or _size(vector) < _size(known.vector):
            self._votes[key] = _Vote(vector, accepted, touched, excused, values)

    def reports(self) -> tuple[ClauseReport, ...]:
        """Return a report for each clause that touches a case; they count kinds of cases."""
        return _reports([vote for vote in self._votes.values() if not vote.excused])

    def refuted(self) -> list[Vector]:
        """Return cases whose exception is right only under a reading that others rule out."""
        votes = list(self._votes.values())
        wrong = _refuted(votes)
        return [vote.vector for vote, each in zip(votes, wrong, strict=True) if each]

    def refute(self, vector: Vector, judged: Judged) -> bool:
        """Say whether the exception that answers a conforming vector is such a one."""
        if not (judged.excused[0] and judged.touched[0].any()):
            return False
        mine = _Vote(vector, judged.accepted[0], judged.touched[0], excused=True, values=())
        return _refuted([*self._votes.values(), mine])[-1]

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
            needed = {choice[clause] for choice in combinations_in(vote.accepted, [clause])}
            if len(needed) == 1:
                reading = needed.pop()
                known = smallest.get(reading)
                if known is None or _size(vote.vector) < _size(known):
                    smallest[reading] = vote.vector
        return tuple(smallest.values())


def _reports(votes: list[_Vote]) -> tuple[ClauseReport, ...]:
    if not votes:
        return ()
    return readings_followed(
        np.array([vote.accepted for vote in votes]),
        np.array([vote.touched for vote in votes]),
        lambda name: [vote.values[ATTRIBUTES.index(name)] for vote in votes],
    )


def _refuted(votes: list[_Vote]) -> list[bool]:
    if not votes:
        return []
    found: list[bool] = refuted(
        np.array([vote.accepted for vote in votes]),
        np.array([vote.touched for vote in votes]),
        np.array([vote.excused for vote in votes]),
    ).tolist()
    return found


def _size(vector: Vector) -> tuple[int, int]:
    case = vector.case
    return prod(case.inputs[0].shape), len(case.id)
