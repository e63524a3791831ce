"""OpenVINO AvgPool-1 (spec: AvgPool-1)."""

from __future__ import annotations

from conformance.operators import pipeline as steps
from conformance.operators.attributes import Attribute
from conformance.operators.openvino_pooling import resolve, window_attributes
from conformance.operators.operator import Operator

AVG_POOL = Operator(
    name="AvgPool-1",
    document="OpenVINO AvgPool-1",
    reduction="average",
    attributes=window_attributes(Attribute("exclude_pad", "bool", "Attributes, exclude-pad")),
    pipeline=steps.Pipeline(
        resolve=resolve,
        pads=steps.resolve_pads,
        extent=steps.count_windows,
        windows=steps.slide,
        gather=steps.clip,
        divide=steps.count_cells,
        reduce=steps.mean_of_cells,
    ),
)
