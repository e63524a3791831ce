"""Fold the cells of many boxes at once, one spatial axis after the other.

A box is a product of half-open ranges `lo[j]:hi[j]`, one per spatial axis, so a fold over it is a
fold along each axis in turn. Along an axis, tap i of all windows of equal length and equal distance
(all but those at the border) is one strided slice: one numpy call per tap. Where windows are fewer
than taps, one window is folded after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.vector import Array

Ranges = Sequence[npt.NDArray[np.int64]]
Combine = Callable[[Array, Array], object]
FoldWindow = Callable[[Array, int], Array]


def fold(data: Array, lo: Ranges, hi: Ranges, ufunc: np.ufunc, identity: Any) -> Array:
    """Fold `data` of shape (..., d1..dr) over boxes into shape (..., o1..or).

    `ufunc` is associative up to rounding; boxes without a cell give `identity`. Along an axis,
    cells are taken in ascending order, so that results do not depend on how numpy groups a sum.
    """

    def combine(folded: Array, tap: Array) -> None:
        ufunc(folded, tap, out=folded)

    def fold_window(cells: Array, axis: int) -> Array:
        # Unlike `reduce`, `accumulate` knows one order only.
        folded: Array = ufunc.accumulate(cells, axis=axis, dtype=cells.dtype).take(-1, axis=axis)
        return folded

    return _fold(data, lo, hi, combine, fold_window, identity)


def fold_with(data: Array, lo: Ranges, hi: Ranges, combine: Combine, identity: Any) -> Array:
    """Fold as `fold` does, but in any order.

    `combine(folded, tap)` updates `folded` in place, of the same shape.
    """

    def fold_window(cells: Array, axis: int) -> Array:
        folded, count = cells.copy(), cells.shape[axis]
        while count > 1:
            half = count // 2
            combine(folded[_at(axis, slice(half))], folded[_at(axis, slice(count - half, count))])
            count -= half
        return folded[_at(axis, 0)]

    return _fold(data, lo, hi, combine, fold_window, identity)


def _fold(
    data: Array,
    lo: Ranges,
    hi: Ranges,
    combine: Combine,
    fold_window: FoldWindow,
    identity: Any,
) -> Array:
    """Fold by `combine`, tap by tap, or by `fold_window(cells of a window, axis)`."""
    first = data.ndim - len(lo)
    for axis, (begin, end) in enumerate(zip(lo, hi, strict=True), start=first):
        result = np.empty((*data.shape[:axis], len(begin), *data.shape[axis + 1 :]), data.dtype)
        for run in _runs(*(np.asarray(ends, np.int64).tobytes() for ends in (begin, end))):
            folded = result[_at(axis, slice(run.first, run.last))]
            if not run.cells:
                folded[...] = identity
            elif run.cells <= run.last - run.first:
                folded[...] = data[_at(axis, run.tap(0))]
                for cell in range(1, run.cells):
                    combine(folded, data[_at(axis, run.tap(cell))])
            else:
                for number in range(run.last - run.first):
                    cells = data[_at(axis, run.window(number))]
                    folded[_at(axis, number)] = fold_window(cells, axis)
        data = result
    return data


def _at(axis: int, index: slice | int) -> tuple[slice | int, ...]:
    return (*(slice(None),) * axis, index)


class _Run(NamedTuple):
    """Windows first:last, each of so many cells and `step` after the one before."""

    first: int
    last: int
    begin: int
    cells: int
    step: int

    def tap(self, cell: int) -> slice:
        """Return where the windows read a cell of theirs."""
        at = self.begin + cell
        return slice(at, at + (self.last - self.first - 1) * self.step + 1, self.step)

    def window(self, number: int) -> slice:
        """Return the cells of one window."""
        at = self.begin + number * self.step
        return slice(at, at + self.cells)


@lru_cache(maxsize=1024)  # the cases of a sweep have few different axes
def _runs(lo: bytes, hi: bytes) -> list[_Run]:
    """Split windows into as few runs as possible; `lo` and `hi` hold 64-bit integers."""
    runs: list[_Run] = []
    begins, ends = (np.frombuffer(each, np.int64).tolist() for each in (lo, hi))
    count, first = len(begins), 0
    while first < count:
        last = first + 1
        cells = ends[first] - begins[first]
        step = begins[last] - begins[first] if last < count else 1
        if step >= 1:
            while (
                last < count
                and begins[last] - begins[last - 1] == step
                and ends[last] - begins[last] == cells
            ):
                last += 1
        runs.append(_Run(first, last, begins[first], max(cells, 0), max(step, 1)))
        first = last
    return runs
