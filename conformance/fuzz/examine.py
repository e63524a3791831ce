"""One case at a time through a backend and the checker's judge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from conformance.batch import Batch, batch_of
from conformance.check.accuracy import AccuracyTally
from conformance.check.judge import Judged, judge
from conformance.check.report import FAILURES, Result, Verdict
from conformance.check.results import result_at
from conformance.check.runner import Answers
from conformance.fuzz.calling import Called
from conformance.fuzz.readings import SmallestByVote
from conformance.operators import operator_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.vector import Array, Case, Outputs, Vector
from conformance.workers.answer import arrays_of

_SAMPLE = 60


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """A vector that does not conform, with what the backend returned (None: no arrays)."""

    vector: Vector
    result: Result
    output: Array | Outputs | None

    @property
    def kind(self) -> tuple[str, ...]:
        """What happened, roughly: while a failure is made smaller, it stays of one kind."""
        result = self.result
        if result.verdict in {"mismatch", "timed-out"}:
            return (result.operator, result.verdict)
        # The type of an exception, the signal of a crash.
        return (result.operator, result.verdict, result.detail.partition(":")[0])


class Examiner:
    """Runs and judges cases, each once, and remembers what the verdicts were.

    A case that comes again gets the verdict it got: a backend whose answers vary does not confuse
    the search.
    """

    def __init__(self, called: Called) -> None:
        self.called = called
        self.votes = SmallestByVote()
        self.counts: Counter[Verdict] = Counter()
        self.by_operator: dict[str, Counter[Verdict]] = {}
        self.unjudged = 0
        self._known: dict[str, Failure | None] = {}
        self._conforming: dict[str, list[Vector]] = {}

    @property
    def run(self) -> int:
        """How many cases were run."""
        return self.counts.total()

    def knows(self, case: Case) -> bool:
        """Say whether a case was examined before."""
        return case.id in self._known

    def examine(self, case: Case) -> Failure | None:
        """Return the failure of a case; None if it conforms, is unsupported or not judged."""
        if case.id not in self._known:
            self._known[case.id] = self._examined(case)
        return self._known[case.id]

    def again(self, failure: Failure) -> Failure | None:
        """Run a failing vector once more; return how it fails now, None if it does not."""
        return self._answered(failure.vector).failure

    def refuted(self) -> list[Failure]:
        """Return the exceptions that only a reading not followed would excuse, smallest first."""
        found = [self.refute(vector.case) for vector in self.votes.refuted()]
        return sorted(
            (failure for failure in found if failure is not None),
            key=lambda failure: failure.vector.case.inputs[0].size,
        )

    def refute(self, case: Case) -> Failure | None:
        """Run a case; return its failure if it is such an exception."""
        vector = vector_of(case)
        answered = self._answered(vector)
        vote = answered.judged.said(0)
        if vote is None or not self.votes.refute(vote):
            return None
        answered.judged.refute({vote})
        return Failure(vector, answered.result, None)

    def conforming(self, operator: str) -> list[Vector]:
        """Return some vectors of an operator that conform."""
        return self._conforming.get(operator, [])

    def _examined(self, case: Case) -> Failure | None:
        vector = vector_of(case)
        if not is_judgeable(operator_named(case.operator), vector):
            self.unjudged += 1
            return None
        answered = self._answered(vector)
        result = answered.result
        self.counts[result.verdict] += 1
        self.by_operator.setdefault(case.operator, Counter())[result.verdict] += 1
        vote = answered.judged.said(0)
        if vote is not None:
            self.votes.add(vector, vote)
            kept = self._conforming.setdefault(case.operator, [])
            if len(kept) < _SAMPLE:
                kept.append(vector)
        return answered.failure

    def _answered(self, vector: Vector) -> _Answered:
        batch, answers = batch_of([vector]), Answers.none_yet(1)
        self.called.run(batch, answers)
        return _Answered(vector, batch, answers, judge(batch, answers, {}, AccuracyTally()))


@dataclass(frozen=True, slots=True, eq=False)
class _Answered:
    """A batch of one vector, the answer to it, and the verdict."""

    vector: Vector
    batch: Batch
    answers: Answers
    judged: Judged

    @property
    def result(self) -> Result:
        return result_at(self.batch, 0, self.judged, 0)

    @property
    def failure(self) -> Failure | None:
        result = self.result
        if result.verdict not in FAILURES:
            return None
        return Failure(self.vector, result, arrays_of(self.answers.outputs[0]))
