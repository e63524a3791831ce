"""The live backend under experiment: held-out cases, and what it makes of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import prod

import numpy as np

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    NOT_RUN,
    TIMED_OUT,
    UNSUPPORTED,
    Answer,
    Kind,
    arrays_of,
)
from conformance.backends.runner import Answers, Runner, Stopped
from conformance.batch import batch_of
from conformance.budget import CALL, VECTOR, Budget, Share
from conformance.cases.perturb import near
from conformance.cases.sweep.rules import broken
from conformance.cases.sweep.sweep_model import case_of
from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.elements import Layout
from conformance.diagnosis.features import cells, cells_read, grouped
from conformance.diagnosis.sample import Sample
from conformance.errors import UsageError
from conformance.judging.comparison import defined
from conformance.judging.judge import answer_to, judge
from conformance.operators import disputed_of, operator_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.progress import Found, Progress
from conformance.record.report import FAILURES, Verdict
from conformance.record.why import Raised, Why
from conformance.vector import Case, Combination, Outputs, Vector, outputs_of

_OF_A_CASE = re.compile(r"\w*(\[[^]]*(\]|$)|\([^)]*(\)|$))|-?\d+(\.\d+)?")
"""What texts of exceptions say of one case alone: lists, of whatever type, and numbers."""


@dataclass(eq=False)
class Laboratory:
    """Asks a backend about cases that were made up, for so many `steps` of a budget.

    `readings` gives those of disputed clauses that the backend follows in a vector; those `assumed`
    are required. Where causes that are `known` already show, nothing new is told. Invalid cases
    are made of `valid` ones where there are no vectors to make them of. All work is counted in the
    `budget`. Several hangs and crashes end the experiments, too: each costs a start.
    """

    runner: Runner
    readings: Callable[[Vector], Combination]
    assumed: Combination = field(default_factory=dict)
    _: KW_ONLY
    failing: tuple[Verdict, ...] = FAILURES
    budget: Budget = field(default_factory=Budget)
    steps: int = field(default_factory=lambda: limits.STEPS_OF_EXPERIMENTS)
    seed: int = 0
    known: Sequence[Claim] = ()
    valid: Sequence[Case] = ()
    progress: Progress | None = None
    found: Found | None = None

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.about: set[str] = set()
        """Disputed clauses of the failures of which it is not known what the backend follows."""
        self._share = self.budget.share(self.steps)
        self._lost: Counter[Kind] = Counter()
        self._ended = ""
        self._told: set[str] = set()
        self._asked: set[str] = set()

    def tell(self, cause: str) -> None:
        """Tell who wants to know, once, of a cause that is confirmed."""
        if self.found is not None and cause not in self._told:
            self.found(cause)
        self._told.add(cause)

    @property
    def is_over(self) -> bool:
        """Whether the backend is not to be asked any more."""
        return bool(self.ended)

    @property
    def ended(self) -> str:
        """Why the backend is not to be asked any more; "" if it can be."""
        if self.budget.is_late:
            return f"the {self.budget.seconds:g} seconds that --diagnose-seconds allows are over"
        return self._ended or ("search limit reached" if self._share.is_spent else "")

    def begin(self, steps: int) -> None:
        """Let the work begin now: so many steps, and no more than it may do in all."""
        self._share = self.budget.share(min(steps, self.steps))

    def share(self, steps: float) -> Share:
        """Return a part of the work that is left."""
        return self._share.part(steps)

    def vector(self, case: Case | None) -> Vector | None:
        """Return a case with its outcomes; None if an answer to it would tell nothing.

        That is where the bound tells nothing, or where a disputed clause of the geometry applies of
        which it is not known which reading the backend follows, unless failures are `about` it; nor
        is a case asked twice, or one whose expected values take seconds.
        """
        if case is None or case.id in self._asked or _is_heavy(case):
            return None
        self.budget.spend(VECTOR)
        operator, vector = operator_named(case.operator), vector_of(case).under(self.assumed)
        if not is_judgeable(operator, vector):
            return None
        open_clauses = self.open_clauses(vector)
        geometric = {clause.name for clause in disputed_of(operator) if clause.is_geometric}
        return None if (open_clauses & geometric) - self.about else vector

    def open_clauses(self, vector: Vector) -> set[str]:
        """Return the disputed clauses of a vector of which it is not known what is followed."""
        disputed = {clause.name for clause in disputed_of(operator_named(vector.case.operator))}
        return disputed.intersection(vector.clauses) - self.readings(vector).keys()

    def near(
        self, *bases: Sequence[Vector], tells: Callable[[Case], bool] | None = None
    ) -> Iterator[Vector | None]:
        """Yield vectors near those of one group after the other, in turn, until the work is done.

        None stands for a draw of which nothing came, so that draws can be counted, and for a case
        that does not tell anything: that costs less to say than what is expected of it. The lighter
        a vector is, the more often it is drawn near.
        """
        groups = [sorted(group, key=cells) for group in bases if group]
        every = [vector for group in reversed(bases) for vector in group]
        while groups and not self.is_over:
            for group in groups:
                base = group[int(len(group) * self.rng.random() ** 2)]
                case = self._near(base.case, every)
                is_left_out = tells is not None and case is not None and not tells(case)
                yield None if is_left_out else self.vector(case)

    def ask(self, vectors: Sequence[Vector]) -> list[Sample]:
        """Return what the backend makes of vectors; those of no answer are left out.

        That are those that it does not support, those that take long, and those that end it.
        """
        self._asked.update(vector.case.id for vector in vectors)
        samples: list[Sample] = []
        for alike in grouped(vectors, lambda vector: vector.case.operator).values():
            if self.is_over:
                break
            batch, answers = batch_of(alike), Answers.none_yet(len(alike))
            self.budget.spend(CALL * len(alike))
            try:
                with self.runner.within(limits.PATIENCE):
                    self.runner.run(batch, answers, lambda _: None)
            except (Stopped, UsageError):
                self._ended = "the backend could not be started again"
            self._lost.update(answers.kind)
            # It might have come with more patience; and an earlier call may be what broke memory.
            lost = {CRASHED, TIMED_OUT}
            answers.kind = [NOT_RUN if kind in lost else kind for kind in answers.kind]
            crashes, hangs = self._lost[CRASHED], self._lost[TIMED_OUT]
            if crashes >= limits.CRASHES or hangs >= limits.HANGS:
                self._ended = f"the backend crashed or hung {crashes + hangs} times"
            for number, vector in enumerate(alike):
                sample = sample_of(vector, answers.at(number), self.failing)
                # An exception that an undefined element excuses says nothing of the rest.
                if sample and (sample.failed or sample.outputs is not None or not vector.values):
                    samples.append(sample)
        if self.progress is not None:
            steps = int(self._share.steps)
            self.progress("steps of experiments", steps - int(self._share.left), steps)
        return samples

    def _near(self, case: Case, others: Sequence[Vector]) -> Case | None:
        if "invalid" not in case.tags:
            return near(case, self.rng)
        # What breaks a rule is made of what is valid: the same rule, or another one.
        valid = [
            other
            for other in (*(o.case for o in others if o.values), *self.valid)
            if other.operator == case.operator
        ]
        base = near(valid[int(self.rng.integers(len(valid)))], self.rng) if valid else None
        if base is None:
            return None
        with np.errstate(invalid="ignore"):  # data of another type may be too small for a NaN
            ways = [*broken(operator_named(case.operator), base.attributes, base.inputs)]
        same = [way for way in ways if f"{way.what}: {way.how}" in case.tags]
        if same and self.rng.random() < 2 / 3:
            ways = same
        way = ways[int(self.rng.integers(len(ways)))]
        tags = ("invalid", f"{way.what}: {way.how}")
        return case_of(case.operator, way.attributes, way.inputs, pattern="invalid", tags=tags)


def _is_heavy(case: Case) -> bool:
    """Say whether windows read too many cells, or give too many, as numbers of the call say."""
    if cells_read(case) > limits.HEAVIEST:
        return True
    return prod(Layout(Vector(case, ()), {}).shape) > limits.MOST_OUTPUTS


def sample_of(
    vector: Vector, answer: Answer, failing: tuple[Verdict, ...] = FAILURES
) -> Sample | None:
    """Judge the answer to a vector, whatever readings were required.

    None where none came, and for outputs with more elements than are looked at.
    """
    returned = arrays_of(answer.outputs)
    if answer.kind in {NOT_RUN, UNSUPPORTED} or (answer.kind == ARRAY and returned is None):
        return None
    judged = judge(vector, answer, {})
    failed, comparison = judged.verdict in failing, judged.comparison
    if returned is None or comparison is None or not vector.values:
        outputs = None if returned is None else outputs_of(returned)
        return Sample(vector, outputs, failed, raised=_kind_of(answer.why))
    outputs = outputs_of(returned)
    nearest = comparison.nearest(vector.values)
    if len(outputs) > len(nearest.outputs) or not all(
        comparison.differing(nearest, number) for number in range(len(outputs))
    ):
        return Sample(vector, outputs, failed)
    if not failed:
        vector = vector.of_first(len(outputs))
    found, *others = (comparison.where_wrong(nearest, number) for number in range(len(outputs)))
    wrong, of_document = found & failed, defined(nearest.outputs[0]).reshape(found.shape)
    if not failed or wrong.any():
        return Sample(vector, outputs, failed, wrong, of_document)
    further = next((each for each in others if each.any() and each.size == wrong.size), None)
    if further is None:
        return Sample(vector, outputs, failed)
    return Sample(vector, outputs, failed, wrong, of_document, further.reshape(wrong.shape))


def _kind_of(why: Why | None) -> str:
    """Return what an exception has in common with others of its kind."""
    return _OF_A_CASE.sub("…", f"{why.type}: {why.text}") if isinstance(why, Raised) else ""


def samples_from(pairs: Sequence[tuple[Vector, Outputs | None]]) -> list[Sample]:
    """Return as samples what a backend returned for vectors; None stands for an exception."""
    samples = (sample_of(vector, answer_to(vector, returned)) for vector, returned in pairs)
    return [sample for sample in samples if sample is not None]


def as_expected(vector: Vector) -> Sample:
    """Return a vector that conforms as a sample, with the outputs that are expected."""
    if not vector.values:
        return Sample(vector, None, failed=False)
    outputs = vector.values[0].outputs
    shape = outputs[0].values.shape
    return Sample(
        vector,
        tuple(output.values for output in outputs),
        failed=False,
        wrong=np.zeros(shape, np.bool_),
        defined=defined(outputs[0]).reshape(shape),
    )
