"""ONNX MaxPool-22 (spec: onnx-MaxPool)."""

from __future__ import annotations

from conformance.dtypes import WIDE_FLOATS
from conformance.operators.attributes import Attribute
from conformance.operators.indices import ChosenIndex
from conformance.operators.onnx_pooling import (
    AXES,
    CEIL_WITHOUT_PADDING,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, Output, sliding
from conformance.operators.reduction import MAXIMUM

MAX_POOL_22 = Operator(
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
    axes=AXES,
    levels="few",
    outputs=(
        Output("Y"),
        Output("Indices", dtype="int64", undefined="index-of-nothing", is_index=True),
    ),
    dtypes=(*WIDE_FLOATS, "int8", "uint8"),
    clauses=WINDOW_CLAUSES,
)
