"""Which reading of each disputed clause a backend follows, from the vectors it conforms to.

Every conforming vector votes with the set of combinations of readings that explain it. One
combination that explains all of them settles every clause. Where there is none, the fewest
clauses that must vary are found; each is then either split by one attribute or inconsistent.

Each operator has a space of its own for its sets. What explains all vectors of an operator is the
intersection of their sets; what explains a whole run is the natural join of these intersections,
since operators have clauses in common.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress, groupby

import numpy as np
import numpy.typing as npt

from conformance.check.reading_sets import Bools, Packed, ReadingSpace, reading_space
from conformance.check.relations import Relation, joined
from conformance.check.report import ClauseReport, Status
from conformance.check.votes import ATTRIBUTES, Vote
from conformance.operators import CLAUSES

Ints = npt.NDArray[np.intp]
SpaceOf = Callable[[str], ReadingSpace]
Split = tuple[str, dict[str, str]]

EITHER = "either"


def settled(
    votes: Mapping[Vote, int], space_of: SpaceOf = reading_space
) -> tuple[frozenset[Vote], tuple[ClauseReport, ...]]:
    """Return the exceptions that the readings refute, and a report for each clause that votes.

    `votes` says how many vectors say the same, `space_of` returns the space of an operator.
    """
    touched = {vote: count for vote, count in votes.items() if vote.touched}
    evidence = Evidence.of({v: n for v, n in touched.items() if not v.excused}, space_of)
    exceptions = [vote for vote in touched if vote.excused]
    return refuted(exceptions, evidence), readings_followed(evidence)


def refuted(exceptions: Iterable[Vote], evidence: Evidence) -> frozenset[Vote]:
    """Return the exceptions that no explanation of the other votes excuses.

    One attribute may split each clause, and only exceptions may show one side of a split. So an
    exception is not refuted if, for some two attributes, the votes that are like it in both leave
    it an excuse.
    """
    wrong = list(exceptions)
    for places in ((), *combinations(range(len(ATTRIBUTES)), 2)):

        def values(vote: Vote, places: tuple[int, ...] = places) -> tuple[str, ...]:
            return tuple(vote.separators[place] for place in places)

        groups = groupby(sorted(wrong, key=values), key=values)
        wrong = []
        for alike, group in groups:
            others = evidence.among(dict(zip(places, alike, strict=True)))
            wrong += [vote for vote in group if not others.excuses(vote)]
    return frozenset(wrong)


def readings_followed(evidence: Evidence) -> tuple[ClauseReport, ...]:
    """Return a report for each clause that touches a vector, in the order of the clauses."""
    # Several clauses may explain a difference: one that an attribute splits does it better.
    reports = min(
        map(evidence.reports, evidence.fewest_varying),
        key=lambda reports: sum(each.status == "inconsistent" for each in reports),
    )
    return tuple(sorted(reports, key=lambda each: _place(each.clause)))


def _place(clause: str) -> int:
    """Return the place of a clause among all there are, the last for one of no known operator."""
    return list(CLAUSES).index(clause) if clause in CLAUSES else len(CLAUSES)


@dataclass(frozen=True, slots=True, eq=False)
class OperatorVotes:
    """Votes of one operator, over the clauses that touch one of its vectors.

    `sets`, of shape (sets, readings of each clause), are the distinct sets of combinations that
    explain a vector, none of them empty; `row` says which each vote has. `touched`, of shape
    (votes, clauses), says which clauses touch the vectors of a vote, `counts` how many these are,
    and `separators`, of shape (votes, attributes), what may separate them.
    """

    clauses: tuple[str, ...]
    sets: Bools
    row: Ints
    touched: Bools
    counts: Ints
    separators: npt.NDArray[np.str_]

    @classmethod
    def of(cls, votes: Mapping[Vote, int], space: ReadingSpace) -> OperatorVotes:
        """Return the votes of an operator with a space."""
        words = np.frombuffer(b"".join(vote.accepted for vote in votes), np.uint64)
        distinct, row = np.unique(
            words.reshape(len(votes), space.words), axis=0, return_inverse=True
        )
        every = cls(
            clauses=tuple(space.readings),
            sets=space.unpack(distinct),
            row=row.ravel(),
            touched=np.array([[name in vote.touched for name in space.readings] for vote in votes]),
            counts=np.array(list(votes.values())),
            separators=np.array([vote.separators for vote in votes], str),
        )
        return every.among(np.ones(len(votes), np.bool_))

    def among(self, these: Bools) -> OperatorVotes:
        """Return some of the votes."""
        used, row = np.unique(self.row[these], return_inverse=True)
        touched = self.touched[these]
        touching: Bools = np.asarray(touched.any(axis=0))
        others = tuple((np.flatnonzero(~touching) + 1).tolist())
        return OperatorVotes(
            clauses=tuple(compress(self.clauses, touching.tolist())),
            sets=np.asarray(self.sets[used].any(axis=others)),
            row=row,
            touched=touched[:, touching],
            counts=self.counts[these],
            separators=self.separators[these],
        )

    def common(self, varying: Iterable[str]) -> Relation:
        """Return what explains every vector if some clauses may vary, over the others."""
        axes = tuple(1 + self.clauses.index(name) for name in varying if name in self.clauses)
        freed = np.asarray(self.sets.any(axis=axes))
        others = tuple(name for name in self.clauses if name not in varying)
        return Relation(others, np.asarray(freed.all(axis=0)))

    def given(self, chosen: Mapping[str, int]) -> Bools:
        """Return the sets under a choice of readings, with one index along the axes chosen."""
        index = [
            slice(chosen[name], chosen[name] + 1) if name in chosen else slice(None)
            for name in self.clauses
        ]
        return self.sets[(slice(None), *index)]

    def possible(self, clause: str, chosen: Mapping[str, int]) -> Bools:
        """Return, for each vote a clause touches, its possible readings, the others chosen."""
        others = {name: reading for name, reading in chosen.items() if name != clause}
        possible = self.onto(clause, self.given(others))
        return possible[self.row[self.touches(clause)]]

    def onto(self, clause: str, sets: Bools) -> Bools:
        """Return the readings of a clause that are in each of some sets."""
        axes = (axis for axis, name in enumerate(self.clauses, 1) if name != clause)
        return np.asarray(sets.any(axis=tuple(axes)))

    def limited(self, sets: Bools, clause: str, readings: Bools) -> Bools:
        """Return a set for each vote, with only some readings for each that a clause touches."""
        only = np.ones((len(sets), readings.shape[1]), np.bool_)
        only[self.touches(clause)] = readings
        return sets & np.expand_dims(
            only, tuple(axis for axis, name in enumerate(self.clauses, 1) if name != clause)
        )

    def touches(self, clause: str) -> Bools:
        """Return which votes are of vectors that a clause touches."""
        return self.touched[:, self.clauses.index(clause)]


class Evidence:
    """Votes of several operators, to be explained together."""

    def __init__(self, votes: Mapping[str, OperatorVotes], space_of: SpaceOf) -> None:
        self._votes = votes
        self._space_of = space_of
        clauses = {clause.name: clause for name in votes for clause in space_of(name).clauses}
        touching = {name for of in votes.values() for name in of.clauses}
        names = [name for name in clauses if name in touching]
        self._clauses = {name: clauses[name] for name in sorted(names, key=_place)}
        self._nested = [name for name, clause in self._clauses.items() if clause.nested]
        self._plain = [name for name in self._clauses if name not in self._nested]
        self._possible: dict[str, Packed] = {}

    @classmethod
    def of(cls, votes: Mapping[Vote, int], space_of: SpaceOf = reading_space) -> Evidence:
        """Return the evidence of votes, none of them excused, each for so many vectors."""
        operators: dict[str, dict[Vote, int]] = {}
        for vote, count in votes.items():
            operators.setdefault(vote.separators.operator, {})[vote] = count
        return cls(
            {name: OperatorVotes.of(of, space_of(name)) for name, of in operators.items()}, space_of
        )

    def among(self, alike: Mapping[int, str]) -> Evidence:
        """Return the votes that have given values of some attributes, by their places."""
        if not alike:
            return self
        places, values = list(alike), list(alike.values())
        selected = {}
        for operator, votes in self._votes.items():
            these = (votes.separators[:, places] == values).all(axis=1)
            if these.any():
                selected[operator] = votes.among(these)
        return Evidence(selected, self._space_of)

    def excuses(self, exception: Vote) -> bool:
        """Say whether an exception is right under some explanation of the votes."""
        operator = exception.separators.operator
        if operator not in self._possible:
            space = self._space_of(operator)
            possible = [
                joined(self._common(varying), tuple(space.readings)).over(tuple(space.readings))
                for varying in self.fewest_varying
            ]
            self._possible[operator] = np.array(
                [space.pack(np.broadcast_to(each, space.shape)) for each in possible]
            )
        accepted = np.frombuffer(exception.accepted, np.uint64)
        return bool((self._possible[operator] & accepted).any())

    @cached_property
    def fewest_varying(self) -> list[tuple[str, ...]]:
        """The smallest sets of clauses that must vary to explain every vote.

        Of a conflict, clauses that contradict however all others vary, one must vary: the search
        goes through sets that have a clause of each conflict met, not through all there are.
        """
        order = (*self._plain, *self._nested)
        sets = {frozenset[str]()}
        if not self._explains(()):
            sets = {frozenset(n for n in order if not self._explains([o for o in order if o != n]))}
        while not (enough := [varying for varying in sets if self._explains(varying)]):
            sets = {varying | {name} for varying in sets for name in self._conflict(varying, order)}
        return sorted(
            (tuple(name for name in order if name in varying) for varying in enough),
            key=lambda varying: tuple(map(order.index, varying)),
        )

    def _conflict(self, varying: Collection[str], order: Sequence[str]) -> list[str]:
        """Return clauses that contradict each other while only the others vary, as few as can be.

        `varying` are not among them.
        """
        conflict = [name for name in order if name not in varying]
        for name in tuple(conflict):
            fewer = [other for other in conflict if other != name]
            if not self._explains([other for other in order if other not in fewer]):
                conflict = fewer
        return conflict

    def _explains(self, varying: Collection[str]) -> bool:
        """Say whether something explains every vote if some clauses may vary."""
        relations = self._common(varying)
        return all(each.possible.any() for each in relations) and bool(
            joined(relations, ()).possible
        )

    def _common(self, varying: Collection[str]) -> list[Relation]:
        """Return what explains the votes of each operator if some clauses may vary."""
        return [votes.common(varying) for votes in self._votes.values()]

    def reports(self, varying: Collection[str]) -> list[ClauseReport]:
        """Return the reports on the clauses, of which `varying` vary."""
        relations = self._common(varying)
        chosen: dict[str, int] = {}
        # The strictest arithmetic that explains everything, even if it settles other clauses.
        for name in self._nested:
            if name not in varying:
                chosen[name] = self._choose_first(relations, name)
        left = {
            name: joined(relations, (name,)).possible
            for name in self._clauses
            if name not in varying
        }
        for name in self._plain:
            if name not in varying:
                chosen[name] = self._choose_first(relations, name)
        splits = self._splits(varying, chosen) | self._strictest(chosen)
        return [
            self._report(name, left.get(name), splits.get(name), chosen) for name in self._clauses
        ]

    def _choose_first(self, relations: list[Relation], name: str) -> int:
        """Add a relation that leaves the first possible reading of a clause, and return that."""
        possible = joined(relations, (name,)).possible
        first = int(possible.argmax())
        relations.append(Relation((name,), np.arange(len(possible)) == first))
        return first

    def _report(
        self, name: str, left: Bools | None, split: Split | None, chosen: Mapping[str, int]
    ) -> ClauseReport:
        """Return the report on a clause: `left` are its readings, None if it varies."""
        by, values = split or (None, {})
        status: Status = "split"
        followed = None
        if by is None:
            status = "inconsistent" if left is None else "either"
            if left is not None and left.sum() == 1:
                status, followed = "followed", self._reading(name, left)
        return ClauseReport(
            clause=name,
            status=status,
            followed=followed,
            by=by,
            values=values,
            counts=self._counts(name, chosen),
            touched=sum(int(of.counts[of.touches(name)].sum()) for of in self._of(name).values()),
        )

    def _of(self, clause: str) -> dict[str, OperatorVotes]:
        """Return the votes of the operators with vectors that a clause touches."""
        return {name: votes for name, votes in self._votes.items() if clause in votes.clauses}

    def _reading(self, clause: str, possible: Bools) -> str:
        """Return the name of the only possible reading of a clause, `EITHER` if there are more."""
        left = np.flatnonzero(possible)
        return self._clauses[clause].readings[left[0]].name if len(left) == 1 else EITHER

    def _counts(self, clause: str, chosen: Mapping[str, int]) -> Mapping[str, int]:
        """Count per reading of a clause the vectors that only it explains."""
        readings = self._clauses[clause].readings
        total = np.zeros(len(readings), np.int64)
        for votes in self._of(clause).values():
            possible = votes.possible(clause, chosen)
            if clause in self._nested:
                # What a strict reading explains, every loose one does: a vector counts once.
                possible &= np.arange(possible.shape[1]) == possible.argmax(axis=1)[:, None]
            only = possible & (possible.sum(axis=1) == 1)[:, None]
            total += votes.counts[votes.touches(clause)] @ only
        return {
            reading.name: count for reading, count in zip(readings, total.tolist(), strict=True)
        }

    def _splits(self, varying: Collection[str], chosen: Mapping[str, int]) -> dict[str, Split]:
        """Return, for the clauses that one attribute splits, that attribute and its values."""
        splits: dict[str, Split] = {}
        if not varying:
            return splits
        sets = {name: votes.given(chosen)[votes.row] for name, votes in self._votes.items()}
        for clause in varying:
            voters = self._of(clause)
            possible = [
                votes.onto(clause, sets[name])[votes.touches(clause)]
                for name, votes in voters.items()
            ]
            for place, attribute in enumerate(ATTRIBUTES):
                names, group, agreed = self._grouped(clause, place, possible)
                if agreed.any(axis=1).all():
                    followed = [self._reading(clause, readings) for readings in agreed]
                    splits[clause] = attribute, dict(zip(names, followed, strict=True))
                    ends = np.cumsum([len(each) for each in possible])[:-1]
                    for name, of_vote in zip(voters, np.split(group, ends), strict=True):
                        left = agreed[of_vote]
                        sets[name] = voters[name].limited(sets[name], clause, left)
                    break
        return splits

    def _strictest(self, chosen: Mapping[str, int]) -> dict[str, Split]:
        """Return the strictest arithmetic of each element type, where types differ in it."""
        splits: dict[str, Split] = {}
        for clause in self._nested:
            if chosen.get(clause):  # a loose one is needed
                possible = [votes.possible(clause, chosen) for votes in self._of(clause).values()]
                names, _, agreed = self._grouped(clause, ATTRIBUTES.index("dtype"), possible)
                readings = self._clauses[clause].readings
                strictest = [readings[first].name for first in agreed.argmax(axis=1)]
                if len(set(strictest)) > 1:
                    splits[clause] = "dtype", dict(zip(names, strictest, strict=True))
        return splits

    def _grouped(
        self, clause: str, attribute: int, possible: Sequence[Bools]
    ) -> tuple[list[str], Ints, Bools]:
        """Return the values of an attribute, which each vote has, and the readings agreed on.

        These are the votes that a clause touches, operator after operator; `possible`, of shape
        (votes, readings), holds those of each operator.
        """
        values = [
            votes.separators[votes.touches(clause), attribute]
            for votes in self._of(clause).values()
        ]
        names, group = np.unique(np.concatenate(values), return_inverse=True)
        agreed = np.ones((len(names), possible[0].shape[1]), np.bool_)
        np.logical_and.at(agreed, group, np.concatenate(possible))
        return names.tolist(), group, agreed
