"""The p-norm over boxes of cells, rounded once to the element type, whatever the data.

(sum |x|**p)**(1/p), for an integer p >= 1. With p = 1 it is a mean of magnitudes, divided by one.
Otherwise, there are two ways to the same correctly rounded result:

1. powers, their sum and a root in two doubles, with a bound on the error, where both ends of the
   error interval round to the same value (Ziv's strategy);
2. integers, for all other elements: roots too close to a tie, and extreme ranges.

docs/development/proofs.md, "Exact norms", proves both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.reference.fold import Ranges, fold, fold_with
from conformance.reference.mean import add_pairs, exact_sums, mean, most_cells
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

LARGEST_EXPONENT = 1024
"""Above this exponent, powers of all cells but those close to one overflow or vanish in every
element type."""

Ints = npt.NDArray[np.int64]
_Pair = tuple[Doubles, Doubles]
# Powers in way 1 are at least this, and planes scaled by less than this: nothing underflows.
_SMALLEST_POWER, _LARGEST_SCALE = -800, 900
_BITS = 64  # of an integer root: eleven more than a double has
_U = 2.0**-53


def is_judged(p: int) -> bool:
    """Say whether an exponent makes a norm that the suite computes."""
    return 1 <= p <= LARGEST_EXPONENT


def norm(data: Array, lo: Ranges, hi: Ranges, p: int) -> Array:
    """Return the exact p-norm of each box, rounded once, ties to even.

    `data` has shape (N, C, d1..dr) and a floating-point type, the result (N, C, o1..or). A box
    without a cell gives 0, one with a NaN gives NaN, and one with an infinity and no NaN infinity.
    """
    extent = [len(ends) for ends in lo]
    if p == 1:
        return mean(np.abs(data), lo, hi, np.ones(extent, np.int64))
    planes = np.ascontiguousarray(data).reshape(data.shape[0] * data.shape[1], *data.shape[2:])
    values = np.abs(widen(planes))
    finite = np.isfinite(values)
    cells = np.where(finite, values, 0.0)
    name = name_of(data.dtype)
    result, certain = _norm_in_pairs(cells, lo, hi, p, name)
    totals, _, shift = exact_sums(certain, cells, lo, hi, p)
    result[~certain] = round_roots(totals, p, shift, name)
    if not finite.all():
        for special in (np.inf, np.nan):
            where = np.isnan(values) if np.isnan(special) else values == special
            result[fold(where, lo, hi, np.logical_or, False)] = special  # noqa: FBT003 - of or
    return result.reshape(*data.shape[:2], *extent)


def weighted_norms(
    norms: Array, data: Array, lo: Ranges, hi: Ranges, p: int, weights: tuple[Ints, Ints]
) -> Array:
    """Return p-norms with the sum of powers of each box times a ratio, rounded once, ties to even.

    `norms` are those without, of shape (N, C, o1..or); `weights` are numerators and denominators,
    (o1..or), integers from 1.
    """
    planes = np.ascontiguousarray(data).reshape(data.shape[0] * data.shape[1], *data.shape[2:])
    values = np.abs(widen(planes))
    finite = np.isfinite(values)
    result = norms.reshape(len(planes), *norms.shape[2:]).copy()
    specials = fold(~finite, lo, hi, np.logical_or, False)  # noqa: FBT003 - the identity of or
    kept = specials | (weights[0] == weights[1])
    totals, windows, shift = exact_sums(kept, np.where(finite, values, 0.0), lo, hi, p)
    ratios = [(int(weights[0][window]), int(weights[1][window])) for window in windows]
    result[~kept] = round_roots(totals, p, shift, name_of(data.dtype), ratios)
    return result.reshape(norms.shape)


def _norm_in_pairs(
    cells: Doubles, lo: Ranges, hi: Ranges, p: int, name: str
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the norms (planes, o1..or) from sums in two doubles, and whether each is certain."""
    axes = tuple(range(1, cells.ndim))
    keep = (-1, *(1,) * len(axes))
    _, scale = np.frexp(cells.max(axis=axes, initial=0.0))
    smallest = cells.min(axis=axes, initial=np.inf, where=cells > 0)
    _, least = np.frexp(np.where(np.isfinite(smallest), smallest, 1.0))
    in_range = ((least - 1 - scale) * p > _SMALLEST_POWER) & (np.abs(scale) < _LARGEST_SCALE)
    scale = scale.reshape(keep)
    scaled = np.where(in_range.reshape(keep), np.ldexp(cells, -scale), 0.0)
    powers = np.stack(_power((scaled, np.zeros_like(scaled)), p))
    total = two_sum(*fold_with(powers, lo, hi, add_pairs, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):  # of zeros, which are certain
        root = np.sqrt(total[0]) if p == 2 else total[0] ** (1.0 / p)
        raised = _power((root, np.zeros_like(root)), p)
        high, low = two_sum(total[0], -raised[0])
        slope = p * (raised[0] / root)
        correction = (high + (low + (total[1] - raised[1]))) / slope
        distance = np.abs(correction) / root
        taps = most_cells(lo, hi)
        error = root * ((16 * taps * taps + 64) * _U * _U + p * distance * (distance + 16 * _U))
        root, correction = two_sum(root, correction)
        below, above = (
            round_pair(np.ldexp(root, scale), np.ldexp(correction + side, scale), name)
            for side in (-error, error)
        )
        # Newton's step converges from here.
        certain = (p * distance < 2.0**-10) & (widen(below) == widen(above))
    zero = total[0] == 0.0
    return np.where(zero, narrow(np.zeros_like(root), name), above), (
        (certain | zero) & in_range.reshape(keep)
    )


def _power(base: _Pair, p: int) -> _Pair:
    """Return a power of two doubles, to about 106 bits: by squaring, p - 1 products in all."""
    result = base
    for bit in bin(p)[3:]:
        result = _product(result, result)
        if bit == "1":
            result = _product(result, base)
    return result


def _product(a: _Pair, b: _Pair) -> _Pair:
    product, error = two_product(a[0], b[0])
    return two_sum(product, error + (a[0] * b[1] + a[1] * b[0]))


def round_roots(
    totals: list[int], p: int, shift: int, name: str, ratios: Sequence[tuple[int, int]] = ()
) -> Array:
    """Round exact p-th roots of integers, each over 2**shift, once to `name`.

    Each integer is first multiplied by its ratio (numerator, denominator), if there are any.
    """
    roots, scales = [], []
    for total, (above, below) in zip(totals, ratios or repeat((1, 1)), strict=False):
        more = max(0, _BITS - total.bit_length() // p)
        wanted = (total * above) << (p * more)
        root = integer_root(wanted // below, p)
        roots.append(2 * root + (root**p * below != wanted))  # rounded to odd
        scales.append(1 << (more + shift + 1))
    return round_ratios(roots, scales, name)


def integer_root(number: int, p: int) -> int:
    """Return the largest integer whose p-th power is at most `number`, which is not negative."""
    if p == 1 or number < 2:
        return number
    if p == 2:
        return math.isqrt(number)
    root = 1 << -(-number.bit_length() // p)  # not below the root
    while True:  # Newton's steps descend to it
        closer = ((p - 1) * root + number // root ** (p - 1)) // p
        if closer >= root:
            return root
        root = closer
