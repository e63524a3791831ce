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
Parts = tuple[Array, ...]
Combine = Callable[[Parts, Parts], Parts]


def fold(data: Array, lo: Ranges, hi: Ranges, ufunc: np.ufunc, identity: Any) -> Array:
    """Fold `data` of shape (L, d1..dr) over boxes into shape (L, o1..or).

    `ufunc` is associative up to rounding; boxes without a cell give `identity`.
    """

    def combine(accumulated: Parts, tap: Parts) -> Parts:
        ufunc(accumulated[0], tap[0], out=accumulated[0])
        return accumulated

    return fold_parts((data,), lo, hi, combine, identity)[0]


def fold_parts(parts: Parts, lo: Ranges, hi: Ranges, combine: Combine, identity: Any) -> Parts:
    """Fold several arrays of one shape together: `combine(accumulated, tap)` sees all of them."""
    for axis, (begin, end) in enumerate(zip(lo, hi, strict=True), start=1):
        runs = _runs(begin, end)
        parts = _fold_axis(parts, axis, runs, combine=combine, identity=identity)
    return parts


def _fold_axis(
    parts: Parts,
    axis: int,
    runs: Sequence[_Run],
    *,
    combine: Combine,
    identity: Any,
) -> Parts:
    count = runs[-1].last if runs else 0
    shape = (*parts[0].shape[:axis], count, *parts[0].shape[axis + 1 :])
    result = tuple(np.full(shape, identity, part.dtype) for part in parts)
    before = (slice(None),) * axis
    for run in runs:
        if run.taps <= 0:
            continue
        target = (*before, slice(run.first, run.last))
        views = tuple(part[target] for part in result)
        accumulated = views
        for tap in range(run.taps):
            where = (*before, run.cells(tap))
            cells = tuple(part[where] for part in parts)
            if tap:
                accumulated = combine(accumulated, cells)
            else:
                for view, values in zip(views, cells, strict=True):
                    view[...] = values
        if accumulated is not views:
            for view, values in zip(views, accumulated, strict=True):
                view[...] = values
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
