"""Faults of geometry: the padding of same_*, the number of windows, and where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil
from operator import floordiv

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms import by_words, lists
from conformance.faults.atoms import windows as moves
from conformance.faults.atoms.atom import OneAxis
from conformance.faults.atoms.lists import PADS, Lists, Misreading, Numbers, computed, read, same_as
from conformance.faults.call import Call
from conformance.faults.conditions import Condition
from conformance.faults.fault import Fault
from conformance.faults.wraps import Refusing, Unchecked, resolving
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, Windows
from conformance.operators.windows import first_from
from conformance.operators.wraps import StepWrap, after, before, instead
from conformance.vector import Array

# The padding of same_* ---------------------------------------------------------------------------


def _total(of: Callable[..., int]) -> Fault:
    """Compute the padding of same_* as `of(d, k, s)`, and split it as it should be."""
    return read(lists.TOTAL, total=computed("", of, "sizes", "spans", "strides"))


def _both_pads(of: Callable[[int], int]) -> Fault:
    return read(lists.OF_SAME, pads=computed("", of, "spans"))


def _split(of: Callable[[int, int, int, int, str], tuple[int, int]], **others: StepWrap) -> Fault:
    """Replace the pads of same_*: `of(d, k, span, s, auto_pad)` per axis."""

    def change(_right: Pads, params: Params) -> Pads:
        axes = zip(params.sizes, params.kernel, params.spans, params.strides, strict=True)
        return tuple(of(*each, params.auto_pad) for each in axes)

    return Fault.of(pads=after(change), **others)


def _half_kernel_swapped(_d: int, _k: int, span: int, _s: int, mode: str) -> tuple[int, int]:
    half, odd = divmod(span, 2)
    return (half + odd, half) if mode == "same_upper" else (half, half + odd)


def _cropped_at_begin(d: int, _k: int, span: int, s: int, mode: str) -> tuple[int, int]:
    total = axis.exact_total(d, span, s, axis.ceil_div(d, s))
    return (total, 0) if total < 0 else axis.split(total, larger_at_end=mode == "same_upper")


def _keeping_size(d: int, _k: int, span: int, s: int, mode: str) -> tuple[int, int]:
    return axis.split(axis.same_total(d, span, s, d), larger_at_end=mode == "same_upper")


def _rounded_down(d: int, _k: int, span: int, s: int, _mode: str) -> tuple[int, int]:
    return axis.split(axis.exact_total(d, span, s, d // s), larger_at_end=True)


def _begin_half_kernel(d: int, k: int, span: int, s: int, _mode: str) -> tuple[int, int]:
    """Put half of the kernel, undilated, before the data, and what is left of o windows behind."""
    begin = (k - 1) // 2
    return begin, axis.exact_total(d, span, s, axis.ceil_div(d, s)) - begin


def _undilated_pads(d: int, k: int, _span: int, s: int, mode: str) -> tuple[int, int]:
    """Take the padding of undilated kernels, also if it is negative, and half of it as C does."""
    total = axis.exact_total(d, k, s, axis.ceil_div(d, s))
    begin = int((total + (mode == "same_lower")) / 2)
    return begin, total - begin


def _size_rounded_down(_right: Extent, params: Params, _pads: Pads) -> Extent:
    return Unchecked(map(floordiv, params.sizes, params.strides))


def _size_over_stride(_right: Extent, params: Params, _pads: Pads) -> Extent:
    return steps.same_extent(params)


def _plus_explicit(right: Pads, params: Params) -> Pads:
    given = zip(right, params.pads_begin, params.pads_end, strict=True)
    return tuple((begin + more, end + beyond) for (begin, end), more, beyond in given)


def _truncated(_right: Extent, params: Params, pads: Pads) -> Extent:
    """Divide as C does, which rounds towards 0, and look at no result."""
    ratios = map(Fraction, steps.slacks(params, pads), params.strides)
    if params.rounding == "floor":
        return Unchecked(int(r) + 1 for r in ratios)
    windows = tuple(ceil(r) + 1 for r in ratios)
    return Unchecked(steps.without_last_past_input(params, pads, windows))


def _ending_with_padding(right: Windows, params: Params, pads: Pads, _extent: Extent) -> Windows:
    """Read no cell of the input beyond a padding that is negative."""
    axes = zip(right.start, right.stop, params.sizes, pads, strict=True)
    stop = tuple(np.maximum(start, np.minimum(stop, d + end)) for start, stop, d, (_, end) in axes)
    return replace(right, stop=stop)


def _undilated(params: Params) -> Params:
    return replace(params, dilations=(1,) * len(params.kernel))


def _undilated_extent(_right: Extent, params: Params, _pads: Pads) -> Extent:
    kernel = (1,) * len(params.kernel) if params.same else params.kernel
    axes = zip(params.sizes, kernel, params.strides, strict=True)
    return Unchecked(max(0, (d - k) // s + 1) for d, k, s in axes)


def _overhanging_unwritten(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Leave outputs of windows that a dilated kernel lets overhang unwritten, with auto_pad."""
    params, windows = gathered.params, gathered.windows
    ends = zip(windows.stop, params.sizes, steps.resolve_pads(_undilated(params)), strict=True)
    inside = steps.outer([np.where(stop <= d + end, 1, 0) for stop, d, (_, end) in ends])
    return np.where(inside > 0, right, right.dtype.type(0))


