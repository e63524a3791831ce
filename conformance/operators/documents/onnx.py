"""ONNX's pooling (spec: onnx-NAME), and what documents that build on it share with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.dtypes import WIDE_FLOATS
from conformance.operators.attributes import Attribute
from conformance.operators.axis import Axis
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.examples import printed_unpooling
from conformance.operators.indices import ChosenIndex
from conformance.operators.operator import Operator, Output, sliding, unpooling, whole
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, Pipeline, reaches, slacks
from conformance.operators.reduction import AVERAGE, MAXIMUM, NORM
from conformance.operators.rule import Rule
from conformance.operators.unpooling import UNPOOLING
from conformance.operators.wraps import StepWrap, after, before, choosing
from conformance.reference import is_judged

AXES = (1, None)
"""Numbers of spatial axes: "(N x C x D1 x D2 ... Dn)"."""
EXPONENT = Attribute("p", "exponent", "Attributes, p", default=2)
CEIL: Mapping[int, str] = {0: "floor", 1: "ceil"}
CEIL_WITHOUT_PADDING: Mapping[int, str] = {0: "floor", 1: "ceil_torch"}
"""Windows that would start in the right padding are ignored, as AveragePool and MaxPool say."""


_FLAGS = Clause(
    name="onnx-flags",
    kind="undefined",
    document="ONNX AveragePool-22",
    section="Attributes, ceil_mode, count_include_pad",
    says="integers that say whether to round up, and whether to count padding; no range",
    answer="the whole case, if one of them is neither 0 nor 1",
    evidence="ONNX Runtime takes a ceil_mode of 2 for 0, and for 1 until 1.20.1, and a "
    "count_include_pad of 2 for 1",
)
COUNT_INCLUDE_PAD = Attribute(
    "count_include_pad",
    "include_pad",
    "Attributes, count_include_pad",
    default=0,
    values={0: False, 1: True},
    left_open=_FLAGS.name,
)


def window_attributes(*further: Attribute, rounding: Mapping[int, str]) -> tuple[Attribute, ...]:
    """Return the attributes of every document with windows, and further ones of one document.

    `rounding` says what ceil_mode means.
    """
    return (
        Attribute("kernel_shape", "kernel", "Attributes, kernel_shape", least=1),
        Attribute("strides", "strides", "Attributes, strides", default=1, least=1),
        Attribute("dilations", "dilations", "Attributes, dilations", default=1, least=1),
        Attribute("pads", "pads", "Attributes, pads", default=0),
        *further,
        Attribute(
            "ceil_mode",
            "rounding",
            "Attributes, ceil_mode",
            default=0,
            values=rounding,
            left_open=_FLAGS.name,
        ),
        Attribute(
            "auto_pad",
            "auto_pad",
            "Attributes, auto_pad",
            default="NOTSET",
            values={
                "NOTSET": "explicit",
                "SAME_UPPER": "same_upper",
                "SAME_LOWER": "same_lower",
                "VALID": "valid",
            },
        ),
    )


def _with_given_pads(params: Params, *others: Any) -> tuple[Any, ...]:
    """Take pads as they are given, and leave out what auto_pad says."""
    return (replace(params, auto_pad="explicit") if params.pads_beside else params, *others)


def _one_window_at_least(windows: Extent, params: Params, _pads: Pads) -> Extent:
    return tuple(max(1, o) for o in windows) if params.pads_beside else windows


def _no_window_unless_it_fits(windows: Extent, params: Params, pads: Pads) -> Extent:
    fits = not params.pads_beside or min(slacks(params, pads)) >= 0
    return windows if fits else (0,) * len(windows)


def _of_given_pads(change: Callable[..., Extent]) -> StepWrap:
    """Count windows with the given pads, and change their numbers."""
    return lambda extent: after(change)(before(_with_given_pads)(extent))


def _refusing_both(_pipeline: Pipeline, params: Params) -> tuple[str, ...]:
    """Return the readings under which pads are refused beside an auto_pad."""
    if not params.pads_beside:
        return ()
    pads = tuple(zip(params.pads_begin, params.pads_end, strict=True))
    also = (
        ("zeros-alone", any(map(any, pads))),
        ("checked", reaches(pads, params.kernel)),
    )
    return ("refused", *(name for name, holds in also if holds))


WINDOW_CLAUSES = (
    _FLAGS,
    ruling(
        "onnx-same-output-size",
        "output_shape[i] = ceil(input_shape[i] / strides[i])",
        "o = ceil(d / s)",
        "the formula",
        settles="same-output-size",
        document="ONNX AveragePool-22",
        section="Summary; Attributes, auto_pad",
    ),
    ruling(
        "onnx-same-with-ceil",
        "prints ceil(d / s) with ceil_mode, and floor((d - 1) / s) + 1 without",
        "o = ceil(d / s) whatever ceil_mode: the two are the same number",
        "the formulas",
        settles="same-with-ceil",
        document="ONNX AveragePool-22",
        section="Summary",
    ),
    Clause(
        name="pads-with-auto-pad",
        kind="disputed",
        refusing=_refusing_both,
        document="ONNX AveragePool-22",
        section="Attributes, pads",
        says="pads cannot be used simultaneously with auto_pad",
        answer="whether pads beside an auto_pad other than NOTSET are ignored, refused, or used in "
        "its place",
        evidence="ONNX Runtime ignores them, but refuses those that reach the kernel, and tract "
        "ignores auto_pad; nothing says that such a node is invalid. ONNX's reference evaluator "
        "adds them to MaxPool with VALID, and ignores them elsewhere",
        readings=(
            Reading("ignored", "auto_pad says how much is padded"),
            Reading("refused", "an exception"),
            Reading("zeros-alone", "an exception, but for zeros, as pads are by default"),
            Reading(
                "checked",
                "an exception for pads as long as the kernel; others are ignored",
                ("ONNX Runtime",),
            ),
            Reading(
                "used",
                "as with NOTSET: pads are as given, zeros too, and ceil_mode applies; a kernel "
                "larger than the input with them has one window, of what there is",
                ("tract",),
                {"pads": before(_with_given_pads), "extent": _of_given_pads(_one_window_at_least)},
            ),
            Reading(
                "used-or-refused",
                "the same, and an exception for such a kernel",
                (),
                {
                    "pads": before(_with_given_pads),
                    "extent": _of_given_pads(_no_window_unless_it_fits),
                },
            ),
        ),
    ),
)
LP_EXPONENT = Clause(
    name="lp-exponent",
    kind="undefined",
    leaves_open=lambda _operator, params, _inputs: not is_judged(params.exponent),
    document="ONNX LpPool-22",
    section="Attributes, p",
    says="any integer, where only p >= 1 makes a norm",
    answer="the whole case if p < 1, or p > 1,024: powers of all cells but those close to one "
    "leave the range of every type",
    evidence="of p = 0, ONNX Runtime computes infinity, and ONNX's reference evaluator raises",
)
LP_CLAUSES = (
    LP_EXPONENT,
    ruling(
        "lp-absolute",
        "the Lp norm, without a formula",
        "the p-th root of the sum of |x|**p: absolute values, for an odd p, too",
        "that is what a norm is; ONNX Runtime and ONNX's reference evaluator",
        document="ONNX LpPool-22",
        section="Summary",
    ),
    ruling(
        "lp-of-padding",
        "nothing about a window of padding alone",
        "0: a sum of no power, and as well one of padding that is zero",
        "ONNX's reference evaluator; ONNX Runtime refuses such pads",
        document="ONNX LpPool-22",
        section="Summary",
    ),
)


# MaxUnpool ---------------------------------------------------------------------------------------


def _at_least_inferred(axis: Axis) -> Axis:
    given = axis.fixed_output
    return axis._replace(fixed_output=given and max(given, axis.inferred))


def _below_inferred(axis: Axis) -> Axis:
    return axis._replace(fixed_output=axis.inferred - 1)


_UNPOOLING_CLAUSES = (
    Clause(
        name="unpool-index-space",
        kind="disputed",
        document="ONNX MaxUnpool-22",
        section="Summary; Inputs, I and output_shape; example with output_shape",
        says="indices are of the output tensor, padding not counted; the example with output_shape "
        "puts them where they are in the smaller shape that is inferred without it",
        answer="in which shape indices count cells where output_shape is given",
        evidence="ONNX Runtime and PyTorch count in the output, so that maxima return to their "
        "places; ONNX's reference evaluator and the example count in the shape that is inferred",
        readings=(
            Reading("output", "cells of the output", ("ONNX Runtime",)),
            Reading(
                "inferred",
                "cells of the inferred shape, which is the low corner of the output; an index "
                "beyond it is refused",
                (),
                {"reduce": choosing(space="inferred")},
            ),
        ),
    ),
    Clause(
        name="unpool-output-too-small",
        kind="undefined",
        document="ONNX MaxUnpool-22",
        section="Inputs, output_shape",
        says="nothing about an output_shape below the shape that is inferred without it",
        answer="the whole case",
        evidence="ONNX Runtime and ONNX's reference evaluator refuse it",
    ),
    ruling(
        "unpool-pads-ignored",
        "pads are ignored where output_shape is given",
        "no value depends on pads beside output_shape, but in the shape that is inferred",
        "the text",
        document="ONNX MaxUnpool-22",
        section="Inputs, output_shape",
    ),
    ruling(
        "unpool-row-major",
        "indices are computed assuming the tensor is row-major",
        "indices of a MaxPool with storage_order 1 are no valid input",
        "the text",
        document="ONNX MaxUnpool-22",
        section="Inputs, I",
    ),
)

# Operators ---------------------------------------------------------------------------------------

_SHARED: dict[str, Any] = {"axes": AXES, "levels": "few"}
OPERATORS = (
    Operator(
        name="ONNX-AveragePool-22",
        document="ONNX AveragePool-22",
        reduction=AVERAGE,
        attributes=window_attributes(COUNT_INCLUDE_PAD, rounding=CEIL_WITHOUT_PADDING),
        pipeline=sliding(AVERAGE),
        clauses=WINDOW_CLAUSES,
        **_SHARED,
    ),
    Operator(
        name="ONNX-MaxPool-22",
        document="ONNX MaxPool-22",
        reduction=MAXIMUM,
        attributes=window_attributes(
            Attribute(
                "storage_order",
                "storage_order",
                "Attributes, storage_order",
                default=0,
                values={0: "row-major", 1: "column-major"},
            ),
            rounding=CEIL_WITHOUT_PADDING,
        ),
        pipeline=sliding(MAXIMUM, further=ChosenIndex()),
        # "The values in indices are in [0, N x C x D1 x ... x Dn)".
        constants={"index_axis": 0},
        outputs=(
            Output("Y"),
            Output("Indices", dtype="int64", undefined="index-of-nothing", is_index=True),
        ),
        dtypes=(*WIDE_FLOATS, "int8", "uint8"),
        clauses=WINDOW_CLAUSES,
        **_SHARED,
    ),
    Operator(
        name="ONNX-LpPool-22",
        document="ONNX LpPool-22",
        reduction=NORM,
        attributes=window_attributes(EXPONENT, rounding=CEIL),
        pipeline=sliding(NORM),
        clauses=(*WINDOW_CLAUSES, *LP_CLAUSES),
        **_SHARED,
    ),
    Operator(
        name="ONNX-GlobalAveragePool-22",
        document="ONNX GlobalAveragePool-22",
        reduction=AVERAGE,
        attributes=(),
        pipeline=whole(AVERAGE),
        **_SHARED,
    ),
    Operator(
        name="ONNX-GlobalMaxPool-22",
        document="ONNX GlobalMaxPool-22",
        reduction=MAXIMUM,
        attributes=(),
        pipeline=whole(MAXIMUM),
        **_SHARED,
    ),
    Operator(
        name="ONNX-GlobalLpPool-22",
        document="ONNX GlobalLpPool-22",
        reduction=NORM,
        attributes=(EXPONENT,),
        pipeline=whole(NORM),
        clauses=LP_CLAUSES,
        **_SHARED,
    ),
    Operator(
        name="ONNX-MaxUnpool-22",
        document="ONNX MaxUnpool-22",
        reduction=UNPOOLING,
        attributes=(
            Attribute("kernel_shape", "kernel", "Attributes, kernel_shape", least=1),
            Attribute("strides", "strides", "Attributes, strides", default=1, least=1),
            Attribute("pads", "pads", "Attributes, pads", default=0),
            Attribute("output_shape", "fixed_output", "Inputs, output_shape", default=0, least=1),
        ),
        pipeline=unpooling(UNPOOLING),
        # "Indices are linear, i.e. computed considering the tensor as flattened 1-D tensor".
        constants={"index_axis": 0},
        input_names=("data", "indices"),
        convention=CallConvention(size_input="output_shape"),
        rules=(
            Rule(
                "output_shape is not below the shape that is inferred",
                "Inputs, output_shape",
                mended=_at_least_inferred,
                broken=_below_inferred,
                undefined="unpool-output-too-small",
            ),
        ),
        clauses=_UNPOOLING_CLAUSES,
        has_gradient=False,
        examples=(
            printed_unpooling(
                "without_output_shape",
                {"kernel_shape": [2, 2], "strides": [2, 2]},
                data=((1, 2), (3, 4)),
                indices=((5, 7), (13, 15)),
                output=((0, 0, 0, 0), (0, 1, 0, 2), (0, 0, 0, 0), (0, 3, 0, 4)),
            ),
            printed_unpooling(
                "with_output_shape",
                {"kernel_shape": [2, 2], "strides": [2, 2], "output_shape": [5, 5]},
                data=((5, 6), (7, 8)),
                indices=((5, 7), (13, 15)),
                output=(
                    (0, 0, 0, 0, 0),
                    (0, 5, 0, 6, 0),
                    (0, 0, 0, 0, 0),
                    (0, 7, 0, 8, 0),
                    (0, 0, 0, 0, 0),
                ),
            ),
        ),
        **_SHARED,
    ),
)
