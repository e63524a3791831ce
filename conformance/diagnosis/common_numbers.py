"""Faults of numbers that no atom can list: those that wrong elements have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from conformance.diagnosis import limits
from conformance.diagnosis.elements import Layout, layout_of
from conformance.diagnosis.sample import Sample
from conformance.dtypes import name_of
from conformance.faults.atoms import cells, numbers
from conformance.faults.fault import Fault
from conformance.reference.rounding import Doubles, widen
from conformance.vector import Vector

Kind = Callable[[Doubles, Doubles, Doubles], Doubles]
"""Numbers made of what was returned, what was expected, and the divisors."""
Maker = Callable[[float, str], Iterator[Fault]]
"""Faults made of a number, and of it in words."""


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


def _numbers(sample: Sample, layout: Layout, kind: Kind) -> list[float]:
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


_KINDS: tuple[tuple[Kind, Maker], ...] = (
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
def _faults_of(make: Maker, value: float) -> tuple[Fault, ...]:
    return tuple(make(value, f"{value:g}"))
