"""ONNX GlobalAveragePool-22 (spec: onnx-GlobalAveragePool)."""

from __future__ import annotations

from conformance.operators.onnx_pooling import AXES
from conformance.operators.operator import Operator, whole
from conformance.operators.reduction import AVERAGE

GLOBAL_AVERAGE_POOL = Operator(
    name="ONNX-GlobalAveragePool-22",
    document="ONNX GlobalAveragePool-22",
    reduction=AVERAGE,
    attributes=(),
    pipeline=whole(AVERAGE),
    axes=AXES,
    levels="few",
)
