"""Faults of `gather` and `divide`: the cells that windows read, and by what sums are divided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, after, before, given, instead
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

# The cells of windows ----------------------------------------------------------------------------


def _every_oth(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    """Read every o-th cell from cell i, as a reshape in the wrong order does."""
    o = params.output[j]
    if d % o or d < o:
        return cells
    i = cells[0] * o // d
    return list(range(i, d, o))


def _transposed_if_square(data: Array) -> Array:
    square = data.ndim > 3 and data.shape[-1] == data.shape[-2]
    return np.swapaxes(data, -1, -2) if square else data


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


def _memory_stride(name: str, axis: int, bits: int) -> Fault:
    """Address data with one memory stride, in elements, kept in a few bits."""

    def change(data: Array) -> Array:
        strides = [prod(data.shape[i + 1 :]) for i in range(data.ndim)]
        if strides[axis] < 1 << bits:
            return data
        strides[axis] %= 1 << bits
        open_grid = np.ogrid[tuple(map(slice, data.shape))]
        index: Any = sum(i * stride for i, stride in zip(open_grid, strides, strict=True))
        addressed: Array = data.reshape(-1)[index]
        return addressed

    return Fault.of(f"the memory stride of a {name} kept in {bits} bits", gather=OnData(change))


_CELLS = (
    Fault.of(
        "every o-th cell averaged instead of neighbours", gather=reading_other_cells(_every_oth)
    ),
    Fault.of("square inputs transposed", gather=OnData(_transposed_if_square)),
    Fault.of(
        "windows that overhang the end of a row read on in the next", gather=after(_into_next_row)
    ),
    Fault.of("pads ignored", gather=after(_subsampled)),
    _memory_stride("row", -2, 8),
    _memory_stride("plane", 1, 16),
    _memory_stride("batch", 0, 16),
)

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


def _of_clipped_length(*, rounded_up: bool) -> StepWrap:
    """Divide the length of clipped windows by the dilation, wherever their first cell lies."""

    def divisor(_right: Any, params: Params, pads: Pads, windows: Windows) -> Divisor:
        counts = []
        for (start, stop, n), d, (begin, end) in zip(windows.axes, params.sizes, pads, strict=True):
            before_input, behind = (begin, end) if params.include_pad else (0, 0)
            length = np.minimum(stop, d + behind) - np.maximum(start, -before_input)
            counts.append(np.maximum((length + (n - 1) * rounded_up) // n, 0))
        return steps.outer(counts)

    return instead(divisor)


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


def _divided_by(words: str, count: Callable[[Array, int], int]) -> Fault:
    """Divide the sum of a plane by `count(data, cells of a plane)`."""

    def reduce(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
        number = count(gathered.data, prod(gathered.params.sizes))
        return gathered, np.full_like(divisor, number)

    return Fault.of(f"sums divided {words}", reduce=before(reduce))


_DIVISORS = (
    Fault.of(
        "only the first and last window of an axis corrected for padding",
        divide=instead(_rescaled_borders),
    ),
    Fault.of(
        "the begin pad of the next axis in place of an end pad in the divisor",
        divide=before(_begin_of_next_axis_at_end),
    ),
    Fault.of(
        "the overhang of ceil counted in the divisor where there is no padding",
        divide=after(_whole_without_pads),
    ),
    Fault.of(
        "the overhang of ceil counted in the divisor for a multiple of eight channels",
        reduce=before(_whole_kernel_in_blocks),
    ),
    Fault.of(
        "the correction for left-out padding computed as an integer quotient",
        reduce=instead(_integer_quotient),
    ),
    *(
        Fault.of(
            f"the divisor of dilated windows counted from where they are clipped, rounded {way}",
            divide=_of_clipped_length(rounded_up=way == "up"),
        )
        for way in ("up", "down")
    ),
    # One that is given
    Fault.of("a divisor that is given ignored", divide=given(_not_given)),
    Fault.of(
        "a divisor that is given ignored in windows that reach out of the input",
        divide=after(_given_within),
    ),
    Fault.of(
        "a divisor that is given multiplied by the number of cells",
        divide=after(_given_times_counted),
    ),
    # One value of each plane
    _divided_by("by the cells of all channels", lambda data, cells: cells * data.shape[1]),
    _divided_by("by the cells of all batches", lambda data, cells: cells * data.shape[0]),
    _divided_by(
        "by a number of cells rounded up to groups of 8", lambda _data, cells: -(-cells // 8) * 8
    ),
    _divided_by(
        "as if all axes had the size of the first",
        lambda data, _cells: int(data.shape[2]) ** (data.ndim - 2),
    ),
    _divided_by("by the cells of the last two axes", lambda data, _: prod(data.shape[2:][-2:])),
)

FAULTS = (*_CELLS, *_DIVISORS)
