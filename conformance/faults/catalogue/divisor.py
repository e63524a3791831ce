"""Faults of `divide`: which cells count, and how counts become a divisor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    AVERAGES,
    BEGIN_PADS_AT_BOTH_ENDS,
    END_PADS_AT_BOTH_ENDS,
    FIRST_FOR_ALL,
    INCLUDING,
    LAST_FOR_ALL,
    NO_BEGIN_PADS,
    NO_END_PADS,
    PADDED,
    PADS_SWAPPED,
    REVERSED,
    ROUNDED,
    SPREAD,
    STRIDED,
    UNEVEN,
    Behaviour,
    Change,
    Faults,
    PadsChange,
    Replaces,
    after,
    before,
    instead,
    kernel_and_strides_reversed,
    misread_by_axis,
    on_every_axis,
    window_lengths,
    wrong_pads,
    wrong_params,
)
from conformance.faults.catalogue.values import Reduce
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

Counts = list[axis.Positions]
"""Per axis, the cells of each window along it."""


# Which cells count -------------------------------------------------------------------------------


def _counting(
    summary: str,
    needs: Needs,
    count: Callable[[Params, Windows], Counts],
    bug: str = "",
    *,
    where: Callable[[Params, Pads], bool] = lambda _params, _pads: True,
) -> Behaviour:
    """Divide by the product of other counts where a condition holds."""

    def other(
        divide: Callable[..., Divisor], params: Params, pads: Pads, windows: Windows
    ) -> Divisor:
        if where(params, pads):
            return steps.outer(count(params, windows))
        return divide(params, pads, windows)

    return Behaviour(summary, needs, instead("divide", other), bug)


def _included(params: Params, _pads: Pads) -> bool:
    return params.include_pad


def _excluded(params: Params, _pads: Pads) -> bool:
    return not params.include_pad


def _included_without_pads(params: Params, pads: Pads) -> bool:
    return params.include_pad and not any(map(any, pads))


def _whole_kernel(_params: Params, windows: Windows) -> Counts:
    return window_lengths(windows)


def _without_begin_pads(_params: Params, windows: Windows) -> Counts:
    ranges = zip(windows.start, windows.stop, strict=True)
    return [np.minimum(b - np.maximum(a, 0), b - a) for a, b in ranges]


def _without_end_pads(params: Params, windows: Windows) -> Counts:
    ranges = zip(windows.start, windows.stop, params.sizes, strict=True)
    return [np.maximum(np.minimum(b, d) - a, 0) for a, b, d in ranges]


def _rescaled_borders(params: Params, windows: Windows) -> Counts:
    """Leave padding out of the count in the first and last window of an axis alone."""
    counts = window_lengths(windows)
    for count, a, b, d in zip(counts, windows.start, windows.stop, params.sizes, strict=True):
        inside = axis.cells_within(a, b, 0, d)
        count[0], count[-1] = inside[0], inside[-1]
    return counts


def _of_other_windows(change: Change, change_pads: PadsChange = lambda pads: pads) -> Replaces:
    """Divide by the cells of windows that are laid out from changed parameters and pads."""

    def laid_out(params: Params, pads: Pads, windows: Windows) -> tuple[Params, Pads, Windows]:
        wrong, wrong_pads = change(params), change_pads(pads)
        extent = tuple(len(start) for start in windows.start)
        return wrong, wrong_pads, steps.slide(wrong, wrong_pads, extent)

    return before("divide", laid_out)


def _begin_of_next_axis_at_end(pads: Pads) -> Pads:
    """Put the begin pad of the next axis in place of the end pad of every axis but the last."""
    next_begins = [begin for begin, _ in pads[1:]]
    last_end = pads[-1][1]
    return tuple(
        (begin, end) for (begin, _), end in zip(pads, [*next_begins, last_end], strict=True)
    )


def _integer_quotient(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Divide by the whole kernel, then multiply by (whole kernel // divisor)."""
    if gathered.params.include_pad:
        return reduce(gathered, divisor)
    whole = steps.outer(window_lengths(gathered.windows))
    of_whole_kernel = reduce(gathered, whole)
    quotient = (whole // np.maximum(divisor, 1)).astype(of_whole_kernel.dtype)
    scaled: Array = of_whole_kernel * quotient
    return scaled


def _whole_kernel_in_blocks(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Count the overhang for a multiple of eight channels, as a blocked kernel may."""
    if gathered.params.include_pad and gathered.data.shape[1] % 8 == 0:
        divisor = steps.outer(window_lengths(gathered.windows))
    return reduce(gathered, divisor)


# How counts become a divisor ---------------------------------------------------------------------


def _divisor(
    summary: str, needs: Needs, change: Callable[[Divisor, Params, Windows], Any]
) -> Behaviour:
    """Divide by `change(right divisors, params, windows)`, at least 1, where windows have cells."""

    def other(right: Divisor, params: Params, _pads: Pads, windows: Windows) -> Divisor:
        return np.where(right > 0, np.maximum(change(right, params, windows), 1), 0)

    return Behaviour(summary, needs, after("divide", other))


def _product_of(change: Callable[[Counts], Counts]) -> Replaces:
    """Divide by the product of changed counts."""

    def product(_divide: Any, params: Params, pads: Pads, windows: Windows) -> Divisor:
        return steps.outer(change(steps.counted(params, pads, windows)))

    return instead("divide", product)


def _one_axis(which: int) -> Replaces:
    """Leave the counts of the other axes out; windows without cells stay without."""

    def change(counts: Counts) -> Counts:
        counted = which % len(counts)
        return [c if i == counted else np.minimum(c, 1) for i, c in enumerate(counts)]

    return _product_of(change)


def _sum_of_counts(_right: Divisor, _params: Params, windows: Windows) -> Divisor:
    total: Divisor = np.zeros((), np.int64)
    for count in window_lengths(windows):
        total = total[..., np.newaxis] + count
    return total


def _centre(right: Divisor) -> int:
    return int(right[tuple(n // 2 for n in right.shape)])


_params = partial(wrong_params, "divide")
_pads = partial(wrong_pads, "divide", needs=INCLUDING & PADDED)

FAULTS: Faults = {
    **misread_by_axis(
        "divisor-kernel", "kernel {} in the divisor", INCLUDING, "kernel", _of_other_windows
    ),
    **misread_by_axis(
        "divisor-strides",
        "strides {} in the divisor",
        INCLUDING & STRIDED,
        "strides",
        _of_other_windows,
    ),
    "exclude-pad-for-begin-only": _counting(
        "only begin pads left out of the divisor", INCLUDING, _without_begin_pads, where=_excluded
    ),
    "exclude-pad-for-end-only": _counting(
        "only end pads left out of the divisor", INCLUDING, _without_end_pads, where=_excluded
    ),
    "divisor-border-rescaled": _counting(
        "only the first and last window of an axis corrected for padding",
        INCLUDING,
        _rescaled_borders,
        bug="border_rescale_first_last_only",
    ),
    "divisor-pads-reversed": _pads("pads taken in reverse axis order in the divisor", REVERSED.of),
    "divisor-pads-swapped": _pads("begin pads in place of end pads in the divisor", PADS_SWAPPED),
    "divisor-pads-begin-for-both": _pads(
        "begin pads used at both ends in the divisor", BEGIN_PADS_AT_BOTH_ENDS
    ),
    "divisor-pads-end-for-both": _pads(
        "end pads used at both ends in the divisor", END_PADS_AT_BOTH_ENDS
    ),
    "divisor-pads-first-for-all": _pads(
        f"pads {FIRST_FOR_ALL.words} in the divisor", FIRST_FOR_ALL.of
    ),
    "divisor-pads-last-for-all": _pads(
        f"pads {LAST_FOR_ALL.words} in the divisor", LAST_FOR_ALL.of
    ),
    "divisor-pads-of-next-axis": _pads(
        "the begin pad of the next axis in place of an end pad in the divisor",
        _begin_of_next_axis_at_end,
        "divisor_pad_index_wrong",
    ),
    "divisor-without-end-pads": _pads("end pads never counted in the divisor", NO_END_PADS),
    "divisor-without-begin-pads": _pads("begin pads never counted in the divisor", NO_BEGIN_PADS),
    "divisor-axes-reversed": Behaviour(
        "kernel, strides and pads taken in reverse axis order in the divisor",
        INCLUDING & STRIDED & PADDED,
        _of_other_windows(kernel_and_strides_reversed, REVERSED.of),
        bug="divisor_axes_reversed",
    ),
    "divisor-of-kernel-as-strides": Behaviour(
        "the strides in place of the kernel in the divisor",
        INCLUDING & STRIDED,
        _of_other_windows(lambda p: replace(p, kernel=p.strides)),
    ),
    "divisor-of-windows-a-kernel-apart": Behaviour(
        "the kernel in place of the strides in the divisor",
        INCLUDING & STRIDED,
        _of_other_windows(lambda p: replace(p, strides=p.kernel)),
    ),
    "divisor-whole-kernel": _counting(
        "every sum divided by the whole kernel", INCLUDING & ROUNDED, _whole_kernel
    ),
    "divisor-whole-kernel-if-excluded": _counting(
        "sums divided by the whole kernel where padding is to be left out",
        INCLUDING & ROUNDED,
        _whole_kernel,
        where=_excluded,
    ),
    "divisor-whole-kernel-if-included": _counting(
        "the overhang of ceil counted in the divisor like padding",
        INCLUDING & ROUNDED,
        _whole_kernel,
        where=_included,
        bug="div_full_kernel_on_overhang",
    ),
    "divisor-whole-kernel-without-pads": _counting(
        "the overhang of ceil counted in the divisor where there is no padding",
        INCLUDING & ROUNDED,
        _whole_kernel,
        where=_included_without_pads,
    ),
    "exclude-pad-ignored-with-same": _params(
        "the padding of same_* counted in the divisor though it is to be excluded",
        INCLUDING & AUTO_PADDED,
        lambda p: replace(p, include_pad=True) if p.same else p,
    ),
    "include-pad-ignored-with-same": _params(
        "the padding of same_* left out of the divisor though it is to be included",
        INCLUDING & AUTO_PADDED,
        lambda p: replace(p, include_pad=False) if p.same else p,
    ),
    "include-pad-ignored-with-ceil": _params(
        "padding left out of the divisor with rounding_type=ceil",
        INCLUDING & ROUNDED,
        lambda p: replace(p, include_pad=p.include_pad and not p.ceil),
    ),
    "divisor-end-pad-one-more": wrong_pads(
        "divide",
        "one cell too many of the end padding counted in the divisor",
        on_every_axis(lambda begin, end: (begin, end + 1)),
        needs=INCLUDING & ROUNDED & PADDED,
    ),
    "divisor-integer-quotient": Behaviour(
        "the correction for left-out padding computed as an integer quotient",
        INCLUDING,
        instead("reduce", _integer_quotient),
        bug="exclude_rescale_integer_quotient",
    ),
    "divisor-whole-kernel-blocked-channels": Behaviour(
        "the overhang of ceil counted in the divisor for a multiple of eight channels",
        INCLUDING & ROUNDED,
        instead("reduce", _whole_kernel_in_blocks),
        bug="div_full_kernel_on_overhang_blocked_C",
    ),
    "not-divided": _divisor("sums not divided", AVERAGES, lambda right, *_: np.minimum(right, 1)),
    "divisor-one-more": _divisor("divisors one too large", AVERAGES, lambda right, *_: right + 1),
    "divisor-one-less": _divisor("divisors one too small", AVERAGES, lambda right, *_: right - 1),
    "divisor-of-first": _divisor(
        "the divisor of the first window used for all",
        AVERAGES & UNEVEN,
        lambda right, *_: right.flat[0],
    ),
    "divisor-of-centre": _divisor(
        "the divisor of the central window used for all",
        AVERAGES & UNEVEN,
        lambda right, *_: _centre(right),
    ),
    "divisor-of-first-in-row": _divisor(
        "the divisor of the first window of a row used for the row",
        AVERAGES & UNEVEN,
        lambda right, *_: right[..., :1],
    ),
    "divisor-summed": _divisor(
        "the counts of the axes added instead of multiplied", AVERAGES, _sum_of_counts
    ),
    "divisor-first-axis-only": Behaviour(
        "only the count of the first axis in the divisor", AVERAGES, _one_axis(0)
    ),
    "divisor-last-axis-only": Behaviour(
        "only the count of the last axis in the divisor", AVERAGES, _one_axis(-1)
    ),
    "divisor-without-first-axis": Behaviour(
        "the count of the first of three axes missing in the divisor",
        AVERAGES,
        _product_of(
            lambda counts: [np.minimum(counts[0], 1), *counts[1:]] if len(counts) > 2 else counts
        ),
    ),
    "divisor-power-of-two": _divisor(
        "divisors rounded up to a power of two",
        AVERAGES,
        lambda right, *_: 2 ** np.ceil(np.log2(np.maximum(right, 1))).astype(np.int64),
    ),
    "divisor-uint8": _divisor(
        "divisors kept in eight bits", AVERAGES, lambda right, *_: right % 256
    ),
    "divisor-of-input": _divisor(
        "sums divided by the cells of the whole input",
        AVERAGES & SPREAD,
        lambda _right, params, _: int(np.prod(params.sizes)),
    ),
    "divisor-of-last": _divisor(
        "the divisor of the last window used for all", INCLUDING, lambda right, *_: right.flat[-1]
    ),
    "divisor-smallest": _divisor(
        "the smallest divisor of all used everywhere", INCLUDING, lambda right, *_: right.min()
    ),
}
