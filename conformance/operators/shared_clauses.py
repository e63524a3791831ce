"""Disputed clauses that several documents share, and the steps that their readings replace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import Clause, Reading, Refusing
from conformance.operators.needs import (
    INDICES,
    MAXIMUM,
    NO_POWERS,
    POWERS,
    SUMS,
    WINDOWS,
    can_mean,
    has,
)
from conformance.operators.params import Params
from conformance.operators.pipeline import (
    Divisor,
    Extent,
    Gathered,
    Pads,
    Pipeline,
    Windows,
    reaches,
)
from conformance.operators.wraps import after, before, choosing, instead
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import widen
from conformance.vector import Array, Case


def _as_many_windows_as_cells(_pads: Callable[..., Any], params: Params) -> Pads:
    # The number of windows follows: with a total padding of T = (d - 1) s + k - d,
    # (d + T - k) / s + 1 = d.
    return steps.pads_for(params, params.sizes)


def _cropped(pads: Pads, params: Params, *, half_rounds_down: bool) -> Pads:
    """Let a negative total padding of same_* crop the input.

    Of an odd total T, one half rounds down and the other up: T // 2 is at the begin with same_upper
    and at the end with same_lower, or the other way round.
    """
    if not params.same:
        return pads
    larger_at_end = (params.auto_pad == "same_upper") == half_rounds_down
    axes = zip(pads, params.sizes, params.spans, params.strides, strict=True)
    return tuple(
        # `same-as-input` never lacks padding where another reading could crop.
        pad
        if any(pad)
        else axis.split(
            min(0, axis.exact_total(d, k, s, axis.ceil_div(d, s))),
            larger_at_end=larger_at_end,
        )
        for pad, d, k, s in axes
    )


def _rounded_with_same(_extent: Callable[..., Any], params: Params, pads: Pads) -> Extent:
    # ceil_torch does without the window that ceil adds, so that it adds none to same_*.
    rounding = "floor" if params.same and params.rounding != "ceil" else params.rounding
    return steps.rounded_extent(params, pads, rounding)


def _without_last_past_input(windows: Extent, params: Params, pads: Pads) -> Extent:
    if params.rounding != "ceil" or params.same:
        return windows
    return steps.without_last_past_input(params, pads, windows)


def _without_any_past_input(rounding: str, windows: Extent, params: Params, pads: Pads) -> Extent:
    if params.rounding != rounding or params.same:
        return windows
    axes = zip(windows, params.strides, params.sizes, pads, strict=True)
    return tuple(min(o, axis.ceil_div(d + begin, s)) for o, s, d, (begin, _) in axes)


def _without_last_in_padding(windows: Extent, params: Params, pads: Pads) -> Extent:
    """Let ceil_torch keep a last window that starts beyond the padding, too."""
    if params.rounding != "ceil_torch" or params.same:
        return windows
    all_windows = steps.rounded_extent(params, pads, "ceil")
    axes = zip(all_windows, params.strides, params.sizes, pads, strict=True)
    return tuple(o - (d + begin <= (o - 1) * s < d + begin + end) for o, s, d, (begin, end) in axes)


def _floor_with_valid(params: Params, pads: Pads) -> tuple[Params, Pads]:
    return replace(params, rounding="floor") if params.auto_pad == "valid" else params, pads


def _whole_kernel(divisor: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
    if not params.include_pad or not any(end for pad in pads for end in pad):
        return divisor
    return steps.outer(windows.lengths)


def _skip_nan(_reduce: Callable[..., Any], gathered: Gathered, _divisor: Divisor) -> Array:
    return maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)


def holds_nan(case: Case) -> bool:
    """Say whether the data of a case hold a NaN."""
    return case.data.dtype.kind not in "iu" and bool(np.isnan(widen(case.data)).any())


def _rejecting(*, dilated: bool) -> Refusing:
    """Reject pads as long as the kernel: those as long as the `dilated` one, or all others."""

    def refusing(pipeline: Pipeline, params: Params) -> tuple[str, ...]:
        pads = pipeline.pads(params) if params.kernel else ()
        is_long = bool(pads) and reaches(pads, params.kernel)
        return ("rejected",) if is_long and reaches(pads, params.spans) is dilated else ()

    return refusing


DISPUTED: tuple[Clause, ...] = (
    Clause(
        name="same-output-size",
        kind="disputed",
        needs=(has("auto_pad"),),
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
                "same-as-input",
                "o = d, as examples 1 and 2 print",
                (),
                {"pads": instead(_as_many_windows_as_cells)},
            ),
        ),
    ),
    Clause(
        name="same-never-crops",
        kind="disputed",
        needs=(has("auto_pad"),),
        document="AvgPool-1",
        section="Attributes, auto_pad",
        says="nothing about same_* with a kernel below the stride, where the formula of the total "
        "padding T = (o - 1) s + k - d, which ONNX prints, can be negative",
        answer="whether a negative T crops the input, and where an odd T crops one cell more",
        evidence="OpenVINO, JAX and TensorFlow never crop; ONNX's formula has no lower limit: its "
        "reference evaluator and ONNX Runtime crop with SAME_UPPER, and round half an odd T "
        "differently",
        readings=(
            Reading(
                "clamped",
                "T is never below 0: windows start at j s",
                ("OpenVINO", "JAX", "TensorFlow"),
            ),
            Reading(
                "cropped-floor",
                "a negative T crops: floor(T / 2) at the begin and the rest at the end for "
                "same_upper, the other way round for same_lower",
                (),
                {"pads": after(partial(_cropped, half_rounds_down=True))},
            ),
            Reading(
                "cropped-truncated",
                "as cropped-floor, with T / 2 rounded towards zero",
                (),
                {"pads": after(partial(_cropped, half_rounds_down=False))},
            ),
        ),
    ),
    Clause(
        name="same-with-ceil",
        kind="disputed",
        needs=(has("auto_pad"), has("rounding")),
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
                {"extent": instead(_rounded_with_same)},
            ),
        ),
    ),
    Clause(
        name="ceil-window-past-input",
        kind="disputed",
        needs=(has("rounding"),),
        document="AvgPool-1",
        section="Attributes, rounding_type",
        says="nothing about windows that start at or beyond the end of the input; ONNX ignores "
        "windows that start in the end padding, from AveragePool-22 and MaxPool-22 on",
        answer="whether ceil keeps them, drops the last one or drops all of them",
        evidence="OpenVINO keeps them; PyTorch and ONNX Runtime look at the last one alone; "
        "ONNX's text and tinygrad drop all. d = 3, k = 2, s = 1 and pads of 3 make 8, 7 or 6",
        readings=(
            Reading("kept", "o = ceil(t / s) + 1", ("OpenVINO", "Paddle", "ncnn")),
            Reading(
                "dropped",
                "one window less where (o - 1) s >= d + begin",
                ("PyTorch", "ONNX Runtime"),
                {"extent": after(_without_last_past_input)},
            ),
            Reading(
                "all-dropped",
                "no window that starts at or past d + begin",
                ("tinygrad",),
                {"extent": after(_without_any_past_input, "ceil")},
            ),
        ),
    ),
    Clause(
        name="ceil-torch-start",
        kind="disputed",
        needs=(can_mean("rounding", "ceil_torch"),),
        document="Pooling shape rules",
        section="Mathematical Formulation; Attributes, rounding_type",
        says="ceil_torch does not allow the last pooling to start in the padding area; then, the "
        "dimension is reduced by 1; ONNX ignores windows that would start in the right padding",
        answer="whether that is done once or repeatedly, and whether a window that starts beyond "
        "the padding, or where there is none, counts",
        evidence="PyTorch, which the document refers to, leaves out one window where "
        "(o - 1) s >= d + begin; the text has neither the formula nor what follows if the next "
        "window starts there, too",
        readings=(
            Reading(
                "once",
                "one window less where (o - 1) s >= d + begin",
                ("PyTorch", "OpenVINO", "ONNX Runtime"),
            ),
            Reading(
                "repeatedly",
                "no window that starts at or past d + begin",
                (),
                {"extent": after(_without_any_past_input, "ceil_torch")},
            ),
            Reading(
                "in-padding",
                "one window less where d + begin <= (o - 1) s < d + begin + end",
                (),
                {"extent": after(_without_last_in_padding)},
            ),
        ),
    ),
    Clause(
        name="valid-rounds",
        kind="disputed",
        needs=(has("auto_pad"), has("rounding")),
        document="AvgPool-1",
        section="Attributes, rounding_type and auto_pad",
        says="nothing about rounding_type=ceil together with valid; ONNX and OpenVINO's later "
        "rules for shapes print ceil((d - k + 1) / s), which is floor(t / s) + 1, for either",
        answer="whether rounding_type applies with valid",
        evidence="the example of MaxPool-8 with valid and ceil, OpenVINO, ONNX Runtime and PyTorch "
        "round up; ONNX's formula, its reference evaluator and MNN do not",
        readings=(
            Reading(
                "applied",
                "o = ceil(t / s) + 1 with ceil",
                ("OpenVINO", "ONNX Runtime", "PyTorch"),
            ),
            Reading(
                "ignored",
                "o = floor(t / s) + 1 whatever rounding_type",
                ("MNN",),
                {"extent": before(_floor_with_valid)},
            ),
        ),
    ),
    Clause(
        name="overhang-divisor",
        kind="disputed",
        needs=(has("rounding"), has("include_pad")),
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
                {"divide": after(_whole_kernel)},
            ),
        ),
    ),
    Clause(
        name="nan-in-maximum",
        kind="disputed",
        needs=MAXIMUM,
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
                {"reduce": instead(_skip_nan)},
                nan_is_undefined=True,
            ),
        ),
    ),
    Clause(
        name="index-of-ties",
        kind="disputed",
        needs=(*MAXIMUM, *INDICES),
        document="MaxPool-8",
        section="Outputs, 2",
        says="indices of the selected values, nothing about equal ones",
        answer="which of equal maxima is selected",
        evidence="PyTorch, ONNX Runtime and OpenVINO select the first",
        readings=(
            Reading(
                "first", "the first in row-major order", ("PyTorch", "ONNX Runtime", "OpenVINO")
            ),
            Reading("last", "the last in row-major order", (), {"further": choosing(ties="last")}),
            Reading("some", "any position that holds the maximum", any_tie=True),
        ),
    ),
    Clause(
        name="index-of-nan",
        kind="disputed",
        needs=(*MAXIMUM, *INDICES),
        document="MaxPool-8",
        section="Outputs, 2",
        says="indices of the selected values, nothing about NaN",
        answer="which of several NaNs is selected, where a NaN is the maximum",
        evidence="PyTorch takes each NaN that it meets, so that the last stays",
        concerns=holds_nan,
        readings=(
            Reading("first", "the first NaN in row-major order"),
            Reading(
                "last",
                "the last NaN in row-major order",
                ("PyTorch",),
                {"further": choosing(nan="last")},
            ),
            Reading("some", "the position of any NaN", any_tie=True),
        ),
    ),
    Clause(
        name="column-major",
        kind="disputed",
        needs=(*INDICES, can_mean("storage_order", "column-major")),
        document="ONNX MaxPool-22",
        section="Attributes, storage_order",
        says="column major, of a tensor of more than two dimensions",
        answer="which axes column-major order reverses",
        evidence="ONNX Runtime reverses the spatial axes and leaves batch and channels in front",
        readings=(
            Reading(
                "spatial", "batch and channels first, the spatial axes reversed", ("ONNX Runtime",)
            ),
            Reading(
                "all",
                "all axes reversed: the batch varies fastest",
                (),
                {"further": choosing(reversed_axes="all")},
            ),
        ),
    ),
    Clause(
        name="accumulator",
        kind="disputed",
        nested=True,
        needs=SUMS,
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="a sum and a division, nothing about the type they are computed in",
        answer="whether sums of half types may be kept in the element type",
        evidence="several projects treat sums of float16 or bfloat16 in that type as a bug, which "
        "others have",
        readings=(
            Reading("wider", "sums of half types in float32 or wider"),
            Reading("element-type", "sums in the element type"),
        ),
    ),
    Clause(
        name="sum-overflow",
        kind="disputed",
        nested=True,
        of_all_dtypes=True,
        needs=(*SUMS, *NO_POWERS),
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="a sum and a division, nothing about a sum that overflows where the mean does not",
        answer="whether such a sum may overflow",
        evidence="no type is wider than float64, so whoever adds before dividing overflows there; "
        "in a type too narrow for the sum, it matters for every type",
        readings=(
            Reading("finite", "every mean that is finite is computed"),
            Reading(
                "overflows",
                "an infinity or NaN, as the order decides, where the sum of magnitudes passes the "
                "largest number of the type that sums are kept in",
            ),
        ),
    ),
    Clause(
        name="lp-range",
        kind="disputed",
        nested=True,
        of_all_dtypes=True,
        needs=POWERS,
        document="ONNX LpPool-22",
        section="Summary",
        says="a norm, nothing about powers that overflow or vanish where the norm does neither",
        answer="whether such powers may overflow, or vanish",
        evidence="ONNX Runtime and ONNX's reference evaluator add powers of the cells as they are; "
        "the norm functions of linear algebra divide by the largest cell first",
        readings=(
            Reading("scaled", "every norm that is finite is computed"),
            Reading(
                "direct",
                "infinity or NaN, or a number too small, zero too, where powers of the cells or "
                "their sum leave the range of the type that they are kept in",
                ("ONNX Runtime",),
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
            Reading(
                "flushed",
                "any subnormal input, intermediate value or result is zero or itself; a comparison "
                "may see zeros where the selection copies the cell",
            ),
        ),
    ),
    Clause(
        name="pads-not-below-kernel",
        kind="disputed",
        needs=(*WINDOWS, has("pads_begin")),
        refusing=_rejecting(dilated=True),
        document="AvgPool-1",
        section="Attributes, pads_begin and pads_end",
        says="pads start from 0, without an upper limit",
        answer="whether pads as large as the kernel, as given or as same_* makes them, are valid",
        evidence="OpenVINO accepts them; PyTorch and ONNX Runtime refuse",
        readings=(
            Reading("accepted", "windows of padding alone are made", ("OpenVINO",)),
            Reading(
                "rejected",
                "an exception; one that comes without such pads, too, says nothing of this clause",
                ("PyTorch", "ONNX Runtime"),
            ),
        ),
    ),
    Clause(
        name="pads-not-below-undilated-kernel",
        kind="disputed",
        needs=(has("kernel"), has("pads_begin"), has("dilations")),
        refusing=_rejecting(dilated=False),
        document="MaxPool-8",
        section="Attributes, pads_begin, pads_end and dilations",
        says="pads start from 0, without an upper limit",
        answer="whether pads as large as the kernel, as given or as same_* makes them, are valid "
        "where the dilated kernel is larger",
        evidence="OpenVINO compares pads with the dilated kernel; ONNX Runtime and PyTorch refuse",
        readings=(
            Reading("accepted", "the dilated kernel is the kernel", ("OpenVINO",)),
            Reading("rejected", "an exception", ("PyTorch", "ONNX Runtime")),
        ),
    ),
)
