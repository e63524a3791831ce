"""How far from the expected value a sound backend may be, for any order of summation.

docs/development/proofs.md proves the bound. In short, with u the unit roundoff of the arithmetic, m
non-zero addends, r spatial axes, K = m + 2r and M = sum|x| / divisor:

    |got - exact| <= gamma(K) M + underflow,    gamma(K) = K u / (1 - K u)

A norm has the same bound: M is the norm itself, and m counts roundings in place of addends. Powers
that vanish are a term of their own.

Half an ulp is added, since a file holds the exact value rounded once. For a backend that sums half
types in float32 or wider (reading "wider" of the clause accumulator), gamma is that of float32, and
its final rounding is added. For a backend that sums in the element type itself, gamma is that of
the element type. Sums may overflow in either.
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
# Above this K u, the bound is wider than the values themselves and proves nothing.
_MEANINGFUL = 0.5


def wider_format(name: str) -> FloatFormat:
    """Return the narrowest accumulator that the reading "wider" allows for an element type."""
    return float_format("float32" if name in {"float16", "bfloat16"} else name)


def is_meaningful(addends: int, axes: int, name: str) -> bool:
    """Say whether the bound for sums in the element type is small enough to judge by."""
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
    below: bool | npt.NDArray[np.bool_] = False,
    powers: int | Counts = 0,
) -> Doubles:
    """Return the largest |got - expected| that conforms, per element: all arrays have shape (n,).

    `expected` is of a floating-point element type; `addends` and `magnitude` are as in `Measures`,
    and `axes` is the number of spatial axes. `average` is False for an output that chooses a cell.
    `powers` is the exponent of a norm whose powers may vanish, or else 0. `element_type` and
    `flushed` say whether these readings of the clauses accumulator and subnormals hold. `below`
    says whether `got` is below `expected`: what counts as zero lowers a result by positive cells
    alone, and raises it by negative ones. NaN and infinities have tolerance 0: they are compared by
    kind. Source: docs/numerics.md, "The tolerance".
    """
    fmt = float_format(name_of(expected.dtype))
    wide_expected = widen(expected)
    value = np.where(np.isfinite(wide_expected), wide_expected, 0.0)
    size, least = np.abs(value), fmt.smallest_normal
    # Positive where the result is moved towards zero.
    inwards = np.where(below, value, -value)
    if not average:
        return np.where(np.logical_and(flushed, size < least), np.maximum(inwards, 0.0), 0.0)
    wider = wider_format(fmt.name)
    k = addends + 2.0 * np.asarray(axes)
    of_stored_value = fmt.unit * size + fmt.smallest / 2
    in_element_type = gamma(k, fmt.unit) * magnitude + (k + 1) * fmt.smallest
    if wider.name == fmt.name:
        bound = in_element_type
    else:
        of_result = fmt.unit * (1 + 4 * fmt.unit) * size + fmt.smallest
        of_sum = gamma(k, wider.unit) * magnitude * (1 + fmt.unit) + (k + 1) * wider.smallest
        bound = np.where(element_type, in_element_type, of_result + of_sum)
    bound = bound + of_stored_value
    with np.errstate(over="ignore"):
        cells_of_a_sign = np.maximum((magnitude + inwards + of_stored_value) / 2, 0.0)
    # A cell alone is flushed only where it, or its share, may be subnormal.
    is_flushed = np.logical_and(flushed, (addends > 1) | (size - bound < least))
    of_flushes = np.where(is_flushed, np.minimum(addends * least, cells_of_a_sign), 0.0)
    total: Doubles = (bound + of_flushes) * _SLACK
    if np.any(powers):
        moves = [
            vanished(size, addends, powers, sums, flushed=flushed, below=below)
            for sums in (fmt, wider)
        ]
        total = total + np.where(element_type, *moves) * (1 + gamma(k, fmt.unit)) * _SLACK
    return np.where(np.isfinite(wide_expected), total, 0.0)


def vanished(
    norm: Doubles,
    roundings: Counts,
    p: int | Counts,
    fmt: FloatFormat,
    *,
    flushed: bool | npt.NDArray[np.bool_],
    below: bool | npt.NDArray[np.bool_],
) -> Doubles:
    """Return how far powers that vanish in a format may move p-norms down or up; 0 where p is 0.

    `roundings` are the addends of `norm_measures`, which times p are no fewer than the cells.
    """
    root = 1.0 / np.maximum(p, 1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # What a power of few ulp may be off by where it is subnormal, of all cells together.
        lost = np.asarray(p, np.float64) * roundings
        lost = lost * np.where(flushed, fmt.smallest_normal, 8 * fmt.smallest)
        share = np.exp(np.log(lost) - np.log(norm) / root)  # of the sum of powers
        lower = norm * (1 - (1 - np.minimum(share, 1)) ** root)
        higher = np.minimum(norm * ((1 + share) ** root - 1), lost**root)
    moved: Doubles = np.where((lost > 0) & (norm > 0), np.where(below, lower, higher), 0.0)
    return moved


def overflow_allowed(
    expected: Array,
    addends: Counts,
    divisor: Counts,
    magnitude: Doubles,
    axes: int | npt.NDArray[np.integer],
    *,
    element_type: bool | npt.NDArray[np.bool_] = False,
) -> npt.NDArray[np.bool_]:
    """Say per element whether sums may overflow; all arrays have shape (n,).

    Sums of p-th powers where `divisor` is -p. `element_type` says whether they are kept in the
    element type, else in the narrowest type that the reading "wider" of the clause accumulator
    allows. Where they may overflow, under the reading overflows of the clause sum-overflow, a NaN
    conforms too, and where `expected` is finite so does an infinity. (If a cell is infinite, the
    sum of the other cells may overflow to the opposite infinity: the two give NaN, never the
    opposite infinity.) Source: docs/numerics.md, "Overflow".
    """
    own = float_format(name_of(expected.dtype))
    in_own, in_wider = (
        _reaches(fmt, addends, divisor, magnitude, axes) for fmt in (own, wider_format(own.name))
    )
    allowed: npt.NDArray[np.bool_] = np.where(element_type, in_own, in_wider)
    return allowed & ~np.isnan(widen(expected))


def leaves_range(
    expected: Array,
    addends: Counts,
    divisor: Counts,
    magnitude: Doubles,
    axes: int | npt.NDArray[np.integer],
    *,
    element_type: bool,
) -> npt.NDArray[np.bool_]:
    """Say per element whether sums, or powers, may leave the range of the type they are kept in.

    Powers that vanish count if they move a norm by more than a rounding, which the bound has to
    spare. Arguments are those of `overflow_allowed`.
    """
    overflow = overflow_allowed(
        expected, addends, divisor, magnitude, axes, element_type=element_type
    )
    if (divisor >= 0).all():  # no norms: a sum loses nothing that the bound does not spare
        return overflow
    own = float_format(name_of(expected.dtype))
    fmt, norm = own if element_type else wider_format(own.name), np.abs(widen(expected))
    moved = vanished(norm, addends, np.maximum(-divisor, 0), fmt, flushed=True, below=True)
    vanish: npt.NDArray[np.bool_] = np.isfinite(norm) & (moved > fmt.unit * norm)
    return overflow | vanish


def _reaches(
    fmt: FloatFormat,
    addends: Counts,
    divisor: Counts,
    magnitude: Doubles,
    axes: int | npt.NDArray[np.integer],
) -> npt.NDArray[np.bool_]:
    """Say per element whether a sum in a format may reach its largest number."""
    k = addends + 2.0 * np.asarray(axes)
    with np.errstate(over="ignore"):
        reach = magnitude * np.maximum(divisor, 1) * (1 + 2 * gamma(k, fmt.unit))
    # A sum of p-th powers reaches what its root does to the power of p.
    most = (fmt.largest * (1 - fmt.unit)) ** (1.0 / np.maximum(-divisor, 1))
    reaches: npt.NDArray[np.bool_] = reach >= most
    return reaches


def gamma(k: Doubles, unit: float) -> Doubles:
    """Return k u / (1 - k u), the bound of k rounding errors; 0 where k u > 1/2."""
    product = k * unit
    # Above 1/2 the bound proves nothing: such vectors are not generated, and others must not pass.
    return np.where(product <= _MEANINGFUL, product / (1 - np.minimum(product, _MEANINGFUL)), 0.0)
