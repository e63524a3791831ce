"""The gradient of pooled values: exact sums of what windows give to cells, rounded once.

The gradient of a sum, or of a choice, is a sum itself: each window gives cells of its own a share
of its gradient. There are two ways to the same correctly rounded sums; the first that is certain is
taken: plain double sums, where they are exact (docs/development/proofs.md, "Exact gradients"), and
integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format, name_of
from conformance.reference.fold import Ranges
from conformance.reference.mean import as_integers, range_of, sums_exactly
from conformance.reference.measures import Measures, rounded_up
from conformance.reference.rounding import narrow, round_ratios, widen
from conformance.vector import UNDEFINED, Array

Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair of a window and a cell in it, (P,), by their numbers in row-major order.

    The pairs of a window are neighbours, its cells in row-major order.
    """

    windows: Ints
    cells: Ints

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each window that has any start."""
        return first_of_each(self.windows)

    @cached_property
    def _lengths(self) -> Ints:
        return np.diff(self.starts, append=len(self.windows))

    def of_window(self, values: Array, ufunc: np.ufunc) -> Array:
        """Reduce values (..., P) over the pairs of each window; what they all get, (..., P)."""
        if not len(self.starts):
            return values
        reduced = ufunc.reduceat(values, self.starts, axis=-1)
        each: Array = np.repeat(reduced, self._lengths, axis=-1)
        return each


def pairs_of(lo: Ranges, hi: Ranges, sizes: Sequence[int]) -> Pairs:
    """Return the pairs of windows and cells lo:hi of axes of some `sizes`, per spatial axis."""
    windows = cells = np.zeros(1, np.int64)
    for begin, end, d in zip(lo, hi, sizes, strict=True):
        counts = np.maximum(end - begin, 0)
        window = np.repeat(np.arange(len(begin)), counts)
        cell = np.arange(len(window)) - np.repeat(np.cumsum(counts) - counts - begin, counts)
        windows = (windows[:, np.newaxis] * len(begin) + window).ravel()
        cells = (cells[:, np.newaxis] * d + cell).ravel()
    order = np.argsort(windows, kind="stable")
    return Pairs(windows[order], cells[order])


def first_of_each(numbers: Ints) -> Ints:
    """Return the places in sorted numbers at which another number starts."""
    return np.flatnonzero(np.diff(numbers, prepend=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What windows give to cells: a term of a sum for each plane and pair of a window and a cell.

    A term is an entry of `values` (planes, P), of the element type, over `divisor`, (P,) or
    (planes, P) and at least 1. `cells` (P,) are numbers of cells of a plane. Where `undefined`
    (planes, P), no document says what the cell of the pair gets. `windows` (P,) are numbers of
    windows, which the sums do not need. Terms are times `factor`, (P,) and at least 1.
    """

    values: Array
    divisor: Ints
    cells: Ints
    undefined: Marks | None = None
    windows: Ints | None = None
    factor: Ints | int = 1

    def sums(self, shape: Sequence[int]) -> Array:
        """Return the exact sum for each cell, rounded once, of `shape` (N, C, d1..dr).

        A NaN among the terms, or infinities of both signs, give NaN; one sign of infinity gives
        that infinity. Undefined cells are NaN.
        """
        result = np.zeros((len(self.values), math.prod(shape[2:])), self.values.dtype)
        by_cell = _ByCell(self.cells)
        if len(self.cells):
            result[:, by_cell.cells] = self._sums(by_cell)
            if self.undefined is not None:
                result[by_cell.any(self.undefined, result.shape)] = np.nan
        return result.reshape(shape)

    def _sums(self, by_cell: _ByCell) -> Array:
        name = name_of(self.values.dtype)
        values = widen(self.values)
        finite = np.isfinite(values)
        cells = np.where(finite, self.values, self.values.dtype.type(0))
        result = _exact_sums(cells, self.factor, self.divisor, by_cell, name)
        if not finite.all():
            up, down, neither = (
                by_cell.summed(where) > 0
                for where in (values == np.inf, values == -np.inf, np.isnan(values))
            )
            result[up] = np.inf
            result[down] = -np.inf
            result[(up & down) | neither] = np.nan
        return result

    def measures(self, shape: Sequence[int]) -> Measures:
        """Return what the bound of the sums depends on; flat, for cells of `shape` (N, C, d1..dr).

        `addends` is m, the terms of a cell that are not zero, UNDEFINED where the cell is;
        `magnitude` is M, the sum of their magnitudes, rounded up, and `divisor` the largest.
        """
        magnitudes = np.abs(widen(self.values))
        magnitudes[~np.isfinite(magnitudes)] = 0.0
        return measures_of_terms(
            magnitudes * self.factor / self.divisor,
            self.cells,
            shape,
            divisor=self.divisor,
            marks=self.undefined,
        )


