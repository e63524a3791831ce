"""Faults of `pads`, `extent` and `windows`: padding of same_*, number and place of windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    BEGIN_PADS_AT_BOTH_ENDS,
    BORDERED,
    END_PADS_AT_BOTH_ENDS,
    FIRST_FOR_ALL,
    INCLUDING,
    NO_BEGIN_PADS,
    NO_END_PADS,
    NO_PADS,
    PADDED,
    PADS_SWAPPED,
    REVERSED,
    ROUNDED,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    Refused,
    Replaces,
    after,
    before,
    changed_cells,
    misread_by_axis,
    on_every_axis,
    with_params,
    wrong_pads,
    wrong_params,
)
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, Windows
from conformance.operators.windows import Positions

Total = Callable[[int, int, int], int]
"""From d, k, s of an axis: its padding."""
AxisPads = Callable[[int, int, int, bool], tuple[int, int]]
"""From d, k, s of an axis and whether same_upper is given: begin and end pad."""


# The padding of same_* ---------------------------------------------------------------------------


def _pads_of_same(of: AxisPads) -> Replaces:
    """Replace the pads of same_*: `of(d, k, s, upper)` per axis."""

    def change(right: Pads, params: Params) -> Pads:
        if not params.same:
            return right
        upper = params.auto_pad == "same_upper"
        axes = zip(params.sizes, params.spans, params.strides, strict=True)
        return tuple(of(d, k, s, upper) for d, k, s in axes)

    return after("pads", change)


def _with_total(of: Total) -> AxisPads:
    """Split a wrong total as it should be."""
    return lambda d, k, s, upper: axis.split(max(0, of(d, k, s)), larger_at_end=upper)


def _total(summary: str, of: Total, bug: str = "") -> Behaviour:
    return Behaviour(summary, AUTO_PADDED, _pads_of_same(_with_total(of)), bug)


def _split(summary: str, of: AxisPads, bug: str = "") -> Behaviour:
    return Behaviour(summary, AUTO_PADDED, _pads_of_same(of), bug)


def _right_total(d: int, k: int, s: int) -> int:
    return axis.same_total(d, k, s, axis.ceil_div(d, s))


def _half_kernel_swapped(_d: int, k: int, _s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    half, odd = k // 2, k % 2
    return (half + odd, half) if upper else (half, half + odd)


def _cropped_at_begin(d: int, k: int, s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    total = axis.exact_total(d, k, s, axis.ceil_div(d, s))
    return (total, 0) if total < 0 else axis.split(total, larger_at_end=upper)


def _plus_explicit(right: Pads, params: Params) -> Pads:
    if not params.same:
        return right
    explicit = zip(params.pads_begin, params.pads_end, strict=True)
    return tuple(
        (begin + more_begin, end + more_end)
        for (begin, end), (more_begin, more_end) in zip(right, explicit, strict=True)
    )


def _divided_extent(right: Extent, params: Params, _pads: Pads) -> Extent:
    divided = tuple(map(axis.ceil_div, params.sizes, params.strides))
    return divided if params.same else right


# The number of windows ---------------------------------------------------------------------------


def _of_slack(of: Callable[[int, int], int], *, only_ceil: bool = False) -> Replaces:
    """Return `of(t, s)` windows per axis, from slack and stride, where same_* does not fix it."""

    def change(right: Extent, params: Params, pads: Pads) -> Extent:
        if params.same or (only_ceil and not params.ceil):
            return right
        return tuple(map(of, steps.rooms(params, pads), params.strides))

    return after("extent", change)


def _dropped_if(is_past: Callable[[int, int, int, int], bool]) -> Replaces:
    """Round up, and drop the last window of an axis if `is_past(d, start, o, begin)`.

    `start` is where that window starts, counted from the begin of the padding; o is the number of
    windows.
    """

    def change(right: Extent, params: Params, pads: Pads) -> Extent:
        if params.same or not params.ceil:
            return right
        extent = []
        for d, t, s, (begin, _) in zip(
            params.sizes, steps.rooms(params, pads), params.strides, pads, strict=True
        ):
            o = axis.extent(t, s, ceil=True)
            extent.append(o - 1 if is_past(d, (o - 1) * s, o, begin) else o)
        return tuple(extent)

    return after("extent", change)


def _ceil_on(rounded_up: int) -> Replaces:
    """Round up on one axis alone."""

    def change(right: Extent, params: Params, pads: Pads) -> Extent:
        if params.same or not params.ceil:
            return right
        extent = list(steps.count_windows(replace(params, rounding="floor"), pads))
        extent[rounded_up] = right[rounded_up]
        return tuple(extent)

    return after("extent", change)


def _same_rounded_down(right: Extent, params: Params, _pads: Pads) -> Extent:
    if not params.same:
        return right
    return tuple(max(1, d // s) for d, s in zip(params.sizes, params.strides, strict=True))


def _floor_drops_padding_windows(right: Extent, params: Params, pads: Pads) -> Extent:
    if params.ceil or params.same:
        return right
    return tuple(
        min(o, max(1, axis.ceil_div(d + begin, s)))
        for o, d, s, (begin, _) in zip(right, params.sizes, params.strides, pads, strict=True)
    )


def _refuse_negative_numerator(right: Extent, params: Params, pads: Pads) -> Extent:
    for d, k, s, (begin, _) in zip(params.sizes, params.spans, params.strides, pads, strict=True):
        if params.ceil and d + begin < k and (d - k) % s:
            raise Refused(f"kernel {k} above input and begin pad {d + begin}")
    return right


# The positions of windows ------------------------------------------------------------------------


class AxisWindows(NamedTuple):
    """The right windows along an axis of d cells, of k from first to last, and the axis's pads."""

    start: Positions
    stop: Positions
    d: int
    k: int
    begin: int
    end: int


