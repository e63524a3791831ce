"""What is known of a backend while causes are looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from conformance.diagnosis import limits
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Bools, Sample
from conformance.diagnosis.trial import Trial
from conformance.faults.fault import Fault
from conformance.vector import Vector


class Knowledge:
    """Samples of the run of a backend, what it made of held-out cases, and the causes so far.

    Causes are made of `failing` and `conforming`; what is confirmed is held against `others` as
    well, which conform.
    """

    def __init__(
        self,
        laboratory: Laboratory,
        predictions: Predictions,
        failing: Sequence[Sample],
        conforming: Sequence[Sample],
        others: Sequence[Sample],
        candidates: Candidates,
    ) -> None:
        self.laboratory = laboratory
        self.predictions = predictions
        self.failing = failing
        self.conforming = conforming
        self.others = others
        self.candidates = candidates
        self.operators = list(
            dict.fromkeys(s.vector.case.operator for s in (*failing, *conforming, *others))
        )
        raised = Counter(sample.raised for sample in failing if sample.raised)
        self._raised = {kind for kind, count in raised.items() if count >= limits.SHARED}
        self.fresh: list[Sample] = []
        self.refuting: list[Sample] = []
        """Fresh samples that refuted a rule."""
        self.rivals: Sequence[Fault] = ()
        """Faults that may be there besides the one that is held against cases."""
        self.confirmed: list[Trial] = []
        self.supposed: list[Trial] = []
        """Faults that another cause may hide, not found yet, where they were refuted."""
        self.standing: list[Trial] = []
        """Faults, not confirmed, that stand: nearly all held-out cases bear them out, or none can
        be drawn."""
        self._given = [*map(self.trial, laboratory.known)]

    def trial(self, claim: Claim) -> Trial:
        """Return a claim that is to be held against cases."""
        return Trial(claim, self.predictions, self.rivals, self._raised)

    @property
    def causes(self) -> list[Trial]:
        """The causes that are known or supposed."""
        return [*self._given, *self.confirmed, *self.supposed, *self.standing]

    @property
    def left(self) -> list[Sample]:
        """The failures that no cause explains."""
        return [sample for sample in self.failing if not self.is_explained(sample)]

    def confirm(self, trial: Trial) -> None:
        """Take a cause for true, until more is known."""
        self.confirmed.append(trial)
        self.laboratory.tell(trial.claim.words)

    def is_explained(self, sample: Sample) -> bool:
        """Say whether a cause explains a failure."""
        return any(trial.explains(sample) for trial in self.causes)

    def is_explained_otherwise(self, vector: Vector) -> bool:
        """Say whether a cause shows on a case, which then tells less of others."""
        return any(trial.fails(vector) for trial in self.causes)

    def shown_beside(self, claim: Claim, most: int) -> list[Sample]:
        """Return failures of the run on which a claim and a cause show, at most so many."""
        both = (
            sample
            for sample in self.failing
            if self.predictions.fails(claim, sample.vector)
            and self.is_explained_otherwise(sample.vector)
        )
        return list(islice(both, most))

    def unmarked(self, vector: Vector) -> Bools | None:
        """Mark the elements of the first output of which no cause says that they are wrong.

        None where a cause does not say so of elements.
        """
        left: Bools | None = None
        for trial in self.causes:
            if not trial.fails(vector):
                continue
            marked = self.predictions.marked(trial.claim, vector)
            if marked is None:
                return None
            left = ~marked if left is None else left & ~marked
        return left

    def shown(self, claim: Claim, most: int) -> list[Sample]:
        """Return failures of the run that a claim predicts, at most so many."""
        predicted = (s for s in self.failing if self.predictions.predicts(claim, s))
        return list(islice(predicted, most))
