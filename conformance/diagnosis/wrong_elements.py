"""Rules about elements as hypotheses: values may hide that some of the elements are wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

import numpy as np

from conformance.diagnosis.hypothesis import Bools, Hypothesis, Sample
from conformance.diagnosis.rules import OF_ELEMENTS, Rule
from conformance.vector import Vector

_WHOLE = 0.9
_LEAST = 0.04
_CHANCE = 0.001
"""That no element of a case is wrong: cases in which that is likelier tell less."""


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """A rule of which about so large a `share` of the elements marked is wrong, and no others."""

    rule: Rule
    share: float

    @property
    def words(self) -> str:
        """What is wrong; see Hypothesis."""
        instead = self.rule.instead
        return self.rule.words + ("" if instead is None else f": they are {instead.words}")

    @property
    def is_whole(self) -> bool:
        """Whether all elements are wrong, as a rule."""
        return not self.rule.some

    def is_telling(self, vector: Vector) -> bool:
        """Say whether a case tells something: no element may be wrong, or one of many is."""
        marked = self.rule.wrong(vector)
        if marked is None or not marked.any():
            return True
        return int(marked.sum()) * -log(1 - min(self.share, _WHOLE)) >= -log(_CHANCE)

    def may_hide_in(self, vector: Vector) -> bool:
        """Say whether equal values may hide that elements are wrong, where it says they are.

        Not where it says of one what it is, and that this is not what is right.
        """
        if self.rule.instead is None or not self.is_whole:
            return True
        told = self.rule.shown(vector, told=True)
        return told is None or not told.any()

    def fails(self, vector: Vector) -> bool:
        """See Hypothesis."""
        return self.rule.fails(vector)

    def predicts(self, sample: Sample) -> bool:
        """See Hypothesis."""
        if not self.is_whole and self.fails(sample.vector):
            return self.holds(sample)
        return self.rule.predicts(sample)

    def holds(self, sample: Sample) -> bool:
        """Say whether elements are wrong, and none but those that may be."""
        sample = self.rule.seen(sample)
        wrong, marked = sample.wrong, self._marked(sample)
        if wrong is None or marked is None:
            return False
        return bool(wrong.any() and not (wrong & ~marked).any())

    def explains(self, sample: Sample) -> bool:
        """See Hypothesis."""
        return self.holds(sample)

    def share_of(self, sample: Sample) -> float:
        """Return the share of the elements marked that are wrong in a sample."""
        sample = self.rule.seen(sample)
        wrong, marked = sample.wrong, self._marked(sample)
        if wrong is None or marked is None:
            return 0.0
        return float((wrong & marked).sum() / max(1, marked.sum()))

    def _marked(self, sample: Sample) -> Bools | None:
        marked = self.rule.wrong(sample.vector)
        same = (
            marked is not None and sample.wrong is not None and marked.shape == sample.wrong.shape
        )
        return marked if same else None


def of_elements(rule: Rule, samples: Iterable[Sample]) -> Hypothesis:
    """Return a rule about elements with the share that is wrong in samples; any other as it is."""
    if rule.manner not in OF_ELEMENTS:
        return rule
    whole = Elements(rule, 1.0)
    shares = [whole.share_of(sample) for sample in samples if whole.holds(sample)]
    return Elements(rule, max(_LEAST, float(np.quantile(shares, 0.1)) if shares else 1.0))
