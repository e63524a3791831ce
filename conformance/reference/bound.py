"""How far from the expected value a sound backend may be, for any order of summation.

docs/numerics.md proves the bound. In short, with u the unit roundoff of the arithmetic, m
non-zero addends, r spatial axes, K = m + 2r and M = sum|x| / divisor:

    |got - exact| <= gamma(K) M + underflow,    gamma(K) = K u / (1 - K u)

to which half an ulp is added, since a file holds the exact value rounded once. A backend that
sums half types in float32 or wider (`accumulator` "wider") is held to float32's gamma plus its
final rounding; one that sums in the element type itself to that type's gamma, and its sums may
overflow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FloatFormat, float_format, name_of
from conformance.reference.rounding import widen
from conformance.vector import Array

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

# The bound is computed in doubles: a few roundings, each of 2**-53.
_SLACK = 1.0 + 2.0**-48
# How few bits of a bound may be left before it says too little to judge by.
_MEANINGFUL = 0.5


def wider_format(name: str) -> FloatFormat:
    """Return the narrowest format that counts as a wider accumulator for an element type."""
    return float_format("float32" if name in {"float16", "bfloat16"} else name)


def is_meaningful(addends: int, axes: int, name: str) -> bool:
    """Say whether the bound for an element-type accumulator still tells right from wrong."""
    return (addends + 2 * axes) * float_format(name).unit <= _MEANINGFUL


def tolerance(
    expected: Array,
    addends: Counts,
    magnitude: Doubles,
    axes: int | npt.NDArray[np.integer],
    *,
    average: bool,
    element_type: bool | npt.NDArray[np.bool_] = False,
    flushed: bool | npt.NDArray[np.bool_] = False,
) -> Doubles:
    """Return the largest |got - expected| that conforms, per element of flat columns.

    `expected` is rounded to the element type and of a floating-point type. `element_type` and
    `flushed` are the readings of the clauses accumulator and subnormals, for all elements or
    each. Elements that are not finite have tolerance 0: they are compared by kind.
    """
    fmt = float_format(name_of(expected.dtype))
    wide_expected = widen(expected)
    size = np.where(np.isfinite(wide_expected), np.abs(wide_expected), 0.0)
    if not average:
        # Where subnormals count as zero, any subnormal of the window may come out for another.
        loose = np.where(size < fmt.smallest_normal, 2 * fmt.smallest_normal, 0.0)
        return np.where(flushed, loose, 0.0)
    wide = wider_format(fmt.name)
    k = addends + 2.0 * np.asarray(axes)
    rounding = fmt.unit * size + fmt.smallest / 2  # of the stored value
    own = gamma(k, fmt.unit) * magnitude + (k + 1) * fmt.smallest
    if wide.name == fmt.name:
        bound = own
    else:
        once = fmt.unit * (1 + 4 * fmt.unit) * size + fmt.smallest  # of the backend's result
        summed = gamma(k, wide.unit) * magnitude * (1 + fmt.unit) + (k + 1) * wide.smallest
        bound = np.where(element_type, own, once + summed)
    flush = np.where(flushed, (2 * k + 2) * fmt.smallest_normal, 0.0)
    result: Doubles = (bound + rounding + flush) * _SLACK
    return np.where(np.isfinite(wide_expected), result, 0.0)


def overflow_allowed(
    expected: Array,
    addends: Counts,
    divisor: Counts,
    magnitude: Doubles,
    axes: int | npt.NDArray[np.integer],
) -> npt.NDArray[np.bool_]:
    """Say per element whether sums kept in the element type may overflow.

    There, under the reading element-type of the clause accumulator, a NaN conforms too, and where
    `expected` is finite so does an infinity. (An infinity among the cells may meet the opposite
    one that a sum of the others became; it cannot become that one.)
    """
    fmt = float_format(name_of(expected.dtype))
    k = addends + 2.0 * np.asarray(axes)
    with np.errstate(over="ignore"):
        reach = magnitude * divisor * (1 + 2 * gamma(k, fmt.unit))
    allowed: npt.NDArray[np.bool_] = reach >= fmt.largest * (1 - fmt.unit)
    return allowed & ~np.isnan(widen(expected))


def gamma(k: Doubles, unit: float) -> Doubles:
    """Return k u / (1 - k u), the bound of k rounding errors; 0 where it says too little."""
    product = k * unit
    # Beyond 1/2 nothing can be said. Such vectors are not generated; none may pass for free.
    return np.where(product <= _MEANINGFUL, product / (1 - np.minimum(product, _MEANINGFUL)), 0.0)
