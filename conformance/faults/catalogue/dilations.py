"""Faults of dilations: in the attribute, the padding, the output size, the windows, the divisor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from conformance.faults.atoms import conditions
from conformance.faults.atoms.divisors import ALL_CELLS, count
from conformance.faults.atoms.lists import (
    ADDED_ONCE,
    CELLS_COUNTED,
    CELLS_READ,
    DOUBLED_IF_ABOVE_ONE,
    IN_EXTENT,
    IN_PADS,
    IN_WINDOWS,
    OF_DIVISOR,
    ONE,
    ONE_CELL_SHORT,
    ONE_LESS,
    ONE_MORE,
    TIMES_DILATION,
    WITH_HOLES,
    Place,
    as_long_as,
    at_most_number,
    computed,
    mixed_up,
    on_axis,
    read,
    read_lists,
    same_as,
)
from conformance.faults.atoms.windows import LATER, STARTS_IN_INPUT, Along, Ends, Move, moved
from conformance.faults.behaviour import (
    AUTO_PADDED,
    AVERAGES,
    DILATED,
    INCLUDING,
    Behaviour,
    Faults,
    Replaces,
    after,
    before,
    instead,
    wrong_params,
)
from conformance.faults.fault import Unchecked
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Pads, Windows
from conformance.operators.windows import first_from

_AVERAGED = DILATED & INCLUDING & AVERAGES


# The cells of windows ----------------------------------------------------------------------------


def _moved(words: str, of: Callable[[Along], Ends], bug: str = "") -> Behaviour:
    """Move the windows along every axis that is dilated."""
    move = Move(words, lambda w: of(w) if w.n > 1 else (w.start, w.stop))
    return moved(move, where=conditions.DILATED, needs=DILATED)._replace(bug=bug)


# The divisor -------------------------------------------------------------------------------------


def _of_clipped_length(*, rounded_up: bool) -> Replaces:
    """Divide the length of clipped windows by the dilation, wherever their first cell lies."""

    def divisor(_right: Any, params: Params, pads: Pads, windows: Windows) -> Divisor:
        counts = []
        for (start, stop, n), d, (begin, end) in zip(windows.axes, params.sizes, pads, strict=True):
            before_input, behind = (begin, end) if params.include_pad else (0, 0)
            length = np.minimum(stop, d + behind) - np.maximum(start, -before_input)
            counts.append(np.maximum((length + (n - 1) * rounded_up) // n, 0))
        return steps.outer(counts)

    return instead("divide", divisor)


_TIMES_STRIDE = computed("multiplied by the stride", lambda n, s: n * s, "", "strides")
_TIMES_DILATION = computed("multiplied by the dilation", lambda v, n: v * n, "", "dilations")
_FIRST_IGNORED, _LAST_IGNORED = on_axis(0, ONE), on_axis(-1, ONE)
_LENGTHS = {
    "times-kernel": as_long_as(TIMES_DILATION),
    "one-cell-short": as_long_as(ONE_CELL_SHORT),
    "added-once": as_long_as(ADDED_ONCE),
    "as-holes": as_long_as(WITH_HOLES, least=2),
}


def _as_long_as(place: Place) -> Faults:
    """Return a fault for each wrong length of a dilated kernel."""
    return {
        f"{place.step}-dilations-{name}": read_lists(atoms, place)
        for name, atoms in _LENGTHS.items()
    }


# The padding of same_* ----------------------------------------------------------------------------


def _without_dilations(params: Params) -> Params:
    return replace(params, dilations=(1,) * len(params.kernel))


def _truncated(right: Extent, params: Params, pads: Pads) -> Extent:
    """Divide as C does, which rounds towards 0, and look at no result."""
    if not params.same or set(params.dilations) == {1}:
        return right
    ratios = [
        Fraction(t, s) for t, s in zip(steps.rooms(params, pads), params.strides, strict=True)
    ]
    windows = tuple((int(r) if params.rounding == "floor" else ceil(r)) + 1 for r in ratios)
    if params.rounding == "ceil_torch":
        windows = steps.without_last_past_input(params, pads, windows)
    return Unchecked(windows)


FAULTS: Faults = {
    **mixed_up("dilations"),
    "dilations-ignored": wrong_params(
        "resolve",
        "dilations ignored",
        DILATED,
        _without_dilations,
        bug="dilations_ignored",
    ),
    "dilations-first-ignored": read(dilations=_FIRST_IGNORED),
    "dilations-last-ignored": read(dilations=_LAST_IGNORED),
    "dilations-one-more": read(dilations=ONE_MORE),
    "dilations-one-less": read(dilations=ONE_LESS),
    "dilations-doubled": read(dilations=DOUBLED_IF_ABOVE_ONE),
    "dilations-clamped-to-two": read(dilations=at_most_number(2)),
    "dilations-times-strides": read(dilations=_TIMES_STRIDE),
    "dilations-as-strides": read(dilations=same_as("strides")),
    "strides-as-dilations": read(strides=same_as("dilations")),
    "strides-and-dilations-swapped": read(
        strides=same_as("dilations"), dilations=same_as("strides")
    ),
    "kernel-and-dilations-swapped": read(kernel=same_as("dilations"), dilations=same_as("kernel")),
    "dilations-ignored-where-unequal": read(dilations=ONE, where=conditions.UNEQUALLY_DILATED),
    "dilations-ignored-with-strides": read(dilations=ONE, where=conditions.STRIDED),
    "dilations-ignored-with-same": read(
        dilations=ONE, where=conditions.SAME, needs=Needs(roles=("strides",))
    ),
    "dilations-ignored-with-ceil": read(
        dilations=ONE, where=conditions.CEIL, needs=Needs(roles=("strides",))
    ),
    "dilations-ignored-with-pads": read(dilations=ONE, where=conditions.EXPLICITLY_PADDED),
    "dilations-ignored-without-rows": read(dilations=ONE, where=conditions.ONE_AXIS),
    "dilations-ignored-in-volumes": read(dilations=ONE, where=conditions.THREE_AXES),
    # The padding of same_*
    "pads-dilations-ignored": wrong_params(
        "pads",
        "a dilated kernel taken as kernel cells long in the padding of same_*",
        DILATED & AUTO_PADDED,
        _without_dilations,
        bug="same_pads_undilated",
    ),
    "pads-dilations-ignored-unchecked": Behaviour(
        "a dilated kernel taken as kernel cells long in the padding of same_*, and as many windows "
        "as rounding_type then says, if any",
        DILATED & AUTO_PADDED,
        before("pads", lambda params: (_without_dilations(params),)) | after("extent", _truncated),
    ),
    **_as_long_as(IN_PADS),
    **mixed_up("dilations", IN_PADS, "pads-dilations"),
    # The number of windows
    "extent-dilations-ignored": read(IN_EXTENT, dilations=ONE),
    **_as_long_as(IN_EXTENT),
    **mixed_up("dilations", IN_EXTENT, "extent-dilations"),
    "extent-dilations-first-ignored": read(IN_EXTENT, dilations=_FIRST_IGNORED),
    "extent-dilations-last-ignored": read(IN_EXTENT, dilations=_LAST_IGNORED),
    # The positions of windows
    "windows-dilations-ignored": wrong_params(
        "windows",
        "neighbouring cells read, in an output of dilated windows",
        DILATED,
        _without_dilations,
        bug="dilated_cells_undilated",
    ),
    **mixed_up("dilations", IN_WINDOWS, "windows-dilations"),
    "windows-dilations-doubled": read(IN_WINDOWS, dilations=DOUBLED_IF_ABOVE_ONE),
    "windows-strides-times-dilations": read(IN_WINDOWS, strides=_TIMES_DILATION),
    "windows-begin-pads-times-dilations": read(IN_WINDOWS, pads_begin=_TIMES_DILATION),
    "dilated-start-clamped": _moved(
        STARTS_IN_INPUT.words, STARTS_IN_INPUT.of, "dilated_start_clamped"
    ),
    "dilated-first-cell-skipped": _moved(
        "that begin before the input left out their first cell in it",
        lambda w: (np.where(w.start < 0, first_from(w.start, 0, w.n) + w.n, w.start), w.stop),
    ),
    "dilated-cell-zero-skipped": _moved(
        "that begin before the input left out its first cell",
        lambda w: (np.where(w.start < 0, first_from(w.start, 1, w.n), w.start), w.stop),
    ),
    "dilated-last-cell-skipped": _moved(
        "left out their last cell", lambda w: (w.start, np.maximum(w.stop - 1, w.start + 1))
    ),
    "dilated-end-too-early": _moved(
        "that end after the input left out its last cells",
        lambda w: (
            w.start,
            np.where(w.stop > w.d, np.minimum(w.stop, w.d - w.n + 1), w.stop),
        ),
    ),
    "dilated-cell-too-many": _moved("had a cell more", lambda w: (w.start, w.stop + w.n)),
    "dilated-one-late": _moved(LATER.words, LATER.of),
    # The cells that are read
    "dilated-holes-read": read(CELLS_READ, dilations=ONE),
    "dilated-holes-read-in-rows": read(CELLS_READ, dilations=_LAST_IGNORED),
    "dilated-holes-read-in-columns": read(CELLS_READ, dilations=_FIRST_IGNORED),
    # The divisor
    "divisor-counts-holes": read(CELLS_COUNTED, dilations=ONE),
    "divisor-counts-holes-if-included": read(
        CELLS_COUNTED, dilations=ONE, where=conditions.INCLUDED
    ),
    "divisor-counts-holes-if-excluded": read(
        CELLS_COUNTED, dilations=ONE, where=conditions.EXCLUDED
    ),
    **mixed_up("dilations", CELLS_COUNTED, "divisor-dilations"),
    "divisor-undilated": read(OF_DIVISOR, dilations=ONE),
    "divisor-whole-kernel-if-dilated": count(ALL_CELLS, where=conditions.DILATED, needs=_AVERAGED),
    "divisor-of-clipped-length-rounded-up": Behaviour(
        "the divisor of dilated windows counted from where they are clipped, rounded up",
        _AVERAGED,
        _of_clipped_length(rounded_up=True),
    ),
    "divisor-of-clipped-length-rounded-down": Behaviour(
        "the divisor of dilated windows counted from where they are clipped, rounded down",
        _AVERAGED,
        _of_clipped_length(rounded_up=False),
    ),
}
