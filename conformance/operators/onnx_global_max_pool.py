"""ONNX GlobalMaxPool-22 (spec: onnx-GlobalMaxPool)."""

from __future__ import annotations

from conformance.operators.onnx_pooling import AXES
from conformance.operators.operator import Operator, whole
from conformance.operators.reduction import MAXIMUM

GLOBAL_MAX_POOL = Operator(
    name="ONNX-GlobalMaxPool-22",
    document="ONNX GlobalMaxPool-22",
    reduction=MAXIMUM,
    attributes=(),
    pipeline=whole(MAXIMUM),
    axes=AXES,
    levels="few",
)
