"""The cells that windows read: others may be read in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from conformance.faults.wraps import after
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows
from conformance.vector import Array


@lru_cache(maxsize=16)  # many faults ask for those of one right plan
def _cells_of(windows: Windows, sizes: Sequence[int] | None) -> list[list[list[int]]]:
    """Return the positions of the cells of each window, per axis; those of an input if of sizes."""
    return [
        [
            [cell for cell in range(a, b, n) if sizes is None or 0 <= cell < sizes[j]]
            for a, b in zip(start.tolist(), stop.tolist(), strict=True)
        ]
        for j, (start, stop, n) in enumerate(windows.axes)
    ]


def reading_other_cells(
    choose: Callable[[list[int], int, Params, int], list[int]], *, unclipped: bool = False
) -> StepWrap:
    """Replace the step `gather`: along each axis, a window reads other cells.

    These are `choose(cells, d, params, axis)`: `cells` are the positions that the window should
    read of the d cells of the axis; with `unclipped`, positions in the padding too. Position d, one
    beyond the input, holds zero.
    """

    def other(right: Gathered, data: Array, params: Params, windows: Windows) -> Gathered:
        right_cells = _cells_of(windows, params.sizes)
        unchanged = _cells_of(windows, None) if unclipped else right_cells
        indices = [
            [choose(cells, d, params, axis) for cells in unchanged[axis]]
            for axis, d in enumerate(params.sizes)
        ]
        return right if indices == right_cells else _gathered_from(right, data, indices)

    return after(other)


def _gathered_from(right: Gathered, data: Array, indices: list[list[list[int]]]) -> Gathered:
    """Gather any cells: window i reads, per axis, the cells `indices[axis][i]` of the data."""
    data = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * (data.ndim - 2)])
    lo, hi, positions = [], [], []
    for axis, windows in enumerate(indices, start=2):
        lengths = np.array([len(cells) for cells in windows], np.int64)
        flat = np.array([cell for cells in windows for cell in cells], np.int64)
        data = np.take(data, flat, axis=axis)
        positions.append(flat)
        hi.append(np.cumsum(lengths))
        lo.append(hi[-1] - lengths)
    return replace(right, data=data, lo=tuple(lo), hi=tuple(hi), positions=tuple(positions))
