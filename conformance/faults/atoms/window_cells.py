"""The cells of windows in one array, and results computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FloatFormat, float_format, name_of
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.wraps import StepWrap, instead
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Reduce = Callable[[Gathered, Divisor], Array]
_MOST_CELLS = 1 << 20
"""Cells of all windows, at most: where there are more, windows are left as they are."""


class WindowCells(NamedTuple):
    """The cells that each output is computed from, as many taps for every window.

    `cells` has shape (N * C, windows, taps), the taps in row-major order of the window. `is_cell`
    (windows, taps) is False where a tap reads no cell of the input; `cells` are 0 there. `shape` is
    the output's, (N, C, o1..or).
    """

    cells: Array
    is_cell: npt.NDArray[np.bool_]
    shape: tuple[int, ...]

    def fold(self, start: Array, combine: Callable[[Array, Array], Array]) -> Array:
        """Fold the cells of each window in order into an array of `shape`.

        `combine(accumulated, cell)` gets two arrays (N * C, windows) of one type; `start` is the
        first `accumulated`, or what broadcasts to it.
        """
        accumulated = np.broadcast_to(start, self.cells.shape[:2]).copy()
        for tap in range(self.cells.shape[2]):
            combined = combine(accumulated, self.cells[:, :, tap])
            accumulated = np.where(self.is_cell[:, tap], combined, accumulated)
        return accumulated.reshape(self.shape)


def window_cells(gathered: Gathered) -> WindowCells:
    """Return the cells that gathered windows read."""
    return cells_of(gathered.data, gathered.lo, gathered.hi)


def cells_of(data: Array, first: Sequence[Array], stop: Sequence[Array]) -> WindowCells:
    """Return the cells of windows that are ranges on each axis."""
    along = []
    for lo, hi in zip(first, stop, strict=True):
        cells = lo[:, np.newaxis] + np.arange(max(1, int((hi - lo).max(initial=1))))
        along.append((cells, cells < hi[:, np.newaxis]))
    return _window_cells(data, along)


def padded_window_cells(gathered: Gathered) -> WindowCells:
    """Return the cells of windows as doubles, those outside of the input too."""
    along = []
    axes = zip(gathered.windows.axes, gathered.params.sizes, gathered.positions, strict=True)
    for (start, stop, n), d, positions in axes:
        cells = start[:, np.newaxis] + np.arange(0, max(1, int((stop - start).max(initial=1))), n)
        inside = (cells < stop[:, np.newaxis]) & (cells >= 0) & (cells < d)
        place = np.zeros(d, np.int64)  # of each position in what was gathered
        known = positions < d
        place[positions[known]] = np.flatnonzero(known)
        along.append((place[np.where(inside, cells, 0)], inside))
    return _window_cells(widen(gathered.data), along)


def _window_cells(
    data: Array, along: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]
) -> WindowCells:
    """Return the cells of windows from their positions on each axis, and whether these are any."""
    sizes, extent = data.shape[2:], tuple(len(positions) for positions, _ in along)
    axes = len(sizes)
    index: Array = np.zeros((), np.int64)
    is_cell: Array = np.ones((), np.bool_)
    for j, ((positions, inside), d) in enumerate(zip(along, sizes, strict=True)):
        shape = [1] * (2 * axes)
        shape[j], shape[axes + j] = positions.shape
        index = index * d + np.where(inside, positions, 0).reshape(shape)
        is_cell = is_cell & inside.reshape(shape)
    taps = prod(positions.shape[1] for positions, _ in along)
    index, is_cell = (each.reshape(prod(extent), taps) for each in (index, is_cell))
    planes = data.reshape(prod(data.shape[:2]), prod(sizes))
    cells = np.where(is_cell, planes[:, index], data.dtype.type(0))
    return WindowCells(cells, is_cell, (*data.shape[:2], *extent))


# Results in doubles -------------------------------------------------------------------------------

Computed = Callable[["Taps"], Any]
"""Results as doubles, of the output's shape."""


class Taps(NamedTuple):
    """The cells of gathered windows as doubles, the divisors, and the format of the results."""

    gathered: Gathered
    windows: WindowCells
    divisor: Divisor
    fmt: FloatFormat

    @property
    def cells(self) -> Doubles:
        """The cells of all windows, (N * C, windows, taps)."""
        return self.windows.cells

    @property
    def is_cell(self) -> Array:
        """Which taps are cells, in the shape of the cells."""
        return np.broadcast_to(self.windows.is_cell, self.cells.shape)

    @property
    def sums(self) -> Doubles:
        """The sum of each window, in the output's shape."""
        return self.windows.fold(np.zeros(()), np.add)

    def shaped(self, values: Doubles) -> Doubles:
        """Return one value for each window in the output's shape."""
        return values.reshape(self.windows.shape)

    def reduced(self, ufunc: np.ufunc, values: Doubles, empty: float) -> Doubles:
        """Reduce values of the cells of each window, with another for taps that are none."""
        return self.shaped(ufunc.reduce(np.where(self.is_cell, values, empty), axis=-1))

    def divided(self, sums: Doubles) -> Doubles:
        """Divide sums, given in the output's shape."""
        return np.where(self.divisor > 0, sums / np.maximum(self.divisor, 1), np.nan)


def computed(compute: Callable[..., Any], *first: Any) -> StepWrap:
    """Compute floating-point results in doubles, rounded once: `compute(*first, Taps)`."""

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if gathered.data.dtype.kind in "iu" or not is_small(gathered):
            return right(gathered, divisor)
        fmt = float_format(name_of(gathered.data.dtype))
        return narrow(compute(*first, Taps(gathered, in_doubles(gathered), divisor, fmt)), fmt.name)

    return instead(other)


def is_small(gathered: Gathered) -> bool:
    """Say whether the cells of all windows are few enough to be held in one array."""
    ranges = zip(gathered.lo, gathered.hi, strict=True)
    taps = prod(len(lo) * int((hi - lo).max(initial=1)) for lo, hi in ranges)
    return bool(taps * prod(gathered.data.shape[:2]) <= _MOST_CELLS)


@lru_cache(maxsize=8)  # many faults are tried on one vector
def in_doubles(gathered: Gathered) -> WindowCells:
    """Return the cells that gathered windows read, as doubles."""
    return window_cells(replace(gathered, data=widen(gathered.data)))
