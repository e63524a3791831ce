"""The gradient of p-norms: exact sums of what windows give to cells, each rounded once.

The norm N of a window changes with a cell x of it by sign(x) (|x| / N)**(p - 1), which is sign(x)
|x|**(p - 1) S**(1/p) / S where S = N**p. If S is a sum of powers times a weight, so is that. A cell
gets the sum of these, each times the gradient of its window: a sum of rational multiples of p-th
roots. It is computed to more and more bits until it is certain how it rounds (Ziv's strategy). That
ends unless the sum is rational, which is decided exactly: positive p-th roots of which no two have
a rational ratio are linearly independent over the rationals. docs/development/proofs.md,
"Exact gradients", has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np

from conformance.dtypes import float_format, name_of
from conformance.reference.gradient import Ints, Marks, Pairs, measures_of_terms
from conformance.reference.mean import as_integers
from conformance.reference.measures import Measures, norm_roundings
from conformance.reference.norm import integer_root
from conformance.reference.rounding import Doubles, round_ratios, widen
from conformance.vector import Array

_POWER = 8
"""Roundings that a power function may be off by: four units in the last place."""
_BITS = 128
_AT_ONCE = 4096
"""Cells of so many planes are rounded together."""


@dataclass(frozen=True, eq=False)
class NormShares:
    """What windows give to cells of data, as the gradients of their p-norms, p at least 2.

    `gradient` and `data` (planes, P) are those of the window and of the cell of each pair, `cells`
    (P,) numbers of cells of a plane. `weights` (P,) are what the sum of powers of the window is
    multiplied by, and divided by. Undefined are the cells of windows whose norm is
    zero, or which hold or get a NaN or an infinity, or whose powers may leave the range of a type.
    Windows of zeros marked in `nothing` (planes, P) give zero in place of that, of a gradient that
    is finite.
    """

    gradient: Array
    data: Array
    pairs: Pairs
    cells: Ints
    p: int
    weights: tuple[Ints, Ints]
    nothing: Marks | None = None

    def sums(self, shape: Sequence[int]) -> Array:
        """Return the exact sum for each cell, rounded once, of `shape` (N, C, d1..dr).

        Undefined cells are NaN.
        """
        name, undefined = name_of(self.data.dtype), self.undefined
        result = np.zeros((len(self.data), math.prod(shape[2:])), self.data.dtype)
        given = np.where(undefined, 0.0, widen(self.gradient))
        gradients, shift = as_integers(given)
        values, _ = as_integers(np.where(undefined, 0.0, widen(self.data)))
        cells = list(dict.fromkeys(self.cells.tolist()))
        step = max(1, _AT_ONCE // max(1, len(cells)))
        for first in range(0, len(result), step):
            block = slice(first, first + step)
            terms = chain.from_iterable(self._terms(gradients[block], values[block]))
            rounded = _rounded([*terms], self.p, shift, name)
            result[block, cells] = rounded.reshape(len(result[block]), len(cells))
        planes, pairs = np.nonzero(undefined)
        result[planes, self.cells[pairs]] = np.nan
        return result.reshape(shape)

    def _terms(self, gradients: Array, values: Array) -> Iterator[Iterable[dict[int, int]]]:
        """Yield, for each plane, the terms of each cell in turn: numerators by S, see `_rounded`.

        Gradients are integers, and so are S: of a common multiple of the data, which changes no
        term. With a weight of a / b, they are those of b**p times as much of both.
        """
        common = np.gcd(*self.weights)
        above, below = ((each // common).astype(object) for each in self.weights)
        factors = above * below ** (self.p - 2)
        for given, cells in zip(gradients, values, strict=True):
            sums = self.pairs.of_window(np.abs(cells) ** self.p, np.add) * (factors * below)
            parts = given * cells * np.abs(cells) ** (self.p - 2) * factors
            terms: dict[int, dict[int, int]] = {cell: {} for cell in self.cells.tolist()}
            for cell, part, total in zip(
                self.cells.tolist(), parts.tolist(), sums.tolist(), strict=True
            ):
                if part:
                    terms[cell][total] = terms[cell].get(total, 0) + part
            yield terms.values()

    @cached_property
    def undefined(self) -> Marks:
        """Which pairs make their cell undefined, (planes, P)."""
        gradient, data = widen(self.gradient), widen(self.data)
        wrong = ~(np.isfinite(gradient) & np.isfinite(data))
        size, norm = self.logarithms
        with np.errstate(divide="ignore"):
            of_gradient = np.log2(np.where(np.isfinite(gradient), np.abs(gradient), 1.0))
        with np.errstate(invalid="ignore"):
            powers = (
                self.p * size,
                (self.p - 1) * size,
                self.p * norm,
                (self.p - 1) * norm,
                (1 - self.p) * norm,
                (self.p - 1) * (size - norm),
            )
            products = [power + of_gradient for power in (0.0, powers[1], powers[4], powers[5])]
        most_terms = np.bincount(self.cells).max(initial=1)
        fmt, margin = float_format(name_of(self.data.dtype)), 2 + math.log2(self.p * most_terms)
        multiplier = np.log2(self.weights[0])  # of what a sum was divided by before
        least = math.log2(fmt.smallest_normal) + margin + multiplier
        most = math.log2(fmt.largest) - margin - multiplier
        for each in (*powers, *products):
            # What is minus infinity is the logarithm of a zero: of a cell or a gradient.
            wrong |= (np.isfinite(each) & (each < least)) | (each > most)
        undefined = self._in_window(wrong | ~np.isfinite(norm))
        if self.nothing is not None:
            undefined &= ~(self.nothing & np.isfinite(gradient))
        return undefined

    def measures(self, shape: Sequence[int]) -> Measures:
        """Return what the bound of the sums depends on; flat, for cells of `shape` (N, C, d1..dr).

        Columns are those of `Shares.measures`, where `addends` also counts the roundings of terms.
        """
        undefined = self.undefined
        size, norm = self.logarithms
        with np.errstate(invalid="ignore", over="ignore"):
            share = np.exp2((self.p - 1) * (size - norm))
            # Logarithms and their multiples: some units of 2**-53, times numbers below 2**11.
            magnitudes = np.abs(widen(self.gradient)) * self.weight * share * (1 + 2.0**-36)
        magnitudes = np.where(undefined, 0.0, np.nan_to_num(magnitudes))
        count = self.pairs.of_window((widen(self.data) != 0).astype(np.float64), np.add)
        norms = np.exp2(np.where(undefined | ~np.isfinite(norm), 0.0, norm))
        of_norm = norm_roundings(count, norms, self.p)
        shift = np.ceil((self.p - 1) * np.abs(np.log(norms)))
        # Two powers of p - 1, quotients and products: docs/numerics.md, "Gradients".
        powers = max(self.p, _POWER) + _POWER + shift
        roundings = (self.p - 1) * of_norm + powers + 3 * self.p + 4
        return measures_of_terms(
            magnitudes,
            self.cells,
            shape,
            marks=undefined,
            roundings=roundings.astype(np.int64),
        )

    @cached_property
    def weight(self) -> Doubles:
        """What the sum of powers of each pair's window is multiplied by, (P,)."""
        above, below = self.weights
        weight: Doubles = above / below
        return weight

    @cached_property
    def logarithms(self) -> tuple[Doubles, Doubles]:
        """The binary logarithms of each pair's cell and of the norm of its window."""
        data = np.abs(widen(self.data))
        data[~np.isfinite(data)] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log2(data)
            largest = self.pairs.of_window(size, np.maximum)
            parts = np.exp2(self.p * (size - largest))
            norm = largest + np.log2(self.pairs.of_window(parts, np.add) * self.weight) / self.p
        return size, np.where(np.isfinite(largest), norm, -np.inf)

    def _in_window(self, marks: Marks) -> Marks:
        """Mark all pairs of a window where one is marked."""
        return self.pairs.of_window(marks, np.logical_or)


