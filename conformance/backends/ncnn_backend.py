"""ncnn's Pooling1D, Pooling and Pooling3D layers on the CPU, in float32.

Pads are handed over as begin and end of every axis. rounding_type=floor is pad_mode 1 and ceil is
pad_mode 0, same_upper is 2, same_lower is 3, and valid stands for pads of zero; exclude-pad is the
opposite of avgpool_count_include_pad. AdaptiveAvgPool-8 is adaptive_pooling. ncnn has no batch
dimension: a layer runs once per item, as its users run it.

ncnn's half-precision storage is an optimisation of float32 models and switched off here: other
element types are unsupported. A kernel that is longer than the padded axis is unsupported too,
since ncnn then writes outside its memory and takes the process down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import ncnn
import numpy as np

from conformance.backends.windowed import Windowed, windowed
from conformance.errors import Unsupported
from conformance.vector import Array

_LAYERS = ("Pooling1D", "Pooling", "Pooling3D")
# Parameter numbers for each axis, the last axis (width) first: ncnn's operator table.
_KERNEL = (1, 11, 21)
_STRIDE = (2, 12, 22)
_BEGIN = (3, 13, 23)
_END = (14, 15, 16)
_OUTPUT = (8, 18, 28)
_SAME = {"same_upper": 2, "same_lower": 3}
_OFF = (
    "use_vulkan_compute",
    "use_fp16_packed",
    "use_fp16_storage",
    "use_fp16_arithmetic",
    "use_bf16_storage",
    "use_int8_inference",
)


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case, item by item; Unsupported says what ncnn cannot express."""
    data = inputs[0]
    axes = data.ndim - 2
    if not 1 <= axes <= 3:
        if operator == "nGraph-AvgPool" and axes > 3:
            raise Unsupported(f"{axes} spatial axes: ncnn pools over one to three")
        raise ValueError(f"{operator} of {data.ndim} dimensions")
    what = windowed(operator, attributes, axes)
    if what is None:
        parameters = _adaptive(operator, inputs)
    else:
        what.check_lengths(axes)
        parameters = _windowed(what)
        _check_room(what, data.shape[2:])
    if data.dtype != np.float32:
        raise Unsupported(f"{data.dtype}: ncnn computes float32")
    if data.size == 0:
        raise Unsupported("an empty dimension: ncnn has no empty images")
    net = _net(_LAYERS[axes - 1], parameters)
    return np.stack([_run(net, item) for item in data])
