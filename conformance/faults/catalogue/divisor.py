"""Faults of `divide`: which cells count, and how counts become a divisor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.atoms import conditions, divisors
from conformance.faults.atoms.divisors import (
    ADDED,
    ALL_CELLS,
    ALONE,
    IN_UINT8,
    NOT_AFTER_INPUT,
    NOT_BEFORE_INPUT,
    OF_CENTRE,
    OF_FIRST,
    OF_FIRST_IN_ROW,
    OF_INPUT,
    OF_LAST,
    ONE,
    ONE_LESS,
    POWER_OF_TWO,
    SMALLEST,
    change,
    count,
)
from conformance.faults.atoms.lists import (
    FIRST_FOR_ALL,
    IN_DIVISOR,
    LAST_FOR_ALL,
    OF_DIVISOR,
    ONE_MORE,
    REVERSED,
    ZERO,
    mixed_up,
    read,
    same_as,
)
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.atoms.windows import ALL_BUT_FIRST, ALL_BUT_LAST, FIRST_AXIS
from conformance.faults.atoms.words import mean
from conformance.faults.behaviour import (
    AUTO_PADDED,
    AVERAGES,
    BORDERED,
    INCLUDING,
    PADDED,
    ROUNDED,
    SPREAD,
    STRIDED,
    UNEVEN,
    Behaviour,
    Faults,
    after,
    before,
    instead,
    wrong_params,
)
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

Divide = Callable[[Params, Pads, Windows], Divisor]

# Which cells count -------------------------------------------------------------------------------


def _rescaled_borders(params: Params, windows: Windows) -> list[Divisor]:
    """Leave padding out of the count in the first and last window of an axis alone."""
    counts = list(windows.lengths)
    for number, a, b, d in zip(counts, windows.start, windows.stop, params.sizes, strict=True):
        inside = axis.cells_within(a, b, 0, d)
        number[0], number[-1] = inside[0], inside[-1]
    return counts


def _unpadded_kernel(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
    """Count the overhang where padding counts and there is none."""
    if params.include_pad and not any(map(any, pads)):
        return steps.outer(windows.lengths)
    return right


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


# One that is given -------------------------------------------------------------------------------

_GIVEN = Needs(roles=("fixed_divisor",))


def _ungiven(summary: str, ignored: Callable[[Params], bool]) -> Behaviour:
    def counting(params: Params) -> Params:
        return replace(params, fixed_divisor=None) if ignored(params) else params

    return wrong_params("divide", summary, _GIVEN, counting)


def _counted(params: Params, pads: Pads, windows: Windows) -> Divisor:
    return steps.count_cells(replace(params, fixed_divisor=None), pads, windows)


def _given_within(right: Divide, params: Params, pads: Pads, windows: Windows) -> Divisor:
    within = steps.outer(windows.inside(params.sizes)) == steps.outer(windows.lengths)
    return np.where(within, right(params, pads, windows), _counted(params, pads, windows))


def _given_times_counted(right: Divide, params: Params, pads: Pads, windows: Windows) -> Divisor:
    divisor = right(params, pads, windows)
    is_given = params.fixed_divisor is not None
    return divisor * _counted(params, pads, windows) if is_given else divisor


# How counts become a divisor ---------------------------------------------------------------------


FAULTS: Faults = {
    **mixed_up("kernel", OF_DIVISOR, "divisor-kernel"),
    **mixed_up("strides", OF_DIVISOR, "divisor-strides"),
    "exclude-pad-for-begin-only": count(
        NOT_BEFORE_INPUT, where=conditions.EXCLUDED, needs=INCLUDING
    ),
    "exclude-pad-for-end-only": count(NOT_AFTER_INPUT, where=conditions.EXCLUDED, needs=INCLUDING),
    "divisor-border-rescaled": Behaviour(
        "only the first and last window of an axis corrected for padding",
        INCLUDING,
        instead("divide", lambda _, p, _pads, w: steps.outer(_rescaled_borders(p, w))),
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
    "divisor-whole-kernel": count(ALL_CELLS, needs=INCLUDING & ROUNDED),
    "divisor-whole-kernel-if-excluded": count(
        ALL_CELLS, where=conditions.EXCLUDED, needs=INCLUDING & ROUNDED
    ),
    "divisor-whole-kernel-if-included": Behaviour(
        "the overhang of ceil counted in the divisor like padding",
        INCLUDING & ROUNDED,
        after("divide", lambda right, p, _, w: steps.outer(w.lengths) if p.include_pad else right),
        bug="div_full_kernel_on_overhang",
    ),
    "divisor-whole-kernel-without-pads": Behaviour(
        "the overhang of ceil counted in the divisor where there is no padding",
        INCLUDING & ROUNDED,
        after("divide", _unpadded_kernel),
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
    "not-divided": change(ONE),
    "divisor-one-more": change(divisors.ONE_MORE),
    "divisor-one-less": change(ONE_LESS),
    "divisor-of-first": change(OF_FIRST, needs=AVERAGES & UNEVEN),
    "divisor-of-centre": change(OF_CENTRE, needs=AVERAGES & UNEVEN),
    "divisor-of-first-in-row": change(OF_FIRST_IN_ROW, needs=AVERAGES & UNEVEN),
    "divisor-summed": count(ALL_CELLS, combined=ADDED),
    "divisor-first-axis-only": count(ALONE, ALL_BUT_FIRST),
    "divisor-last-axis-only": count(ALONE, ALL_BUT_LAST),
    "divisor-without-first-axis": count(ALONE, FIRST_AXIS, where=conditions.VOLUMES),
    "divisor-power-of-two": change(POWER_OF_TWO),
    "divisor-uint8": change(IN_UINT8),
    "divisor-of-input": count(OF_INPUT, needs=AVERAGES & SPREAD),
    "divisor-of-last": change(OF_LAST, needs=INCLUDING),
    "divisor-smallest": change(SMALLEST, needs=INCLUDING),
    # One that is given
    "given-divisor-ignored": _ungiven("a divisor that is given ignored", lambda _: True),
    "given-divisor-ignored-with-padding": _ungiven(
        "a divisor that is given ignored where padding counts", lambda p: p.include_pad
    ),
    "given-divisor-ignored-at-border": Behaviour(
        "a divisor that is given ignored in windows that reach out of the input",
        _GIVEN & BORDERED,
        instead("divide", _given_within),
    ),
    "given-divisor-multiplied": Behaviour(
        "a divisor that is given multiplied by the number of cells",
        _GIVEN,
        instead("divide", _given_times_counted),
    ),
}