Move = Callable[[AxisWindows], tuple[Positions, Positions]]
"""From the right windows of an axis: other starts and stops."""


def _moved(
    summary: str, needs: Needs, move: Move, bug: str = "", *, on_axis: int | None = None
) -> Behaviour:
    """Move the windows along every axis, or along one alone."""

    def change(right: Windows, params: Params, pads: Pads, extent: Extent) -> Windows:
        ranges = list(zip(right.start, right.stop, strict=True))
        for j in range(len(extent)) if on_axis is None else [on_axis]:
            d, k = params.sizes[j], params.spans[j]
            ranges[j] = move(AxisWindows(*ranges[j], d, k, *pads[j]))
        starts, stops = tuple(start for start, _ in ranges), tuple(stop for _, stop in ranges)
        return replace(right, start=starts, stop=stops)

    return Behaviour(summary, needs, after("windows", change), bug)


def _start_clamped_first(w: AxisWindows) -> tuple[Positions, Positions]:
    start = np.maximum(w.start, 0)
    return start, start + w.k


def _back_into_input(w: AxisWindows) -> tuple[Positions, Positions]:
    start = np.minimum(w.start, max(-w.begin, w.d + w.end - w.k))
    return start, start + w.k


def _overhang_at_begin(w: AxisWindows) -> tuple[Positions, Positions]:
    overhang = max(0, int(w.stop[-1]) - w.d - w.end)
    return w.start - overhang, w.stop - overhang


def _without_first_cell(w: AxisWindows) -> tuple[Positions, Positions]:
    first = np.arange(len(w.start)) == 0
    return np.where(first & (w.d > 1), np.maximum(w.start, 1), w.start), w.stop


def _without_last_cell(w: AxisWindows) -> tuple[Positions, Positions]:
    last = np.arange(len(w.stop)) == len(w.stop) - 1
    return w.start, np.where(last & (w.d > 1), np.minimum(w.stop, w.d - 1), w.stop)


def _same_without_pads(params: Params, pads: Pads, extent: Extent) -> tuple[Params, Pads, Extent]:
    return params, ((0, 0),) * len(pads) if params.same else pads, extent


