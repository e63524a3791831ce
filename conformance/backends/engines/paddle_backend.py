"""PaddlePaddle's pooling functions on the CPU, as they are.

An average is functional.avg_pool1d to 3d, a maximum max_pool1d to 3d, of an adaptive operator
adaptive_avg_pool1d to 3d and adaptive_max_pool1d to 3d. Pads are handed over as begin and end of
every axis, `exclusive` says that padding does not count, ceil_mode that sizes are rounded up;
same_upper and valid are the padding words SAME and VALID. Paddle has no word for same_lower, which
is unsupported; it refuses VALID with ceil_mode, so that pads of zero stand for valid. Its CPU
kernels are of float16, float32 and float64.

Its indices are int32 and count the cells of a plane, and it has none of float16, with SAME, which
it forgets then (docs/findings.md), or where pads differ at both ends: there values are computed
alone. A norm is lp_pool1d or 2d, which add powers with their sign: odd exponents are unsupported.
Nothing dilates. A gradient is that of paddle.grad, through the same call. Inputs are copied into
tensors in C order: strides are not passed on.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    for_axes,
    forward_of,
    has_counted_indices,
    known_operator,
    of_axes,
    pad_pairs,
)
from conformance.errors import Unsupported
from conformance.operators import Operator, Params, pooling_of
from conformance.vector import Array, Outputs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing paddle warns that ccache is not installed
    import paddle
    from paddle.nn import functional

_SLIDING = {
    "average": for_axes(functional, "avg_pool"),
    "maximum": for_axes(functional, "max_pool"),
    "norm": (functional.lp_pool1d, functional.lp_pool2d),
}
_ADAPTIVE = {
    "average": for_axes(functional, "adaptive_avg_pool"),
    "maximum": for_axes(functional, "adaptive_max_pool"),
}
_TYPES = ("float16", "float32", "float64")
_NO_KERNEL = "is not registered"
_cpu = paddle.CPUPlace()


def backend(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Array | Outputs:
    """Compute one case with one call of paddle; Unsupported says what it cannot express."""
    definition, own, gradient = forward_of(known_operator(operator), inputs)
    data = own[0]
    pools = counterpart(definition, _ADAPTIVE if definition.is_adaptive else _SLIDING)
    pool = of_axes(pools, data.ndim - 2, "paddle")
    if data.dtype.name not in _TYPES:
        raise Unsupported(f"{data.dtype}: paddle has no CPU kernel of this type")
    if definition.is_adaptive:
        params = adaptive_params(definition, own, attributes)
        options = {"output_size": own[1].tolist()}
    else:
        params = pooling_of(definition.name, own, attributes).params
        options = _options(definition, params)
    explicit = params.auto_pad == "explicit" and params.pads_begin == params.pads_end
    alike = explicit or params.auto_pad == "valid"
    if (
        alike
        and gradient is None
        and data.dtype.name != "float16"
        and has_counted_indices(definition, params, data.shape, axis=2, dtype="int32")
    ):
        options["return_mask"] = True
    try:
        tensor = paddle.to_tensor(data, place=_cpu, stop_gradient=gradient is None)
        result = pool(tensor, **options)
        if gradient is not None:
            given = paddle.to_tensor(gradient, place=_cpu)
            (result,) = paddle.grad([result], [tensor], [given])
    except RuntimeError as refusal:
        if _NO_KERNEL in str(refusal):
            raise Unsupported(str(refusal)) from None
        raise
    if isinstance(result, tuple):
        return tuple(output.numpy() for output in result)
    values: Array = result.numpy()
    return values


def _options(operator: Operator, params: Params) -> dict[str, Any]:
    options: dict[str, Any] = {
        "kernel_size": list(params.kernel),
        "stride": list(params.strides),
        "padding": _padding(params),
        "ceil_mode": params.ceil,
    }
    if operator.reduction.divides:
        options["exclusive"] = not params.include_pad
    if operator.reduction.powers:
        options["norm_type"] = params.exponent
        if params.exponent % 2:
            raise Unsupported(f"p={params.exponent}: paddle adds odd powers with their sign")
    return options


def _padding(params: Params) -> Any:
    if params.auto_pad == "same_lower":
        raise Unsupported("same_lower: paddle's SAME puts the larger padding at the end")
    if params.auto_pad == "same_upper":
        return "SAME"
    if params.auto_pad == "valid":
        return [[0, 0]] * (2 + len(params.kernel)) if params.ceil else "VALID"
    return [[0, 0], [0, 0], *([begin, end] for begin, end in pad_pairs(params))]
