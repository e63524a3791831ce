"""Faults of `extent`: how many windows there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    PADDED,
    ROUNDED,
    STRIDED,
    WINDOWED,
    Refused,
    misread_by_axis,
    seeing_pads,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads

OneExtent = Callable[[int, int, int, int, int], int]  # d, k, s, begin, end -> windows


def _explicit_extent(of: OneExtent, *, ceil: bool | None) -> StepWrap:
    """Replace the number of windows, axis by axis, where same_* does not fix it.

    `ceil` restricts it to one rounding_type; None takes both.
    """

    def wrap(extent: Callable[[Params, Pads], Extent]) -> Callable[[Params, Pads], Extent]:
        def other(params: Params, pads: Pads) -> Extent:
            if params.same or (ceil is not None and params.ceil != ceil):
                return extent(params, pads)
            return tuple(
                of(d, k, s, begin, end)
                for d, k, s, (begin, end) in zip(
                    params.sizes, params.kernel, params.strides, pads, strict=True
                )
            )

        return other

    return wrap


def _of_room(of: Callable[[int, int], int]) -> OneExtent:
    return lambda d, k, s, begin, end: of(axis.room(d, k, begin, end), s)


def _dropped_if(past: OneExtent) -> OneExtent:
    """Round up, and drop the last window where `past` is true of the number of windows o = d."""

    def extent(d: int, k: int, s: int, begin: int, end: int) -> int:
        o = axis.extent(axis.room(d, k, begin, end), s, ceil=True)
        return o - 1 if past(d, (o - 1) * s, o, begin, end) else o

    return extent


def _ceil_on(which: Callable[[int, int], bool]) -> StepWrap:
    """Round up only on some axes: `which(axis, axes)`."""

    def change(params: Params, pads: Pads, right: Extent) -> Extent:
        if params.same or not params.ceil:
            return right
        down = steps.count_windows(replace(params, rounding="floor"), pads)
        axes = len(right)
        return tuple(right[i] if which(i, axes) else down[i] for i in range(axes))

    return _after(change)


def _after(change: Callable[[Params, Pads, Extent], Extent]) -> StepWrap:
    return lambda extent: lambda params, pads: change(params, pads, extent(params, pads))


def _after_same(of: Callable[[int, int], int]) -> StepWrap:
    """Replace the output size of same_*, axis by axis, given size and stride."""
    return _after(lambda p, _pads, right: tuple(map(of, p.sizes, p.strides)) if p.same else right)


def _floor_drops_padding_windows(params: Params, pads: Pads, right: Extent) -> Extent:
    if params.ceil or params.same:
        return right
    return tuple(
        min(o, max(1, axis.ceil_div(d + begin, s)))
        for o, d, s, (begin, _) in zip(right, params.sizes, params.strides, pads, strict=True)
    )


def _refuse_negative_numerator(params: Params, pads: Pads, right: Extent) -> Extent:
    for d, k, s, (begin, _) in zip(params.sizes, params.kernel, params.strides, pads, strict=True):
        if params.ceil and d + begin < k and (d - k) % s:
            raise Refused(f"kernel {k} above input and begin pad {d + begin}")
    return right


FAULTS: tuple[Fault, ...] = (
    Fault(
        "extent-one-less",
        "the output one window too short",
        needs=WINDOWED,
        replaces={"extent": _explicit_extent(_of_room(lambda t, s: max(1, t // s)), ceil=None)},
    ),
    Fault(
        "extent-rounded-to-nearest",
        "the number of windows rounded to nearest",
        needs=STRIDED,
        replaces={
            "extent": _explicit_extent(_of_room(lambda t, s: (2 * t + s) // (2 * s) + 1), ceil=None)
        },
    ),
    Fault(
        "extent-clamped-to-input",
        "the output clamped to the input size",
        needs=PADDED,
        replaces={
            "extent": _after(lambda params, _pads, right: tuple(map(min, right, params.sizes)))
        },
    ),
    Fault(
        "extent-of-padding-once",
        "begin and end pads counted once in the output size",
        needs=PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((max(pad), 0) for pad in pads))},
    ),
    Fault(
        "extent-of-begin-pads-twice",
        "begin pads counted twice and end pads not at all in the output size",
        needs=PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((begin, begin) for begin, _ in pads))},
    ),
    Fault(
        "extent-of-end-pads-twice",
        "end pads counted twice and begin pads not at all in the output size",
        needs=PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((end, end) for _, end in pads))},
    ),
    Fault(
        "extent-without-pads",
        "pads not counted in the output size",
        needs=PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((0, 0) for _ in pads))},
    ),
    Fault(
        "extent-without-begin-pads",
        "begin pads not counted in the output size",
        needs=PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((0, end) for _, end in pads))},
    ),
    *misread_by_axis("extent", "sizes", "in the output size", WINDOWED),
    *misread_by_axis("extent", "kernel", "in the output size", WINDOWED),
    *misread_by_axis("extent", "strides", "in the output size", STRIDED),
    Fault(
        "ceil-double",
        "ceil applied twice",
        needs=ROUNDED,
        replaces={
            "extent": _explicit_extent(
                _of_room(lambda t, s: axis.ceil_div(t + s - 1, s) + 1), ceil=True
            )
        },
        bugs=("ceil_double_rounding",),
    ),
    Fault(
        "ceil-exact-as-remainder",
        "ceil adds a window even where the division is exact",
        needs=ROUNDED,
        replaces={"extent": _explicit_extent(_of_room(lambda t, s: t // s + 2), ceil=True)},
    ),
    Fault(
        "ceil-rounds-half",
        "ceil adds a window only for a remainder of at least half the stride",
        needs=ROUNDED,
        replaces={
            "extent": _explicit_extent(
                _of_room(lambda t, s: t // s + 1 + (2 * (t % s) >= s)), ceil=True
            )
        },
    ),
    Fault(
        "ceil-never-overhangs-begin-forgotten",
        "ceil drops the windows that start within begin pads of the input's end",
        needs=ROUNDED & PADDED,
        replaces={
            "extent": _explicit_extent(
                _dropped_if(lambda d, start, o, _begin, _end: o > 1 and start >= d), ceil=True
            )
        },
    ),
    Fault(
        "ceil-dropped-only-with-begin-pad",
        "ceil drops a window past the input only on axes with a begin pad",
        needs=ROUNDED & PADDED,
        replaces={
            "extent": _explicit_extent(
                _dropped_if(lambda d, start, _o, begin, _end: begin > 0 and start >= d + begin),
                ceil=True,
            )
        },
        bugs=("ceil_clip_only_if_pad",),
    ),
    Fault(
        "ceil-first-axis-only",
        "ceil applied to the first axis alone",
        needs=ROUNDED,
        replaces={"extent": _ceil_on(lambda i, _: i == 0)},
    ),
    Fault(
        "ceil-last-axis-only",
        "ceil applied to the last axis alone",
        needs=ROUNDED,
        replaces={"extent": _ceil_on(lambda i, axes: i == axes - 1)},
    ),
    Fault(
        "floor-drops-padding-windows",
        "windows that start in the end padding dropped though rounding down",
        needs=ROUNDED & PADDED,
        replaces={"extent": _after(_floor_drops_padding_windows)},
    ),
    Fault(
        "same-extent-rounded-down",
        "the output size of same_* rounded down",
        needs=AUTO_PADDED,
        replaces={"extent": _after_same(lambda d, s: max(1, d // s))},
    ),
    Fault(
        "extent-without-end-pads",
        "end pads not counted in the output size",
        needs=ROUNDED & PADDED,
        replaces={"extent": seeing_pads(lambda pads: tuple((begin, 0) for begin, _ in pads))},
    ),
    Fault(
        "ceil-of-negative-numerator",
        "ceil fails where the kernel is larger than input and begin pad",
        needs=ROUNDED & PADDED,
        replaces={"extent": _after(_refuse_negative_numerator)},
        bugs=("ceil_negative_numerator",),
    ),
)
