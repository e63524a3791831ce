"""OpenVINO MaxPool-14 (spec: MaxPool-14): MaxPool-8 with ceil_torch."""

from __future__ import annotations

from conformance.operators.examples import Printed
from conformance.operators.max_pool_8 import MAX_POOL_8, counted, formulation, layers
from conformance.operators.openvino_pooling import CEIL_TORCH

_RULES = "Pooling shape rules, Examples"

MAX_POOL_14 = MAX_POOL_8.extended(
    CEIL_TORCH,
    name="MaxPool-14",
    document="OpenVINO MaxPool-14",
    examples=(
        *formulation(_RULES, numbered=(1, 2, 3, 4, 6, 7, 8)),
        counted(
            f"{_RULES}, example 5",
            strides=2,
            pads_begin=1,
            pads_end=1,
            rounding_type="ceil_torch",
            outputs=(Printed(((1, 3), (7, 9))), Printed(((0, 2), (6, 8)))),
        ),
        *layers("MaxPool-14"),
    ),
)
