"""Cases through a backend and the checker's judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.backends.answer import NOT_RUN, arrays_of
from conformance.backends.runner import Answers
from conformance.batch import Batch, batch_of
from conformance.fuzz.caller import Called
from conformance.fuzz.drawing import Prepared, prepared
from conformance.fuzz.followed_readings import SmallestByVote
from conformance.judging.failure_kinds import exception_of
from conformance.judging.judge import judge
from conformance.judging.verdicts import result_of
from conformance.judging.votes import Vote
from conformance.judging.whole_run import rejudged, vote_of
from conformance.operators import vector_of
from conformance.record.report import RETURNED, Result, Verdict, failing
from conformance.record.why import Exited, Raised
from conformance.vector import Array, Case, Outputs, Vector

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
        if result.verdict in {*RETURNED, "timed-out"}:
            return (result.operator, result.verdict)
        match result.why:
            case Raised(type=name) if name:
                how = name
            case Exited(status=status):
                how = str(status)
            case Raised():
                how = exception_of(result)
            case other:
                how = type(other).__name__
        return (result.operator, result.verdict, how)


class Examiner:
    """Runs and judges cases, each once, and remembers what the verdicts were.

    A case that comes again gets the verdict it got: a backend whose answers vary does not confuse
    the search. Where it may `allow_extensions`, accepting what is invalid is no failure.
    """

    def __init__(self, called: Called, *, allow_extensions: bool = False) -> None:
        self.called = called
        self.extensions: Counter[tuple[str, str]] = Counter()
        """Cases that were accepted though invalid, by operator and the rule that they break."""
        self._failing = failing(allow_extensions=allow_extensions)
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
            self.examine_all([prepared(case)])
        return self._known[case.id]

    def examine_all(
        self, group: Sequence[Prepared], *, until: Callable[[], bool] = lambda: False
    ) -> None:
        """Run and judge cases of one operator together.

        Stops at the first crash or hang, and as soon as `until()` is true.
        """
        vectors = []
        for case, vector in group:
            if case.id in self._known:
                continue
            if vector is not None:
                vectors.append(vector)
            else:
                self.unjudged += 1
                self._known[case.id] = None
        if not vectors:
            return
        batch, answers = batch_of(vectors), Answers.none_yet(len(vectors))
        try:
            self.called.run(batch, answers, until)
        finally:
            for number, kind in enumerate(answers.kind):
                if kind != NOT_RUN:
                    self._remember(_answered(vectors[number], batch, number, answers))

    def again(self, failure: Failure) -> Failure | None:
        """Run a failing vector once more; return how it fails now, None if it does not."""
        return self._failure(self._alone(failure.vector))

    def refuted(self) -> list[Failure]:
        """Return the exceptions that only a reading not followed would excuse, smallest first."""
        failures = [self.refute(vector.case) for vector in self.votes.refuted()]
        return sorted(
            (failure for failure in failures if failure is not None),
            key=lambda failure: failure.vector.case.data.size,
        )

    def refute(self, case: Case) -> Failure | None:
        """Run a case; return its failure if it is such an exception."""
        vector = vector_of(case)
        answered = self._alone(vector)
        vote = answered.vote
        if vote is None or not self.votes.refute(vote):
            return None
        return Failure(vector, rejudged(answered.result, vote, refuted=True), None)

    def conforming(self, operator: str) -> list[Vector]:
        """Return some vectors of an operator that conform."""
        return self._conforming.get(operator, [])

    def _remember(self, answered: _Answered) -> None:
        vector, result, vote = answered.vector, answered.result, answered.vote
        operator = vector.case.operator
        self._known[vector.case.id] = self._failure(answered)
        self.counts[result.verdict] += 1
        self.by_operator.setdefault(operator, Counter())[result.verdict] += 1
        if result.verdict == "accepted-invalid":
            self.extensions[operator, result.rule] += 1
        if vote is not None:
            self.votes.add(vector, vote)
        if result.verdict == "conforms":
            sample = self._conforming.setdefault(operator, [])
            if len(sample) < _SAMPLE:
                sample.append(vector)

    def _failure(self, answered: _Answered) -> Failure | None:
        return answered.failure if answered.result.verdict in self._failing else None

    def _alone(self, vector: Vector) -> _Answered:
        batch, answers = batch_of([vector]), Answers.none_yet(1)
        self.called.run(batch, answers, lambda: False)
        return _answered(vector, batch, 0, answers)


@dataclass(frozen=True, slots=True, eq=False)
class _Answered:
    """A vector, what the backend returned for it (None: no arrays), and what is said of that."""

    vector: Vector
    result: Result
    output: Array | Outputs | None

    @property
    def vote(self) -> Vote | None:
        return vote_of(self.result, {})

    @property
    def failure(self) -> Failure:
        """The vector as a failure; only where its verdict is one."""
        return Failure(self.vector, self.result, self.output)


def _answered(vector: Vector, batch: Batch, number: int, answers: Answers) -> _Answered:
    """Judge what came back for a vector, which has a number in a batch."""
    answer = answers.at(number)
    result = result_of(batch, number, judge(vector, answer, {}))
    return _Answered(vector, result, arrays_of(answer.outputs))
