"""What is known of a backend while causes are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.hypothesis import Bools, Hypothesis, Sample
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.planting import FaultHypothesis, Planting
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.wrong_elements import Elements
from conformance.vector import Vector


class Knowledge:
    """Samples of the run of a backend, what it made of fresh cases, and the causes so far.

    Causes are made of `failing` and `conforming`; what is confirmed is held against `others` as
    well, which conform.
    """

    def __init__(
        self,
        laboratory: Laboratory,
        planting: Planting,
        failing: Sequence[Sample],
        conforming: Sequence[Sample],
        others: Sequence[Sample] = (),
        *,
        candidates: Candidates = Candidates(),  # noqa: B008 - it is frozen
    ) -> None:
        self.laboratory = laboratory
        self.planting = planting
        self.failing = failing
        self.conforming = conforming
        self.others = others
        self.candidates = candidates
        self.operators = list(
            dict.fromkeys(s.vector.case.operator for s in (*failing, *conforming, *others))
        )
        self.fresh: list[Sample] = []
        self.refuting: list[Sample] = []
        """Fresh samples that refuted a rule."""
        self.confirmed: list[Trial] = []
        self.supposed: list[Trial] = []
        """Faults that another cause may hide, not found yet, where they were refuted."""
        self.mostly: list[Trial] = []
        """Faults of which nearly all fresh cases went as predicted."""
        self._given = [Trial(FaultHypothesis(faults, planting)) for faults in laboratory.known]

    @property
    def causes(self) -> list[Trial]:
        """The causes that are known or supposed."""
        return [*self._given, *self.confirmed, *self.supposed, *self.mostly]

    @property
    def left(self) -> list[Sample]:
        """The failures that no cause explains."""
        return [sample for sample in self.failing if not self.is_explained(sample)]

    def confirm(self, trial: Trial) -> None:
        """Take a cause for true, until more is known."""
        self.confirmed.append(trial)
        self.laboratory.tell(trial.hypothesis.words)

    def is_explained(self, sample: Sample) -> bool:
        """Say whether a cause explains a failure."""
        return any(trial.explains(sample) for trial in self.causes)

    def is_explained_otherwise(self, vector: Vector) -> bool:
        """Say whether a cause shows on a case, which then tells less of others."""
        return any(trial.hypothesis.fails(vector) for trial in self.causes)

    def prepare(self, hypothesis: Hypothesis, vectors: Sequence[Vector]) -> None:
        """Work out for several vectors at once on which a hypothesis and the causes show."""
        for each in (hypothesis, *(trial.hypothesis for trial in self.causes)):
            if isinstance(each, FaultHypothesis):
                each.prepare(vectors)

    def shown_beside(self, hypothesis: Hypothesis, most: int) -> list[Sample]:
        """Return failures of the run on which a hypothesis and a cause show, at most so many."""
        both = (
            sample
            for sample in self.failing
            if hypothesis.fails(sample.vector) and self.is_explained_otherwise(sample.vector)
        )
        return list(islice(both, most))

    def unmarked(self, vector: Vector) -> Bools | None:
        """Mark the elements of the first output of which no cause says that they are wrong.

        None where a cause does not say so of elements.
        """
        left: Bools | None = None
        for trial in self.causes:
            if not trial.hypothesis.fails(vector):
                continue
            marked = (
                trial.hypothesis.rule.wrong(vector)
                if isinstance(trial.hypothesis, Elements)
                else None
            )
            if marked is None:
                return None
            left = ~marked if left is None else left & ~marked
        return left

    def shown(self, hypothesis: Hypothesis, most: int) -> list[Sample]:
        """Return failures of the run that a hypothesis predicts, at most so many."""
        return list(islice(filter(hypothesis.predicts, self.failing), most))
