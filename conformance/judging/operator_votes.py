"""Votes of one operator over the readings of its disputed clauses, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from conformance.judging.reading_sets import Bools, ReadingSpace
from conformance.judging.relations import Relation
from conformance.judging.votes import ATTRIBUTES, Vote

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class OperatorVotes:
    """Votes of one operator, one row each, over its disputed clauses.

    `sets`, of shape (votes, readings of each clause), are the combinations that explain a vector,
    of which there are some. `applies`, of shape (votes, clauses), says which clauses apply to the
    vectors of a vote, `counts` how many vectors these are, and `separators`, of shape (votes,
    attributes), what may separate them.
    """

    clauses: tuple[str, ...]
    sets: Bools
    applies: Bools
    counts: Ints
    separators: npt.NDArray[np.str_]

    @classmethod
    def of(cls, votes: Mapping[Vote, int], space: ReadingSpace) -> OperatorVotes:
        """Return the votes of an operator with a space."""
        return cls(
            clauses=tuple(space.readings),
            sets=np.array([space.unpack(vote.accepted) for vote in votes]),
            applies=np.array([[name in vote.clauses for name in space.readings] for vote in votes]),
            counts=np.array(list(votes.values())),
            separators=np.array([vote.separators for vote in votes], str),
        )

    def among(self, these: Bools) -> OperatorVotes:
        """Return some of the votes."""
        return OperatorVotes(
            self.clauses,
            self.sets[these],
            self.applies[these],
            self.counts[these],
            self.separators[these],
        )

    def named(self, operator: str) -> OperatorVotes:
        """Return the votes as those of another operator."""
        separators = [(operator, *others) for _, *others in self.separators.tolist()]
        return replace(self, separators=np.array(separators, str))

    def leaving_open(self, clauses: Collection[str]) -> OperatorVotes:
        """Return what the votes say of the other clauses, whatever the readings of some."""
        axes = tuple(axis for axis, name in enumerate(self.clauses, 1) if name in clauses)
        sets = self.sets.any(axis=axes, keepdims=True)
        return replace(self, sets=np.broadcast_to(sets, self.sets.shape))

    def on(self, clause: str) -> Bools:
        """Mask (votes,): the votes of vectors that a clause applies to."""
        if clause not in self.clauses:
            return np.zeros(len(self.counts), np.bool_)
        return self.applies[:, self.clauses.index(clause)]

    def common(self, varying: Collection[str]) -> Relation:
        """Return what explains every vector if some clauses may vary, over the others."""
        axes = tuple(axis for axis, name in enumerate(self.clauses, 1) if name in varying)
        others = tuple(name for name in self.clauses if name not in varying)
        return Relation(others, np.asarray(self.sets.any(axis=axes).all(axis=0)))

    def given(self, chosen: Mapping[str, int], *, but: str = "") -> OperatorVotes:
        """Return the votes with the readings of some clauses fixed: axes of length 1."""
        index = [
            slice(chosen[name], chosen[name] + 1) if name in chosen and name != but else slice(None)
            for name in self.clauses
        ]
        return replace(self, sets=self.sets[(slice(None), *index)])

    def possible(self, clause: str) -> Bools:
        """Mask (votes on the clause, readings): its readings that explain the vectors."""
        axes = tuple(axis for axis, name in enumerate(self.clauses, 1) if name != clause)
        return np.asarray(self.sets.any(axis=axes))[self.on(clause)]

    def limited(self, clause: str, readings: Bools) -> OperatorVotes:
        """Return the votes with only some readings of a clause left where it applies."""
        axes = tuple(axis for axis, name in enumerate(self.clauses, 1) if name != clause)
        sets = self.sets.copy()
        sets[self.on(clause)] &= np.expand_dims(readings, axes)
        return replace(self, sets=sets)


def agreed(
    voters: Collection[OperatorVotes],
    clause: str,
    attribute: str,
    group_of: Callable[[str], str] = str,
) -> tuple[list[str], Ints, Bools]:
    """Return the values of an attribute, which each vote on a clause has, and the readings agreed.

    The votes are those of one operator after the other. Votes with values of one group, such as one
    value, agree on the readings that explain all of them, (values, readings) bool.
    """
    place = ATTRIBUTES.index(attribute)
    possible = np.concatenate([votes.possible(clause) for votes in voters])
    separators = np.concatenate([votes.separators[votes.on(clause), place] for votes in voters])
    values, value = np.unique(separators, return_inverse=True)
    groups, group = np.unique(list(map(group_of, values)), return_inverse=True)
    common = np.ones((len(groups), possible.shape[1]), np.bool_)
    np.logical_and.at(common, group[value], possible)
    return values.tolist(), value, common[group]
