"""Which reading of each disputed clause a backend follows, from the vectors it conforms to.

Every conforming vector votes with the set of combinations of readings that explain it, but for
exceptions that have another reason: such as come without the clause, too (`votes.without_say`), or
make a clause inconsistent that answers alone do not. One
combination that explains all of them settles every clause. Where there is none, the fewest
clauses that must vary are found; each is then either split by one attribute or inconsistent.

Each operator has a space of its own for its sets. What explains all vectors of an operator is the
intersection of their sets; what explains a whole run is the natural join of these intersections,
since operators have clauses in common.

A gradient has the windows and divisors of its forward operator, and goes to the cell that this one
chooses. So no split comes between the two, and a clause in which they contradict each other is
inconsistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, groupby

import numpy as np

from conformance.judging.contradictions import contradiction
from conformance.judging.operator_votes import OperatorVotes, agreed
from conformance.judging.reading_sets import BitSet, Bools, ReadingSpace, reading_space
from conformance.judging.relations import Relation, joined
from conformance.judging.votes import ATTRIBUTES, Vote, without_say
from conformance.operators import CLAUSES
from conformance.record.report import ClauseReport, Status
from conformance.vector import forward_name

SpaceOf = Callable[[str], ReadingSpace]
Split = tuple[str, dict[str, str]]

EITHER = "either"
_OPERATOR = ATTRIBUTES.index("operator")


def settled(
    votes: Mapping[Vote, int], space_of: SpaceOf = reading_space
) -> tuple[frozenset[Vote], tuple[ClauseReport, ...]]:
    """Return the exceptions that the readings refute, and a report for each clause that votes.

    `votes` says how many vectors say the same, `space_of` returns the space of an operator.
    """
    disputed = {vote: count for vote, count in votes.items() if vote.clauses}
    silent = without_say(votes)
    heard = {vote: count for vote, count in disputed.items() if vote not in silent}
    evidence = VotesTogether.of(heard, space_of)
    reports = readings_followed(evidence)
    if contradicting := _exceptions_against_answers(heard, reports, space_of):
        heard = {vote: count for vote, count in heard.items() if vote not in contradicting}
        evidence = VotesTogether.of(heard, space_of)
        reports = readings_followed(evidence)
    return refuted([vote for vote in disputed if vote not in heard], evidence), reports


def _exceptions_against_answers(
    votes: Mapping[Vote, int], reports: Iterable[ClauseReport], space_of: SpaceOf
) -> frozenset[Vote]:
    """Return the exceptions that make a clause inconsistent and that no answers excuse.

    An answer is about the clauses that apply to it; an exception may be about something else.
    """
    unclear = {report.clause for report in reports if report.status == "inconsistent"}
    raised = [vote for vote in votes if vote.raised and unclear.intersection(vote.clauses)]
    if not raised:
        return frozenset()
    answers = VotesTogether.of({v: count for v, count in votes.items() if not v.raised}, space_of)
    return frozenset(vote for vote in raised if not answers.excuses(vote))


def refuted(exceptions: Iterable[Vote], evidence: VotesTogether) -> frozenset[Vote]:
    """Return the exceptions that no explanation of the other votes excuses.

    One attribute may split each clause, and only exceptions may show one side of a split. So an
    exception is not refuted if, for some two attributes, the votes that are like it in both leave
    it an excuse. Those of a gradient are like those of its operator in what binds both.
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


def readings_followed(evidence: VotesTogether) -> tuple[ClauseReport, ...]:
    """Return a report for each clause that applies to a vector, in the order of the clauses."""
    # Several clauses may explain a difference: one that an attribute splits does it better.
    reports = min(
        map(evidence.reports, evidence.fewest_varying),
        key=lambda reports: sum(report.status == "inconsistent" for report in reports),
    )
    return tuple(sorted(reports, key=lambda report: place_of(report.clause)))


def place_of(clause: str) -> int:
    """Return the place of a clause among all there are, the last for one of no known operator."""
    return list(CLAUSES).index(clause) if clause in CLAUSES else len(CLAUSES)


