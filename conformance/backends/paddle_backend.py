"""PaddlePaddle's pooling functions on the CPU, as they are.

An average is functional.avg_pool1d to 3d, a maximum max_pool1d to 3d, of an adaptive operator
adaptive_avg_pool1d to 3d and adaptive_max_pool1d to 3d. Pads are handed over as begin and end of
every axis, `exclusive` says that padding does not count, ceil_mode that sizes are rounded up;
same_upper and valid are the padding words SAME and VALID. Paddle has no word for same_lower, which
is unsupported; it refuses VALID with ceil_mode, so that pads of zero stand for valid. Its CPU
kernels are of float16, float32 and float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends.engine import (
    check_axes,
    check_lengths,
    counterpart,
    known_operator,
)
from conformance.errors import Unsupported
from conformance.operators import Params
from conformance.vector import Array

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing paddle warns that ccache is not installed
    import paddle
    from paddle.nn import functional

_SLIDING = {
    "average": (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
    "maximum": (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d),
}
_ADAPTIVE = {
    "average": (
        functional.adaptive_avg_pool1d,
        functional.adaptive_avg_pool2d,
        functional.adaptive_avg_pool3d,
    ),
    "maximum": (
        functional.adaptive_max_pool1d,
        functional.adaptive_max_pool2d,
        functional.adaptive_max_pool3d,
    ),
}
_TYPES = ("float16", "float32", "float64")
_cpu = paddle.CPUPlace()


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case with one call of paddle; Unsupported says what it cannot express."""
    data = inputs[0]
    axes = data.ndim - 2
    asked = known_operator(operator)
    check_axes(asked, axes, "paddle")
    pool = counterpart(asked, _ADAPTIVE if asked.is_adaptive else _SLIDING)[axes - 1]
    params = asked.translate(data.shape[2:], attributes)
    if data.dtype.name not in _TYPES:
        raise Unsupported(f"{data.dtype}: paddle has no CPU kernel of this type")
    tensor = paddle.to_tensor(data, place=_cpu)
    if asked.is_adaptive:
        result = pool(tensor, _output_size(axes, inputs[1]))
    else:
        check_lengths(params)
        where = [list(params.kernel), list(params.strides), _padding(params)]
        counting = {"exclusive": not params.include_pad} if asked.reduction.sums else {}
        result = pool(tensor, *where, ceil_mode=params.ceil, **counting)
    values: Array = result.numpy()
    return values


def _padding(params: Params) -> Any:
    if params.auto_pad == "same_lower":
        raise Unsupported("same_lower: paddle's SAME puts the larger padding at the end")
    if params.auto_pad == "same_upper":
        return "SAME"
    if params.auto_pad == "valid":
        return [[0, 0]] * (2 + len(params.kernel)) if params.ceil else "VALID"
    pairs = zip(params.pads_begin, params.pads_end, strict=True)
    return [[0, 0], [0, 0], *([begin, end] for begin, end in pairs)]


def _output_size(axes: int, size: Array) -> Any:
    if size.shape != (axes,) or size.dtype.kind != "i":
        raise ValueError(f"output_size={size.tolist()}: one integer per spatial axis")
    sizes = size.tolist()
    return sizes[0] if len(sizes) == 1 else sizes
