"""ONNX GlobalLpPool-22 (spec: onnx-GlobalLpPool)."""

from __future__ import annotations

from conformance.operators.onnx_pooling import AXES, EXPONENT, LP_CLAUSES
from conformance.operators.operator import Operator, whole
from conformance.operators.reduction import NORM

GLOBAL_LP_POOL = Operator(
    name="ONNX-GlobalLpPool-22",
    document="ONNX GlobalLpPool-22",
    reduction=NORM,
    attributes=(EXPONENT,),
    pipeline=whole(NORM),
    axes=AXES,
    levels="few",
    clauses=LP_CLAUSES,
)
