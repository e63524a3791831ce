"""Clauses: where the documents need a ruling, and the readings of those that are disputed.

A *ruling* has one defensible answer: the pipelines follow it. A *disputed* clause has several
readings, each the replacement of a step; the first is the default. An *undefined* clause marks
elements or whole cases for which any value conforms. docs/clauses.md says the same for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.operator import Operator
from conformance.operators.pipeline import Extent, Gathered, Pads, Params, Windows
from conformance.reference import maximum_ignoring_nan
from conformance.vector import Array

StepWrap = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One defensible answer to a clause.

    `replaces` maps names of pipeline steps to their replacements, each made from the step it
    replaces. The readings of accumulator, subnormals and pads-not-below-kernel replace no step:
    they change which answers are accepted (operators/outcomes.py).
    """

    name: str
    summary: str
    followed_by: tuple[str, ...] = ()
    replaces: Mapping[str, StepWrap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clause:
    """A place in a document that needs a ruling."""

    name: str
    kind: Literal["ruling", "disputed", "undefined"]
    operators: tuple[str, ...]
    document: str
    section: str
    says: str
    answer: str
    evidence: str
    readings: tuple[Reading, ...] = ()

    @property
    def default(self) -> str:
        """Name of the default reading of a disputed clause."""
        return self.readings[0].name

    def reading(self, name: str) -> Reading:
        """Return a reading by name; KeyError if there is none."""
        return {reading.name: reading for reading in self.readings}[name]


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


_OPENVINO = ("AvgPool-1", "MaxPool-1")
_AVERAGES = ("AvgPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
_ALL = ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")

_DISPUTED = (
    Clause(
        name="same-output-size",
        kind="disputed",
        operators=_OPENVINO,
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
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, rounding_type and auto_pad",
        says="nothing about rounding_type=ceil together with same_*",
        answer="whether ceil may add a window where the kernel is below the stride",
        evidence="OpenVINO rounds the padded input up and gets one more, empty, window",
        readings=(
            Reading("rounding-ignored", "o = ceil(d / s) whatever rounding_type"),
            Reading(
                "rounding-applied",
                "o = ceil(t / s) + 1 on the padded input",
                ("OpenVINO",),
                {"extent": _round_same_too},
            ),
        ),
    ),
    Clause(
        name="ceil-window-past-input",
        kind="disputed",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, rounding_type",
        says="nothing about a last window that ceil makes start at or beyond the end of the input",
        answer="whether that window is kept",
        evidence="OpenVINO keeps it; PyTorch and ONNX drop it",
        readings=(
            Reading("kept", "o = ceil(t / s) + 1", ("OpenVINO",)),
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
        operators=("AvgPool-1",),
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
                ("OpenVINO",),
                {"divide": _count_whole_kernel},
            ),
        ),
    ),
    Clause(
        name="nan-in-maximum",
        kind="disputed",
        operators=("MaxPool-1",),
        document="MaxPool-1",
        section="Mathematical Formulation",
        says="max of the elements, nothing about NaN",
        answer="whether a NaN in a window is its maximum or no candidate",
        evidence="PyTorch and JAX propagate NaN; OpenVINO ignores it",
        readings=(
            Reading("propagates", "a NaN in the window is the result", ("PyTorch", "JAX")),
            Reading(
                "ignored",
                "the largest number; undefined for a window of NaN alone",
                ("OpenVINO",),
                {"reduce": _skip_nan},
            ),
        ),
    ),
    Clause(
        name="accumulator",
        kind="disputed",
        operators=_AVERAGES,
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
        operators=_ALL,
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
        operators=(*_OPENVINO, "nGraph-AvgPool"),
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

_UNDEFINED = (
    Clause(
        name="all-padding-average",
        kind="undefined",
        operators=_AVERAGES,
        document="nGraph AvgPool",
        section="Note on ill-definedness; T_div",
        says="ill-defined where padding is left out and a window holds nothing else: infinity "
        "or NaN",
        answer="any value in those elements; the others are judged as ever",
        evidence="engines give NaN, 0 or -0, or refuse",
    ),
    Clause(
        name="all-padding-maximum",
        kind="undefined",
        operators=("MaxPool-1",),
        document="MaxPool-1",
        section="Mathematical Formulation",
        says="max of the elements, nothing about a window without any",
        answer="any value in those elements; the others are judged as ever",
        evidence="engines give -inf, the lowest finite value or 0, or refuse",
    ),
    Clause(
        name="kernel-past-padding",
        kind="undefined",
        operators=(*_OPENVINO, "nGraph-AvgPool"),
        document="AvgPool-1",
        section="Detailed description, output shape",
        says="the formula gives no positive output for a kernel above the padded input",
        answer="the whole case",
        evidence="mostly refused; with ceil some engines return one clipped window",
    ),
    Clause(
        name="empty-dimension",
        kind="undefined",
        operators=_ALL,
        document="AvgPool-1",
        section="Inputs",
        says="nothing about a batch, channel, spatial or output size of 0 (nGraph: d_i > 0)",
        answer="the whole case",
        evidence="engines refuse, or return an empty output",
    ),
    Clause(
        name="integer-average",
        kind="undefined",
        operators=("nGraph-AvgPool",),
        document="nGraph AvgPool",
        section="Inputs, Element Type",
        says="any element type, nothing about how an integer average rounds",
        answer="the whole case",
        evidence="truncated in some engines, rounded half to even in others",
    ),
    Clause(
        name="zero-sign",
        kind="undefined",
        operators=_ALL,
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="nothing about the sign of zero",
        answer="+0 and -0 are equal everywhere",
        evidence="the order of a sum and of comparisons decides it",
    ),
)

_RULINGS = (
    Clause(
        name="output-extent-formula",
        kind="ruling",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Detailed description",
        says="prints the division inside the wrong parentheses, and H for every axis",
        answer="floor((d + begin + end - k) / s) + 1, each axis with its own size",
        evidence="the document's examples 3, 4 and 5 (10, 15 and 14) fit only this",
    ),
    Clause(
        name="explicit-is-not-auto",
        kind="ruling",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, pads_begin, pads_end and auto_pad",
        says="pads are ignored when auto_pad is specified, yet explicit is one of its values",
        answer="ignored only when auto_pad is not explicit",
        evidence="examples 3 and 4 use pads with auto_pad=explicit",
    ),
    Clause(
        name="valid-rounds",
        kind="ruling",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, rounding_type and auto_pad",
        says="nothing about rounding_type together with valid",
        answer="rounding_type applies with valid too",
        evidence="OpenVINO, ONNX Runtime and PyTorch agree",
    ),
    Clause(
        name="stride-zero",
        kind="ruling",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, strides",
        says="strides start from 0",
        answer="a stride of 0 is invalid and must be rejected",
        evidence="every engine rejects it",
    ),
    Clause(
        name="zero-pads-overhang",
        kind="ruling",
        operators=("AvgPool-1",),
        document="AvgPool-1",
        section="Attributes, exclude-pad and rounding_type",
        says="nothing about ceil overhang with exclude-pad=false where there is no padding",
        answer="overhang cells do not exist and never count",
        evidence="OpenVINO, ONNX Runtime and PyTorch agree; the commonest public bug of all",
    ),
    Clause(
        name="same-never-crops",
        kind="ruling",
        operators=_OPENVINO,
        document="AvgPool-1",
        section="Attributes, auto_pad",
        says="nothing about same_* with a kernel below the stride",
        answer="the total padding is never below 0; windows start at j s",
        evidence="OpenVINO, JAX and TensorFlow agree; others fail",
    ),
    Clause(
        name="layout",
        kind="ruling",
        operators=_ALL,
        document="AvgPool-1",
        section="Outputs; Attributes, strides",
        says="names axes [N,C,H,W,D], strides (z,y,x); AdaptiveAvgPool-8 writes [N,C,D,H,W]",
        answer="attribute i belongs to tensor axis 2 + i",
        evidence="every engine",
    ),
    Clause(
        name="maximum-of-minus-infinity",
        kind="ruling",
        operators=("MaxPool-1",),
        document="MaxPool-1",
        section="Mathematical Formulation",
        says="max of the elements",
        answer="-inf for a window of -inf, not the lowest finite value",
        evidence="the formula; PyTorch and JAX",
    ),
    Clause(
        name="adaptive-sum",
        kind="ruling",
        operators=("AdaptiveAvgPool-8",),
        document="AdaptiveAvgPool-8",
        section="Detailed description; Examples",
        says="the formula lacks its sum sign; the example has an undefined output_type and gives "
        "the second input's shape alone",
        answer="the mean of the block; output_type is ignored; the output size is (16, 16)",
        evidence="the text",
    ),
    Clause(
        name="ngraph-index",
        kind="ruling",
        operators=("nGraph-AvgPool",),
        document="nGraph AvgPool",
        section="Formal definition",
        says="indexes T_in by padded coordinates, misprints the product's index, and defines "
        "T_sum / T_div for i = false only",
        answer="T_in at j - p; the product of w_i; i = true divides by that product",
        evidence="the document's own example (1.0 and 0.25)",
    ),
    Clause(
        name="ngraph-defaults",
        kind="ruling",
        operators=("nGraph-AvgPool",),
        document="nGraph AvgPool",
        section="Attributes",
        says="marks attributes optional without defaults; four attributes, then lists five",
        answer="strides default to ones, paddings to zeros, include-padding to false",
        evidence="the text",
    ),
    Clause(
        name="printed-w-bound",
        kind="ruling",
        operators=("nGraph-AvgPool",),
        document="nGraph AvgPool",
        section="Attributes, w",
        says="w_i <= d_i",
        answer="w_i <= p_i + d_i + q_i",
        evidence="nGraph's own tests",
    ),
)

CLAUSES: dict[str, Clause] = {
    clause.name: clause for clause in (*_DISPUTED, *_UNDEFINED, *_RULINGS)
}
DISPUTED: tuple[Clause, ...] = _DISPUTED
GEOMETRIC = ("same-output-size", "same-with-ceil", "ceil-window-past-input", "overhang-divisor")
"""The disputed clauses whose readings replace steps of the geometry."""


def under(operator: Operator, readings: Mapping[str, str]) -> steps.Pipeline:
    """Return an operator's pipeline under readings; clauses not named keep their default.

    Readings of clauses that do not concern the operator change nothing. Where two readings
    replace one step, the later in the list of clauses wraps the earlier.
    """
    pipeline = operator.pipeline
    for clause in DISPUTED:
        if clause.name in readings and operator.name in clause.operators:
            for step, wrap in clause.reading(readings[clause.name]).replaces.items():
                pipeline = pipeline.replace(**{step: wrap(getattr(pipeline, step))})
    return pipeline
