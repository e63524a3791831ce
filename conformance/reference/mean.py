"""The mean over boxes of cells, rounded once to the element type, whatever the data.

There are three ways to the same correctly rounded result; the first that is certain is taken:

1. plain double sums, where all cells of a block of planes are multiples of one quantum and their
   sums stay below 2**53 quanta: the sums are exact, and so is the final rounding;
2. sums in two doubles with a bound on their error, where both ends of the error interval round
   to the same value (Ziv's strategy);
3. integers, for all other elements: ties, sums too close to a tie, and extreme ranges.

docs/development/proofs.md, "Exact means", proves all three.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FloatFormat, float_format, name_of
from conformance.reference.fold import Ranges, fold, fold_with
from conformance.reference.rounding import (
    Doubles,
    narrow,
    round_pair,
    round_ratios,
    two_product,
    two_sum,
    widen,
)
from conformance.vector import Array

# Cells per block of planes: as doubles, they fit the second-level cache.
_BLOCK = 1 << 16
# Within these limits the error-free transformations of way 2 neither overflow nor underflow.
_PAIR_LARGEST, _PAIR_SMALLEST, _PAIR_DIVISOR = 2.0**960, 2.0**-800, 2.0**26
_U = 2.0**-53


def mean(data: Array, lo: Ranges, hi: Ranges, divisor: npt.NDArray[np.int64]) -> Array:
    """Return the exact sum of each box over its divisor, rounded once, ties to even.

    `data` has shape (N, C, d1..dr) and a floating-point type; `divisor` has the spatial shape
    (o1..or) of the result (N, C, o1..or). A divisor of zero gives NaN. A NaN in a box, or
    infinities of both signs, give NaN; one sign of infinity gives that infinity.
    """
    fmt = float_format(name_of(data.dtype))
    planes = np.ascontiguousarray(data).reshape(data.shape[0] * data.shape[1], *data.shape[2:])
    result = np.empty((len(planes), *divisor.shape), data.dtype)
    planes_per_block = max(1, _BLOCK // max(1, planes[:1].size))
    n = np.maximum(divisor, 1).astype(np.float64)
    for first in range(0, len(planes), planes_per_block):
        block = slice(first, first + planes_per_block)
        result[block] = _mean_of_block(planes[block], lo, hi, n, fmt)
    if not divisor.all():
        result[:, divisor == 0] = np.nan
    return result.reshape(*data.shape[:2], *divisor.shape)


def integer_mean(data: Array, lo: Ranges, hi: Ranges, divisor: npt.NDArray[np.int64]) -> Array:
    """Return the exact sum of each box over its divisor, rounded towards zero, for integers.

    Shapes as in `mean`. A divisor of zero gives zero.
    """
    planes = data.reshape(data.shape[0] * data.shape[1], *data.shape[2:]).astype(object)
    sums = fold(planes, lo, hi, np.add, 0)
    n = np.maximum(divisor, 1).astype(object)
    result: Array = np.sign(sums) * (abs(sums) // n)
    return result.reshape(*data.shape[:2], *divisor.shape).astype(data.dtype)


def _mean_of_block(cells: Array, lo: Ranges, hi: Ranges, n: Doubles, fmt: FloatFormat) -> Array:
    smallest, largest = range_of(cells)
    if not largest < np.inf:  # infinite or NaN
        return _mean_with_specials(cells, lo, hi, n, fmt)
    values = widen(cells)
    if largest == 0.0:
        return np.zeros((len(cells), *n.shape), cells.dtype)
    if sums_exactly(smallest, largest, max(float(n.max(initial=1.0)), most_cells(lo, hi)), fmt):
        sums = fold(values, lo, hi, np.add, 0.0)
        np.divide(sums, n, out=sums)
        return narrow(sums, fmt.name)
    in_range = largest < _PAIR_LARGEST and smallest > _PAIR_SMALLEST
    if in_range and n.max(initial=1.0) < _PAIR_DIVISOR:
        result, certain = _mean_in_pairs(values, lo, hi, n, fmt.name)
    else:
        result = np.empty((len(cells), *n.shape), cells.dtype)
        certain = np.zeros(result.shape, np.bool_)
    _settle(result, certain, values, lo, hi, n=n, name=fmt.name)
    return result


def range_of(cells: Array) -> tuple[float, float]:
    """Return the smallest non-zero and the largest magnitude; NaN counts as above infinity."""
    unsigned = np.dtype(f"u{cells.dtype.itemsize}").type
    # Without their sign, floating-point numbers are ordered like their bits.
    bits = cells.view(unsigned) << unsigned(1)
    largest = bits.max(initial=0)
    smallest = bits.min(initial=np.iinfo(unsigned).max)
    if smallest == 0:
        bits -= unsigned(1)  # zero becomes the largest number
        smallest = (int(bits.min()) + 1) % 2 ** (8 * cells.dtype.itemsize)
    ends = np.array([smallest, largest], unsigned) >> unsigned(1)
    low, high = widen(ends.view(cells.dtype)).tolist()
    return low, high


def sums_exactly(smallest: float, largest: float, n: float, fmt: FloatFormat) -> bool:
    """Say whether sums of n cells, and their quotients by at most n, come out right in doubles."""
    if fmt.name == "float64":
        return largest <= _PAIR_LARGEST and n * largest < 2.0**53 * float(np.spacing(smallest))
    _, exponent = np.frexp(smallest)  # smallest = f * 2**exponent, 1/2 <= f < 1
    quantum = max(float(np.ldexp(1.0, int(exponent) - fmt.precision)), fmt.smallest)
    return n * largest < 2.0**53 * quantum and n < 2.0 ** (53 - fmt.precision)


def most_cells(lo: Ranges, hi: Ranges) -> float:
    """Return the number of cells of the largest box, at least 1."""
    return float(math.prod(int((b - a).max(initial=1)) for a, b in zip(lo, hi, strict=True)))


def _mean_with_specials(
    cells: Array, lo: Ranges, hi: Ranges, n: Doubles, fmt: FloatFormat
) -> Array:
    values = widen(cells)
    finite = np.isfinite(values)
    result = _mean_of_block(np.where(finite, cells, cells.dtype.type(0)), lo, hi, n, fmt)

    def any_in_box(where: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return fold(where, lo, hi, np.logical_or, False)  # noqa: FBT003 - the identity of or

    up, down = any_in_box(values == np.inf), any_in_box(values == -np.inf)
    result[up] = np.inf
    result[down] = -np.inf
    result[(up & down) | any_in_box(np.isnan(values))] = np.nan
    return result


def _mean_in_pairs(
    values: Doubles, lo: Ranges, hi: Ranges, n: Doubles, name: str
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the means (planes, o1..or) from sums in two doubles, and whether each is certain."""
    parts = np.stack([values, np.zeros_like(values), np.abs(values)])
    high, low, magnitude = fold_with(parts, lo, hi, add_pairs, 0.0)
    taps = most_cells(lo, hi)
    sum_error = 4 * taps * taps * _U * _U * magnitude
    high, low = two_sum(high, low)
    quotient = high / n
    product, product_error = two_product(quotient, n)
    correction = (((high - product) - product_error) + low) / n
    error = sum_error / n + 32 * _U * _U * np.abs(quotient)
    below = round_pair(quotient, correction - error, name)
    above = round_pair(quotient, correction + error, name)
    return above, below == above


