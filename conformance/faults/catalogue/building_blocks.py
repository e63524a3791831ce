"""What the modules of the catalogue share: what operators need, and ways to replace a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from conformance.faults import wraps
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

# What an operator must have for a fault to show in it; `&` asks for both.
EVERY = Needs()
WINDOWED = Needs(roles=("kernel",))
STRIDED = Needs(roles=("kernel", "strides"))
PADDED = Needs(roles=("kernel", "pads_begin", "pads_end"))
ONE_LIST = Needs(roles=("pads",))
ROUNDED = Needs(roles=("kernel", "strides", "rounding"))
AUTO_PADDED = Needs(roles=("kernel", "strides", "auto_pad"))
INCLUDING = Needs(roles=("kernel", "include_pad"))
DILATED = Needs(roles=("kernel", "dilations"))
ADAPTIVE = Needs(roles=("output",))
WHOLE = Needs(without=("kernel", "output"))  # one window, the plane
SPREAD = Needs(some=("kernel", "output"))  # more outputs than one of a plane
UNEVEN = Needs(some=("pads_begin", "auto_pad", "rounding", "output"))  # windows differ in cells
BORDERED = WINDOWED & Needs(some=("pads_begin", "auto_pad"))  # windows may reach into padding
SAYS_LOWER = Needs(says=(("auto_pad", "same_lower"),))
SAYS_VALID = Needs(says=(("auto_pad", "valid"),))
SAYS_EXPLICIT = Needs(says=(("auto_pad", "explicit"),))
AVERAGES = Needs(reduction="average")
MAXIMUM = Needs(reduction="maximum")
CHOOSING = Needs(sums=False)
INTEGERS = Needs(integers=True)
NORMS = Needs(reduction="norm")
INDEXED = Needs(reduction="maximum", indices=True)
FURTHER = Needs(outputs=2)

Change = Callable[[Params], Params]
PadsChange = Callable[[Pads], Pads]
Replaces = dict[str, StepWrap]
"""Names of steps and the wrap around each; `|` joins the wraps of several steps."""


class Behaviour(NamedTuple):
    """A fault but for its name; see `Fault`."""

    summary: str
    needs: Needs
    replaces: Replaces
    bug: str = ""
    remembers: bool = False


Faults = dict[str, Behaviour]
"""Faults by name."""


class Refused(ValueError):  # noqa: N818 - says what happened
    """Raised by a fault that refuses a valid case."""


# Ways to replace a step --------------------------------------------------------------------------


def before(step: str, change: Callable[..., tuple[Any, ...]]) -> Replaces:
    """Run a step with other arguments; see `wraps`."""
    return {step: wraps.before(change)}


def after(step: str, change: Callable[..., Any]) -> Replaces:
    """Run a step and change what it returns; see `wraps`."""
    return {step: wraps.after(change)}


def instead(step: str, compute: Callable[..., Any]) -> Replaces:
    """Run something else in place of a step; see `wraps`."""
    return {step: wraps.instead(compute)}


# Changes of parameters and pads ------------------------------------------------------------------


def changed(field: str, change: Callable[[Any], Any]) -> Change:
    """Return a change of parameters that changes one field."""
    return lambda params: replace(params, **{field: change(getattr(params, field))})


def changed_cells(field: str, change: Callable[[int], int]) -> Change:
    """Return a change of parameters that changes the number of every axis in one field."""
    return changed(field, lambda values: tuple(map(change, values)))


def changed_pads(change: PadsChange) -> Change:
    """Return a change of parameters that changes the explicit pads."""

    def change_params(params: Params) -> Params:
        pads = change(tuple(zip(params.pads_begin, params.pads_end, strict=True)))
        begins, ends = tuple(begin for begin, _ in pads), tuple(end for _, end in pads)
        return replace(params, pads_begin=begins, pads_end=ends)

    return change_params


def kernel_and_strides_reversed(params: Params) -> Params:
    """Take kernel and strides in reverse axis order; the sizes stay."""
    return replace(params, kernel=params.kernel[::-1], strides=params.strides[::-1])


def on_every_axis(change: Callable[[int, int], tuple[int, int]]) -> PadsChange:
    """Return a change of pads from `change(begin, end)` of one axis."""
    return lambda pads: tuple(change(begin, end) for begin, end in pads)


NO_PADS = on_every_axis(lambda _begin, _end: (0, 0))
NO_BEGIN_PADS = on_every_axis(lambda _begin, end: (0, end))
NO_END_PADS = on_every_axis(lambda begin, _end: (begin, 0))
PADS_SWAPPED = on_every_axis(lambda begin, end: (end, begin))
BEGIN_PADS_AT_BOTH_ENDS = on_every_axis(lambda begin, _end: (begin, begin))
END_PADS_AT_BOTH_ENDS = on_every_axis(lambda _begin, end: (end, end))


def with_params(step: str, change: Change) -> Replaces:
    """Change the parameters for every step after `resolve`, or for one step of the geometry."""
    if step == "resolve":
        return after(step, lambda params, _given: change(params))
    return before(step, lambda params, *others: (change(params), *others))


def wrong_params(step: str, summary: str, needs: Needs, change: Change, bug: str = "") -> Behaviour:
    """Change the parameters as `with_params` does."""
    return Behaviour(summary, needs, with_params(step, change), bug)


def wrong_pads(
    step: str, summary: str, change: PadsChange, bug: str = "", *, needs: Needs = PADDED
) -> Behaviour:
    """Change the explicit pads for every step after `resolve`, or all pads for one step."""
    if step == "resolve":
        return wrong_params(step, summary, needs, changed_pads(change), bug)
    replaces = before(step, lambda params, pads, *others: (params, change(pads), *others))
    return Behaviour(summary, needs, replaces, bug)


# Slips: the same few mistakes in many places ----------------------------------------------------


class AxisSlip(NamedTuple):
    """A mistake in the axes of a tuple with one entry per spatial axis; `words` describe it."""

    name: str
    words: str
    of: Callable[[tuple[Any, ...]], tuple[Any, ...]]


FIRST_FOR_ALL = AxisSlip(
    "first-for-all", "of the first axis used for every axis", lambda v: v[:1] * len(v)
)
LAST_FOR_ALL = AxisSlip(
    "last-for-all", "of the last axis used for every axis", lambda v: v[-1:] * len(v)
)
REVERSED = AxisSlip("reversed", "taken in reverse axis order", lambda v: v[::-1])
SLIPS = (FIRST_FOR_ALL, LAST_FOR_ALL, REVERSED)


def _of_three(name: str, words: str, *order: int) -> AxisSlip:
    """Return a slip of three axes alone: the entries at `order`."""
    return AxisSlip(name, words, lambda v: tuple(v[i] for i in order) if len(v) == 3 else v)


EVERY_SLIP = (
    *SLIPS,
    _of_three("second-for-first", "of the second of three axes used for the first too", 1, 1, 2),
    _of_three("third-for-second", "of the third of three axes used for the second too", 0, 2, 2),
)


def misread_by_axis(
    name: str,
    summary: str,
    needs: Needs,
    field: str,
    replaces: Callable[[Change], Replaces],
    bugs: Mapping[str, str] | None = None,
    *,
    slips: tuple[AxisSlip, ...] = SLIPS,
) -> Faults:
    """Return one fault per slip of a field of the parameters: NAME-first-for-all and so on.

    `summary` holds {} where the slip's words go. `replaces` returns the steps to replace, given the
    change of the parameters. `bugs` maps names of slips to entries of KNOWN_BUGS.
    """
    return {
        f"{name}-{slip.name}": Behaviour(
            summary.format(slip.words),
            needs,
            replaces(changed(field, slip.of)),
            (bugs or {}).get(slip.name, ""),
        )
        for slip in slips
    }


# Windows and their cells -------------------------------------------------------------------------


def window_lengths(windows: Windows) -> list[Divisor]:
    """Return the cells of each window per axis, those of padding and overhang too."""
    return list(windows.lengths)


@lru_cache(maxsize=16)  # many faults ask for those of one right plan
def _cells_of(windows: Windows, sizes: Sequence[int] | None) -> list[list[list[int]]]:
    """Return the positions of the cells of each window, per axis; those of an input if of sizes."""
    return [
        [
            [cell for cell in range(a, b, n) if sizes is None or 0 <= cell < sizes[j]]
            for a, b in zip(start.tolist(), stop.tolist(), strict=True)
        ]
        for j, (start, stop, n) in enumerate(windows.axes)
    ]


def reading_other_cells(
    choose: Callable[[list[int], int, Params, int], list[int]], *, unclipped: bool = False
) -> Replaces:
    """Replace `gather`: along each axis, a window reads `choose(cells, d, params, axis)` instead.

    `cells` are the positions that the window should read of the d cells of the axis; with
    `unclipped`, positions in the padding too. Position d, one beyond the input, holds zero.
    """

    def other(right: Gathered, data: Array, params: Params, windows: Windows) -> Gathered:
        right_cells = _cells_of(windows, params.sizes)
        unchanged = _cells_of(windows, None) if unclipped else right_cells
        indices = [
            [choose(cells, d, params, axis) for cells in unchanged[axis]]
            for axis, d in enumerate(params.sizes)
        ]
        return right if indices == right_cells else _gathered_from(right, data, indices)

    return after("gather", other)


def _gathered_from(right: Gathered, data: Array, indices: list[list[list[int]]]) -> Gathered:
    """Gather any cells: window i reads, per axis, the cells `indices[axis][i]` of the data."""
    data = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * (data.ndim - 2)])
    lo, hi, positions = [], [], []
    for axis, windows in enumerate(indices, start=2):
        lengths = np.array([len(cells) for cells in windows], np.int64)
        flat = np.array([cell for cells in windows for cell in cells], np.int64)
        data = np.take(data, flat, axis=axis)
        positions.append(flat)
        hi.append(np.cumsum(lengths))
        lo.append(hi[-1] - lengths)
    return replace(right, data=data, lo=tuple(lo), hi=tuple(hi), positions=tuple(positions))
