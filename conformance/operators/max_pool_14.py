"""OpenVINO MaxPool-14 (spec: MaxPool-14): MaxPool-8 with ceil_torch."""

from __future__ import annotations

from conformance.operators.max_pool_8 import MAX_POOL_8
from conformance.operators.openvino_pooling import CEIL_TORCH

MAX_POOL_14 = MAX_POOL_8.extended(CEIL_TORCH, name="MaxPool-14", document="OpenVINO MaxPool-14")