def _rounded(sums: Sequence[dict[int, int]], p: int, shift: int, name: str) -> Array:
    """Return sums of numerator * S**(1/p) / S over 2**shift, each rounded once to a type.

    Each is given as numerators by S. Most are certain after the first few bits.
    """
    ends = [
        _ends([(total, part, total) for total, part in terms.items() if part], p, _BITS)
        for terms in sums
    ]
    scales = [scale << shift for _, _, scale in ends]
    below = round_ratios([low for low, _, _ in ends], scales, name)
    above = round_ratios([high for _, high, _ in ends], scales, name)
    uncertain = np.flatnonzero(widen(below) != widen(above)).tolist()
    ratios = [_rounding_like(sums[number], p, shift, name) for number in uncertain]
    below[uncertain] = round_ratios([a for a, _ in ratios], [b for _, b in ratios], name)
    return below


def _rounding_like(terms: dict[int, int], p: int, shift: int, name: str) -> tuple[int, int]:
    """Return a ratio that rounds to `name` as the sum of some terms does, see `_rounded`."""
    left = {total: Fraction(part, total) for total, part in terms.items() if part}
    left, bits = _independent(left, p), _BITS
    while left.keys() - {1}:
        bits *= 2
        parts = [(total, each.numerator, each.denominator) for total, each in left.items()]
        low, high, scale = _ends(parts, p, bits)
        scale <<= shift
        below, above = widen(round_ratios([low, high], [scale] * 2, name)).tolist()
        if below == above:
            return low, scale
    rational = left.get(1, Fraction())
    return rational.numerator, rational.denominator << shift


def _ends(terms: Sequence[tuple[int, int, int]], p: int, bits: int) -> tuple[int, int, int]:
    """Return integers between which a sum lies, and their scale.

    The sum is that of p-th roots times numerator / denominator, each given with what it is the
    root of.
    """
    scale = bits + max((denominator.bit_length() for _, _, denominator in terms), default=0)
    low = high = 0
    for total, numerator, denominator in terms:
        root, more = _root(total, p, bits)
        above, below = numerator << scale, denominator << more
        one, other = sorted((above * root // below, above * (root + 1) // below))
        low, high = low + one, high + other + 1
    return low, high, 1 << scale


@lru_cache(maxsize=1024)
def _root(number: int, p: int, bits: int) -> tuple[int, int]:
    """Return the integer part of a p-th root times 2**n, of `bits` bits or more, and n."""
    more = max(0, bits - number.bit_length() // p)
    return integer_root(number << (p * more), p), more


def _independent(terms: dict[int, Fraction], p: int) -> dict[int, Fraction]:
    """Return the same sum with roots no two of which have a rational ratio, 1 for a rational one.

    Factors that are zero are left out.
    """
    merged: dict[int, Fraction] = {1: Fraction()}
    for total, factor in terms.items():
        for base in merged:
            ratio = _rational_root(Fraction(total, base), p)
            if ratio is not None:
                merged[base] += factor * ratio
                break
        else:
            merged[total] = factor
    return {total: factor for total, factor in merged.items() if factor}


def _rational_root(number: Fraction, p: int) -> Fraction | None:
    """Return the p-th root of a positive number if it is rational."""
    parts = [integer_root(part, p) for part in (number.numerator, number.denominator)]
    root = Fraction(*parts)
    return root if root**p == number else None
