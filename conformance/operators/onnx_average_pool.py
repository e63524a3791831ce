"""ONNX AveragePool-22 (spec: onnx-AveragePool)."""

from __future__ import annotations

from conformance.operators.onnx_pooling import (
    AXES,
    CEIL_WITHOUT_PADDING,
    COUNT_INCLUDE_PAD,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, sliding
from conformance.operators.reduction import AVERAGE

AVERAGE_POOL_22 = Operator(
    name="ONNX-AveragePool-22",
    document="ONNX AveragePool-22",
    reduction=AVERAGE,
    attributes=window_attributes(COUNT_INCLUDE_PAD, rounding=CEIL_WITHOUT_PADDING),
    pipeline=sliding(AVERAGE),
    axes=AXES,
    levels="few",
    clauses=WINDOW_CLAUSES,
)
