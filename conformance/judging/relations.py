"""Relations between clauses, and their natural join: what several operators leave possible."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Which combinations of the readings of some clauses are possible.

    `possible` has an axis per clause, in the order of `clauses`, and an index per reading.
    """

    clauses: tuple[str, ...]
    possible: npt.NDArray[np.bool_]

    def onto(self, clauses: Collection[str]) -> Relation:
        """Return the projection onto those of some clauses that it has."""
        others = tuple(axis for axis, name in enumerate(self.clauses) if name not in clauses)
        onto = tuple(name for name in self.clauses if name in clauses)
        return Relation(onto, np.asarray(self.possible.any(axis=others))) if others else self

    def at(self, clause: str, reading: int) -> Relation:
        """Return what is possible with one reading of a clause, which is left out."""
        if clause not in self.clauses:
            return self
        axis = self.clauses.index(clause)
        others = (*self.clauses[:axis], *self.clauses[axis + 1 :])
        return Relation(others, np.asarray(self.possible.take(reading, axis)))

    def over(self, clauses: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return `possible` with the axes of `clauses`, of length 1 where it has no such clause."""
        order = [self.clauses.index(name) for name in clauses if name in self.clauses]
        missing = tuple(axis for axis, name in enumerate(clauses) if name not in self.clauses)
        return np.expand_dims(self.possible.transpose(order), missing)


def joined(relations: Iterable[Relation], onto: Collection[str]) -> Relation:
    """Return the projection onto some clauses of what all relations allow together.

    Clauses of no relation are left out. The others are eliminated one by one, always the one that
    costs least: arrays grow with the clauses that belong together, not with all there are.
    """
    left = list(relations)
    while True:
        shared: dict[str, set[str]] = {}
        count: dict[str, int] = {}
        for relation in left:
            for name in relation.clauses:
                shared.setdefault(name, set()).update(relation.clauses)
                count[name] = count.get(name, 0) + 1
        requested = {name for name in shared if name in onto}
        needed = requested | {name for name, relations in count.items() if relations > 1}
        if len(needed) < len(shared):
            left = [relation.onto(needed) for relation in left]
            continue
        eliminated = needed - requested
        if not eliminated:
            return _product(left, tuple(name for name in onto if name in shared))
        # The order of names decides between equals: the same run gives the same work.
        name = min(sorted(eliminated), key=lambda name: len(shared[name]))
        together = [relation for relation in left if name in relation.clauses]
        rest = shared[name] - {name}
        left = [relation for relation in left if name not in relation.clauses]
        left.append(_product(together, (*sorted(rest), name)).onto(rest))


def _product(relations: Iterable[Relation], clauses: tuple[str, ...]) -> Relation:
    """Return the join of relations that have no other clauses than these."""
    possible = np.ones((1,) * len(clauses), np.bool_)
    for relation in relations:
        possible = possible & relation.over(clauses)
    return Relation(clauses, possible)
