"""The verdicts on a batch: what every comparator returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    MISSING,
    NO_ARRAY,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
    Kind,
)
from conformance.batch import Ints
from conformance.judging.explanations import Explanation, explain_excused
from conformance.judging.votes import Vote, Votes
from conformance.operators import operator_named
from conformance.record.report import (
    VERDICTS,
    Accuracy,
    Bias,
    OutputReport,
    UndefinedReport,
    Verdict,
)

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

CONFORMS, MISMATCH, ERROR = map(VERDICTS.index, ("conforms", "mismatch", "error"))
ACCEPTED_INVALID = VERDICTS.index("accepted-invalid")
_OF_KIND: Mapping[Kind, Verdict] = {
    ARRAY: "mismatch",
    NO_ARRAY: "mismatch",
    RAISED: "error",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
    MISSING: "mismatch",
}
UNACCEPTED: Codes = np.zeros(len(Kind), np.uint8)
"""The number in `VERDICTS` of an answer that no outcome accepts, by the kind of answer."""
for _kind, _verdict in _OF_KIND.items():
    UNACCEPTED[_kind] = VERDICTS.index(_verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """The verdicts on a batch: columns of one item per vector, and counts over the batch.

    `verdict` are numbers in `VERDICTS`; `vote` is the place in `votes` of what each vector says
    that conforms or raises, -1 for the others. `explanations` are by vector, where there is
    something to say. `undefined_only` marks vectors that conform by an output without any defined
    element. The others are those of `Report`, of this batch.
    """

    verdict: Codes
    vote: npt.NDArray[np.int32]
    votes: list[Vote]
    explanations: dict[int, Explanation]
    undefined_only: Bools
    undefined: list[UndefinedReport]
    outputs: list[OutputReport]
    accuracy: list[Accuracy]
    bias: list[Bias]

    def first(self, count: int) -> Verdicts:
        """Return the verdicts on the first `count` vectors, the others not having been run."""
        if count == len(self.verdict):
            return self
        return replace(self, verdict=self.verdict[:count], vote=self.vote[:count])

    def vote_of(self, index: int) -> Vote | None:
        """Return what a vector says, None if it neither conforms nor raises."""
        place = int(self.vote[index])
        return self.votes[place] if place >= 0 else None

    def votes_counted(self) -> Votes:
        """Return how many of the vectors say the same."""
        votes: Votes = Counter()
        counts = np.bincount(self.vote[self.vote >= 0], minlength=len(self.votes))
        for vote, count in zip(self.votes, counts.tolist(), strict=True):
            votes[vote] += count
        return +votes

    def refute(self, votes: Container[Vote]) -> None:
        """Turn exceptions into errors: the backend follows another reading than allows them."""
        places = [place for place, vote in enumerate(self.votes) if vote in votes]
        refuted = (self.verdict == CONFORMS) & np.isin(self.vote, places)
        for vector in np.flatnonzero(refuted).tolist():
            vote = self.votes[self.vote[vector]]
            before = self.explanations[vector]
            operator = vote.separators.operator
            why = explain_excused(before.why, operator, vote.accepted, vote.clauses)
            self.explanations[vector] = before._replace(why=why)
            self.verdict[vector] = ERROR


def output_reports(operator: str, counts: Ints) -> list[OutputReport]:
    """Report how often each of several outputs was returned, of the vectors with a first one.

    `counts` are the arrays that were returned for each vector that has expected values.
    """
    names = [output.name for output in operator_named(operator).outputs]
    vectors = int((counts > 0).sum())
    return [
        OutputReport(operator, name, int((counts > output).sum()), vectors)
        for output, name in enumerate(names)
        if vectors and len(names) > 1
    ]
