"""Supposed causes held against the live backend: fresh cases confirm or refute them.

A hypothesis is held against fresh cases near those that failed and near those that conform, drawn
after it was made: the cases that it says the backend fails have to fail just as it says, and all
others have to be right. Catalogued faults come first, those that reproduce some failures. Where
the backend has a fault in some such cases and is right in others, the rule that tells them apart is
learned, and held against fresh cases in turn. For failures left over rules of their own are
learned, again and again with the samples that refuted those before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from conformance.diagnosis.hypothesis import Hypothesis, Sample
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.planting import FaultHypothesis, Planting, Together
from conformance.faults.fault import Fault
from conformance.vector import Vector

CONFIRMING = 40
"""Fresh cases on which a cause has to show, all as predicted."""
_AT_ONCE = 8
_BASES = 60
_ROUNDS = 6
_MOST_CAUSES = 3
_DRAWS = 1200
"""Fresh cases that are drawn for one cause, at most."""
_SECONDS = 8.0
"""For one cause, at most."""
_QUIET = 12
"""Fresh cases at least on which it does not show."""
_FEW = 6
"""Cases on which a fault has to show before a condition is learned for it."""


@dataclass(slots=True, eq=False)
class Trial:
    """A hypothesis and the fresh cases that it was held against.

    Of the cases on which it shows, `predicted` are those that it predicted; `absent` are those on
    which the backend is right, and `other` those on which it fails in another way. Of the cases on
    which it does not show, the backend is right in `quiet` and fails in `strays`.
    """

    hypothesis: Hypothesis
    predicted: list[Sample] = field(default_factory=list)
    absent: list[Sample] = field(default_factory=list)
    other: list[Sample] = field(default_factory=list)
    quiet: int = 0
    strays: list[Sample] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """How many fresh cases there were on which it shows."""
        return len(self.predicted) + len(self.absent) + len(self.other)

    @property
    def is_refuted(self) -> bool:
        """Whether it predicted something else than what the backend did."""
        return bool(self.absent or self.other)

    @property
    def is_confirmed(self) -> bool:
        """Whether enough fresh cases went as predicted, and none otherwise."""
        return not self.is_refuted and len(self.predicted) >= CONFIRMING

    def see(self, sample: Sample, rivals: Sequence[Fault]) -> None:
        """Hold it against a fresh case; `rivals` are faults that may be there besides."""
        hypothesis = self.hypothesis
        if not hypothesis.fails(sample.vector):
            if sample.failed:
                self.strays.append(sample)
            else:
                self.quiet += 1
        elif hypothesis.predicts(sample) or (
            isinstance(hypothesis, FaultHypothesis) and hypothesis.predicts_with(rivals, sample)
        ):
            self.predicted.append(sample)
        else:
            (self.other if sample.failed else self.absent).append(sample)


Learn = Callable[[Sequence[Sample], int], Sequence[Hypothesis]]
"""Learns rules that tell failures from what conforms, given a seed."""


class Experiments:
    """The experiments on one backend; `failing` and `conforming` are samples of its run."""

    def __init__(
        self,
        laboratory: Laboratory,
        planting: Planting,
        failing: Sequence[Sample],
        conforming: Sequence[Sample],
        learn: Learn,
    ) -> None:
        self._laboratory = laboratory
        self._planting = planting
        self._failing = failing
        self._conforming = conforming
        self._learn = learn
        self.confirmed: list[Trial] = []
        self.fresh: list[Sample] = []

    def on_faults(self, suspects: Sequence[Sequence[Together]]) -> list[Trial | None]:
        """Return for each suspect, given by its faults and alternatives to them, what it came to.

        The first alternative that is confirmed is taken; None where none is. Suspects that explain
        only what those confirmed do are not tried.
        """
        rivals = list(dict.fromkeys(fault for faults, *_ in suspects for fault in faults))
        tried: list[Trial | None] = []
        for alternatives in suspects:
            trial = None
            for faults in alternatives if len(self.confirmed) < _MOST_CAUSES else ():
                if self._laboratory.is_over:
                    break
                trial = self._on_fault(faults, rivals)
                if trial is not None:
                    self.confirmed.append(trial)
                    break
            tried.append(trial)
        return tried

    def on_rules(self) -> list[Trial]:
        """Return rules for the failures that no confirmed cause explains."""
        rules: list[Trial] = []
        while len(self.confirmed) < _MOST_CAUSES and not self._laboratory.is_over:
            trial = self._on_rule()
            if trial is None:
                break
            rules.append(trial)
            self.confirmed.append(trial)
        return rules

    def left(self) -> list[Sample]:
        """Return the failures of the run that no confirmed cause explains."""
        return [s for s in self._failing if not self._is_explained(s)]

    def _is_explained(self, sample: Sample) -> bool:
        return any(trial.hypothesis.predicts(sample) for trial in self.confirmed)

    def _on_rule(self) -> Trial | None:
        """Learn a rule, hold it against fresh cases, and learn again with those that refute it."""
        left = self.left()
        known = [
            s
            for s in (*left, *self._conforming, *self.fresh)
            if not self._is_explained_otherwise(s.vector)
        ]
        best: Trial | None = None
        for _ in range(_ROUNDS if left else 0):
            if self._laboratory.is_over:
                break
            for rule in self._learn(known, self._laboratory.seed)[:2]:
                trial = self._tried(rule, [s for s in left if rule.predicts(s)], ())
                known += [*trial.predicted, *trial.absent, *trial.other, *trial.strays]
                if trial.is_confirmed:
                    best = trial
                    if not trial.strays:
                        return best
            else:
                break
        return best

    def _on_fault(self, faults: Together, rivals: Sequence[Fault]) -> Trial | None:
        """Hold faults, planted together, against fresh cases; return how they were confirmed.

        `rivals` are other faults that may be there besides.
        """
        hypothesis = FaultHypothesis(faults, self._planting)
        explained = [s for s in self._failing if hypothesis.predicts(s)]
        absent = [s for s in self._conforming if hypothesis.fails(s.vector)]
        trial = self._tried(hypothesis, explained, rivals) if not absent else None
        for _ in range(_ROUNDS if trial is None or trial.absent else 0):
            if trial is not None:
                explained += trial.predicted
                absent += trial.absent
            if (trial is not None and trial.other) or len(explained) < _FEW:
                return None
            for condition in self._conditions(explained, absent):
                trial = self._tried(
                    FaultHypothesis(faults, self._planting, condition), explained, rivals
                )
                if not trial.absent:
                    break
            else:
                return None
        return trial if trial is not None and trial.is_confirmed else None

    def _conditions(
        self, explained: Iterable[Sample], absent: Iterable[Sample]
    ) -> Sequence[Hypothesis]:
        """Return what may tell cases in which a fault is there from those in which it is not."""
        cases = [Sample(s.vector, None, failed=True) for s in explained]
        cases += [Sample(s.vector, None, failed=False) for s in absent]
        return self._learn(cases, self._laboratory.seed)[:2]

    def _tried(
        self, hypothesis: Hypothesis, explained: Sequence[Sample], rivals: Sequence[Fault]
    ) -> Trial:
        """Hold a hypothesis against fresh cases until it is confirmed or refuted."""
        laboratory, trial = self._laboratory, Trial(hypothesis)
        until = perf_counter() + _SECONDS
        bases = [s.vector for s in _spread(explained)]
        others = [s.vector for s in _spread([*self._failing, *self._conforming])]
        waiting: list[Vector] = []
        for draws, vector in enumerate(laboratory.near(bases, others)):
            if draws >= _DRAWS or perf_counter() > until:
                break
            if vector is None or self._is_explained_otherwise(vector):
                continue
            shows = hypothesis.fails(vector)
            if not shows and trial.quiet + len(trial.strays) > _QUIET + trial.asked:
                continue
            waiting.append(vector)
            if len(waiting) < _AT_ONCE:
                continue
            self._see(trial, waiting, rivals)
            waiting = []
            if trial.is_refuted and trial.asked >= _AT_ONCE:
                break
            if trial.is_confirmed and trial.quiet + len(trial.strays) >= _QUIET:
                break
        if not trial.is_refuted:
            self._see(trial, waiting, rivals)
        return trial

    def _see(self, trial: Trial, vectors: Sequence[Vector], rivals: Sequence[Fault]) -> None:
        samples = self._laboratory.ask(vectors)
        self.fresh += samples
        for sample in samples:
            trial.see(sample, rivals)

    def _is_explained_otherwise(self, vector: Vector) -> bool:
        """Say whether a cause that is confirmed shows on a case, which then tells less."""
        return any(trial.hypothesis.fails(vector) for trial in self.confirmed)


def _spread(samples: Sequence[Sample]) -> list[Sample]:
    step = -(-len(samples) // _BASES) or 1
    return list(samples[::step])
