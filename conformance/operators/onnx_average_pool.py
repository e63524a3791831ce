"""ONNX AveragePool-22 (spec: onnx-AveragePool)."""

from __future__ import annotations

from conformance.operators.attributes import Attribute
from conformance.operators.onnx_pooling import (
    AXES,
    CEIL_WITHOUT_PADDING,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, sliding
from conformance.operators.reduction import AVERAGE

AVERAGE_POOL_22 = Operator(
    name="ONNX-AveragePool-22",
    document="ONNX AveragePool-22",
    reduction=AVERAGE,
    attributes=window_attributes(
        Attribute(
            "count_include_pad",
            "include_pad",
            "Attributes, count_include_pad",
            default=0,
            values={0: False, 1: True},
        ),
        rounding=CEIL_WITHOUT_PADDING,
    ),
    pipeline=sliding(AVERAGE),
    axes=AXES,
    levels="few",
    clauses=WINDOW_CLAUSES,
)
