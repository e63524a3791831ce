"""Faults of `pads`, `extent` and `windows`: padding of same_*, number and place of windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.faults.atoms import conditions
from conformance.faults.atoms.conditions import Condition
from conformance.faults.atoms.lists import (
    DOUBLED,
    EXTENT,
    FIRST_FOR_ALL,
    IN_EXTENT,
    IN_PADS,
    IN_WINDOWS,
    LARGER_PAD,
    OF_SAME,
    ONE,
    ONE_LESS,
    ONE_MORE,
    REVERSED,
    TOTAL,
    ZERO,
    at_most,
    computed,
    mixed_up,
    read,
    same_as,
)
from conformance.faults.atoms.windows import (
    BACK_INTO_PADDED_INPUT,
    EARLIER,
    FIRST_AXIS,
    FIRST_WITHOUT_FIRST_CELL,
    LAST_AXIS,
    LAST_WITHOUT_LAST_CELL,
    LATE_STARTS_BACK,
    LATER,
    Along,
    Ends,
    Move,
    moved,
)
from conformance.faults.behaviour import (
    AUTO_PADDED,
    BORDERED,
    EVERY,
    INCLUDING,
    PADDED,
    ROUNDED,
    STRIDED,
    UNRULED,
    Behaviour,
    Faults,
    Refused,
    Replaces,
    after,
    before,
    wrong_params,
)
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads

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


def _rounded_up_twice(right: Extent, params: Params, pads: Pads) -> Extent:
    if params.same or not params.ceil:
        return right
    slack = zip(steps.rooms(params, pads), params.strides, strict=True)
    return tuple(axis.ceil_div(t + s - 1, s) + 1 for t, s in slack)


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


def _refuse_negative_numerator(right: Extent, params: Params, pads: Pads) -> Extent:
    for d, k, s, (begin, _) in zip(params.sizes, params.spans, params.strides, pads, strict=True):
        if params.ceil and d + begin < k and (d - k) % s:
            raise Refused(f"kernel {k} above input and begin pad {d + begin}")
    return right


# The positions of windows ------------------------------------------------------------------------


def _public_bug(summary: str, needs: Needs, of: Callable[[Along], Ends], bug: str) -> Behaviour:
    """Move the windows along every axis, in a way that was reported."""
    return moved(Move("", of), needs=needs)._replace(summary=summary, bug=bug)


def _start_clamped_first(w: Along) -> Ends:
    start = np.maximum(w.start, 0)
    return start, start + w.k


def _overhang_at_begin(w: Along) -> Ends:
    overhang = max(0, int(w.stop[-1]) - w.d - w.end)
    return w.start - overhang, w.stop - overhang


def _same_without_pads(params: Params, pads: Pads, extent: Extent) -> tuple[Params, Pads, Extent]:
    return params, ((0, 0),) * len(pads) if params.same else pads, extent


def _padding(words: str, of: Callable[..., int], *names: str) -> Behaviour:
    """Compute the padding of same_* in another way, and split it as it should be."""
    return read(TOTAL, total=computed(words, of, *names))


def _both_pads(words: str, of: Callable[[int], int], name: str) -> Behaviour:
    return read(OF_SAME, pads=computed(words, of, name))


def _extent(
    words: str,
    of: Callable[..., int],
    *names: str,
    where: Condition = conditions.COUNTED,
    needs: Needs = EVERY,
) -> Behaviour:
    return read(EXTENT, where=where, needs=needs, extent=computed(words, of, *names))


FAULTS: Faults = {
    "same-total-kernel-minus-one": _padding(
        "the length of the dilated kernel less 1", lambda k: k - 1, "spans"
    ),
    "same-total-kernel-minus-stride": _padding(
        "the length of the dilated kernel less the stride",
        lambda k, s: k - s,
        "spans",
        "strides",
    ),
    "same-total-of-remainder": _padding(
        "the length of the dilated kernel less the remainder of the input size by the stride",
        lambda k, d, s: k - d % s,
        "spans",
        "sizes",
        "strides",
    ),
    "same-size-rounded-down": _padding(
        "that of input size over stride windows, rounded down",
        lambda d, k, s: axis.same_total(d, k, s, d // s),
        "sizes",
        "spans",
        "strides",
    ),
    "same-size-of-ceil": Behaviour(
        "the padding of same_* computed for an output size rounded up twice",
        AUTO_PADDED,
        _pads_of_same(
            lambda d, k, s, upper: axis.split(
                axis.same_total(d, k, s, (d + 2 * (s - 1)) // s), larger_at_end=upper
            )
        ),
        bug="same_output_size_uses_rounding",
    ),
    "same-total-one-more": read(TOTAL, total=ONE_MORE),
    "same-cropped-at-begin": Behaviour(
        "a negative padding of same_* crops the input at its begin alone",
        AUTO_PADDED,
        _pads_of_same(_cropped_at_begin),
    ),
    "same-arguments-shifted": Behaviour(
        "the padding of same_* computed with size, kernel and stride exchanged",
        AUTO_PADDED,
        _pads_of_same(
            lambda d, k, s, upper: axis.split(
                axis.same_total(k, s, d, axis.ceil_div(k, d)), larger_at_end=upper
            )
        ),
        bug="same_pads_args_shifted",
    ),
    "same-symmetrised-short": Behaviour(
        "an odd padding of same_* made even by dropping a cell",
        AUTO_PADDED,
        _pads_of_same(lambda d, k, s, _: (axis.same_total(d, k, s, axis.ceil_div(d, s)) // 2,) * 2),
        bug="same_pads_symmetrised_short",
    ),
    "same-symmetrised-long": _both_pads(
        "half of the padding of same_*, rounded up", lambda total: axis.ceil_div(total, 2), "total"
    ),
    "same-half-kernel": _both_pads(
        "half of the length of the dilated kernel", lambda k: k // 2, "spans"
    ),
    "same-half-kernel-swapped": Behaviour(
        "the padding of same_* taken as half of the kernel, the rest of odd kernels swapped",
        AUTO_PADDED,
        _pads_of_same(_half_kernel_swapped),
        bug="same_pads_half_kernel_and_swapped",
    ),
    "same-half-of-kernel-minus-one": _both_pads(
        "half of the length of the dilated kernel less 1", lambda k: (k - 1) // 2, "spans"
    ),
    "same-all-at-end": read(OF_SAME, pads_begin=ZERO, pads_end=same_as("total")),
    "same-all-at-begin": read(OF_SAME, pads_begin=same_as("total"), pads_end=ZERO),
    **mixed_up("sizes", IN_PADS, "pads-sizes")
    | {
        "pads-sizes-first-for-all": wrong_params(
            "pads",
            "sizes of the first axis used for every axis in the padding of same_*",
            AUTO_PADDED,
            lambda p: replace(p, sizes=p.sizes[:1] * len(p.sizes)),
            bug="axis_w_uses_h",
        )
    },
    **mixed_up("kernel", IN_PADS, "pads-kernel"),
    **mixed_up("strides", IN_PADS, "pads-strides"),
    "same-plus-given-pads": Behaviour(
        "given pads added to those of same_*", AUTO_PADDED & PADDED, after("pads", _plus_explicit)
    ),
    "same-keeps-size": Behaviour(
        "the padding of same_* computed to keep the input size, for ceil(size / stride) windows",
        AUTO_PADDED,
        _pads_of_same(
            lambda d, k, s, upper: axis.split(axis.same_total(d, k, s, d), larger_at_end=upper)
        )
        | after("extent", _divided_extent),
        bug="same_pad_total_formula_stride",
    ),
    "extent-one-less": _extent(
        "the room that a window can slide over the stride, rounded down",
        lambda t, s: t // s,
        "slack",
        "strides",
    ),
    "extent-rounded-to-nearest": _extent(
        "rounded to nearest",
        lambda t, s: (2 * t + s) // (2 * s) + 1,
        "slack",
        "strides",
        needs=Needs(rest=True),
    ),
    "extent-clamped-to-input": read(EXTENT, extent=at_most("sizes"), needs=PADDED),
    "extent-of-padding-once": read(IN_EXTENT, pads_begin=LARGER_PAD, pads_end=ZERO),
    "extent-of-begin-pads-twice": read(IN_EXTENT, pads_end=same_as("pads_begin")),
    "extent-of-end-pads-twice": read(IN_EXTENT, pads_begin=same_as("pads_end")),
    "extent-without-pads": read(IN_EXTENT, pads=ZERO),
    "extent-without-begin-pads": read(IN_EXTENT, pads_begin=ZERO),
    **mixed_up("sizes", IN_EXTENT, "extent-sizes"),
    **mixed_up("kernel", IN_EXTENT, "extent-kernel"),
    **mixed_up("strides", IN_EXTENT, "extent-strides"),
    "ceil-double": Behaviour(
        "ceil applied twice",
        ROUNDED,
        after("extent", _rounded_up_twice),
        bug="ceil_double_rounding",
    ),
    "ceil-exact-as-remainder": _extent(
        "one more where the division is exact",
        lambda t, s: t // s + 2,
        "slack",
        "strides",
        where=conditions.ROUNDED_UP,
    ),
    "ceil-rounds-half": _extent(
        "one less where the remainder is less than half the stride",
        lambda t, s: t // s + 1 + (2 * (t % s) >= s),
        "slack",
        "strides",
        where=conditions.ROUNDED_UP,
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
    "floor-drops-padding-windows": _extent(
        "at most that of windows which begin in the input and its begin padding",
        lambda o, d, begin, s: min(o, axis.ceil_div(d + begin, s)),
        "",
        "sizes",
        "pads_begin",
        "strides",
        where=conditions.ROUNDED_DOWN,
        needs=UNRULED,
    ),
    "same-extent-rounded-down": _extent(
        "the input size over the stride, rounded down",
        lambda d, s: d // s,
        "sizes",
        "strides",
        where=conditions.SAME,
    ),
    "extent-without-end-pads": read(IN_EXTENT, pads_end=ZERO, needs=ROUNDED),
    "ceil-of-negative-numerator": Behaviour(
        "ceil fails where the kernel is larger than input and begin pad",
        ROUNDED & PADDED,
        after("extent", _refuse_negative_numerator),
        bug="ceil_negative_numerator",
    ),
    **mixed_up("kernel", IN_WINDOWS, "windows-kernel"),
    **mixed_up("strides", IN_WINDOWS, "windows-strides"),
    "windows-without-begin-pads": read(IN_WINDOWS, pads_begin=ZERO),
    "windows-start-at-end-pads": read(IN_WINDOWS, pads_begin=same_as("pads_end")),
    "windows-begin-pads-doubled": read(IN_WINDOWS, pads_begin=DOUBLED),
    "windows-pads-reversed": read(IN_WINDOWS, pads_begin=REVERSED),
    "windows-pads-first-for-all": read(IN_WINDOWS, pads_begin=FIRST_FOR_ALL),
    "windows-one-late": moved(LATER),
    "windows-one-early": moved(EARLIER),
    "windows-one-cell-short": read(IN_WINDOWS, kernel=ONE_LESS),
    "windows-one-cell-long": read(IN_WINDOWS, kernel=ONE_MORE),
    "windows-stride-ignored": read(IN_WINDOWS, strides=ONE),
    "windows-kernel-apart": wrong_params(
        "windows",
        "windows a kernel apart instead of a stride",
        STRIDED,
        lambda p: replace(p, strides=p.kernel),
        bug="stride_confused_with_kernel",
    ),
    "start-clamped-before-end": _public_bug(
        "window starts clamped to the input before their ends are computed",
        BORDERED,
        _start_clamped_first,
        bug="start_clamped_before_end",
    ),
    "last-column-dropped": moved(LAST_WITHOUT_LAST_CELL, LAST_AXIS, needs=BORDERED)._replace(
        summary="the last cell of the last axis left out of the last window",
        bug="last_column_dropped",
    ),
    "first-column-dropped": moved(FIRST_WITHOUT_FIRST_CELL, LAST_AXIS, needs=BORDERED),
    "last-row-dropped": moved(LAST_WITHOUT_LAST_CELL, FIRST_AXIS),
    "overhang-moved-back": moved(BACK_INTO_PADDED_INPUT, needs=ROUNDED),
    "overhang-at-begin": _public_bug(
        "the overhang of ceil put before the input instead of behind it",
        ROUNDED,
        _overhang_at_begin,
        bug="tail_pad_wrong",
    ),
    "late-start-moved-back": moved(LATE_STARTS_BACK, needs=INCLUDING & PADDED & UNRULED),
    "same-pads-not-applied": Behaviour(
        "the padding of same_* counted in the output size but not applied",
        INCLUDING & AUTO_PADDED,
        before("windows", _same_without_pads),
        bug="same_pads_not_applied_begin_zero",
    ),
}
