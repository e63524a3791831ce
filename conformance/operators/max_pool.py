"""OpenVINO MaxPool-1 (spec: MaxPool-1)."""

from __future__ import annotations

from conformance.operators import pipeline as steps
from conformance.operators.openvino_pooling import resolve, window_attributes
from conformance.operators.operator import ALL_TYPES, Operator

MAX_POOL = Operator(
    name="MaxPool-1",
    document="OpenVINO MaxPool-1",
    reduction="maximum",
    attributes=window_attributes(),
    pipeline=steps.Pipeline(
        resolve=resolve,
        pads=steps.resolve_pads,
        extent=steps.count_windows,
        windows=steps.slide,
        gather=steps.clip,
        divide=steps.no_divisor,
        reduce=steps.maximum_of_cells,
    ),
    dtypes=ALL_TYPES,
)
