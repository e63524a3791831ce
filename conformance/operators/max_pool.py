"""OpenVINO MaxPool-1 (spec: MaxPool-1)."""

from __future__ import annotations

from conformance.operators.examples import Example
from conformance.operators.openvino_pooling import CLAUSES, window_attributes
from conformance.operators.operator import ALL_TYPES, Operator, sliding
from conformance.operators.reduction import MAXIMUM

MAX_POOL = Operator(
    name="MaxPool-1",
    document="OpenVINO MaxPool-1",
    reduction=MAXIMUM,
    attributes=window_attributes(),
    pipeline=sliding(MAXIMUM),
    dtypes=ALL_TYPES,
    clauses=CLAUSES,
    examples=(
        Example(
            "MaxPool-1, Example",
            {
                "auto_pad": "same_upper",
                "kernel": [3, 3],
                "pads_begin": [0, 0],
                "pads_end": [1, 1],
                "strides": [2, 2],
            },
            ("printed: attributes", "derived: shapes, values"),
            (1, 3, 32, 32),
        ),
    ),
)
