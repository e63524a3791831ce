"""The faults that may explain a failure: those with names, and whatever atoms enumerate.

And faults of numbers that no atom can list: those that wrong elements have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.elements import Layout, layout_of
from conformance.diagnosis.features import thinned
from conformance.diagnosis.named_causes import of_fault
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.reproduce import Observation
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.substitutes import Instead
from conformance.dtypes import name_of
from conformance.faults.atoms import KINDS, cells, enumerated, numbers
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault, Together
from conformance.operators import operator_named
from conformance.operators.operator import Operator
from conformance.reference.rounding import Doubles, equal_numbers, widen
from conformance.vector import Vector

_Kind = Callable[[Doubles, Doubles, Doubles], Doubles]
"""Numbers made of what was returned, what was expected, and the divisors."""
_Maker = Callable[[float, str], Iterator[Fault]]
"""Faults made of a number, and of it in words."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The faults that are tried, but for those that are `left_out`, and those `refuted`.

    What is the cause in other operators comes `first`, and perhaps `alone`, then faults of a
    catalogue, then whatever atoms make, and those made of numbers that failures have in `common`.
    """

    catalogue: Sequence[Fault] = CATALOGUE
    first: Sequence[Claim] = ()
    common: Sequence[Fault] = ()
    left_out: Container[Together] = ()
    refuted: Container[Together] = ()
    alone: bool = False

    @property
    def known(self) -> list[Together]:
        """Those that other operators have."""
        return [*dict.fromkeys(claim.faults for claim in self.first if claim.faults)]

    @property
    def named(self) -> list[Fault]:
        """Those of the catalogue whose answers do not depend on earlier calls."""
        known = [fault for fault in self.catalogue if not fault.remembers]
        return [fault for fault in known if self._is_tried((fault,))]

    def of_atoms(self, observation: Observation) -> Iterator[Together]:
        """Yield what atoms enumerate that may explain a failure."""
        return self.every(observation.operator, kinds_for(observation))

    def of_common_numbers(self, operator: Operator) -> Iterator[Together]:
        """Yield those made of numbers that failures have in common, which an operator may have."""
        for fault in self.common:
            if fault.concerns(operator) and self._is_tried((fault,)):
                yield (fault,)

    def every(
        self, operator: Operator, kinds: tuple[str, ...] = tuple(KINDS)
    ) -> Iterator[Together]:
        """Yield all that atoms enumerate, of some kinds, which an operator may have."""
        # One of the catalogue may say the same of other operators alone.
        said = _words(tuple(self.catalogue), operator)
        for fault in enumerated(operator, kinds):
            if fault.summary not in said and self._is_tried((fault,)):
                yield (fault,)

    def _is_tried(self, faults: Together) -> bool:
        return not self.alone and faults not in self.left_out and faults not in self.refuted


def kinds_for(observation: Observation) -> tuple[str, ...]:
    """Return the kinds of faults that may explain a failure, the likelier ones first."""
    vector, got = observation.vector, observation.outputs
    if not vector.values:
        return ("calls",)
    own = ("gradients",) if observation.operator.is_gradient else ()
    if not got:  # windows that are more or fewer than their gradients raise one
        return ("calls", "shapes") if own else ("calls",)
    first, right = got[0], vector.values[0].outputs[0].values
    if (first.shape, first.dtype) != (right.shape, right.dtype):
        return ("shapes", *own, "indices", "calls")
    returned, expected = widen(first), widen(right)
    if len(got) > 1 and equal_numbers(returned, expected).all():
        return ("indices", "shapes", "calls")
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(returned - expected) > limits.NEAR * np.abs(expected)
    # Of large cases, what goes by the number of an entry is likeliest to be wrong.
    order = (
        ("entries", "shapes", "numbers", "places") if off.any() else ("numbers", "places", "shapes")
    )
    return (*order[:1], *own, *order[1:], "calls")


@lru_cache(maxsize=128)
def _words(faults: tuple[Fault, ...], operator: Operator) -> frozenset[str]:
    return frozenset(fault.summary for fault in faults if fault.concerns(operator))


def faults_instead(
    left: Sequence[Sample], candidates: Candidates, predictions: Predictions
) -> list[Instead]:
    """Return what faults make of all that is wrong in failures, though not of all that is right."""
    sample = [s for s in thinned(left, limits.LOOKED_AT) if s.wrong is not None and s.outputs]
    sample = sorted((s for s in sample if _weight(s) <= limits.LARGEST_OUTPUT), key=_weight)
    share = predictions.budget.share(limits.STEPS_OF_INSTEAD)
    every: list[Together] = [(fault,) for fault in of_common_numbers(sample, predictions.readings)]
    for operator in {operator_named(s.vector.case.operator) for s in sample}:
        every += candidates.every(operator)
    fitting = [of_fault(faults, predictions) for faults in every]
    for failure in sample:
        layout = predictions.layout(failure.vector)
        kept = []
        for each in fitting:
            alike, told = each.matches(failure, layout)
            if 0 < told == alike and not share.is_spent:
                kept.append(each)
        fitting = kept
    return fitting


def _weight(sample: Sample) -> int:
    """Return how many cells a case and what a backend made of it have, about."""
    returned = sample.outputs[0].size if sample.outputs else 0
    return max(returned, sample.vector.case.data.size)


def of_common_numbers(
    samples: Sequence[Sample], readings: Callable[[Vector], Mapping[str, str]]
) -> Iterator[Fault]:
    """Yield faults in which numbers occur that many wrong elements have in common.

    `readings` says which ones the backend follows on a vector.
    """
    for kind, make in _KINDS:
        seen = Counter(
            chain.from_iterable(
                _numbers(sample, layout_of(sample.vector, readings(sample.vector)), kind)
                for sample in samples
            )
        )
        for value, count in seen.most_common(limits.COMMON_NUMBERS):
            if count >= limits.FEWEST_ALIKE:
                yield from _faults_of(make, value)


def _numbers(sample: Sample, layout: Layout, kind: _Kind) -> list[float]:
    """Return the numbers of a kind that occur in the wrong elements of a failure."""
    if sample.wrong is None or sample.outputs is None or not sample.wrong.any():
        return []
    if layout.plan is None or layout.shape != sample.wrong.shape:
        return []
    exact = kind is _returned
    if not exact and name_of(layout.data.dtype) not in {"float32", "float64"}:
        return []  # rounding errors are too large
    of_windows = not layout.operator.is_gradient
    divisors = np.broadcast_to(layout.plan.divisor if of_windows else 1, layout.shape)[sample.wrong]
    returned = widen(sample.outputs[0])[sample.wrong]
    expected = widen(layout.expected.values)[sample.wrong]
    with np.errstate(all="ignore"):
        numbers = kind(returned, expected, divisors.astype(np.float64))
    numbers = numbers[np.isfinite(numbers)]
    kept = (
        numbers if exact else [float(f"{number:.{limits.DIGITS}g}") for number in numbers.tolist()]
    )
    return sorted(set(map(float, kept)))


def _returned(returned: Doubles, _expected: Doubles, _divisors: Doubles) -> Doubles:
    return returned


def _bits(returned: Doubles, expected: Doubles, _divisors: Doubles) -> Doubles:
    """Return how many bits are right at least, and one more: so many are left by rounding."""
    right = np.floor(-np.log2(np.abs(returned / expected - 1).max()))
    return right + np.arange(2) if 0 < right < limits.BITS else np.zeros(0)


_KINDS: tuple[tuple[_Kind, _Maker], ...] = (
    (_returned, numbers.of_number),
    (_returned, cells.of_number),
    (lambda returned, expected, _divisors: returned / expected, numbers.of_factor),
    (lambda returned, expected, _divisors: returned - expected, numbers.of_shift),
    (
        lambda returned, expected, divisors: divisors * (expected / returned - 1),
        numbers.of_divisor_shift,
    ),
    (_bits, numbers.of_bits),
)


@lru_cache(maxsize=1024)  # numbers are those of a backend: there is no end of them
def _faults_of(make: _Maker, value: float) -> tuple[Fault, ...]:
    return tuple(make(value, f"{value:g}"))
