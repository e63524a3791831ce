"""Faults of `pads`, `extent` and `windows`: where windows lie and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.faults.common import (
    AXIS_SLIPS,
    OPENVINO,
    WINDOWED,
    Refused,
    changed,
    seeing,
    seeing_pads,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clauses import StepWrap
from conformance.operators.pipeline import Extent, Pads, Params, Windows

# pads: what same_* makes of sizes, kernel and strides ------------------------------------------

OnePads = Callable[[int, int, int, bool], tuple[int, int]]  # d, k, s, upper -> begin, end


def _same(of: OnePads) -> StepWrap:
    """Replace the pads of same_*, axis by axis."""

    def wrap(pads: Callable[[Params], Pads]) -> Callable[[Params], Pads]:
        def other(params: Params) -> Pads:
            if not params.same:
                return pads(params)
            upper = params.auto_pad == "same_upper"
            return tuple(
                of(d, k, s, upper)
                for d, k, s in zip(params.sizes, params.kernel, params.strides, strict=True)
            )

        return other

    return wrap


def _total(of: Callable[[int, int, int], int]) -> OnePads:
    """Replace the total padding of an axis; it is split as it should be."""
    return lambda d, k, s, upper: axis.split(max(0, of(d, k, s)), larger_at_end=upper)


def _right_total(d: int, k: int, s: int) -> int:
    return axis.same_total(d, k, s, axis.ceil_div(d, s))


def _half_kernel_swapped(_d: int, k: int, _s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    half, odd = k // 2, k % 2
    return (half + odd, half) if upper else (half, half + odd)


def _not_clamped(d: int, k: int, s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    return axis.split((axis.ceil_div(d, s) - 1) * s + k - d, larger_at_end=upper)


def _plus_given(pads: Callable[[Params], Pads]) -> Callable[[Params], Pads]:
    def summed(params: Params) -> Pads:
        given = zip(params.pads_begin, params.pads_end, strict=True)
        if not params.same:
            return pads(params)
        return tuple(
            (begin + more, end + rest)
            for (begin, end), (more, rest) in zip(pads(params), given, strict=True)
        )

    return summed


_SAME: dict[str, tuple[str, StepWrap, tuple[str, ...]]] = {
    "same-keeps-size": (
        "the padding of same_* chosen to keep the input size, whatever the strides",
        _same(_total(lambda d, k, s: axis.same_total(d, k, s, d))),
        ("same_pad_total_formula_stride",),
    ),
    "same-total-kernel-minus-one": (
        "the padding of same_* taken as kernel - 1, whatever the strides",
        _same(_total(lambda _d, k, _s: k - 1)),
        (),
    ),
    "same-total-kernel-minus-stride": (
        "the padding of same_* taken as kernel - stride, also where the size does not divide",
        _same(_total(lambda _d, k, s: k - s)),
        (),
    ),
    "same-total-of-remainder": (
        "the padding of same_* taken as kernel - size % stride, also where the size divides",
        _same(_total(lambda d, k, s: k - d % s)),
        (),
    ),
    "same-size-rounded-down": (
        "the padding of same_* computed for floor(size / stride) windows",
        _same(_total(lambda d, k, s: axis.same_total(d, k, s, d // s))),
        (),
    ),
    "same-size-of-ceil": (
        "the output size of same_* rounded up once more",
        _same(_total(lambda d, k, s: axis.same_total(d, k, s, (d + 2 * (s - 1)) // s))),
        ("same_output_size_uses_rounding",),
    ),
    "same-total-one-more": (
        "the padding of same_* one cell too large",
        _same(_total(lambda d, k, s: _right_total(d, k, s) + 1)),
        (),
    ),
    "same-total-not-clamped": (
        "a negative padding of same_* crops the input where strides exceed the kernel",
        _same(_not_clamped),
        ("same_pad_total_not_clamped",),
    ),
    "same-arguments-shifted": (
        "the padding of same_* computed from size, kernel and stride in each other's place",
        _same(_total(lambda d, k, s: axis.same_total(k, s, d, axis.ceil_div(k, d)))),
        ("same_pads_args_shifted",),
    ),
    "same-symmetrised-short": (
        "an odd padding of same_* made even by dropping a cell",
        _same(lambda d, k, s, _upper: (_right_total(d, k, s) // 2,) * 2),
        ("same_pads_symmetrised_short",),
    ),
    "same-symmetrised-long": (
        "an odd padding of same_* made even by adding a cell",
        _same(lambda d, k, s, _upper: (axis.ceil_div(_right_total(d, k, s), 2),) * 2),
        (),
    ),
    "same-half-kernel": (
        "the padding of same_* taken as half of the kernel at both ends",
        _same(lambda _d, k, _s, _upper: (k // 2,) * 2),
        (),
    ),
    "same-half-kernel-swapped": (
        "the padding of same_* taken as half of the kernel, the rest of odd kernels swapped",
        _same(_half_kernel_swapped),
        ("same_pads_half_kernel_and_swapped",),
    ),
    "same-half-of-kernel-minus-one": (
        "the padding of same_* split from kernel - 1 at both ends",
        _same(lambda _d, k, _s, _upper: ((k - 1) // 2,) * 2),
        (),
    ),
    "same-all-at-end": (
        "all padding of same_* put at the end",
        _same(lambda d, k, s, _upper: (0, _right_total(d, k, s))),
        (),
    ),
    "same-all-at-begin": (
        "all padding of same_* put at the begin",
        _same(lambda d, k, s, _upper: (_right_total(d, k, s), 0)),
        (),
    ),
    "same-plus-given-pads": (
        "given pads added to those of same_*",
        _plus_given,
        (),
    ),
}

# extent: the number of windows -----------------------------------------------------------------

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


def _after(change: Callable[[Params, Pads, Extent], Extent]) -> StepWrap:
    return lambda extent: lambda params, pads: change(params, pads, extent(params, pads))


def _ceil_on(which: Callable[[int, int], bool]) -> StepWrap:
    """Round up only on some axes: `which(axis, axes)`."""

    def change(params: Params, pads: Pads, right: Extent) -> Extent:
        if params.same or not params.ceil:
            return right
        down = steps.count_windows(replace(params, ceil=False), pads)
        axes = len(right)
        return tuple(right[i] if which(i, axes) else down[i] for i in range(axes))

    return _after(change)


def _floor_drops_padding_windows(params: Params, pads: Pads, right: Extent) -> Extent:
    if params.ceil or params.same:
        return right
    return tuple(
        min(o, max(1, axis.ceil_div(d + begin, s)))
        for o, d, s, (begin, _) in zip(right, params.sizes, params.strides, pads, strict=True)
    )


_EXTENT: dict[str, tuple[str, StepWrap, tuple[str, ...]]] = {
    "extent-one-less": (
        "the output one window too short",
        _explicit_extent(_of_room(lambda t, s: max(1, t // s)), ceil=None),
        (),
    ),
    "extent-rounded-to-nearest": (
        "the number of windows rounded to nearest",
        _explicit_extent(_of_room(lambda t, s: (2 * t + s) // (2 * s) + 1), ceil=None),
        (),
    ),
    "ceil-double": (
        "ceil applied twice",
        _explicit_extent(_of_room(lambda t, s: axis.ceil_div(t + s - 1, s) + 1), ceil=True),
        ("ceil_double_rounding",),
    ),
    "ceil-exact-as-remainder": (
        "ceil adds a window even where the division is exact",
        _explicit_extent(_of_room(lambda t, s: t // s + 2), ceil=True),
        (),
    ),
    "ceil-rounds-half": (
        "ceil adds a window only for a remainder of at least half the stride",
        _explicit_extent(_of_room(lambda t, s: t // s + 1 + (2 * (t % s) >= s)), ceil=True),
        (),
    ),
    "ceil-never-overhangs-begin-forgotten": (
        "ceil drops the windows that start within begin pads of the input's end",
        _explicit_extent(
            _dropped_if(lambda d, start, o, _begin, _end: o > 1 and start >= d), ceil=True
        ),
        (),
    ),
    "ceil-dropped-only-with-begin-pad": (
        "ceil drops a window past the input only on axes with a begin pad",
        _explicit_extent(
            _dropped_if(lambda d, start, _o, begin, _end: begin > 0 and start >= d + begin),
            ceil=True,
        ),
        ("ceil_clip_only_if_pad",),
    ),
    "ceil-first-axis-only": ("ceil applied to the first axis alone", _ceil_on(lambda i, _: i == 0), ()),
    "ceil-last-axis-only": (
        "ceil applied to the last axis alone",
        _ceil_on(lambda i, axes: i == axes - 1),
        (),
    ),
    "floor-drops-padding-windows": (
        "windows that start in the end padding dropped though rounding down",
        _after(_floor_drops_padding_windows),
        (),
    ),
    "extent-clamped-to-input": (
        "the output clamped to the input size",
        _after(lambda params, _pads, right: tuple(map(min, right, params.sizes))),
        (),
    ),
    "same-extent-rounded-down": (
        "the output size of same_* rounded down",
        _after(
            lambda p, _pads, right: tuple(
                max(1, d // s) for d, s in zip(p.sizes, p.strides, strict=True)
            )
            if p.same
            else right
        ),
        (),
    ),
    "extent-of-padding-once": (
        "begin and end pads counted once in the output size",
        seeing_pads(lambda pads: tuple((max(pad), 0) for pad in pads)),
        (),
    ),
    "extent-of-begin-pads-twice": (
        "begin pads counted twice and end pads not at all in the output size",
        seeing_pads(lambda pads: tuple((begin, begin) for begin, _ in pads)),
        (),
    ),
    "extent-of-end-pads-twice": (
        "end pads counted twice and begin pads not at all in the output size",
        seeing_pads(lambda pads: tuple((end, end) for _, end in pads)),
        (),
    ),
    "extent-without-pads": (
        "pads not counted in the output size",
        seeing_pads(lambda pads: tuple((0, 0) for _ in pads)),
        (),
    ),
    "extent-without-begin-pads": (
        "begin pads not counted in the output size",
        seeing_pads(lambda pads: tuple((0, end) for _, end in pads)),
        (),
    ),
    "extent-without-end-pads": (
        "end pads not counted in the output size",
        seeing_pads(lambda pads: tuple((begin, 0) for begin, _ in pads)),
        (),
    ),
}


def _refuse_negative_numerator(params: Params, pads: Pads, right: Extent) -> Extent:
    for d, k, s, (begin, _) in zip(
        params.sizes, params.kernel, params.strides, pads, strict=True
    ):
        if params.ceil and d + begin < k and (d - k) % s:
            raise Refused(f"kernel {k} above input and begin pad {d + begin}")
    return right


_EXTENT["ceil-of-negative-numerator"] = (
    "ceil fails where the kernel is larger than input and begin pad",
    _after(_refuse_negative_numerator),
    ("ceil_negative_numerator",),
)


def _clamped(params: Params, _pads: Pads, windows: Windows) -> Windows:
    start = tuple(np.maximum(a, 0) for a in windows.start)
    lengths = zip(start, params.kernel, strict=True)
    return Windows(start, tuple(a + k for a, k in lengths))


_WINDOWS: dict[str, tuple[str, StepWrap, tuple[str, ...]]] = {}


def _moved(of: Callable[[Params, Pads, Windows], Windows]) -> StepWrap:
    return lambda windows: lambda params, pads, extent: of(
        params, pads, windows(params, pads, extent)
    )


def _shifted(by: int) -> StepWrap:
    return _moved(
        lambda _params, _pads, w: Windows(
            tuple(a + by for a in w.start), tuple(b + by for b in w.stop)
        )
    )


def _back_into_input(params: Params, pads: Pads, windows: Windows) -> Windows:
    """Move windows that overhang input and padding back until they fit."""
    start = tuple(
        np.minimum(a, max(-begin, d + end - k))
        for a, d, k, (begin, end) in zip(
            windows.start, params.sizes, params.kernel, pads, strict=True
        )
    )
    return Windows(start, tuple(a + k for a, k in zip(start, params.kernel, strict=True)))


def _tail_at_begin(params: Params, pads: Pads, windows: Windows) -> Windows:
    """Put the overhang of ceil before the input instead of behind it."""
    tails = [
        max(0, int(b[-1]) - d - end)
        for b, d, (_, end) in zip(windows.stop, params.sizes, pads, strict=True)
    ]
    return Windows(
        tuple(a - tail for a, tail in zip(windows.start, tails, strict=True)),
        tuple(b - tail for b, tail in zip(windows.stop, tails, strict=True)),
    )


def _start_back_into_input(params: Params, _pads: Pads, windows: Windows) -> Windows:
    """Move only the start of a window past the input to the last cell."""
    start = tuple(
        np.minimum(a, d - 1) for a, d in zip(windows.start, params.sizes, strict=True)
    )
    return Windows(start, windows.stop)


def _one_end(
    *, first: bool, last_axis: bool = True
) -> Callable[[Params, Pads, Windows], Windows]:
    """Leave the first or last input cell of the last axis out of the first or last window."""

    def cut(params: Params, _pads: Pads, windows: Windows) -> Windows:
        j = -1 if last_axis else 0
        d = params.sizes[j]
        a, b = windows.start[j].copy(), windows.stop[j].copy()
        if first and d > 1:
            a[0] = max(1, int(a[0]))
        elif d > 1:
            b[-1] = min(d - 1, int(b[-1]))
        start, stop = list(windows.start), list(windows.stop)
        start[j], stop[j] = a, b
        return Windows(tuple(start), tuple(stop))

    return cut


def _same_without_pads(params: Params, pads: Pads) -> Pads:
    return tuple((0, 0) for _ in pads) if params.same else pads


_WINDOWS |= {
    "windows-without-begin-pads": (
        "windows start at the input instead of the begin padding",
        seeing_pads(lambda pads: tuple((0, end) for _, end in pads)),
        (),
    ),
    "windows-start-at-end-pads": (
        "windows start at the end pads instead of the begin pads",
        seeing_pads(lambda pads: tuple((end, begin) for begin, end in pads)),
        (),
    ),
    "windows-begin-pads-doubled": (
        "windows start at twice the begin pads",
        seeing_pads(lambda pads: tuple((2 * begin, end) for begin, end in pads)),
        (),
    ),
    "windows-pads-reversed": (
        "begin pads taken in reverse axis order where windows start",
        seeing_pads(lambda pads: pads[::-1]),
        (),
    ),
    "windows-pads-first-for-all": (
        "begin pads of the first axis used for every axis where windows start",
        seeing_pads(lambda pads: pads[:1] * len(pads)),
        (),
    ),
    "same-pads-not-applied": (
        "the padding of same_* counted in the output size but not applied",
        lambda windows: lambda params, pads, extent: windows(
            params, _same_without_pads(params, pads), extent
        ),
        ("same_pads_not_applied_begin_zero",),
    ),
    "windows-one-late": ("every window starts one cell late", _shifted(1), ()),
    "windows-one-early": ("every window starts one cell early", _shifted(-1), ()),
    "windows-one-cell-short": (
        "windows read one cell less than the kernel",
        seeing(changed("kernel", lambda v: tuple(max(1, k - 1) for k in v))),
        (),
    ),
    "windows-one-cell-long": (
        "windows read one cell more than the kernel",
        seeing(changed("kernel", lambda v: tuple(k + 1 for k in v))),
        (),
    ),
    "windows-stride-ignored": (
        "windows one cell apart whatever the strides",
        seeing(changed("strides", lambda v: (1,) * len(v))),
        (),
    ),
    "windows-kernel-apart": (
        "windows a kernel apart instead of a stride",
        seeing(lambda params: replace(params, strides=params.kernel)),
        ("stride_confused_with_kernel",),
    ),
    "start-clamped-before-end": (
        "window starts clamped to the input before their ends are computed",
        _moved(_clamped),
        ("start_clamped_before_end",),
    ),
    "overhang-moved-back": (
        "windows that overhang the padded input moved back into it",
        _moved(_back_into_input),
        (),
    ),
    "late-start-moved-back": (
        "the start of a window past the input moved back to the last cell",
        _moved(_start_back_into_input),
        (),
    ),
    "overhang-at-begin": (
        "the overhang of ceil put before the input instead of behind it",
        _moved(_tail_at_begin),
        ("tail_pad_wrong",),
    ),
    "last-column-dropped": (
        "the last cell of the last axis left out of the last window",
        _moved(_one_end(first=False)),
        ("last_column_dropped",),
    ),
    "first-column-dropped": (
        "the first cell of the last axis left out of the first window",
        _moved(_one_end(first=True)),
        (),
    ),
    "last-row-dropped": (
        "the last cell of the first axis left out of the last window",
        _moved(_one_end(first=False, last_axis=False)),
        (),
    ),
}

_WHERE = {
    "pads": "in the padding of same_*",
    "extent": "in the output size",
    "windows": "where windows lie",
}


def _by_axis(step: str, field: str, operators: tuple[str, ...]) -> tuple[Fault, ...]:
    return tuple(
        Fault(
            f"{step}-{field}-{slip.name}",
            f"{field} {slip.words} {_WHERE[step]}",
            operators,
            {step: seeing(changed(field, slip.of))},
            ("axis_w_uses_h",) if (step, field, slip.name) == _HEIGHT else (),
        )
        for slip in AXIS_SLIPS
    )


_HEIGHT = ("pads", "sizes", "first-for-all")


def _faults(
    table: dict[str, tuple[str, StepWrap, tuple[str, ...]]], step: str, operators: tuple[str, ...]
) -> tuple[Fault, ...]:
    return tuple(
        Fault(name, words, operators, {step: wrap}, bugs)
        for name, (words, wrap, bugs) in table.items()
    )


FAULTS: tuple[Fault, ...] = (
    *_faults(_SAME, "pads", OPENVINO),
    *(
        fault
        for field in ("sizes", "kernel", "strides")
        for fault in _by_axis("pads", field, OPENVINO)
    ),
    *(
        fault
        for field in ("sizes", "kernel", "strides")
        for fault in _by_axis("extent", field, WINDOWED)
    ),
    *_faults({k: v for k, v in _EXTENT.items() if k.startswith("extent")}, "extent", WINDOWED),
    *_faults({k: v for k, v in _EXTENT.items() if not k.startswith("extent")}, "extent", OPENVINO),
    *(
        fault
        for field in ("kernel", "strides")
        for fault in _by_axis("windows", field, WINDOWED)
    ),
    *_faults(_WINDOWS, "windows", WINDOWED),
)
