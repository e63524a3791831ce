"""OpenVINO AvgPool-14 (spec: AvgPool-14): AvgPool-1 with ceil_torch, and of integers."""

from __future__ import annotations

from dataclasses import replace

from conformance.operators.avg_pool import AVG_POOL
from conformance.operators.openvino_pooling import CEIL_TORCH, NEWER_CLAUSES
from conformance.operators.operator import ALL_TYPES

AVG_POOL_14 = AVG_POOL.extended(
    CEIL_TORCH,
    name="AvgPool-14",
    document="OpenVINO AvgPool-14",
    dtypes=ALL_TYPES,
    clauses=NEWER_CLAUSES,
    levels="few",
    examples=tuple(
        replace(example, source=example.source.replace("AvgPool-1", "AvgPool-14"))
        for example in AVG_POOL.examples
    ),
)
