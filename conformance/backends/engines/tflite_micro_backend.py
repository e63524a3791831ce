"""AVERAGE_POOL_2D and MAX_POOL_2D of LiteRT for microcontrollers, on the CPU.

The adapter answers the operators of LiteRT's own documents alone, each call a model of one
operation, as it is for LiteRT. A model says the shape of its output, which the interpreter takes
as it is. What the interpreter refuses stays its own exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from tflite_micro import runtime

from conformance.backends.engines.litert_model import OPERATIONS, model_of
from conformance.errors import Unsupported
from conformance.vector import Array

_BESIDE_DATA = 1 << 16
"""Bytes of memory that are neither of the input nor of the output."""
_KEYS = (("filter_height", "stride_h"), ("filter_width", "stride_w"))


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case; Unsupported for an operator of another document, or another type."""
    data = np.ascontiguousarray(inputs[0])
    if operator not in OPERATIONS:
        raise Unsupported(f"operator {operator}: it is none of LiteRT's documents")
    if data.dtype == np.uint8:
        raise Unsupported("uint8: its pools say that they do not support this type")
    shape = _output_shape(data.shape, attributes)
    arena_size = _BESIDE_DATA + 2 * data.itemsize * (data.size + prod(shape))
    interpreter = runtime.Interpreter.from_bytes(
        model_of(operator, data, attributes, shape), arena_size=arena_size
    )
    interpreter.set_input(data, 0)
    interpreter.invoke()
    return np.array(interpreter.get_output(0))


def _output_shape(shape: Sequence[int], attributes: Mapping[str, Any]) -> list[int]:
    """Return the shape of the output; of a stride below 1, that of a stride of 1."""
    sizes = list(shape)
    for axis, (length, stride) in enumerate(_KEYS, 1):
        overlap = 0 if attributes["padding"] == "SAME" else attributes[length] - 1
        # Upwards: -(-a // b) windows.
        sizes[axis] = max(0, -((overlap - shape[axis]) // max(1, attributes[stride])))
    return sizes
