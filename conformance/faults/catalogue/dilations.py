"""Faults of dilations: in the attribute, the padding, the output size, the windows, the divisor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    AVERAGES,
    DILATED,
    EVERY_SLIP,
    INCLUDING,
    SLIPS,
    Behaviour,
    Change,
    Faults,
    Replaces,
    after,
    before,
    changed,
    changed_cells,
    instead,
    misread_by_axis,
    with_params,
    wrong_params,
)
from conformance.faults.catalogue.values import only_where
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Pads, Windows
from conformance.operators.windows import Positions, first_from

_AVERAGED = DILATED & INCLUDING & AVERAGES
_SAME = Needs(roles=("kernel", "strides", "auto_pad", "dilations"))
_SLID = Needs(roles=("kernel", "strides", "dilations"))


def _ignored(params: Params) -> Params:
    return replace(params, dilations=(1,) * len(params.kernel))


def _on_axis_ignored(axis: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    def change(dilations: tuple[int, ...]) -> tuple[int, ...]:
        kept = list(dilations)
        kept[axis] = 1
        return tuple(kept)

    return change


_FIRST_IGNORED, _LAST_IGNORED = _on_axis_ignored(0), _on_axis_ignored(-1)


def _of_strides(of: Callable[[int, int], int]) -> Change:
    """Take `of(dilation, stride)` for the dilation of every axis."""
    return lambda params: replace(
        params, dilations=tuple(map(of, params.dilations, params.strides))
    )


def _ignored_where(summary: str, holds: Callable[[Params], bool], needs: Needs) -> Behaviour:
    """Take every dilation as 1 in calls of some kind."""
    return Behaviour(summary, needs, only_where(holds, with_params("resolve", _ignored)))


# The cells from the first to the last of a window, which should be (kernel - 1) * dilation + 1 ----


def _spanning(of: Callable[[int, int], int]) -> Change:
    """Let a window span `of(kernel, dilation)` cells."""

    def change(params: Params) -> Params:
        return _ignored(replace(params, kernel=tuple(map(of, params.kernel, params.dilations))))

    return change


_SPANS: Sequence[tuple[str, str, Callable[[int, int], int]]] = (
    ("ignored", "kernel", lambda k, _n: k),
    ("times-kernel", "kernel * dilation", lambda k, n: k * n),
    ("one-cell-short", "(kernel - 1) * dilation", lambda k, n: (k - 1) * n),
    ("added-once", "kernel + dilation - 1", lambda k, n: k + n - 1),
    ("as-holes", "kernel + (kernel - 1) * dilation", lambda k, n: k + (k - 1) * n if n > 1 else k),
)


def _misspanned(step: str, where: str, needs: Needs, bug: str = "") -> Faults:
    """Return a fault per wrong span of windows in a step; `bug` is that of ignored dilations."""
    return {
        f"{step}-dilations-{name}": wrong_params(
            step,
            f"a dilated kernel taken as {words} cells long in {where}",
            needs,
            _spanning(of),
            bug if name == "ignored" else "",
        )
        for name, words, of in _SPANS
    }


def _without(axis: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Change:
    return changed("dilations", axis)


# The cells of windows ----------------------------------------------------------------------------

Move = Callable[[Positions, Positions, int, int], tuple[Positions, Positions]]
"""From starts and stops of windows, the dilation and the size of an axis: other starts, stops."""


def _moved(summary: str, move: Move, bug: str = "") -> Behaviour:
    """Move the windows along every axis that is dilated."""

    def change(right: Windows, params: Params, _pads: Pads, _extent: Extent) -> Windows:
        ends = [
            move(start, stop, n, d) if n > 1 else (start, stop)
            for (start, stop, n), d in zip(right.axes, params.sizes, strict=True)
        ]
        starts, stops = tuple(start for start, _ in ends), tuple(stop for _, stop in ends)
        return replace(right, start=starts, stop=stops)

    return Behaviour(summary, DILATED, after("windows", change), bug)


def _begin_pads_times_dilation(params: Params, pads: Pads, extent: Extent) -> tuple[Any, ...]:
    axes = zip(pads, params.dilations, strict=True)
    return params, tuple((begin * n, end) for (begin, end), n in axes), extent


def _read(summary: str, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Behaviour:
    """Read the cells of windows of other dilations, from the same first to the same last."""
    return Behaviour(
        summary,
        DILATED,
        before(
            "gather",
            lambda data, params, windows: (
                data,
                params,
                replace(windows, dilations=change(windows.dilations)),
            ),
        ),
    )


# The divisor -------------------------------------------------------------------------------------


def _counting(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Replaces:
    """Count the cells of windows of other dilations, from the same first to the same last."""
    return before(
        "divide",
        lambda params, pads, windows: (
            params,
            pads,
            replace(windows, dilations=change(windows.dilations)),
        ),
    )


def _without_holes(dilations: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * len(dilations)


def _undilated(params: Params, pads: Pads, windows: Windows) -> tuple[Any, ...]:
    extent = tuple(len(start) for start in windows.start)
    return params, pads, steps.slide(_ignored(params), pads, extent)


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


def _whole_kernel(_right: Any, _params: Params, _pads: Pads, windows: Windows) -> Divisor:
    return steps.outer(windows.lengths)


def _is_dilated(params: Params) -> bool:
    return any(n > 1 for n in params.dilations)


_IN_ALL_STEPS = partial(with_params, "resolve")
_params = partial(wrong_params, "resolve")

FAULTS: Faults = {
    **misread_by_axis(
        "dilations", "dilations {}", DILATED, "dilations", _IN_ALL_STEPS, slips=EVERY_SLIP
    ),
    "dilations-ignored": _params("dilations ignored", DILATED, _ignored, "dilations_ignored"),
    "dilations-first-ignored": _params(
        "the dilation of the first axis ignored", DILATED, _without(_FIRST_IGNORED)
    ),
    "dilations-last-ignored": _params(
        "the dilation of the last axis ignored", DILATED, _without(_LAST_IGNORED)
    ),
    "dilations-one-more": _params(
        "dilations counted as the cells left out between two",
        DILATED,
        changed_cells("dilations", lambda n: n + 1),
    ),
    "dilations-one-less": _params(
        "dilations above 1 one too small",
        DILATED,
        changed_cells("dilations", lambda n: max(1, n - 1)),
    ),
    "dilations-doubled": _params(
        "dilations above 1 doubled",
        DILATED,
        changed_cells("dilations", lambda n: 2 * n if n > 1 else n),
    ),
    "dilations-clamped-to-two": _params(
        "dilations clamped to 2", DILATED, changed_cells("dilations", partial(min, 2))
    ),
    "dilations-times-strides": _params(
        "dilations multiplied by the strides", _SLID, _of_strides(lambda n, s: n * s)
    ),
    "dilations-as-strides": _params(
        "the strides used as dilations in all steps", _SLID, _of_strides(lambda _n, s: s)
    ),
    "strides-as-dilations": _params(
        "the dilations used as strides",
        _SLID,
        lambda params: replace(params, strides=params.dilations),
    ),
    "strides-and-dilations-swapped": _params(
        "strides and dilations swapped",
        _SLID,
        lambda params: replace(params, strides=params.dilations, dilations=params.strides),
    ),
    "kernel-and-dilations-swapped": _params(
        "kernel and dilations swapped",
        DILATED,
        lambda params: replace(params, kernel=params.dilations, dilations=params.kernel),
    ),
    "dilations-ignored-where-unequal": _ignored_where(
        "dilations ignored where they differ from axis to axis",
        lambda p: len(set(p.dilations)) > 1,
        DILATED,
    ),
    "dilations-ignored-with-strides": _ignored_where(
        "dilations ignored where a stride is above 1",
        lambda p: any(s > 1 for s in p.strides),
        _SLID,
    ),
    "dilations-ignored-with-same": _ignored_where(
        "dilations ignored with same_*", lambda p: p.same, _SAME
    ),
    "dilations-ignored-with-ceil": _ignored_where(
        "dilations ignored where the number of windows is rounded up",
        lambda p: p.ceil,
        _SLID & Needs(roles=("rounding",)),
    ),
    "dilations-ignored-with-pads": _ignored_where(
        "dilations ignored with explicit pads",
        lambda p: p.auto_pad == "explicit" and any(p.pads_begin + p.pads_end),
        DILATED & Needs(roles=("pads_begin",)),
    ),
    "dilations-ignored-without-rows": _ignored_where(
        "dilations ignored for one spatial axis", lambda p: len(p.kernel) == 1, DILATED
    ),
    "dilations-ignored-in-volumes": _ignored_where(
        "dilations ignored for three spatial axes", lambda p: len(p.kernel) == 3, DILATED
    ),
    # The padding of same_*
    **_misspanned("pads", "the padding of same_*", _SAME & AUTO_PADDED, "same_pads_undilated"),
    **misread_by_axis(
        "pads-dilations",
        "dilations {} in the padding of same_*",
        _SAME,
        "dilations",
        partial(with_params, "pads"),
    ),
    # The number of windows
    **_misspanned("extent", "the output size", DILATED),
    **misread_by_axis(
        "extent-dilations",
        "dilations {} in the output size",
        DILATED,
        "dilations",
        partial(with_params, "extent"),
    ),
    "extent-dilations-first-ignored": wrong_params(
        "extent",
        "the dilation of the first axis ignored in the output size",
        DILATED,
        _without(_FIRST_IGNORED),
    ),
    "extent-dilations-last-ignored": wrong_params(
        "extent",
        "the dilation of the last axis ignored in the output size",
        DILATED,
        _without(_LAST_IGNORED),
    ),
    # The positions of windows
    "windows-dilations-ignored": wrong_params(
        "windows",
        "neighbouring cells read, in an output of dilated windows",
        DILATED,
        _ignored,
        "dilated_cells_undilated",
    ),
    **misread_by_axis(
        "windows-dilations",
        "dilations {} where the cells of windows lie",
        DILATED,
        "dilations",
        partial(with_params, "windows"),
    ),
    "windows-dilations-doubled": wrong_params(
        "windows",
        "cells read twice as far apart as dilated, in an output of the right size",
        DILATED,
        changed_cells("dilations", lambda n: 2 * n if n > 1 else n),
    ),
    "windows-strides-times-dilations": wrong_params(
        "windows",
        "windows a stride times the dilation apart",
        _SLID,
        lambda params: replace(
            params,
            strides=tuple(s * n for s, n in zip(params.strides, params.dilations, strict=True)),
        ),
    ),
    "windows-begin-pads-times-dilations": Behaviour(
        "windows start at the begin pads times the dilation",
        DILATED & Needs(roles=("pads_begin",)),
        before("windows", _begin_pads_times_dilation),
    ),
    "dilated-start-clamped": _moved(
        "the start of dilated windows clamped to the input, wherever their cells lie",
        lambda start, stop, _n, _d: (np.maximum(start, 0), stop),
        "dilated_start_clamped",
    ),
    "dilated-first-cell-skipped": _moved(
        "the first cell in the input skipped by dilated windows that start before it",
        lambda start, stop, n, _d: (np.where(start < 0, first_from(start, 0, n) + n, start), stop),
    ),
    "dilated-cell-zero-skipped": _moved(
        "cell 0 skipped by dilated windows that start before it",
        lambda start, stop, n, _d: (np.where(start < 0, first_from(start, 1, n), start), stop),
    ),
    "dilated-last-cell-skipped": _moved(
        "the last cell of dilated windows left out",
        lambda start, stop, _n, _d: (start, np.maximum(stop - 1, start + 1)),
    ),
    "dilated-end-too-early": _moved(
        "the last cells of the input left out of dilated windows that reach beyond it",
        lambda start, stop, n, d: (start, np.where(stop > d, np.minimum(stop, d - n + 1), stop)),
    ),
    "dilated-cell-too-many": _moved(
        "dilated windows one cell too long", lambda start, stop, n, _d: (start, stop + n)
    ),
    "dilated-one-late": _moved(
        "dilated windows one cell late", lambda start, stop, _n, _d: (start + 1, stop + 1)
    ),
    # The cells that are read
    "dilated-holes-read": _read("the cells between those of dilated windows read", _without_holes),
    "dilated-holes-read-in-rows": _read(
        "the cells between those of dilated windows read along the last axis", _LAST_IGNORED
    ),
    "dilated-holes-read-in-columns": _read(
        "the cells between those of dilated windows read along the first axis", _FIRST_IGNORED
    ),
    # The divisor
    "divisor-counts-holes": Behaviour(
        "the cells between those of dilated windows counted in the divisor",
        _AVERAGED,
        _counting(_without_holes),
    ),
    "divisor-counts-holes-if-included": Behaviour(
        "the cells between those of dilated windows counted where padding counts",
        _AVERAGED,
        only_where(lambda p: p.include_pad, _counting(_without_holes)),
    ),
    "divisor-counts-holes-if-excluded": Behaviour(
        "the cells between those of dilated windows counted where padding does not count",
        _AVERAGED,
        only_where(lambda p: not p.include_pad, _counting(_without_holes)),
    ),
    **{
        f"divisor-dilations-{slip.name}": Behaviour(
            f"dilations {slip.words} in the divisor", _AVERAGED, _counting(slip.of)
        )
        for slip in SLIPS
    },
    "divisor-undilated": Behaviour(
        "the divisor counted as if windows were not dilated",
        _AVERAGED,
        before("divide", _undilated),
    ),
    "divisor-whole-kernel-if-dilated": Behaviour(
        "the whole kernel as divisor of dilated windows",
        _AVERAGED,
        only_where(_is_dilated, instead("divide", _whole_kernel)),
    ),
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
