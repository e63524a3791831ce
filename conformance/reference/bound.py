"""How far from the expected value a sound backend may be, for any order of summation.

docs/development/proofs.md proves the bound. In short, with u the unit roundoff of the arithmetic, m
non-zero addends, r spatial axes, K = m + 2r and M = sum|x| / divisor:

    |got - exact| <= gamma(K) M + underflow,    gamma(K) = K u / (1 - K u)

A norm has the same bound: M is the norm itself, and m counts roundings in place of addends. Powers
that vanish are a term of their own.

Half an ulp is added, since a file holds the exact value rounded once. For a backend that sums half
types in float32 or wider (reading "wider" of the clause accumulator), gamma is that of float32, and
its final rounding is added; types of 8 bits are summed in float16 or wider in the same way. For a
backend that sums in the element type itself, gamma is that of the element type. Sums may overflow
in either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS8, HALVES, FloatFormat, float_format, name_of
from conformance.reference.rounding import widen
from conformance.vector import Arithmetic, Expected

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

# The bound is computed in doubles: a few roundings, each of 2**-53.
_SLACK = 1.0 + 2.0**-48
# Above this K u, the bound is wider than the values themselves and proves nothing.
_MEANINGFUL = 0.5


def wider_format(name: str) -> FloatFormat:
    """Return the narrowest accumulator that the reading "wider" allows for an element type.

    That of types of 8 bits is float16: no document lets their sums be kept in 8 bits.
    """
    wider = "float32" if name in HALVES else "float16" if name in FLOATS8 else name
    return float_format(wider)


def is_meaningful(addends: int, axes: int, name: str) -> bool:
    """Say whether the bound for sums in the narrowest type is small enough to judge by.

    That is the element type, of types of 8 bits float16.
    """
    narrowest = wider_format(name) if name in FLOATS8 else float_format(name)
    return (addends + 2 * axes) * narrowest.unit <= _MEANINGFUL


def tolerance(
    expected: Expected,
    axes: int | npt.NDArray[np.integer],
    arithmetic: int = Arithmetic.USUAL,
    *,
    average: bool,
    below: bool | npt.NDArray[np.bool_] = False,
) -> Doubles:
    """Return the largest |got - expected| that conforms under an `Arithmetic`, per element, flat.

    `expected` is of a floating-point element type, and `axes` is the number of spatial axes.
    `average` is False for an output that chooses a cell. `below` says whether `got` is below
    `expected`: what counts as zero lowers a result by positive cells alone, and raises it by
    negative ones. Powers of a norm may vanish where they may leave the range of their type. NaN and
    infinities have tolerance 0: they are compared by kind. Source: docs/numerics.md, "The
    tolerance".
    """
    fmt, addends, magnitude = _format(expected), expected.addends, expected.magnitude
    flushed = bool(arithmetic & Arithmetic.FLUSHED)
    wide_expected = widen(expected.values.ravel())
    value = np.where(np.isfinite(wide_expected), wide_expected, 0.0)
    size, least = np.abs(value), fmt.smallest_normal
    # Positive where the result is moved towards zero.
    inwards = np.where(below, value, -value)
    if not average:
        return np.where(flushed & (size < least), np.maximum(inwards, 0.0), 0.0)
    sums = _sums(fmt, arithmetic)
    k = addends + 2.0 * np.asarray(axes)
    of_stored_value = fmt.unit * size + fmt.smallest / 2
    if sums.name == fmt.name:
        bound = gamma(k, fmt.unit) * magnitude + (k + 1) * fmt.smallest
    else:
        # The proof needs 1 + u. Of 8 bits, 1 + 4 u would let results be off by two numbers.
        units = 1 if fmt.name in FLOATS8 else 4
        of_result = fmt.unit * (1 + units * fmt.unit) * size + fmt.smallest
        of_sum = gamma(k, sums.unit) * magnitude * (1 + fmt.unit) + (k + 1) * sums.smallest
        bound = of_result + of_sum
    bound = bound + of_stored_value
    total: Doubles = bound * _SLACK
    if flushed:
        with np.errstate(over="ignore"):
            cells_of_a_sign = np.maximum((magnitude + inwards + of_stored_value) / 2, 0.0)
        # A cell alone is flushed only where it, or its share, may be subnormal.
        is_flushed = (addends > 1) | (size - bound < least)
        of_flushes = np.where(is_flushed, np.minimum(addends * least, cells_of_a_sign), 0.0)
        total = (bound + of_flushes) * _SLACK
    powers = np.maximum(-expected.divisor, 0)
    if arithmetic & Arithmetic.OVERFLOWS and powers.any():
        moves = vanished(size, addends, powers, sums, flushed=flushed, below=below)
        total = total + moves * (1 + gamma(k, fmt.unit)) * _SLACK
    return np.where(np.isfinite(wide_expected), total, 0.0)


def vanished(
    norm: Doubles,
    roundings: Counts,
    p: int | Counts,
    fmt: FloatFormat,
    *,
    flushed: bool,
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
    expected: Expected, axes: int | npt.NDArray[np.integer], arithmetic: int = Arithmetic.USUAL
) -> npt.NDArray[np.bool_]:
    """Say per element, flat, whether sums, or sums of powers, may overflow under an `Arithmetic`.

    They are kept in the element type, or else in the narrowest type that the reading "wider" of the
    clause accumulator allows. Where they may overflow, under the reading overflows of the clause
    sum-overflow, a NaN conforms too, and where `expected` is finite so does an infinity. (If a cell
    is infinite, the sum of the other cells may overflow to the opposite infinity: the two give NaN,
    never the opposite infinity.) Source: docs/numerics.md, "Overflow".
    """
    fmt = _sums(_format(expected), arithmetic)
    k = expected.addends + 2.0 * np.asarray(axes)
    divisor = np.maximum(expected.divisor, 1)
    with np.errstate(over="ignore"):
        reach = expected.magnitude * divisor * (1 + 2 * gamma(k, fmt.unit))
    # A sum of p-th powers reaches what its root does to the power of p.
    most = (fmt.largest * (1 - fmt.unit)) ** (1.0 / np.maximum(-expected.divisor, 1))
    allowed: npt.NDArray[np.bool_] = (reach >= most) & ~np.isnan(widen(expected.values.ravel()))
    return allowed


def mean_overflows(expected: Expected) -> npt.NDArray[np.bool_]:
    """Say per element, flat, whether a mean is infinite although no cell is.

    The mean of the magnitudes, which infinite cells do not add to, then exceeds the largest number.
    It needs a divisor below the number of cells, as an attribute may give it.
    """
    infinite: npt.NDArray[np.bool_] = np.isinf(widen(expected.values.ravel()))
    return infinite & (expected.divisor > 0) & (expected.magnitude > _format(expected).largest)


def leaves_range(
    expected: Expected, axes: int | npt.NDArray[np.integer], arithmetic: int = Arithmetic.USUAL
) -> npt.NDArray[np.bool_]:
    """Say per element whether sums, or powers, may leave the range of the type they are kept in.

    Powers that vanish count if they move a norm by more than a rounding, which the bound has to
    spare. Arguments are those of `overflow_allowed`.
    """
    overflow = overflow_allowed(expected, axes, arithmetic)
    if (expected.divisor >= 0).all():  # no norms: a sum loses nothing that the bound does not spare
        return overflow
    fmt, norm = _sums(_format(expected), arithmetic), np.abs(widen(expected.values.ravel()))
    powers = np.maximum(-expected.divisor, 0)
    moved = vanished(norm, expected.addends, powers, fmt, flushed=True, below=True)
    vanish: npt.NDArray[np.bool_] = np.isfinite(norm) & (moved > fmt.unit * norm)
    return overflow | vanish


def _format(expected: Expected) -> FloatFormat:
    return float_format(name_of(expected.values.dtype))


def _sums(own: FloatFormat, arithmetic: int) -> FloatFormat:
    """Return the narrowest format that an `Arithmetic` allows to sum elements of a format in."""
    return own if arithmetic & Arithmetic.ELEMENT_TYPE else wider_format(own.name)


def gamma(k: Doubles, unit: float) -> Doubles:
    """Return k u / (1 - k u), the bound of k rounding errors; 0 where k u > 1/2."""
    product = k * unit
    # Above 1/2 the bound proves nothing: such vectors are not generated, and others must not pass.
    return np.where(product <= _MEANINGFUL, product / (1 - np.minimum(product, _MEANINGFUL)), 0.0)