class VotesTogether:
    """Votes of several operators, to be explained together."""

    def __init__(self, votes: Mapping[str, OperatorVotes], space_of: SpaceOf) -> None:
        self._votes = votes
        self._space_of = space_of
        clauses = {clause.name: clause for name in votes for clause in space_of(name).clauses}
        self._clauses = {name: clauses[name] for name in sorted(clauses, key=place_of)}
        self._clauses = {name: clauses[name] for name in self._clauses if self._voting_on(name)}
        self._nested = [name for name, clause in self._clauses.items() if clause.nested]
        self._plain = [name for name in self._clauses if name not in self._nested]
        self._possible: dict[str, list[BitSet]] = {}

    @classmethod
    def of(cls, votes: Mapping[Vote, int], space_of: SpaceOf = reading_space) -> VotesTogether:
        """Return the evidence of votes, none of them excused, each for so many vectors."""
        operators: dict[str, dict[Vote, int]] = {}
        for vote, count in votes.items():
            operators.setdefault(vote.separators.operator, {})[vote] = count
        return cls(
            {name: OperatorVotes.of(of, space_of(name)) for name, of in operators.items()}, space_of
        )

    def among(self, alike: Mapping[int, str]) -> VotesTogether:
        """Return the votes that have given values of some attributes, by their places."""
        if not alike:
            return self
        places, values = list(alike), list(alike.values())
        selected = {}
        for operator, votes in self._votes.items():
            like = votes
            if (gradient := alike.get(_OPERATOR, operator)) != operator == forward_name(gradient):
                free = [name for name, clause in self._clauses.items() if clause.of_forward != name]
                like = votes.named(gradient).leaving_open(free)
            selected[operator] = like.among((like.separators[:, places] == values).all(axis=1))
        selected = {operator: votes for operator, votes in selected.items() if len(votes.counts)}
        return VotesTogether(selected, self._space_of)

    def excuses(self, exception: Vote) -> bool:
        """Say whether an exception is right under some explanation of the votes."""
        operator = exception.separators.operator
        if operator not in self._possible:
            space = self._space_of(operator)
            possible = [
                joined(self._common(varying), tuple(space.readings)).over(tuple(space.readings))
                for varying in self.fewest_varying
            ]
            self._possible[operator] = [
                space.pack(np.broadcast_to(mask, space.shape)) for mask in possible
            ]
        return any(possible & exception.accepted for possible in self._possible[operator])

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
        return all(relation.possible.any() for relation in relations) and bool(
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
        left = self._choose_first(relations, [n for n in self._nested if n not in varying], chosen)
        plain = [name for name in self._plain if name not in varying]
        left |= {name: joined(relations, (name,)).possible for name in plain}
        self._choose_first(relations, plain, chosen)
        splits = self._splits(varying, chosen) | self._strictest(chosen)
        reports = []
        for name in self._clauses:
            contradicting = self._contradicting(name, chosen)
            if contradicting:
                report = self._report(name, None, None, chosen)
                reports.append(replace(report, contradicting=contradicting))
            else:
                reports.append(self._report(name, left.get(name), splits.get(name), chosen))
        return reports

    def _choose_first(
        self, relations: list[Relation], names: Iterable[str], chosen: dict[str, int]
    ) -> dict[str, Bools]:
        """Choose the first possible reading of each clause in turn, which leaves fewer of the rest.

        The relations are then those without these clauses. Returns which readings are left.
        """
        left = {}
        for name in names:
            possible = joined(relations, (name,)).possible
            first = chosen[name] = int(possible.argmax())
            relations[:] = [relation.at(name, first) for relation in relations]
            left[name] = np.arange(len(possible)) == first
        return left

    def _report(
        self, name: str, left: Bools | None, split: Split | None, chosen: Mapping[str, int]
    ) -> ClauseReport:
        """Return the report on a clause: `left` are its readings, None if it varies."""
        by, values = split or (None, {})
        status: Status = "split"
        followed = None
        possible: tuple[str, ...] = ()
        if by is None:
            status = "inconsistent" if left is None else "either"
            if left is not None and not left.all():
                status, followed = "followed", self._reading(name, left)
                readings = self._clauses[name].readings
                possible = tuple(readings[place].name for place in np.flatnonzero(left))
        return ClauseReport(
            clause=name,
            status=status,
            followed=followed,
            by=by,
            values=values,
            counts=self._counts(name, chosen),
            touched=sum(int(votes.counts[votes.on(name)].sum()) for votes in self._votes.values()),
            possible=possible,
        )

    def _voting_on(self, clause: str) -> list[str]:
        """Return the operators with vectors that a clause applies to."""
        return [name for name, votes in self._votes.items() if votes.on(clause).any()]

    def _reading(self, clause: str, possible: Bools) -> str:
        """Return the name of the first possible reading of a clause, `EITHER` if all are."""
        return EITHER if possible.all() else self._clauses[clause].readings[possible.argmax()].name

    def _counts(self, clause: str, chosen: Mapping[str, int]) -> Mapping[str, int]:
        """Count per reading of a clause the vectors that only it explains."""
        readings = self._clauses[clause].readings
        total = np.zeros(len(readings), np.int64)
        for name in self._voting_on(clause):
            votes = self._votes[name]
            possible = votes.given(chosen, but=clause).possible(clause)
            if clause in self._nested:
                # What a strict reading explains, every loose one does: a vector counts once.
                possible &= np.arange(possible.shape[1]) == possible.argmax(axis=1)[:, None]
            only = possible & (possible.sum(axis=1) == 1)[:, None]
            total += votes.counts[votes.on(clause)] @ only
        return {
            reading.name: count for reading, count in zip(readings, total.tolist(), strict=True)
        }

    def _splits(self, varying: Collection[str], chosen: Mapping[str, int]) -> dict[str, Split]:
        """Return, for the clauses that one attribute splits, that attribute and its values."""
        splits: dict[str, Split] = {}
        explained = {name: votes.given(chosen) for name, votes in self._votes.items()}
        for clause in varying:
            voters = {name: explained[name] for name in self._voting_on(clause)}
            for attribute in ATTRIBUTES:
                # No split comes between a gradient and its forward operator.
                bound = forward_name if self._clauses[clause].of_forward else str
                values, group, common = agreed(voters.values(), clause, attribute, bound)
                if common.any(axis=1).all():
                    followed = [self._reading(clause, readings) for readings in common]
                    splits[clause] = attribute, dict(zip(values, followed, strict=True))
                    for name, votes in voters.items():
                        count = int(votes.on(clause).sum())
                        explained[name] = votes.limited(clause, common[group[:count]])
                        group = group[count:]
                    break
        return splits

    def _contradicting(self, clause: str, chosen: Mapping[str, int]) -> dict[str, str]:
        """Return the readings of gradients that contradict their operators, and those of these."""
        of_forward = self._clauses[clause].of_forward
        if of_forward not in self._clauses:
            return {}
        if of_forward != clause:
            chosen = {}  # what the readings of other clauses leave open is no contradiction
        found: dict[str, str] = {}
        for gradient in self._voting_on(clause):
            forward = forward_name(gradient)
            if forward != gradient and forward in self._voting_on(of_forward):
                readings = contradiction(
                    (self._clauses[of_forward], self._votes[forward].given(chosen, but=of_forward)),
                    (self._clauses[clause], self._votes[gradient].given(chosen, but=clause)),
                )
                found |= dict(zip((forward, gradient), readings, strict=False))
        return found

    def _strictest(self, chosen: Mapping[str, int]) -> dict[str, Split]:
        """Return the strictest arithmetic of each element type, where types differ in it."""
        splits: dict[str, Split] = {}
        for clause in self._nested:
            # A loose one is needed, and a backend may choose where.
            if chosen.get(clause) and not self._clauses[clause].of_all_dtypes:
                voters = [self._votes[name] for name in self._voting_on(clause)]
                given = [votes.given(chosen, but=clause) for votes in voters]
                dtypes, _, common = agreed(given, clause, "dtype")
                readings = self._clauses[clause].readings
                strictest = [readings[first].name for first in common.argmax(axis=1)]
                if len(set(strictest)) > 1:
                    splits[clause] = "dtype", dict(zip(dtypes, strictest, strict=True))
        return splits
