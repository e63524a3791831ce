"""Faults of `divide`: which cells count, and how counts become a divisor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.atoms import conditions
from conformance.faults.atoms.lists import (
    FIRST_FOR_ALL,
    IN_DIVISOR,
    LAST_FOR_ALL,
    OF_DIVISOR,
    ONE_MORE,
    REVERSED,
    ZERO,
    read,
    same_as,
)
from conformance.faults.atoms.words import mean
from conformance.faults.behaviour import (
    AUTO_PADDED,
    AVERAGES,
    INCLUDING,
    PADDED,
    ROUNDED,
    SPREAD,
    STRIDED,
    UNEVEN,
    Behaviour,
    Faults,
    Replaces,
    after,
    before,
    instead,
)
from conformance.faults.catalogue.building_blocks import mixed_up
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
    return list(windows.lengths)


def _without_begin_pads(_params: Params, windows: Windows) -> Counts:
    ranges = zip(windows.start, windows.stop, strict=True)
    return [np.minimum(b - np.maximum(a, 0), b - a) for a, b in ranges]


def _without_end_pads(params: Params, windows: Windows) -> Counts:
    ranges = zip(windows.start, windows.stop, params.sizes, strict=True)
    return [np.maximum(np.minimum(b, d) - a, 0) for a, b, d in ranges]


def _rescaled_borders(params: Params, windows: Windows) -> Counts:
    """Leave padding out of the count in the first and last window of an axis alone."""
    counts = list(windows.lengths)
    for count, a, b, d in zip(counts, windows.start, windows.stop, params.sizes, strict=True):
        inside = axis.cells_within(a, b, 0, d)
        count[0], count[-1] = inside[0], inside[-1]
    return counts


def _of_reversed_windows(params: Params, pads: Pads, windows: Windows) -> tuple[Any, ...]:
    wrong = replace(params, kernel=params.kernel[::-1], strides=params.strides[::-1])
    extent = tuple(len(start) for start in windows.start)
    return wrong, pads[::-1], steps.slide(wrong, pads[::-1], extent)


def _begin_of_next_axis_at_end(params: Params, pads: Pads, windows: Windows) -> tuple[Any, ...]:
    """Put the begin pad of the next axis in place of the end pad of every axis but the last."""
    ends = [*(begin for begin, _ in pads[1:]), pads[-1][1]]
    return params, tuple((begin, end) for (begin, _), end in zip(pads, ends, strict=True)), windows


def _integer_quotient(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Divide by the whole kernel, then multiply by (whole kernel // divisor)."""
    if gathered.params.include_pad:
        return reduce(gathered, divisor)
    whole = steps.outer(gathered.windows.lengths)
    of_whole_kernel = reduce(gathered, whole)
    quotient = (whole // np.maximum(divisor, 1)).astype(of_whole_kernel.dtype)
    scaled: Array = of_whole_kernel * quotient
    return scaled


def _whole_kernel_in_blocks(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Count the overhang for a multiple of eight channels, as a blocked kernel may."""
    if gathered.params.include_pad and gathered.data.shape[1] % 8 == 0:
        divisor = steps.outer(gathered.windows.lengths)
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
    for count in list(windows.lengths):
        total = total[..., np.newaxis] + count
    return total


def _centre(right: Divisor) -> int:
    return int(right[tuple(n // 2 for n in right.shape)])


FAULTS: Faults = {
    **mixed_up("kernel", OF_DIVISOR, "divisor-kernel"),
    **mixed_up("strides", OF_DIVISOR, "divisor-strides"),
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
    "divisor-pads-reversed": read(IN_DIVISOR, pads=REVERSED),
    "divisor-pads-swapped": read(
        IN_DIVISOR, pads_begin=same_as("pads_end"), pads_end=same_as("pads_begin")
    ),
    "divisor-pads-begin-for-both": read(IN_DIVISOR, pads_end=same_as("pads_begin")),
    "divisor-pads-end-for-both": read(IN_DIVISOR, pads_begin=same_as("pads_end")),
    "divisor-pads-first-for-all": read(IN_DIVISOR, pads=FIRST_FOR_ALL),
    "divisor-pads-last-for-all": read(IN_DIVISOR, pads=LAST_FOR_ALL),
    "divisor-pads-of-next-axis": Behaviour(
        "the begin pad of the next axis in place of an end pad in the divisor",
        INCLUDING & PADDED,
        before("divide", _begin_of_next_axis_at_end),
        bug="divisor_pad_index_wrong",
    ),
    "divisor-without-end-pads": read(IN_DIVISOR, pads_end=ZERO),
    "divisor-without-begin-pads": read(IN_DIVISOR, pads_begin=ZERO),
    "divisor-axes-reversed": Behaviour(
        "kernel, strides and pads taken in reverse axis order in the divisor",
        INCLUDING & STRIDED & PADDED,
        before("divide", _of_reversed_windows),
        bug="divisor_axes_reversed",
    ),
    "divisor-of-kernel-as-strides": read(OF_DIVISOR, kernel=same_as("strides")),
    "divisor-of-windows-a-kernel-apart": read(OF_DIVISOR, strides=same_as("kernel")),
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
    "exclude-pad-ignored-with-same": mean(
        "include_pad", {False: True}, "divide", where=conditions.SAME, needs=AUTO_PADDED
    ),
    "include-pad-ignored-with-same": mean(
        "include_pad", {True: False}, "divide", where=conditions.SAME, needs=AUTO_PADDED
    ),
    "include-pad-ignored-with-ceil": mean(
        "include_pad", {True: False}, "divide", where=conditions.CEIL, needs=ROUNDED
    ),
    "divisor-end-pad-one-more": read(IN_DIVISOR, pads_end=ONE_MORE, needs=ROUNDED),
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
