"""ONNX LpPool-22 (spec: onnx-LpPool)."""

from __future__ import annotations

from conformance.operators.onnx_pooling import (
    AXES,
    CEIL,
    EXPONENT,
    LP_CLAUSES,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, sliding
from conformance.operators.reduction import NORM

LP_POOL_22 = Operator(
    name="ONNX-LpPool-22",
    document="ONNX LpPool-22",
    reduction=NORM,
    attributes=window_attributes(EXPONENT, rounding=CEIL),
    pipeline=sliding(NORM),
    axes=AXES,
    levels="few",
    clauses=(*WINDOW_CLAUSES, *LP_CLAUSES),
)
