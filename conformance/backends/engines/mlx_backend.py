"""The pooling layers of mlx.nn, on the default device: AvgPool1d to 3d and MaxPool1d to 3d.

A layer pads both ends of an axis alike, counts what it pads in averages, and rounds down; it has no
dilations. The rest is unsupported, and so are adaptive pooling and norms; there are no indices:
values are computed alone. A gradient is that of mx.vjp, through the same layer. Layers take
channels last, so that data are transposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import mlx.core as mx
import numpy as np
from mlx import nn

from conformance.backends.engines.engine import (
    counterpart,
    for_axes,
    forward_of,
    known_operator,
    of_axes,
)
from conformance.errors import Unsupported
from conformance.operators import Pooling, pooling_of
from conformance.vector import Array

_LAYERS = {"average": for_axes(nn, "AvgPool"), "maximum": for_axes(nn, "MaxPool")}
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case with one layer of MLX; Unsupported says what it cannot express."""
    definition, own, gradient = forward_of(known_operator(operator), inputs)
    data = own[0]
    if definition.is_adaptive:
        raise Unsupported(f"operator {operator}: MLX has no adaptive pooling")
    layer = of_axes(counterpart(definition, _LAYERS), data.ndim - 2, "MLX")
    pool = layer(**_options(pooling_of(definition.name, own, attributes)))
    x = _tensor(data)
    result = pool(x) if gradient is None else mx.vjp(pool, [x], [_tensor(gradient)])[1][0]
    return np.moveaxis(_array(result), -1, 1)


def _options(pooling: Pooling) -> dict[str, Any]:
    begins, ends = pooling.pads_begin, pooling.pads_end
    if begins != ends:
        raise Unsupported(f"pads {list(begins)} and {list(ends)}: MLX pads both ends alike")
    if pooling.reduction == "average" and not pooling.include_pad and any(begins):
        raise Unsupported("padding that does not count: MLX counts it")
    if pooling.ceil_matters:
        raise Unsupported("rounding up: MLX rounds down")
    return {"kernel_size": pooling.kernel, "stride": pooling.strides, "padding": begins}


def _tensor(data: Array) -> Any:
    """Return an array of MLX, channels last, of the same type; Unsupported if it has none."""
    dtype = getattr(mx, data.dtype.name, None)
    if dtype is None:
        raise Unsupported(f"{data.dtype}: no type of MLX")
    cells = np.ascontiguousarray(np.moveaxis(data, 1, -1))
    return mx.array(cells, dtype=dtype)


def _array(result: Any) -> Array:
    if result.dtype == mx.bfloat16:
        bits: Array = np.array(result.view(mx.uint16))
        return bits.view(_BFLOAT16)
    return np.array(result)
