"""Disputed clauses: each reading is the replacement of a step; the first is the default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import Clause, Reading
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Gathered, Pads, Windows
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import widen
from conformance.vector import Array


def _size_as_input(_pads: Callable[..., Any]) -> Callable[[Params], Pads]:
    # The extent then follows: (d + T - k) / s + 1 = d.
    return lambda params: steps.pads_for(params, params.sizes)


def _round_same_too(_extent: Callable[..., Any]) -> Callable[[Params, Pads], Extent]:
    def extent(params: Params, pads: Pads) -> Extent:
        return tuple(
            axis.extent(t, s, ceil=params.ceil)
            for t, s in zip(steps.rooms(params, pads), params.strides, strict=True)
        )

    return extent


def _drop_window_past_input(
    extent: Callable[[Params, Pads], Extent],
) -> Callable[[Params, Pads], Extent]:
    def dropped(params: Params, pads: Pads) -> Extent:
        counted = extent(params, pads)
        if not params.ceil or params.same:
            return counted
        return tuple(
            o - 1 if (o - 1) * s >= d + begin else o
            for o, s, d, (begin, _) in zip(counted, params.strides, params.sizes, pads, strict=True)
        )

    return dropped


def _count_whole_kernel(
    divide: Callable[[Params, Pads, Windows], steps.Divisor],
) -> Callable[[Params, Pads, Windows], steps.Divisor]:
    def whole(params: Params, pads: Pads, windows: Windows) -> steps.Divisor:
        if not params.include_pad or not any(end for pad in pads for end in pad):
            return divide(params, pads, windows)
        return steps.outer(
            [stop - start for start, stop in zip(windows.start, windows.stop, strict=True)]
        )

    return whole


def _skip_nan(_reduce: Callable[..., Any]) -> Callable[[Gathered, steps.Divisor], Array]:
    return lambda gathered, _divisor: maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)


def holds_nan(data: Array) -> bool:
    """Say whether data hold a NaN."""
    return data.dtype.kind not in "iu" and bool(np.isnan(widen(data)).any())


DISPUTED: tuple[Clause, ...] = (
    Clause(
        name="same-output-size",
        kind="disputed",
        needs=Needs(roles=("auto_pad",)),
        document="AvgPool-1",
        section="Attributes, auto_pad; Examples 1 and 2",
        says="same_* pads so that the input matches the output size; two examples with stride 2 "
        "print an output as large as the input",
        answer="whether the output has ceil(d / s) windows or d",
        evidence="every engine computes ceil(d / s); examples 1 and 2 print 32 from 32 with "
        "stride 2, which needs pads of (d - 1) s + k - d and makes windows of padding alone",
        readings=(
            Reading(
                "divided",
                "o = ceil(d / s)",
                ("OpenVINO", "ONNX Runtime", "PyTorch", "JAX", "TensorFlow"),
            ),
            Reading(
                "same-as-input", "o = d, as examples 1 and 2 print", (), {"pads": _size_as_input}
            ),
        ),
    ),
    Clause(
        name="same-with-ceil",
        kind="disputed",
        needs=Needs(roles=("auto_pad", "rounding")),
        document="AvgPool-1",
        section="Attributes, rounding_type and auto_pad",
        says="nothing about rounding_type=ceil together with same_*",
        answer="whether ceil may add a window where the kernel is below the stride",
        evidence="OpenVINO rounds the padded input up and gets one more, empty, window",
        readings=(
            Reading(
                "rounding-ignored",
                "o = ceil(d / s) whatever rounding_type",
                ("PyTorch", "ONNX Runtime", "ncnn"),
            ),
            Reading(
                "rounding-applied",
                "o = ceil(t / s) + 1 on the padded input",
                ("OpenVINO", "Paddle"),
                {"extent": _round_same_too},
            ),
        ),
    ),
    Clause(
        name="ceil-window-past-input",
        kind="disputed",
        needs=Needs(roles=("rounding",)),
        document="AvgPool-1",
        section="Attributes, rounding_type",
        says="nothing about a last window that ceil makes start at or beyond the end of the input",
        answer="whether that window is kept",
        evidence="OpenVINO keeps it; PyTorch and ONNX drop it",
        readings=(
            Reading("kept", "o = ceil(t / s) + 1", ("OpenVINO", "Paddle", "ncnn")),
            Reading(
                "dropped",
                "one window less where (o - 1) s >= d + begin",
                ("PyTorch", "ONNX Runtime"),
                {"extent": _drop_window_past_input},
            ),
        ),
    ),
    Clause(
        name="overhang-divisor",
        kind="disputed",
        needs=Needs(roles=("rounding", "include_pad")),
        document="AvgPool-1",
        section="Attributes, exclude-pad and rounding_type",
        says="nothing about the cells of a window that lie beyond input and padding",
        answer="whether they count in the divisor when padding counts",
        evidence="ONNX and PyTorch count the cells inside input and padding; OpenVINO counts the "
        "whole kernel as soon as there is any padding",
        readings=(
            Reading(
                "padded-extent",
                "the cells inside input and padding",
                ("PyTorch", "ONNX Runtime"),
            ),
            Reading(
                "whole-kernel",
                "the product of the kernel",
                ("OpenVINO", "ncnn"),
                {"divide": _count_whole_kernel},
            ),
        ),
    ),
    Clause(
        name="nan-in-maximum",
        kind="disputed",
        needs=Needs(reduction="maximum"),
        document="MaxPool-1",
        section="Mathematical Formulation",
        says="max of the elements, nothing about NaN",
        answer="whether a NaN in a window is its maximum or no candidate",
        evidence="PyTorch and JAX propagate NaN; OpenVINO ignores it",
        concerns=holds_nan,
        readings=(
            Reading("propagates", "a NaN in the window is the result", ("PyTorch", "JAX")),
            Reading(
                "ignored",
                "the largest number; undefined for a window of NaN alone",
                ("OpenVINO",),
                {"reduce": _skip_nan},
                nan_is_undefined=True,
            ),
        ),
    ),
    Clause(
        name="accumulator",
        kind="disputed",
        nested=True,
        needs=Needs(reduction="average"),
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="a sum and a division, nothing about the type they are computed in",
        answer="whether sums may be kept in the element type",
        evidence="several projects treat element-type sums of float16 and bfloat16 as a bug; "
        "sums that overflow the element type show the same for every type",
        readings=(
            Reading("wider", "sums of half types in float32 or wider; no sum overflows"),
            Reading(
                "element-type",
                "sums in the element type; one that overflows gives an infinity or NaN",
            ),
        ),
    ),
    Clause(
        name="subnormals",
        kind="disputed",
        nested=True,
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="nothing about subnormal numbers",
        answer="whether they may be treated as zero",
        evidence="hardware in flush-to-zero mode does; IEEE 754 arithmetic does not",
        readings=(
            Reading("kept", "subnormal inputs and results keep their value"),
            Reading("flushed", "any subnormal on the way may become zero"),
        ),
    ),
    Clause(
        name="pads-not-below-kernel",
        kind="disputed",
        needs=Needs(roles=("kernel", "pads_begin")),
        document="AvgPool-1",
        section="Attributes, pads_begin and pads_end",
        says="pads start from 0, with no upper end",
        answer="whether pads as large as the kernel are valid",
        evidence="OpenVINO accepts them; PyTorch and ONNX Runtime refuse",
        readings=(
            Reading("accepted", "windows of padding alone are made", ("OpenVINO",)),
            Reading("rejected", "an exception", ("PyTorch", "ONNX Runtime")),
        ),
    ),
)
