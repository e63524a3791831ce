"""The cells of every window as one table, for faults that need arithmetic of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.operators.pipeline import Gathered
from conformance.vector import Array


class WindowCells(NamedTuple):
    """`cells` (planes, outputs, places) in row-major order of each window, zero where not `held`.

    `held` (outputs, places) says which places of a window hold a cell; `shape` is the output's.
    """

    cells: Array
    held: npt.NDArray[np.bool_]
    shape: tuple[int, ...]

    def fold(self, start: Array, combine: Callable[[Array, Array], Array]) -> Array:
        """Fold the cells of each window in order: `combine(accumulated, cell)`, both of a type."""
        accumulated = np.broadcast_to(start, self.cells.shape[:2]).copy()
        for place in range(self.cells.shape[2]):
            combined = combine(accumulated, self.cells[:, :, place])
            accumulated = np.where(self.held[:, place], combined, accumulated)
        return accumulated.reshape(self.shape)


def window_cells(gathered: Gathered) -> WindowCells:
    """Return the table of a gathered box per output.

    Boxes may reach into the padding: it holds no cells.
    """
    data = gathered.data
    sizes, extent = data.shape[2:], tuple(len(lo) for lo in gathered.lo)
    axes = len(sizes)
    index: Array = np.zeros((), np.int64)
    held: Array = np.ones((), np.bool_)
    for j, (lo, hi, d) in enumerate(zip(gathered.lo, gathered.hi, sizes, strict=True)):
        most = max(1, int((hi - lo).max(initial=1)))
        positions = lo[:, np.newaxis] + np.arange(most)
        inside = (positions < hi[:, np.newaxis]) & (positions >= 0) & (positions < d)
        shape = [1] * (2 * axes)
        shape[j], shape[axes + j] = positions.shape
        index = index * d + np.where(inside, positions, 0).reshape(shape)
        held = held & inside.reshape(shape)
    count = int(np.prod(extent))
    index, held = index.reshape(count, -1), held.reshape(count, -1)
    planes = data.reshape(data.shape[0] * data.shape[1], -1)
    cells = np.where(held, planes[:, index], data.dtype.type(0))
    return WindowCells(cells, held, (*data.shape[:2], *extent))
