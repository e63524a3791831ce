"""Fold the cells of many boxes at once, one spatial axis after the other.

A box is a product of half-open ranges `lo[j]:hi[j]`, one per spatial axis, so a fold over it is a
fold along each axis in turn. Along an axis, the windows of equal length and equal distance (all
but those at the border) become whole strided slices: one numpy call per tap, not per window. Taps
are taken in ascending order, so that results do not depend on how numpy groups a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.vector import Array

Ranges = Sequence[npt.NDArray[np.int64]]
Combine = Callable[[Array, Array], object]


def fold(data: Array, lo: Ranges, hi: Ranges, ufunc: np.ufunc, identity: Any) -> Array:
    """Fold `data` of shape (..., d1..dr) over boxes into shape (..., o1..or).

    `ufunc` is associative up to rounding; boxes without a cell give `identity`.
    """
    return fold_with(data, lo, hi, lambda folded, tap: ufunc(folded, tap, out=folded), identity)


def fold_with(data: Array, lo: Ranges, hi: Ranges, combine: Combine, identity: Any) -> Array:
    """Fold as `fold` does; `combine(folded, tap)` changes `folded`, of the shape of `tap`."""
    first = data.ndim - len(lo)
    for axis, (begin, end) in enumerate(zip(lo, hi, strict=True), start=first):
        data = _fold_axis(data, axis, _runs(begin, end), combine, identity)
    return data


def _fold_axis(
    data: Array, axis: int, runs: Sequence[_Run], combine: Combine, identity: Any
) -> Array:
    count = runs[-1].last if runs else 0
    result = np.empty((*data.shape[:axis], count, *data.shape[axis + 1 :]), data.dtype)
    before = (slice(None),) * axis
    for run in runs:
        folded = result[(*before, slice(run.first, run.last))]
        folded[...] = data[(*before, run.cells(0))] if run.taps > 0 else identity
        for tap in range(1, run.taps):
            combine(folded, data[(*before, run.cells(tap))])
    return result


class _Run(NamedTuple):
    """Windows first:last, of one length `taps`, the first at `start`, `step` > 0 apart."""

    first: int
    last: int
    start: int
    step: int
    taps: int

    def cells(self, tap: int) -> slice:
        """Return where each window of the run reads its cell number `tap`."""
        begin = self.start + tap
        return slice(begin, begin + (self.last - self.first - 1) * self.step + 1, self.step)


def _runs(lo: npt.NDArray[np.int64], hi: npt.NDArray[np.int64]) -> list[_Run]:
    """Split windows into as few runs as possible."""
    runs: list[_Run] = []
    begins, ends = lo.tolist(), hi.tolist()
    count, first = len(begins), 0
    while first < count:
        last = first + 1
        taps = ends[first] - begins[first]
        step = begins[last] - begins[first] if last < count else 1
        if step >= 1:
            while (
                last < count
                and begins[last] - begins[last - 1] == step
                and ends[last] - begins[last] == taps
            ):
                last += 1
        runs.append(_Run(first, last, begins[first], max(step, 1), taps))
        first = last
    return runs
