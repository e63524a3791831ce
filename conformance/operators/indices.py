"""The second output of a maximum: the index of the chosen cell, as the attributes count cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.dtypes import dtype_of
from conformance.operators.operator import Output
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, outer
from conformance.operators.reduction import lowest
from conformance.reference.position import NOWHERE, numbers_of, position_of_maximum
from conformance.vector import Array


class WindowCells(NamedTuple):
    """The cells of some windows, arrays (windows, k1..kr) of the longest extents of any window.

    `inside` says which cells are of the window, and `places` are those of the cells, arrays for
    batch, channel and each axis of the input.
    """

    values: Array
    inside: npt.NDArray[np.bool_]
    places: Sequence[npt.NDArray[np.int64]]


def cells_of_windows(gathered: Gathered, places: Sequence[npt.NDArray[np.int64]]) -> WindowCells:
    """Return the cells of windows at places in the output, an array (windows,) for each axis."""
    batch, channel, *windows = places
    axes = len(windows)
    column = (slice(None), *(np.newaxis,) * axes)
    cells, inside = [], np.ones((len(batch),) + (1,) * axes, np.bool_)
    for axis, (window, lo, hi) in enumerate(zip(windows, gathered.lo, gathered.hi, strict=True)):
        steps = np.arange((hi - lo).max(initial=0))
        steps = steps.reshape((-1,) + (1,) * (axes - 1 - axis))
        cell = lo[window][column] + steps
        inside = inside & (cell < hi[window][column])
        cells.append(np.minimum(cell, gathered.data.shape[2 + axis] - 1))
    values = gathered.data[batch[column], channel[column], *cells]
    along = [line[cell] for line, cell in zip(gathered.positions, cells, strict=True)]
    return WindowCells(values, inside, [batch[column], channel[column], *along])


@dataclass(frozen=True, slots=True)
class ChosenIndex:
    """The step `further` of a maximum: the index of its cell, NOWHERE where it has none.

    `ties` and `nan` say which of equal cells, and of NaNs, is chosen: the first or the last in
    row-major order. `reversed_axes` are the axes that column-major order reverses: those of space,
    or all. A window without cells has no index, nor has one whose maximum is what padding holds:
    minus infinity, or the lowest integer.
    """

    ties: str = "first"
    nan: str = "first"
    reversed_axes: str = "spatial"

    def __call__(self, gathered: Gathered, _divisor: Divisor, first: Array) -> tuple[Array, ...]:
        """Return the indices, of the shape of the first output."""
        params, windows = gathered.params, gathered.windows
        cells = self._chosen(gathered, first, numbers_of(gathered.positions, params.sizes))
        reaches_out = outer(windows.lengths) > outer(windows.inside(params.sizes))
        nothing = (cells == NOWHERE) | (reaches_out & (first == lowest(first.dtype)))
        batch, channel = np.ogrid[: first.shape[0], : first.shape[1]]
        spread = (...,) + (np.newaxis,) * len(params.sizes)
        places = [batch[spread], channel[spread]]
        for axis, d in enumerate(params.sizes, 1):
            places.append(cells // prod(params.sizes[axis:]) % d)
        indices = self.index_of(places, first.shape, params)
        return (np.where(nothing, NOWHERE, indices).astype(dtype_of(params.index_type)),)

    def extreme(self, gathered: Gathered, first: Array) -> npt.NDArray[np.int64]:
        """Return the least or largest index, `first` or `last` of equal cells, within each plane.

        Where they are the same, all cells that may be chosen have one index.
        """
        of_plane = self.index_of([0, 0, *np.ix_(*gathered.positions)], (1, 1), gathered.params)
        return self._chosen(gathered, first, of_plane)

    def _chosen(
        self, gathered: Gathered, first: Array, numbers: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the number of the cell that each window chooses, the first or last by numbers."""
        return position_of_maximum(
            gathered.data,
            first,
            gathered.lo,
            gathered.hi,
            numbers,
            last=self.ties == "last",
            last_nan=self.nan == "last",
        )

    def holding(
        self, gathered: Gathered, values: Array, places: Sequence[npt.NDArray[np.int64]]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the indices of all cells of windows that hold a value, and whose each one is.

        `places` are those of the windows in the output, an array (windows,) for each axis, and
        `values` has the value that is looked for in each. Whose: the number of the window.
        """
        cells = cells_of_windows(gathered, places)
        wanted = values.reshape((-1,) + (1,) * (cells.values.ndim - 1))
        is_nan = (cells.values != cells.values) & (wanted != wanted)  # noqa: PLR0124
        right = cells.inside & ((cells.values == wanted) | is_nan)
        return np.nonzero(right)[0], self.of_cells(cells, gathered)[right]

    def of_cells(self, cells: WindowCells, gathered: Gathered) -> npt.NDArray[np.int64]:
        """Return the index of each of some cells of windows."""
        indices = self.index_of(cells.places, gathered.data.shape, gathered.params)
        return np.broadcast_to(indices, cells.inside.shape)

    def index_of(
        self, places: Sequence[Any], planes: Sequence[int], params: Params
    ) -> npt.NDArray[np.int64]:
        """Return the indices of cells at places (batch, channel, position on each axis).

        `planes` starts with the numbers of batches and channels.
        """
        shape = (*planes[:2], *params.sizes)
        first = params.index_axis % len(shape)
        order = list(range(len(shape)))
        if params.storage_order == "column-major":
            order = [*order[:2], *order[:1:-1]] if self.reversed_axes == "spatial" else order[::-1]
        is_apart = set(order[:first]) == {*range(first)}  # what is not counted comes first
        indices: npt.NDArray[np.int64] = np.zeros((), np.int64)
        for axis in order[first:] if is_apart else order:
            indices = indices * shape[axis] + places[axis]
        return indices if is_apart else indices % prod(shape[first:])


INDICES = Output("indices", dtype=("int64", "int32"), undefined="index-of-nothing", is_index=True)
