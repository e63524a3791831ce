"""Faults of `gather` and `divide`: the cells that windows read, and by what sums are divided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from operator import floordiv
from typing import Any

import numpy as np

from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.layouts import transposed_if_square
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, given
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.operators.wraps import after, before, instead
from conformance.vector import Array

# The cells of windows ----------------------------------------------------------------------------


def _every_oth(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    """Read every o-th cell from cell i, as a reshape in the wrong order does."""
    o = params.output[j]
    if d % o or d < o:
        return cells
    i = cells[0] * o // d
    return list(range(i, d, o))


def _into_next_row(_right: Gathered, data: Array, params: Params, windows: Windows) -> Gathered:
    """Read the begin of the next row where a window overhangs the end of a row."""
    width = params.sizes[-1]
    overhang = max(0, int(windows.stop[-1].max(initial=0)) - width)
    flat = data.reshape(*data.shape[:2], -1)
    rows = np.arange(flat.shape[2]).reshape(-1, width)
    index = rows[:, :1] + np.arange(width + overhang)
    longer = flat[:, :, index % flat.shape[2]].reshape(*data.shape[:-1], width + overhang)
    return steps.clip(longer, replace(params, sizes=longer.shape[2:]), windows)


def _subsampled(right: Gathered, data: Array, params: Params, _windows: Windows) -> Gathered:
    """Read every s-th cell of the input, without padding."""
    axes = zip(right.lo, params.strides, params.sizes, strict=True)
    lo = tuple(np.minimum(np.arange(len(a)) * s, d - 1) for a, s, d in axes)
    positions = tuple(np.arange(d) for d in params.sizes)
    return replace(right, data=data, lo=lo, hi=tuple(a + 1 for a in lo), positions=positions)


def _addressed(axis: int, bits: int, data: Array) -> Array:
    """Address data with one memory stride, in elements, kept in a few bits."""
    strides = [prod(data.shape[i + 1 :]) for i in range(data.ndim)]
    if strides[axis] < 1 << bits:
        return data
    strides[axis] %= 1 << bits
    open_grid = np.ogrid[tuple(map(slice, data.shape))]
    index: Any = sum(i * stride for i, stride in zip(open_grid, strides, strict=True))
    addressed: Array = data.reshape(-1)[index]
    return addressed


_CELLS = {
    "adaptive-strided-cells": Fault.of(gather=reading_other_cells(_every_oth)),
    "square-input-transposed": Fault.of(gather=OnData(transposed_if_square)),
    "runs-into-next-row": Fault.of(gather=after(_into_next_row)),
    "kernel-one-subsamples": Fault.of(gather=after(_subsampled)),
    "row-stride-of-8-bits": Fault.of(gather=OnData(partial(_addressed, -2, 8))),
    "plane-stride-of-16-bits": Fault.of(gather=OnData(partial(_addressed, 1, 16))),
    "batch-stride-of-16-bits": Fault.of(gather=OnData(partial(_addressed, 0, 16))),
}

# The divisor -------------------------------------------------------------------------------------

Divide = Callable[[Params, Pads, Windows], Divisor]


def _rescaled_borders(_right: Divide, params: Params, _pads: Pads, windows: Windows) -> Divisor:
    """Leave padding out of the count in the first and last window of an axis alone."""
    counts = list(windows.lengths)
    for number, a, b, d in zip(counts, windows.start, windows.stop, params.sizes, strict=True):
        inside = axis.cells_within(a, b, 0, d)
        number[0], number[-1] = inside[0], inside[-1]
    return steps.outer(counts)


def _begin_of_next_axis_at_end(params: Params, pads: Pads, windows: Windows) -> tuple[Any, ...]:
    """Put the begin pad of the next axis in place of the end pad of every axis but the last."""
    ends = [*(begin for begin, _ in pads[1:]), pads[-1][1]]
    return params, tuple((begin, end) for (begin, _), end in zip(pads, ends, strict=True)), windows


def _whole_without_pads(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
    """Count all cells of a window where padding would count, but there is none."""
    is_padded = any(map(any, pads))
    return steps.outer(windows.lengths) if params.include_pad and not is_padded else right


def _of_clipped_length(
    over: Callable[[Any, int], Any], _right: Any, params: Params, pads: Pads, windows: Windows
) -> Divisor:
    """Divide the length of clipped windows by the dilation, wherever their first cell lies."""
    counts = []
    for (start, stop, n), d, (begin, end) in zip(windows.axes, params.sizes, pads, strict=True):
        before_input, behind = (begin, end) if params.include_pad else (0, 0)
        length = np.minimum(stop, d + behind) - np.maximum(start, -before_input)
        counts.append(np.maximum(over(length, n), 0))
    return steps.outer(counts)


def _integer_quotient(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Divide by the whole kernel, then multiply by (whole kernel // divisor)."""
    if gathered.params.include_pad:
        return reduce(gathered, divisor)
    whole = steps.outer(gathered.windows.lengths)
    of_whole_kernel = reduce(gathered, whole)
    quotient = (whole // np.maximum(divisor, 1)).astype(of_whole_kernel.dtype)
    scaled: Array = of_whole_kernel * quotient
    return scaled


def _whole_kernel_in_blocks(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
    """Count the overhang for a multiple of eight channels, as a blocked kernel may."""
    if gathered.params.include_pad and gathered.data.shape[1] % 8 == 0:
        divisor = steps.outer(gathered.windows.lengths)
    return gathered, divisor


def _not_given(params: Params) -> Params:
    return replace(params, fixed_divisor=None)


def _counted(params: Params, pads: Pads, windows: Windows) -> Divisor:
    return steps.count_cells(_not_given(params), pads, windows)


def _given_within(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
    within = steps.outer(windows.inside(params.sizes)) == steps.outer(windows.lengths)
    return np.where(within, right, _counted(params, pads, windows))


def _given_times_counted(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
    is_given = params.fixed_divisor is not None
    return right * _counted(params, pads, windows) if is_given else right


def _divided_by(
    count: Callable[[Array, int], int], gathered: Gathered, divisor: Divisor
) -> tuple[Gathered, Divisor]:
    """Divide the sum of a plane by `count(data, cells of a plane)`."""
    return gathered, np.full_like(divisor, count(gathered.data, prod(gathered.params.sizes)))


_DIVISORS_OF_PLANES: dict[str, Callable[[Array, int], int]] = {
    "channels": lambda data, cells: cells * data.shape[1],
    "batches": lambda data, cells: cells * data.shape[0],
    "groups-of-8": lambda _, cells: axis.ceil_div(cells, 8) * 8,
    "first-axis-squared": lambda data, _: int(data.shape[2]) ** (data.ndim - 2),
    "last-two-axes": lambda data, _: prod(data.shape[2:][-2:]),
}
FAULTS = {
    **_CELLS,
    "divisor-border-rescaled": Fault.of(divide=instead(_rescaled_borders)),
    "divisor-pads-of-next-axis": Fault.of(divide=before(_begin_of_next_axis_at_end)),
    "divisor-whole-kernel-without-pads": Fault.of(divide=after(_whole_without_pads)),
    "divisor-whole-kernel-blocked-channels": Fault.of(reduce=before(_whole_kernel_in_blocks)),
    "divisor-integer-quotient": Fault.of(reduce=instead(_integer_quotient)),
    "divisor-of-clipped-length-rounded-up": Fault.of(
        divide=instead(_of_clipped_length, axis.ceil_div)
    ),
    "divisor-of-clipped-length-rounded-down": Fault.of(
        divide=instead(_of_clipped_length, floordiv)
    ),
    "given-divisor-ignored": Fault.of(divide=given(_not_given)),
    "given-divisor-ignored-at-border": Fault.of(divide=after(_given_within)),
    "given-divisor-multiplied": Fault.of(divide=after(_given_times_counted)),
    **{
        f"whole-divided-by-{what}": Fault.of(reduce=before(_divided_by, count))
        for what, count in _DIVISORS_OF_PLANES.items()
    },
}
