"""How the cells of a window become its value: comparisons, and sums that are unsound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import dtype_of, name_of
from conformance.faults.atoms.numbers import is_float
from conformance.faults.atoms.window_cells import (
    Reduce,
    Taps,
    WindowCells,
    cells_of,
    computed,
    is_small,
)
from conformance.faults.behaviour import MAXIMUM, Behaviour
from conformance.faults.wraps import instead
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array


class Comparison(NamedTuple):
    """Which of two cells is kept: words, and `of(kept, next)`."""

    words: str
    of: Callable[[Doubles, Doubles], Any]


class Way(NamedTuple):
    """A way to add the cells of windows along an axis: words, and `of(cells, lo, hi)`.

    Cells lie along the first axis; the sums of windows lo:hi are returned.
    """

    words: str
    of: Callable[[Array, Array, Array], Array]


LATER_UNLESS_SMALLER = Comparison(
    "a cell took the place of the one before unless that is larger",
    lambda a, b: np.where(a > b, a, b),
)
FIRST_UNLESS_SMALLER = Comparison(
    "a cell took the place of the first only if it is larger", lambda a, b: np.where(b > a, b, a)
)
LARGEST_MAGNITUDE = Comparison(
    "a cell took the place of another only if its magnitude is larger",
    lambda a, b: np.where(np.abs(b) > np.abs(a), b, a),
)
COMPARISONS = (LATER_UNLESS_SMALLER, FIRST_UNLESS_SMALLER, LARGEST_MAGNITUDE)


def compared(comparison: Comparison) -> StepWrap:
    """Fold the cells of each window in order, from its first cell on."""

    def compute(taps: Taps) -> Doubles:
        return _from_first(taps.windows, comparison)

    return computed(compute)


def _from_first(windows: WindowCells, comparison: Comparison) -> Doubles:
    """Fold the cells of each window in order, from its first cell on."""
    nothing = np.where(windows.is_cell.any(-1), windows.cells[..., 0], -np.inf)
    return windows.fold(nothing, comparison.of)


def compared_by_columns(comparison: Comparison) -> StepWrap:
    """Fold the cells of each window along the first axes, and what that gives along the last."""

    def other(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if gathered.data.dtype.kind in "iu" or not is_small(gathered):
            return reduce(gathered, divisor)
        (*rows_lo, lo), (*rows_hi, hi) = gathered.lo, gathered.hi
        column = np.arange(gathered.data.shape[-1])
        data = widen(gathered.data)
        columns = cells_of(data, (*rows_lo, column), (*rows_hi, column + 1))
        data = _from_first(columns, comparison)
        rows = [np.arange(n) for n in data.shape[2:-1]]
        windows = cells_of(data, (*rows, lo), (*(row + 1 for row in rows), hi))
        return narrow(_from_first(windows, comparison), name_of(gathered.data.dtype))

    return instead(other)


def compared_as(kinds: Mapping[str, str]) -> StepWrap:
    """Compare data of some kinds by their bits as others: "f", "i" and "u", as in numpy."""

    def other(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        kind = kinds.get("f" if is_float(data) else data.dtype.kind)
        if kind is None:
            return reduce(gathered, divisor)
        bits = np.ascontiguousarray(data).view(f"{kind}{data.dtype.itemsize}")
        return reduce(replace(gathered, data=bits), divisor).view(data.dtype)

    return instead(other)


def _differences(cells: Array, lo: Array, hi: Array) -> Array:
    running = np.zeros((len(cells) + 1, *cells.shape[1:]), cells.dtype)
    np.cumsum(cells, axis=0, dtype=cells.dtype, out=running[1:])
    return running[np.maximum(hi, lo)] - running[lo]


def _slid(cells: Array, lo: Array, hi: Array) -> Array:
    """Add the cells that enter a window to the sum of the one before; subtract those that left."""
    terms, counts = [], []
    entered = left = int(lo[0])
    for a, b in zip(lo.tolist(), hi.tolist(), strict=True):
        terms += [(cell, 1) for cell in range(entered, b)] + [(cell, -1) for cell in range(left, a)]
        entered, left = max(entered, b), max(left, a)
        counts.append(len(terms))
    index, signs = np.array(terms, np.int64).reshape(-1, 2).T
    signed = cells[index] * signs.astype(cells.dtype).reshape(-1, *[1] * (cells.ndim - 1))
    return _differences(signed, np.zeros_like(lo), np.array(counts))


def _added(cells: Array, lo: Array, hi: Array) -> Array:
    ends = zip(lo.tolist(), hi.tolist(), strict=True)
    return np.stack([cells[a:b].sum(0, dtype=cells.dtype) for a, b in ends])


DIFFERENCES = Way("differences of running sums", _differences)
SLID = Way("slid", _slid)


def summed(way: Way, axes: slice, kind_of: Callable[[str], str]) -> StepWrap:
    """Take sums along some axes in an unsound way, along the others as they should be.

    They are kept in the type that `kind_of` returns for an element type.
    """

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if not is_float(gathered.data):
            return right(gathered, divisor)
        name = name_of(gathered.data.dtype)
        sums = widen(gathered.data).astype(dtype_of(kind_of(name)))
        unsound = range(len(gathered.lo))[axes]
        for j in reversed(range(len(gathered.lo))):
            along = way.of if j in unsound else _added
            cells = np.moveaxis(sums, 2 + j, 0)
            sums = np.moveaxis(along(cells, gathered.lo[j], gathered.hi[j]), 0, 2 + j)
        counts = np.maximum(divisor, 1).astype(sums.dtype)
        return narrow(widen(np.where(divisor > 0, sums / counts, np.nan)), name)

    return instead(other)


# Wrong behaviours --------------------------------------------------------------------------------


def maximum_by(comparison: Comparison, *, needs: Needs = MAXIMUM) -> Behaviour:
    """Take the cell that is kept in a window."""
    return Behaviour(f"as if {comparison.words}", needs, {"reduce": compared(comparison)})
