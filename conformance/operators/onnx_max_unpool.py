"""ONNX MaxUnpool-22 (spec: onnx-MaxUnpool)."""

from __future__ import annotations

from conformance.operators.attributes import Attribute
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.disputed import choosing
from conformance.operators.examples import Example, Printed
from conformance.operators.onnx_pooling import AXES
from conformance.operators.operator import Operator, unpooling
from conformance.operators.rule import Numbers, Rule, inferred
from conformance.operators.unpooling import UNPOOLING

_DOCUMENT = "ONNX MaxUnpool-22"


def _at_least_inferred(axis: Numbers) -> Numbers:
    given = axis.fixed_output
    return axis._replace(fixed_output=given and max(given, inferred(axis)))


def _below_inferred(axis: Numbers) -> Numbers:
    return axis._replace(fixed_output=inferred(axis) - 1)


_CLAUSES = (
    Clause(
        name="unpool-index-space",
        kind="disputed",
        document=_DOCUMENT,
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
        document=_DOCUMENT,
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
        document=_DOCUMENT,
        section="Inputs, output_shape",
    ),
    ruling(
        "unpool-row-major",
        "indices are computed assuming the tensor is row-major",
        "indices of a MaxPool with storage_order 1 are no valid input",
        "the text",
        document=_DOCUMENT,
        section="Inputs, I",
    ),
)

MAX_UNPOOL_22 = Operator(
    name="ONNX-MaxUnpool-22",
    document=_DOCUMENT,
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
    axes=AXES,
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
    clauses=_CLAUSES,
    levels="few",
    has_gradient=False,
    examples=(
        Example(
            "without_output_shape",
            {"kernel_shape": [2, 2], "strides": [2, 2]},
            ("printed: attributes, data, indices, output",),
            data=((1, 2), (3, 4)),
            indices=((5, 7), (13, 15)),
            pattern="printed",
            outputs=(Printed(((0, 0, 0, 0), (0, 1, 0, 2), (0, 0, 0, 0), (0, 3, 0, 4))),),
        ),
        Example(
            "with_output_shape",
            {"kernel_shape": [2, 2], "strides": [2, 2], "output_shape": [5, 5]},
            ("printed: attributes, data, indices, output",),
            data=((5, 6), (7, 8)),
            indices=((5, 7), (13, 15)),
            pattern="printed",
            outputs=(
                Printed(
                    (
                        (0, 0, 0, 0, 0),
                        (0, 5, 0, 6, 0),
                        (0, 0, 0, 0, 0),
                        (0, 7, 0, 8, 0),
                        (0, 0, 0, 0, 0),
                    )
                ),
            ),
        ),
    ),
)
