"""OpenVINO MaxPool-8 (spec: MaxPool-8): MaxPool-1 with dilations and indices."""

from __future__ import annotations

from conformance.operators.attributes import Attribute
from conformance.operators.indices import INDICES, ChosenIndex
from conformance.operators.max_pool import MAX_POOL
from conformance.operators.openvino_pooling import DILATIONS, INDEX_TYPE, NEWER_CLAUSES
from conformance.operators.operator import sliding
from conformance.operators.reduction import MAXIMUM

MAX_POOL_8 = MAX_POOL.extended(
    DILATIONS,
    INDEX_TYPE,
    Attribute("axis", "index_axis", "Attributes, axis", default=0),
    name="MaxPool-8",
    document="OpenVINO MaxPool-8",
    pipeline=sliding(MAXIMUM, further=ChosenIndex()),
    outputs=(*MAX_POOL.outputs, INDICES),
    clauses=NEWER_CLAUSES,
    levels="few",
)
