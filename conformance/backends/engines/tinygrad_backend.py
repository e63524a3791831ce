"""tinygrad's Tensor.avg_pool2d and max_pool2d, which pool over any number of axes, on its device.

Pads are handed over as begin and end of every axis, those of same_* as numbers, for which tinygrad
has no word. ceil_mode leaves out a last window that starts in padding, and both dilate. tinygrad
has no adaptive pooling and no norms: they are unsupported. Its indices are int32 and count the
cells of a plane; where a case counts others, values are computed alone. Inputs are copied into C
order: strides are not passed on.

The device is the one that tinygrad chooses, or that the environment variable DEV names: CPU needs
clang. Each case is compiled, which takes some tenths of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from tinygrad import Device, Tensor, dtypes

from conformance.backends.engines.engine import (
    counterpart,
    has_counted_indices,
    known_operator,
    pad_pairs,
)
from conformance.errors import Unsupported
from conformance.operators import pooling_of
from conformance.vector import Array, Outputs

DEVICE = Device.DEFAULT
"""The name of the device; where none can be used, the exception of this tells it, once."""
_POOLS = {"average": Tensor.avg_pool2d, "maximum": Tensor.max_pool2d}
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_PLANE = 2
"""The axis from which on tinygrad's indices count cells."""


def backend(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Array | Outputs:
    """Compute one case with one call of tinygrad; Unsupported says what it cannot express."""
    definition = known_operator(operator)
    if definition.is_adaptive:
        raise Unsupported(f"operator {operator}: tinygrad has no adaptive pooling")
    pool = counterpart(definition, _POOLS)
    data = inputs[0]
    pooling = pooling_of(operator, inputs, attributes, takes=("dilations", "ceil_torch"))
    if len(pooling.kernel) != data.ndim - 2:
        raise Unsupported(f"kernel {list(pooling.kernel)}: tinygrad takes it for the last axes")
    options: dict[str, Any] = {
        "kernel_size": pooling.kernel,
        "stride": pooling.strides,
        "dilation": pooling.dilations,
        "padding": tuple(chain.from_iterable(reversed(pad_pairs(pooling)))),  # the last axis first
        "ceil_mode": pooling.ceil,
    }
    if pooling.reduction == "average":
        options["count_include_pad"] = pooling.include_pad
    if has_counted_indices(definition, pooling.params, data.shape, axis=_PLANE, dtype="int32"):
        options["return_indices"] = True
    result = pool(_tensor(data), **options)
    if isinstance(result, tuple):
        return tuple(map(_array, result))
    return _array(result)


def _tensor(data: Array) -> Tensor:
    if data.dtype == _BFLOAT16:
        return Tensor(data.view(np.uint16)).bitcast(dtypes.bfloat16)
    return Tensor(data)


def _array(tensor: Tensor) -> Array:
    if tensor.dtype == dtypes.bfloat16:
        bits: Array = tensor.bitcast(dtypes.uint16).numpy()
        return bits.view(_BFLOAT16)
    values: Array = tensor.numpy()
    return values
