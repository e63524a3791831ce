"""Faults of ceil_torch, which rounds up but lets no last window start in the end padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from conformance.faults.behaviour import (
    APART,
    EVERY,
    PADDED,
    STRIDED,
    Behaviour,
    Faults,
    after,
    wrong_params,
)
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads

_TORCH = STRIDED & Needs(says=(("rounding", "ceil_torch"),))
_TORCH_AND_CEIL = STRIDED & Needs(says=(("rounding", "ceil_torch"), ("rounding", "ceil")))


class LastWindow(NamedTuple):
    """The last window of an axis of d cells, rounded up, and the axis's pads.

    `start` counts from the begin of the padding.
    """

    start: int
    d: int
    begin: int
    end: int

    @property
    def is_left_out(self) -> bool:
        """Whether ceil_torch has no such window."""
        return self.start >= self.d + self.begin


def _left_out(
    summary: str, of: Callable[[list[LastWindow]], list[bool]], bug: str = "", needs: Needs = EVERY
) -> Behaviour:
    """Leave out the last windows of the axes that `of(last windows)` marks."""

    def extent(right: Extent, params: Params, pads: Pads) -> Extent:
        if params.rounding != "ceil_torch" or params.same:
            return right
        rounded_up = steps.rounded_extent(params, pads, "ceil")
        axes = zip(rounded_up, params.strides, params.sizes, pads, strict=True)
        last = [LastWindow((o - 1) * s, d, *pad) for o, s, d, pad in axes]
        return tuple(o - left_out for o, left_out in zip(rounded_up, of(last), strict=True))

    return Behaviour(summary, _TORCH & needs, after("extent", extent), bug)


def _left_out_where(
    summary: str, is_left_out: Callable[[LastWindow], bool], needs: Needs = EVERY
) -> Behaviour:
    """Leave out the last window of each axis where a condition holds."""
    return _left_out(summary, lambda last: list(map(is_left_out, last)), needs=needs)


def _rounded(summary: str, needs: Needs, rounding: str, bug: str = "") -> Behaviour:
    """Take ceil_torch as another rounding."""

    def taken(params: Params) -> Params:
        return replace(params, rounding=rounding) if params.rounding == "ceil_torch" else params

    return wrong_params("resolve", summary, needs, taken, bug)


FAULTS: Faults = {
    "torch-as-ceil": _rounded(
        "a last window that starts in the end padding kept", _TORCH, "ceil", "torch_window_kept"
    ),
    # Where ceil is no other word, this is to ignore it.
    "torch-as-floor": _rounded("ceil_torch taken as floor", _TORCH_AND_CEIL, "floor"),
    "torch-first-axis-alone": _left_out(
        "a last window in the end padding left out on the first axis alone",
        lambda last: [w.is_left_out and j == 0 for j, w in enumerate(last)],
    ),
    "torch-last-axis-alone": _left_out(
        "a last window in the end padding left out on the last axis alone",
        lambda last: [w.is_left_out and j == len(last) - 1 for j, w in enumerate(last)],
    ),
    "torch-all-axes-at-once": _left_out(
        "the last window of every axis left out where that of one starts in the end padding",
        lambda last: [any(w.is_left_out for w in last)] * len(last),
    ),
    "torch-only-if-all-axes": _left_out(
        "last windows left out only where those of all axes start in the end padding",
        lambda last: [all(w.is_left_out for w in last)] * len(last),
    ),
    "torch-without-begin-pads": _left_out_where(
        "begin pads forgotten where a last window is left out",
        lambda w: w.start >= w.d,
        needs=PADDED,
    ),
    "torch-keeps-window-at-border": _left_out_where(
        "a last window kept that starts in the first cell of the end padding",
        lambda w: w.start > w.d + w.begin,
    ),
    "torch-only-past-end-pads": _left_out_where(
        "a last window left out only where it starts past the end padding",
        lambda w: w.start >= w.d + w.begin + w.end,
        needs=PADDED,
    ),
    "torch-only-with-begin-pads": _left_out_where(
        "a last window left out only on axes with a begin pad",
        lambda w: w.begin > 0 and w.is_left_out,
    ),
    "torch-end-for-begin-pads": _left_out_where(
        "end pads in place of begin pads where a last window is left out",
        lambda w: w.start >= w.d + w.end,
        PADDED & APART,
    ),
}