@np.errstate(over="ignore")
def measures_of_terms(
    magnitudes: npt.NDArray[np.float64],
    cells: Ints,
    shape: Sequence[int],
    *,
    divisor: Ints | int = 1,
    marks: Marks | None = None,
    roundings: Ints | int = 0,
) -> Measures:
    """Return the measures of sums of terms (planes, P) with magnitudes that are rounded once.

    `roundings` of each term, beyond those of a sum, count as addends.
    """
    full = (len(magnitudes), math.prod(shape[2:]))
    addends, most, total = np.zeros(full, np.int64), np.ones(full, np.int64), np.zeros(full)
    by_cell = _ByCell(cells)
    if len(cells):
        sums = by_cell.summed(magnitudes)
        count = by_cell.summed((magnitudes != 0).astype(np.int64))
        # Two factors, m additions and this product: a relative error of 2**-53 each.
        inflated = np.nextafter(sums * (1.0 + (count + 4.0) * 2.0**-52), np.inf)
        largest = np.finfo(np.float64).max
        total[:, by_cell.cells] = np.where(sums > 0, np.minimum(inflated, largest), 0.0)
        extra = by_cell.largest(np.broadcast_to(roundings, magnitudes.shape))
        addends[:, by_cell.cells] = count + np.where(count > 0, extra, 0)
        most[:, by_cell.cells] = by_cell.largest(np.broadcast_to(divisor, magnitudes.shape))
        if marks is not None:
            addends[by_cell.any(marks, full)] = UNDEFINED
    return Measures(
        addends.astype(np.int32).ravel(), most.astype(np.int32).ravel(), rounded_up(total).ravel()
    )


class _ByCell:
    """The pairs in order of their cells, so that those of a cell are neighbours."""

    def __init__(self, cells: Ints) -> None:
        self._order = np.argsort(cells, kind="stable")
        self._starts = first_of_each(cells[self._order])
        self.cells = cells[self._order][self._starts]

    def summed(self, values: Array) -> Array:
        """Return the sums (planes, cells) of values (planes, P) of each cell."""
        return self._reduced(np.add, values.astype(np.int64) if values.dtype == bool else values)

    def largest(self, values: Array) -> Array:
        """Return the largest of the values (planes, P) of each cell, (planes, cells)."""
        return self._reduced(np.maximum, values)

    def any(self, marks: Marks, shape: tuple[int, int]) -> Marks:
        """Return which cells of all cells (planes, d1 * .. * dr) have a mark."""
        every = np.zeros(shape, np.bool_)
        every[:, self.cells] = self._reduced(np.logical_or, marks)
        return every

    def most(self) -> int:
        """Return the number of pairs of the cell that has the most."""
        return int(np.diff(self._starts, append=len(self._order)).max(initial=1))

    def _reduced(self, ufunc: np.ufunc, values: Array) -> Array:
        reduced: Array = ufunc.reduceat(values[:, self._order], self._starts, axis=1)
        return reduced


def _exact_sums(
    values: Array, factor: Ints | int, divisor: Ints, by_cell: _ByCell, name: str
) -> Array:
    """Return sums of finite values times factors over divisors, (planes, cells), rounded once."""
    common = math.lcm(*np.unique(divisor).tolist())
    smallest, largest = range_of(np.ascontiguousarray(values))
    if largest == 0.0:
        return np.zeros((len(values), len(by_cell.cells)), values.dtype)
    most = float(common) * by_cell.most() * float(np.max(factor)) if common < 2**53 else math.inf
    if sums_exactly(smallest, largest, most, float_format(name)):
        return narrow(by_cell.summed(widen(values) * (common // divisor * factor)) / common, name)
    integers, shift = as_integers(widen(values))
    factors = np.array(common, dtype=object) // divisor.astype(object) * factor
    totals = by_cell.summed(integers * factors)
    denominators = [common << shift] * totals.size
    return round_ratios(totals.ravel().tolist(), denominators, name).reshape(totals.shape)