def add_pairs(folded: Array, tap: Array) -> None:
    """Add numbers of two doubles, total and error, in place; what follows these adds up plainly."""
    total, rest = two_sum(folded[0], tap[0])
    folded[1] += tap[1] + rest
    folded[2:] += tap[2:]
    folded[0] = total


def _settle(
    result: Array,
    certain: npt.NDArray[np.bool_],
    values: Doubles,
    lo: Ranges,
    hi: Ranges,
    *,
    n: Doubles,
    name: str,
) -> None:
    """Compute the elements that are not certain in integers, into `result`."""
    totals, windows, shift = exact_sums(certain, values, lo, hi)
    divisors = [int(n[window]) << shift for window in windows]
    result[~certain] = round_ratios(totals, divisors, name)


def exact_sums(
    certain: npt.NDArray[np.bool_], values: Doubles, lo: Ranges, hi: Ranges, p: int = 1
) -> tuple[list[int], list[tuple[int, ...]], int]:
    """Return the sum of the p-th powers of each box that is not certain, its window, and a shift.

    Cells are finite, and integers when multiplied by 2**shift. The boxes are in the order of
    `~certain`.
    """
    begins, ends = ([axis.tolist() for axis in bounds] for bounds in (lo, hi))
    planes = np.flatnonzero(~certain.all(axis=tuple(range(1, certain.ndim))))
    cells, shift = as_integers(values[planes])
    powers = cells**p
    totals, windows = [], []
    for plane, *window in np.argwhere(~certain[planes]).tolist():
        box = tuple(slice(a[j], b[j]) for a, b, j in zip(begins, ends, window, strict=True))
        totals.append(sum(powers[plane][box].ravel().tolist()))
        windows.append(tuple(window))
    return totals, windows, shift


def as_integers(values: Doubles) -> tuple[Array, int]:
    """Return finite doubles as Python integers, each times 2**shift, and the shift."""
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    shift = 53 - int(exponent.min(initial=53, where=digits != 0))
    up = np.maximum(exponent + (shift - 53), 0)  # a zero may have a lower exponent
    integers: Array = digits.astype(object) << up.astype(object)
    return integers, shift