_IN_PADS = partial(with_params, "pads")
_IN_EXTENT = partial(with_params, "extent")
_IN_WINDOWS = partial(with_params, "windows")
_extent_pads = partial(wrong_pads, "extent")
_windows_pads = partial(wrong_pads, "windows")
_windows_params = partial(wrong_params, "windows")

FAULTS: Faults = {
    "same-total-kernel-minus-one": _total(
        "the padding of same_* taken as kernel - 1, whatever the strides", lambda _d, k, _s: k - 1
    ),
    "same-total-kernel-minus-stride": _total(
        "the padding of same_* taken as kernel - stride, also where the size does not divide",
        lambda _d, k, s: k - s,
    ),
    "same-total-of-remainder": _total(
        "the padding of same_* taken as kernel - size % stride, also where the size divides",
        lambda d, k, s: k - d % s,
    ),
    "same-size-rounded-down": _total(
        "the padding of same_* computed for floor(size / stride) windows",
        lambda d, k, s: axis.same_total(d, k, s, d // s),
    ),
    "same-size-of-ceil": _total(
        "the padding of same_* computed for an output size rounded up twice",
        lambda d, k, s: axis.same_total(d, k, s, (d + 2 * (s - 1)) // s),
        bug="same_output_size_uses_rounding",
    ),
    "same-total-one-more": _total(
        "the padding of same_* one cell too large", lambda d, k, s: _right_total(d, k, s) + 1
    ),
    "same-cropped-at-begin": _split(
        "a negative padding of same_* crops the input at its begin alone", _cropped_at_begin
    ),
    "same-arguments-shifted": _total(
        "the padding of same_* computed with size, kernel and stride exchanged",
        lambda d, k, s: axis.same_total(k, s, d, axis.ceil_div(k, d)),
        bug="same_pads_args_shifted",
    ),
    "same-symmetrised-short": _split(
        "an odd padding of same_* made even by dropping a cell",
        lambda d, k, s, _upper: (_right_total(d, k, s) // 2,) * 2,
        bug="same_pads_symmetrised_short",
    ),
    "same-symmetrised-long": _split(
        "an odd padding of same_* made even by adding a cell",
        lambda d, k, s, _upper: (axis.ceil_div(_right_total(d, k, s), 2),) * 2,
    ),
    "same-half-kernel": _split(
        "the padding of same_* taken as half of the kernel at both ends",
        lambda _d, k, _s, _upper: (k // 2,) * 2,
    ),
    "same-half-kernel-swapped": _split(
        "the padding of same_* taken as half of the kernel, the rest of odd kernels swapped",
        _half_kernel_swapped,
        bug="same_pads_half_kernel_and_swapped",
    ),
    "same-half-of-kernel-minus-one": _split(
        "the padding of same_* split from kernel - 1 at both ends",
        lambda _d, k, _s, _upper: ((k - 1) // 2,) * 2,
    ),
    "same-all-at-end": _split(
        "all padding of same_* put at the end", lambda d, k, s, _upper: (0, _right_total(d, k, s))
    ),
    "same-all-at-begin": _split(
        "all padding of same_* put at the begin", lambda d, k, s, _upper: (_right_total(d, k, s), 0)
    ),
    **misread_by_axis(
        "pads-sizes",
        "sizes {} in the padding of same_*",
        AUTO_PADDED,
        "sizes",
        _IN_PADS,
        {"first-for-all": "axis_w_uses_h"},
    ),
    **misread_by_axis(
        "pads-kernel", "kernel {} in the padding of same_*", AUTO_PADDED, "kernel", _IN_PADS
    ),
    **misread_by_axis(
        "pads-strides", "strides {} in the padding of same_*", AUTO_PADDED, "strides", _IN_PADS
    ),
    "same-plus-given-pads": Behaviour(
        "given pads added to those of same_*", AUTO_PADDED & PADDED, after("pads", _plus_explicit)
    ),
    "same-keeps-size": Behaviour(
        "the padding of same_* computed to keep the input size, for ceil(size / stride) windows",
        AUTO_PADDED,
        _pads_of_same(_with_total(lambda d, k, s: axis.same_total(d, k, s, d)))
        | after("extent", _divided_extent),
        bug="same_pad_total_formula_stride",
    ),
    "extent-one-less": Behaviour(
        "the output one window too short", WINDOWED, _of_slack(lambda t, s: max(1, t // s))
    ),
    "extent-rounded-to-nearest": Behaviour(
        "the number of windows rounded to nearest",
        STRIDED,
        _of_slack(lambda t, s: (2 * t + s) // (2 * s) + 1),
    ),
    "extent-clamped-to-input": Behaviour(
        "the output clamped to the input size",
        PADDED,
        after("extent", lambda right, params, _: tuple(map(min, right, params.sizes))),
    ),
    "extent-of-padding-once": _extent_pads(
        "begin and end pads counted once in the output size",
        on_every_axis(lambda begin, end: (max(begin, end), 0)),
    ),
    "extent-of-begin-pads-twice": _extent_pads(
        "begin pads counted twice and end pads not at all in the output size",
        BEGIN_PADS_AT_BOTH_ENDS,
    ),
    "extent-of-end-pads-twice": _extent_pads(
        "end pads counted twice and begin pads not at all in the output size", END_PADS_AT_BOTH_ENDS
    ),
    "extent-without-pads": _extent_pads("pads not counted in the output size", NO_PADS),
    "extent-without-begin-pads": _extent_pads(
        "begin pads not counted in the output size", NO_BEGIN_PADS
    ),
    **misread_by_axis("extent-sizes", "sizes {} in the output size", WINDOWED, "sizes", _IN_EXTENT),
    **misread_by_axis(
        "extent-kernel", "kernel {} in the output size", WINDOWED, "kernel", _IN_EXTENT
    ),
    **misread_by_axis(
        "extent-strides", "strides {} in the output size", STRIDED, "strides", _IN_EXTENT
    ),
    "ceil-double": Behaviour(
        "ceil applied twice",
        ROUNDED,
        _of_slack(lambda t, s: axis.ceil_div(t + s - 1, s) + 1, only_ceil=True),
        bug="ceil_double_rounding",
    ),
    "ceil-exact-as-remainder": Behaviour(
        "ceil adds a window even where the division is exact",
        ROUNDED,
        _of_slack(lambda t, s: t // s + 2, only_ceil=True),
    ),
    "ceil-rounds-half": Behaviour(
        "ceil adds a window only for a remainder of at least half the stride",
        ROUNDED,
        _of_slack(lambda t, s: t // s + 1 + (2 * (t % s) >= s), only_ceil=True),
    ),
    "ceil-never-overhangs-begin-forgotten": Behaviour(
        "ceil drops the windows that start within begin pads of the input's end",
        ROUNDED & PADDED,
        _dropped_if(lambda d, start, o, _begin: o > 1 and start >= d),
    ),
    "ceil-dropped-only-with-begin-pad": Behaviour(
        "ceil drops a window past the input only on axes with a begin pad",
        ROUNDED & PADDED,
        _dropped_if(lambda d, start, _o, begin: begin > 0 and start >= d + begin),
        bug="ceil_clip_only_if_pad",
    ),
    "ceil-first-axis-only": Behaviour("ceil applied to the first axis alone", ROUNDED, _ceil_on(0)),
    "ceil-last-axis-only": Behaviour("ceil applied to the last axis alone", ROUNDED, _ceil_on(-1)),
    "floor-drops-padding-windows": Behaviour(
        "windows that start in the end padding dropped with rounding_type=floor",
        ROUNDED & PADDED,
        after("extent", _floor_drops_padding_windows),
    ),
    "same-extent-rounded-down": Behaviour(
        "the output size of same_* rounded down", AUTO_PADDED, after("extent", _same_rounded_down)
    ),
    "extent-without-end-pads": _extent_pads(
        "end pads not counted in the output size", NO_END_PADS, needs=ROUNDED & PADDED
    ),
    "ceil-of-negative-numerator": Behaviour(
        "ceil fails where the kernel is larger than input and begin pad",
        ROUNDED & PADDED,
        after("extent", _refuse_negative_numerator),
        bug="ceil_negative_numerator",
    ),
    **misread_by_axis(
        "windows-kernel", "kernel {} where windows lie", WINDOWED, "kernel", _IN_WINDOWS
    ),
    **misread_by_axis(
        "windows-strides", "strides {} where windows lie", STRIDED, "strides", _IN_WINDOWS
    ),
    "windows-without-begin-pads": _windows_pads(
        "windows start at the input instead of the begin padding", NO_BEGIN_PADS
    ),
    "windows-start-at-end-pads": _windows_pads(
        "windows start at the end pads instead of the begin pads", PADS_SWAPPED
    ),
    "windows-begin-pads-doubled": _windows_pads(
        "windows start at twice the begin pads", on_every_axis(lambda begin, end: (2 * begin, end))
    ),
    "windows-pads-reversed": _windows_pads(
        f"begin pads {REVERSED.words} where windows start", REVERSED.of
    ),
    "windows-pads-first-for-all": _windows_pads(
        f"begin pads {FIRST_FOR_ALL.words} where windows start", FIRST_FOR_ALL.of
    ),
    "windows-one-late": _moved(
        "every window starts one cell late", WINDOWED, lambda w: (w.start + 1, w.stop + 1)
    ),
    "windows-one-early": _moved(
        "every window starts one cell early", WINDOWED, lambda w: (w.start - 1, w.stop - 1)
    ),
    "windows-one-cell-short": _windows_params(
        "windows read one cell less than the kernel",
        WINDOWED,
        changed_cells("kernel", lambda k: max(1, k - 1)),
    ),
    "windows-one-cell-long": _windows_params(
        "windows read one cell more than the kernel",
        WINDOWED,
        changed_cells("kernel", lambda k: k + 1),
    ),
    "windows-stride-ignored": _windows_params(
        "windows one cell apart whatever the strides",
        STRIDED,
        changed_cells("strides", lambda _: 1),
    ),
    "windows-kernel-apart": _windows_params(
        "windows a kernel apart instead of a stride",
        STRIDED,
        lambda params: replace(params, strides=params.kernel),
        bug="stride_confused_with_kernel",
    ),
    "start-clamped-before-end": _moved(
        "window starts clamped to the input before their ends are computed",
        BORDERED,
        _start_clamped_first,
        bug="start_clamped_before_end",
    ),
    "last-column-dropped": _moved(
        "the last cell of the last axis left out of the last window",
        BORDERED,
        _without_last_cell,
        bug="last_column_dropped",
        on_axis=-1,
    ),
    "first-column-dropped": _moved(
        "the first cell of the last axis left out of the first window",
        BORDERED,
        _without_first_cell,
        on_axis=-1,
    ),
    "last-row-dropped": _moved(
        "the last cell of the first axis left out of the last window",
        WINDOWED,
        _without_last_cell,
        on_axis=0,
    ),
    "overhang-moved-back": _moved(
        "windows that overhang the padded input moved back into it", ROUNDED, _back_into_input
    ),
    "overhang-at-begin": _moved(
        "the overhang of ceil put before the input instead of behind it",
        ROUNDED,
        _overhang_at_begin,
        bug="tail_pad_wrong",
    ),
    "late-start-moved-back": _moved(
        "the start of a window past the input moved back to the last cell",
        INCLUDING & PADDED,
        lambda w: (np.minimum(w.start, w.d - 1), w.stop),
    ),
    "same-pads-not-applied": Behaviour(
        "the padding of same_* counted in the output size but not applied",
        INCLUDING & AUTO_PADDED,
        before("windows", _same_without_pads),
        bug="same_pads_not_applied_begin_zero",
    ),
}
