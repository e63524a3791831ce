"""What faults of `reduce` share: changes of cells and of results, masks, the cells of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format, name_of
from conformance.faults.atoms import conditions
from conformance.faults.behaviour import Replaces, after, before
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Change = Callable[[Array], Array]
Reduce = Callable[[Gathered, Divisor], Array]
Mask = Callable[[tuple[int, ...]], Any]
"""From the shape (N, C, o1..or) of an output, a mask that broadcasts to it."""
Chosen = Callable[[npt.NDArray[np.int64], int], Any]
"""From the numbers 0..count-1 of units and their count: a mask of some of them."""
Source = Callable[[npt.NDArray[np.int64], tuple[int, ...]], Any]
"""From the numbers of units and the lengths of the axes that number them: other numbers."""


def is_float(data: Array) -> bool:
    """Say whether data are floating-point."""
    return data.dtype.kind not in "iu"


def of_floats(change: Change) -> Change:
    """Change floating-point data alone."""
    return lambda data: change(data) if is_float(data) else data


def of_integers(change: Change) -> Change:
    """Change integers alone."""
    return lambda data: data if is_float(data) else change(data)


def in_doubles(change: Change) -> Change:
    """Change floating-point data alone: `change` gets and returns doubles, rounded afterwards."""
    return of_floats(lambda data: narrow(change(widen(data)), name_of(data.dtype)))


def rounded_to(kind: str) -> Change:
    """Round floating-point data to another type and back."""
    return in_doubles(lambda wide: widen(narrow(wide, kind)))


def nan_as(value: float) -> Change:
    """Take NaN as a number."""
    return in_doubles(lambda wide: np.where(np.isnan(wide), value, wide))


def clamped_to_finite(is_clamped: Callable[[Array], Array]) -> Change:
    """Take those infinities that `is_clamped` marks as the largest finite numbers."""
    return of_floats(
        lambda data: np.where(is_clamped(widen(data)), np.nextafter(data, data.dtype.type(0)), data)
    )


def reducing(change: Change) -> Replaces:
    """Reduce changed cells, of the same shape and type."""
    return before(
        "reduce", lambda gathered, divisor: (replace(gathered, data=change(gathered.data)), divisor)
    )


def returning(change: Change) -> Replaces:
    """Change the first output."""
    return after("reduce", lambda right, _gathered, _divisor: change(right))


def first_of_planes(data: Array) -> Array:
    """Return the first entry of each plane of (N, C, d1..dr), in shape (N, C, 1..1)."""
    return data.reshape(*data.shape[:2], -1)[:, :, 0].reshape(
        *data.shape[:2], *[1] * (data.ndim - 2)
    )


# What is outside of a window --------------------------------------------------------------------


class Span(NamedTuple):
    """A part of data (N, C, d1..dr) that is computed over at once: the first of its axes."""

    name: str
    words: str
    first_axis: int

    def largest(self, data: Array) -> Array:
        """Return the largest finite magnitude of each part, 1 where there is none but zero."""
        wide = np.abs(widen(data))
        axes = tuple(range(self.first_axis, data.ndim))
        most = np.where(np.isfinite(wide), wide, 0.0).max(axes, keepdims=True, initial=0.0)
        return np.where(most > 0, most, 1.0)


SPANS = (
    Span("tensor", "the whole tensor", 0),
    Span("batch", "its batch", 1),
    Span("plane", "its plane", 2),
)


def in_fixed_point_of(span: Span) -> Change:
    """Round data to multiples of the last bit of the largest magnitude of a part."""

    def change(data: Array) -> Array:
        bits = max(24, float_format(name_of(data.dtype)).precision)
        unit = 2.0 ** (np.ceil(np.log2(span.largest(data))) - bits)
        wide = widen(data)
        with np.errstate(all="ignore"):
            rounded = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
        return narrow(np.where(unit > 0, rounded, wide), name_of(data.dtype))

    return of_floats(change)


# Masks -------------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """What outputs are counted by: the axes of an output (N, C, o1..or) that number the units.

    `plural` is what several are called. An output of too few axes is one unit.
    """

    plural: str
    axes: Callable[[range], range]


UNITS = {
    "batches": Unit("batches", lambda axes: axes[:1]),
    "channels": Unit("channels", lambda axes: axes[1:2]),
    "planes": Unit("planes", lambda axes: axes[:2]),
    "slices": Unit("slices of a volume", lambda axes: axes[2:][-3:-2]),
    "rows": Unit("rows", lambda axes: axes[2:][-2:-1]),
    "columns": Unit("columns", lambda axes: axes[-1:]),
    "outputs": Unit("outputs of a plane", lambda axes: axes[2:]),
    "all-rows": Unit("rows of all planes", lambda axes: axes[:-1]),
    "all-outputs": Unit("outputs of all planes", lambda axes: axes),
}


def entries(unit: str, are_in: Chosen) -> Mask:
    """Return a mask of some units of an output: `are_in(numbers 0..count-1, count)`."""

    def mask(shape: tuple[int, ...]) -> Array:
        axes = UNITS[unit].axes(range(len(shape)))
        lengths = [length if axis in axes else 1 for axis, length in enumerate(shape)]
        chosen: Array = are_in(np.arange(prod(lengths)), prod(lengths))
        return chosen.reshape(lengths)

    return mask


def taking(unit: str, source: Source) -> Replaces:
    """Fill units of the first output with others: `source(numbers 0..count-1, lengths)`."""

    def change(right: Array) -> Array:
        axes = UNITS[unit].axes(range(right.ndim))
        if not axes:
            return right
        lengths = right.shape[axes.start : axes.stop]
        numbered = right.reshape(*right.shape[: axes.start], -1, *right.shape[axes.stop :])
        taken: Array = numbered.take(source(np.arange(prod(lengths)), lengths), axes.start)
        return taken.reshape(right.shape)

    return returning(change)


def beyond_groups(lanes: int) -> Chosen:
    """Choose what a loop over whole groups of `lanes` leaves over."""
    return lambda number, count: number >= count // lanes * lanes


# Calls of some parameters -----------------------------------------------------------------------


def only_where(holds: Callable[[Params], bool], replaces: Replaces) -> Replaces:
    """Replace steps after `validate` only for calls whose parameters meet a condition."""
    return {step: conditions.only_where(holds, wrap) for step, wrap in replaces.items()}


# The cells of windows in one array ---------------------------------------------------------------


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
    along = []
    for lo, hi in zip(gathered.lo, gathered.hi, strict=True):
        cells = lo[:, np.newaxis] + np.arange(max(1, int((hi - lo).max(initial=1))))
        along.append((cells, cells < hi[:, np.newaxis]))
    return _window_cells(gathered.data, along)


def padded_window_cells(gathered: Gathered) -> WindowCells:
    """Return the cells of windows, those outside of the input too."""
    along = []
    axes = zip(gathered.windows.axes, gathered.params.sizes, gathered.positions, strict=True)
    for (start, stop, n), d, positions in axes:
        cells = start[:, np.newaxis] + np.arange(0, max(1, int((stop - start).max(initial=1))), n)
        inside = (cells < stop[:, np.newaxis]) & (cells >= 0) & (cells < d)
        place = np.zeros(d, np.int64)  # of each position in what was gathered
        known = positions < d
        place[positions[known]] = np.flatnonzero(known)
        along.append((place[np.where(inside, cells, 0)], inside))
    return _window_cells(gathered.data, along)


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
    count = int(np.prod(extent))
    index, is_cell = index.reshape(count, -1), is_cell.reshape(count, -1)
    planes = data.reshape(data.shape[0] * data.shape[1], -1)
    cells = np.where(is_cell, planes[:, index], data.dtype.type(0))
    return WindowCells(cells, is_cell, (*data.shape[:2], *extent))