_WITH_SAME = Condition("", lambda p: p.same)
_LOWER = Condition("", lambda p: p.auto_pad == "same_lower")
_IF_DILATED = Condition("", lambda p: set(p.dilations) != {1})
_AUTO_PAD = Condition("", lambda p: p.auto_pad != "explicit")
_SAME = {
    "same-total-of-remainder": _total(lambda d, k, s: k - d % s),
    "same-size-rounded-down": _total(lambda d, k, s: axis.same_total(d, k, s, d // s)),
    "same-size-of-ceil": _total(lambda d, k, s: axis.same_total(d, k, s, (d + 2 * (s - 1)) // s)),
    "same-arguments-shifted": _total(lambda d, k, s: axis.same_total(k, s, d, axis.ceil_div(k, d))),
    "same-half-kernel": _both_pads(lambda k: k // 2),
    "same-half-of-kernel-minus-one": _both_pads(lambda k: (k - 1) // 2),
    "same-all-at-end": read(lists.OF_SAME, pads_begin=lists.ZERO, pads_end=same_as("total")),
    "same-all-at-begin": read(lists.OF_SAME, pads_begin=same_as("total"), pads_end=lists.ZERO),
    "same-cropped-at-begin": _split(_cropped_at_begin),
    "same-half-kernel-swapped": _split(_half_kernel_swapped),
    "same-plus-given-pads": Fault.of(pads=after(_plus_explicit)),
    "same-keeps-size": _split(_keeping_size, extent=after(_size_over_stride)),
    "same-lower-rounded-down": _split(_rounded_down, extent=after(_size_rounded_down)).where(
        _LOWER
    ),
    "same-begin-half-kernel": _split(_begin_half_kernel, extent=after(_size_over_stride)),
    "same-pads-not-applied": Fault.of(
        windows=before(lambda params, _pads, extent: (params, steps.no_pads(params), extent))
    ),
    "pads-dilations-ignored-unchecked": _split(_undilated_pads, extent=after(_truncated)).where(
        _IF_DILATED
    ),
    "pads-dilations-ignored-cropping": _split(
        _undilated_pads, extent=after(_truncated), windows=after(_ending_with_padding)
    ).where(_IF_DILATED),
}

# The number of windows ---------------------------------------------------------------------------


def _extent(of: Callable[..., int], *names: str) -> Fault:
    """Compute the number of windows from the slack and the stride of an axis, or other numbers."""
    return read(lists.EXTENT, extent=computed("", of, *(names or ("slack", "strides"))))


def _without_past(is_past: Callable[[int, int, int, int], bool]) -> Fault:
    """Round up, and leave out the last window of each axis that is past something.

    `is_past(start, d, begin, end)` gets its start, counted from the begin of the padding, the size
    of the axis and its pads.
    """

    def of(t: int, s: int, *axis_and_pads: int) -> int:
        last = axis.ceil_div(t, s)
        return last + 1 - is_past(last * s, *axis_and_pads)

    return _extent(of, "slack", "strides", "sizes", *PADS)


def _of_axes(change: Callable[[list[bool]], list[bool]]) -> Fault:
    """Leave out the last windows of other axes than those where they start past the input."""

    def extent(given: Lists, _name: str) -> Numbers:
        names = ("slack", "strides", "sizes", "pads_begin")
        axes = list(zip(*map(given.__getitem__, names), strict=True))
        last = [axis.ceil_div(t, s) for t, s, *_ in axes]
        past = [i * s >= d + begin for i, (_, s, d, begin) in zip(last, axes, strict=True)]
        return tuple(i + 1 - is_left for i, is_left in zip(last, change(past), strict=True))

    return read(lists.EXTENT, extent=Misreading("", extent, ("slack", "strides")))


def _rounded_up_on(place: int) -> Fault:
    """Round up on one axis alone."""

    def extent(given: Lists, name: str) -> Numbers:
        down = tuple(t // s + 1 for t, s in zip(given["slack"], given["strides"], strict=True))
        return OneAxis(place).put(down, given[name])

    return read(lists.EXTENT, extent=Misreading("", extent, ("slack", "strides")))


def _past_input_and_begin_pad(start: int, d: int, begin: int, _end: int) -> bool:
    return begin > 0 and start >= d + begin


def _has_negative_numerator(params: Params, pads: Pads) -> bool:
    axes = zip(params.sizes, params.spans, params.strides, pads, strict=True)
    return params.ceil and any(d + begin < k and (d - k) % s for d, k, s, (begin, _) in axes)


_NUMBERS = {
    "extent-one-less": _extent(lambda t, s: t // s),
    "extent-rounded-to-nearest": _extent(lambda t, s: (2 * t + s) // (2 * s) + 1),
    "ceil-double": _extent(lambda t, s: axis.ceil_div(t + s - 1, s) + 1),
    "ceil-exact-as-remainder": _extent(lambda t, s: t // s + 2),
    "ceil-rounds-half": _extent(lambda t, s: t // s + 1 + (2 * (t % s) >= s)),
    "floor-drops-padding-windows": _extent(
        lambda o, d, begin, s: min(o, axis.ceil_div(d + begin, s)),
        *("extent", "sizes", "pads_begin", "strides"),
    ),
    "extent-of-padding-once": read(
        lists.IN_EXTENT, pads_begin=lists.LARGER_PAD, pads_end=lists.ZERO
    ),
    "ceil-first-axis-only": _rounded_up_on(0),
    "ceil-last-axis-only": _rounded_up_on(-1),
    "ceil-of-negative-numerator": Fault.of(extent=Refusing(_has_negative_numerator)),
    "ceil-never-overhangs-begin-forgotten": _without_past(lambda start, d, *_: start >= d),
    "ceil-dropped-only-with-begin-pad": _without_past(_past_input_and_begin_pad),
    "torch-without-begin-pads": _without_past(lambda start, d, *_: start >= d),
    "torch-keeps-window-at-border": _without_past(lambda start, d, begin, _: start > d + begin),
    "torch-only-past-end-pads": _without_past(lambda start, d, b, e: start >= d + b + e),
    "torch-only-with-begin-pads": _without_past(_past_input_and_begin_pad),
    "torch-end-for-begin-pads": _without_past(lambda start, d, _, end: start >= d + end),
    "torch-first-axis-alone": _of_axes(lambda past: [*past[:1], *[False] * len(past[1:])]),
    "torch-last-axis-alone": _of_axes(lambda past: [*[False] * len(past[:-1]), *past[-1:]]),
    "torch-all-axes-at-once": _of_axes(lambda past: [any(past)] * len(past)),
    "torch-only-if-all-axes": _of_axes(lambda past: [all(past)] * len(past)),
}

# The positions of windows ------------------------------------------------------------------------

_DOUBLED_IF_ABOVE_ONE = lists.each("", lambda n: 2 * n if n > 1 else n)

_TIMES_DILATION = computed("", lambda v, n: v * n, "", "dilations")
_TIMES_STRIDE = computed("", lambda n, s: n * s, "", "strides")


def _moved(of: Callable[[moves.Along], moves.Ends]) -> Fault:
    return Fault.of(windows=moves.everywhere(moves.moving(of)))


def _dilated(of: Callable[[moves.Along], moves.Ends]) -> Fault:
    """Move the windows along every axis that is dilated."""
    return _moved(lambda w: of(w) if w.n > 1 else (w.start, w.stop))


def _overhang_at_begin(w: moves.Along) -> moves.Ends:
    overhang = max(0, int(w.stop[-1]) - w.d - w.end)
    return w.start - overhang, w.stop - overhang


def _overhang_split(w: moves.Along) -> moves.Ends:
    overhang = max(0, int(w.stop[-1]) - w.d - w.end)
    start = w.start - overhang // 2
    return start, np.clip(w.d + w.end - overhang // 2, start, start + w.length)


def _cells_of_windows(right: Divisor, params: Params, _pads: Pads, windows: Windows) -> Divisor:
    """Count the cells of windows that are moved out of the padding as padding."""
    return steps.outer(windows.lengths) if params.include_pad else right


def _starting(kind: str, w: moves.Along) -> moves.Ends:
    """Keep the starts of windows, counted from the begin of the padding, in another type."""
    start = (w.start + w.begin).astype(dtype_of(kind)).astype(np.int64) - w.begin
    return start, start + w.length


_PLACES = {
    "overhang-at-begin": _moved(_overhang_at_begin),
    "overhang-split": Fault.of(
        windows=moves.everywhere(moves.moving(_overhang_split)), divide=after(_cells_of_windows)
    ),
    **{
        f"starts-{kind}": _moved(partial(_starting, kind))
        for kind in ("uint8", "uint16", "float16", "bfloat16")
    },
    "dilations-doubled": read(dilations=_DOUBLED_IF_ABOVE_ONE),
    "dilations-times-strides": read(dilations=_TIMES_STRIDE),
    "strides-as-dilations": read(strides=same_as("dilations")),
    "windows-dilations-doubled": read(lists.IN_WINDOWS, dilations=_DOUBLED_IF_ABOVE_ONE),
    "windows-strides-times-dilations": read(lists.IN_WINDOWS, strides=_TIMES_DILATION),
    "windows-begin-pads-times-dilations": read(lists.IN_WINDOWS, pads_begin=_TIMES_DILATION),
    "dilated-start-clamped": _dilated(moves.STARTS_IN_INPUT.of),
    "dilated-one-late": _dilated(moves.LATER.of),
    "dilated-first-cell-skipped": _dilated(
        lambda w: (np.where(w.start < 0, first_from(w.start, 0, w.n) + w.n, w.start), w.stop)
    ),
    "dilated-cell-zero-skipped": _dilated(
        lambda w: (np.where(w.start < 0, first_from(w.start, 1, w.n), w.start), w.stop)
    ),
    "dilated-last-cell-skipped": _dilated(lambda w: (w.start, np.maximum(w.stop - 1, w.start + 1))),
    "dilated-end-too-early": _dilated(
        lambda w: (w.start, np.where(w.stop > w.d, np.minimum(w.stop, w.d - w.n + 1), w.stop))
    ),
    "dilated-cell-too-many": _dilated(lambda w: (w.start, w.stop + w.n)),
}

# Blocks of adaptive operators --------------------------------------------------------------------


def _blocks(ends: tuple[moves.BlockEnd, moves.BlockEnd]) -> Fault:
    """Divide sums by the cells of other blocks, also where they reach beyond the input."""
    divide = instead(lambda *given: steps.outer(given[-1].lengths))
    return Fault.of(windows=moves.laid_out(*ends), divide=divide)


def _by_reciprocal(name: str) -> tuple[moves.BlockEnd, moves.BlockEnd]:
    """Compute i d / o in a floating-point type, as (i d) (1 / o)."""
    kind = dtype_of(name).type
    return moves.block_ends("", lambda i, d, o: (i * d).astype(kind) * (kind(1) / kind(o)))


def _as_fixed_stride(right: Extent, params: Params, _pads: Pads) -> Extent:
    return tuple(d // max(1, d // o) for d, o in zip(params.sizes, right, strict=True))


_KINDS = ("float32", "float64")
_BLOCKS = {
    **{f"adaptive-{kind}-index": _blocks(moves.times_ratio_in(kind)) for kind in _KINDS},
    **{f"adaptive-{kind}-reciprocal": _blocks(_by_reciprocal(kind)) for kind in _KINDS},
    "adaptive-output-of-fixed-stride": Fault.of(extent=after(_as_fixed_stride)),
    "adaptive-divisor-floor": by_words()["the divisor of a block made from d / o rounded down"],
}

# One value of each plane -------------------------------------------------------------------------


def _kernel(change: Callable[[Numbers], Numbers], **others: StepWrap) -> Fault:
    """Pool by windows of another kernel than the sizes, a cell apart."""
    resolve = resolving(lambda p: replace(p, kernel=tuple(map(min, change(p.sizes), p.sizes))))
    return Fault.of(resolve=resolve, **others)


_WHOLE = {
    "whole-last-axis-alone": _kernel(lambda sizes: (1,) * (len(sizes) - 1) + sizes[-1:]),
    "whole-first-axis-alone": _kernel(lambda sizes: sizes[:1] + (1,) * (len(sizes) - 1)),
    "whole-last-two-axes-alone": _kernel(lambda sizes: (1,) * (len(sizes) - 2) + sizes[-2:]),
    "whole-first-two-axes-alone": _kernel(lambda sizes: sizes[:2] + (1,) * (len(sizes) - 2)),
    "whole-axes-reversed": _kernel(lambda sizes: sizes[::-1]),
    "whole-square": _kernel(
        lambda sizes: sizes[:1] * len(sizes), extent=after(lambda right, *_: (1,) * len(right))
    ),
}

# An output size that is given, beside windows ----------------------------------------------------


def _resolved_by(wrap: StepWrap) -> Fault:
    """Validate a call of an operator whose step `resolve` is another."""

    def change(call: Call) -> tuple[Call]:
        pipeline = call.operator.pipeline
        pipeline = pipeline.replace(resolve=wrap(pipeline.resolve))
        return (replace(call, operator=replace(call.operator, pipeline=pipeline)),)

    return Fault.of(validate=before(change))


def _axis_by_axis(right: Callable[[Params], Params], params: Params) -> Params:
    """Take a size of each axis that is rounded down or up, whatever the others are."""
    pads = (steps.resolve_pads(params), steps.no_pads(params))
    ways = product(pads, ("floor", "ceil"))
    rounded = [steps.rounded_extent(params, padding, way) for padding, way in ways]
    sizes = zip(params.fixed_output, zip(*rounded, strict=True), strict=True)
    return params if all(o in known for o, known in sizes) else right(params)


FAULTS = {
    **{name: fault.where(_WITH_SAME) for name, fault in _SAME.items()},
    "auto-pad-undilated-unwritten": Fault.of(
        pads=before(lambda p: (_undilated(p),)),
        extent=after(_undilated_extent),
        reduce=after(_overhanging_unwritten),
    ).where(_AUTO_PAD),
    **_NUMBERS,
    **_PLACES,
    **_BLOCKS,
    **_WHOLE,
    "accepts-output-sizes": _resolved_by(lambda _right: steps.as_given),
    "accepts-output-sizes-mixed": _resolved_by(instead(_axis_by_axis)),
}
