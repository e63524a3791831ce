"""Clauses that several documents share: rulings, and what no document defines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.operators.clause import Clause, ruling
from conformance.operators.needs import (
    AVERAGES,
    INDICES,
    INTEGERS,
    MAXIMUM,
    WINDOWS,
    has,
)
from conformance.operators.params import Params
from conformance.operators.pipeline import slacks
from conformance.operators.unpooling import RULINGS as OF_UNPOOLING
from conformance.operators.unpooling import UNDEFINED as UNDEFINED_OF_UNPOOLING
from conformance.vector import Array

if TYPE_CHECKING:  # which is made of clauses
    from conformance.operators.operator import Operator


def _is_empty(operator: Operator, params: Params, inputs: Sequence[Array]) -> bool:
    if 0 in inputs[0].shape or 0 in params.output:
        return True
    pipeline = operator.pipeline
    return operator.scatters and min(pipeline.extent(params, pipeline.pads(params))) < 1


def _is_past_padding(operator: Operator, params: Params, _inputs: Sequence[Array]) -> bool:
    return bool(params.kernel) and min(slacks(params, operator.pipeline.pads(params))) < 0


UNDEFINED: tuple[Clause, ...] = (
    Clause(
        name="empty-dimension",
        kind="undefined",
        leaves_open=_is_empty,
        document="AvgPool-1",
        section="Inputs",
        says="nothing about a batch, channel, spatial or output size of 0 (nGraph: d_i > 0)",
        answer="the whole case",
        evidence="engines refuse, or return an empty output",
    ),
    Clause(
        name="all-padding-average",
        kind="undefined",
        needs=AVERAGES,
        document="nGraph AvgPool",
        section="Note on ill-definedness; T_div",
        says="ill-defined (infinity or NaN) where padding does not count and a window holds "
        "nothing else",
        answer="the elements of such windows; all others are judged as usual",
        evidence="engines give NaN, 0 or -0, or refuse",
    ),
    Clause(
        name="all-padding-maximum",
        kind="undefined",
        needs=MAXIMUM,
        document="MaxPool-1",
        section="Mathematical Formulation",
        says="max of the elements, nothing about a window without any",
        answer="the elements of such windows; all others are judged as usual",
        evidence="engines give -inf, the lowest finite value or 0, or refuse",
    ),
    Clause(
        name="index-of-nothing",
        kind="undefined",
        needs=(*MAXIMUM, *INDICES),
        document="MaxPool-8",
        section="Outputs, 2",
        says="indices of values, nothing about windows whose maximum is not a cell's alone",
        answer="the index, and only the index, of a window without cells, and of one that reaches "
        "into padding and whose maximum is what padding holds: -inf, or the lowest integer",
        evidence="engines give 0, -1, the index of a cell or of the padding",
    ),
    Clause(
        name="kernel-past-padding",
        kind="undefined",
        needs=WINDOWS,
        leaves_open=_is_past_padding,
        document="AvgPool-1",
        section="Detailed description, output shape",
        says="the formula gives no positive output for a kernel above the padded input",
        answer="the whole case",
        evidence="most engines refuse; with ceil some return one clipped window",
    ),
    Clause(
        name="integer-average",
        kind="undefined",
        needs=(*AVERAGES, *INTEGERS),
        leaves_open=lambda _operator, _params, inputs: inputs[0].dtype.kind in "iu",
        document="nGraph AvgPool",
        section="Inputs, Element Type",
        says="any element type, nothing about how an integer average rounds",
        answer="the whole case",
        evidence="truncated in some engines, rounded half to even in others",
    ),
    Clause(
        name="zero-sign",
        kind="undefined",
        document="AvgPool-1",
        section="Mathematical Formulation",
        says="nothing about the sign of zero",
        answer="the sign of zero: +0 and -0 are equal everywhere",
        evidence="the order of a sum and of comparisons decides it",
    ),
    *UNDEFINED_OF_UNPOOLING,
)

RULINGS: tuple[Clause, ...] = (
    ruling(
        "explicit-is-not-auto",
        "pads are ignored when auto_pad is specified, yet explicit is one of its values",
        "ignored only when auto_pad is not explicit",
        "examples 3 and 4 use pads with auto_pad=explicit",
        needs=(has("auto_pad"),),
        document="AvgPool-1",
        section="Attributes, pads_begin, pads_end and auto_pad",
    ),
    ruling(
        "zero-pads-overhang",
        "nothing about ceil overhang with exclude-pad=false where there is no padding",
        "overhang cells do not exist and never count",
        "OpenVINO, ONNX Runtime and PyTorch agree; the bug most often reported",
        needs=(has("rounding"), has("include_pad")),
        document="AvgPool-1",
        section="Attributes, exclude-pad and rounding_type",
    ),
    ruling(
        "index-axis",
        "the upper bound is the product of dimensions from axis on, not how indices are cut",
        "the position in the flattened input modulo that product; axis from -R to R - 1",
        "the document's example 7, OpenVINO",
        needs=(has("index_axis"),),
        document="MaxPool-8",
        section="Attributes, axis",
    ),
    ruling(
        "dilation-zero",
        "dilations start from 0",
        "a dilation of 0 is invalid and must be rejected",
        "every cell of a window would be the same one",
        needs=(has("dilations"),),
        document="MaxPool-8",
        section="Attributes, dilations",
    ),
    ruling(
        "layout",
        "names axes [N,C,H,W,D], strides (z,y,x); AdaptiveAvgPool-8 writes [N,C,D,H,W]",
        "attribute i belongs to tensor axis 2 + i",
        "every engine",
        document="AvgPool-1",
        section="Outputs; Attributes, strides",
    ),
    ruling(
        "maximum-of-minus-infinity",
        "max of the elements",
        "-inf for a window of -inf, not the lowest finite value",
        "the formula; PyTorch and JAX",
        needs=MAXIMUM,
        document="MaxPool-1",
        section="Mathematical Formulation",
    ),
    *OF_UNPOOLING,
)
