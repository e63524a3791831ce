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

from conformance.backends.engines.engine import (
    counterpart,
    for_axes,
    known_operator,
    of_axes,
    pad_pairs,
)
from conformance.errors import Unsupported
from conformance.operators import Params, pooling_of
from conformance.vector import Array

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing paddle warns that ccache is not installed
    import paddle
    from paddle.nn import functional

_SLIDING = {
    "average": for_axes(functional, "avg_pool"),
    "maximum": for_axes(functional, "max_pool"),
}
_ADAPTIVE = {
    "average": for_axes(functional, "adaptive_avg_pool"),
    "maximum": for_axes(functional, "adaptive_max_pool"),
}
_TYPES = ("float16", "float32", "float64")
_cpu = paddle.CPUPlace()


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case with one call of paddle; Unsupported says what it cannot express."""
    data = inputs[0]
    definition = known_operator(operator)
    pools = counterpart(definition, _ADAPTIVE if definition.is_adaptive else _SLIDING)
    pool = of_axes(pools, data.ndim - 2, "paddle")
    if data.dtype.name not in _TYPES:
        raise Unsupported(f"{data.dtype}: paddle has no CPU kernel of this type")
    tensor = paddle.to_tensor(data, place=_cpu)
    if definition.is_adaptive:
        result = pool(tensor, inputs[1].tolist())
    else:
        params = pooling_of(operator, inputs, attributes).params
        windows = [list(params.kernel), list(params.strides), _padding(params)]
        options = {"exclusive": not params.include_pad} if definition.reduction.sums else {}
        result = pool(tensor, *windows, ceil_mode=params.ceil, **options)
    values: Array = result.numpy()
    return values


def _padding(params: Params) -> Any:
    if params.auto_pad == "same_lower":
        raise Unsupported("same_lower: paddle's SAME puts the larger padding at the end")
    if params.auto_pad == "same_upper":
        return "SAME"
    if params.auto_pad == "valid":
        return [[0, 0]] * (2 + len(params.kernel)) if params.ceil else "VALID"
    return [[0, 0], [0, 0], *([begin, end] for begin, end in pad_pairs(params))]
