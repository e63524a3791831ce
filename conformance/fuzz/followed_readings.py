"""Which readings a backend follows over a whole search, from the cases that conform."""

from __future__ import annotations

from math import prod

from conformance.judging.reading_sets import reading_space
from conformance.judging.readings import settled
from conformance.judging.votes import Vote, Votes, without_say
from conformance.record.report import ClauseReport
from conformance.vector import Vector


class SmallestByVote:
    """The smallest case for each vote; a vote counts once, however many cases say it."""

    def __init__(self) -> None:
        self._smallest: dict[Vote, Vector] = {}

    def add(self, vector: Vector, vote: Vote) -> None:
        """Take in the vote of a vector."""
        known = self._smallest.get(vote)
        says_something = vote.clauses or not vote.conforms
        if says_something and (known is None or size_of(vector) < size_of(known)):
            self._smallest[vote] = vector

    def reports(self) -> tuple[ClauseReport, ...]:
        """Return a report for each clause that touches a case; they count kinds of cases."""
        return settled(self._voting)[1]

    def refuted(self) -> list[Vector]:
        """Return cases whose exception is right only under a reading that others rule out."""
        wrong, _ = settled(Votes(self._smallest.keys()))
        return [vector for vote, vector in self._smallest.items() if vote in wrong]

    def refute(self, vote: Vote) -> bool:
        """Say whether a vote is that of such a case."""
        return vote.raised and vote in settled(self._voting | Votes([vote]))[0]

    @property
    def _voting(self) -> Votes:
        return Votes(vote for vote in self._smallest if not vote.excused)

    def followed(self) -> dict[str, str]:
        """Return the readings that are settled."""
        return {
            clause.clause: clause.followed
            for clause in self.reports()
            if clause.status == "followed" and clause.followed is not None
        }

    def witnesses(self, clause: str) -> tuple[Vector, ...]:
        """Return, for each reading of a clause that some cases need, the smallest of them."""
        smallest: dict[str, Vector] = {}
        silent = without_say(self._smallest)
        for vote, vector in self._smallest.items():
            if vote in silent or clause not in vote.clauses:
                continue
            space = reading_space(vote.separators.operator)
            needed = space.readings_in(vote.accepted, clause)
            if len(needed) == 1:
                (reading,) = needed
                known = smallest.get(reading)
                if known is None or size_of(vector) < size_of(known):
                    smallest[reading] = vector
        return tuple(smallest.values())


def size_of(vector: Vector) -> tuple[int, int]:
    """Return what is less for a smaller or plainer vector."""
    case = vector.case
    return prod(case.data.shape), len(case.id)
