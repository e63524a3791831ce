"""Rules for places of which only a part is wrong: which elements are depends on the values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

import numpy as np

from conformance.diagnosis.hypothesis import Bools, Sample
from conformance.diagnosis.rules import Rule
from conformance.vector import Vector

_WHOLE = 0.9
_LEAST = 0.04
_CHANCE = 0.001
"""That no element of a case is wrong: cases in which that is likelier tell nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Partly:
    """A rule of which about so large a `share` of the elements marked is wrong, and no others."""

    rule: Rule
    share: float

    @property
    def words(self) -> str:
        """What is wrong; see Hypothesis."""
        return f"{self.rule.words}; there, not every element is wrong"

    def wrong(self, vector: Vector) -> Bools | None:
        """Mark the elements that may be wrong; see Rule."""
        return self.rule.wrong(vector)

    def is_telling(self, vector: Vector) -> bool:
        """Say whether a case tells something: no element may be wrong, or one of many is."""
        marked = self.rule.wrong(vector)
        return marked is None or not marked.any() or self._are_enough(marked)

    def fails(self, vector: Vector) -> bool:
        """See Hypothesis."""
        marked = self.rule.wrong(vector)
        return marked is not None and self._are_enough(marked)

    def predicts(self, sample: Sample) -> bool:
        """See Hypothesis."""
        marked, wrong = self.rule.wrong(sample.vector), sample.wrong
        if marked is None or not marked.any():
            return not sample.failed
        if wrong is None or wrong.shape != marked.shape or (wrong & ~marked).any():
            return False
        return bool(wrong.any()) or not self._are_enough(marked)

    def _are_enough(self, marked: Bools) -> bool:
        return int(marked.sum()) * -log(1 - self.share) >= -log(_CHANCE)


def partly(rule: Rule, samples: Iterable[Sample]) -> Rule | Partly:
    """Return a rule as one for a part of its elements, if in samples that fail only a part is."""
    shares = []
    for sample in samples:
        marked = rule.wrong(sample.vector) if sample.failed else None
        if marked is not None and sample.wrong is not None and marked.shape == sample.wrong.shape:
            shares.append(float((sample.wrong & marked).sum() / max(1, marked.sum())))
    share = float(np.quantile(shares, 0.1)) if shares else 1.0
    if share >= _WHOLE or not all(rule.places):
        return rule
    return Partly(rule, max(share, _LEAST))
