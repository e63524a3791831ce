"""TVM's pooling operators of Relax, compiled by LLVM for the CPU.

A window is relax.op.nn.avg_pool1d to 3d or max_pool1d to 3d, an adaptive average
adaptive_avg_pool1d to 3d; TVM has no adaptive maximum, no norms and no indices: values are computed
alone. Pads are handed over as begin and end of every axis, those of same_* as numbers, for which
TVM has no word. ceil_mode rounds up, and both dilate. ceil_torch is unsupported where it is not
ceil. Inputs are copied into C order: strides are not passed on. Each case is compiled, which takes
some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
import tvm
from tvm import relax

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    for_axes,
    known_operator,
    of_axes,
    output_sizes,
)
from conformance.errors import Unsupported
from conformance.operators import Pooling, pooling_of
from conformance.vector import Array

_SLIDING = {
    "average": for_axes(relax.op.nn, "avg_pool"),
    "maximum": for_axes(relax.op.nn, "max_pool"),
}
_ADAPTIVE = {"average": for_axes(relax.op.nn, "adaptive_avg_pool")}
_building = Lock()
"""Functions are built one at a time: builders share a stack, whatever thread they are of."""


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case with one operator of TVM; Unsupported says what it cannot express."""
    data = inputs[0]
    definition = known_operator(operator)
    pools = counterpart(definition, _ADAPTIVE if definition.is_adaptive else _SLIDING)
    pool = of_axes(pools, data.ndim - 2, "TVM")
    if definition.is_adaptive:
        adaptive_params(definition, inputs, attributes)
        return _computed(pool, data, output_size=tuple(output_sizes(inputs[1], data.ndim - 2)))
    pooling = pooling_of(operator, inputs, attributes, takes=("dilations",))
    return _computed(pool, data, **_options(pooling))


def _options(pooling: Pooling) -> dict[str, Any]:
    lists = (
        *(pooling.kernel, pooling.strides, pooling.dilations),
        *(pooling.pads_begin, pooling.pads_end),
    )
    if any(len(numbers) != len(pooling.params.sizes) for numbers in lists):
        raise Unsupported("a list without a number for each axis: TVM reads it in another way")
    options: dict[str, Any] = {
        "pool_size": pooling.kernel,
        "strides": pooling.strides,
        "dilation": pooling.dilations,
        "padding": (*pooling.pads_begin, *pooling.pads_end),
        "ceil_mode": pooling.ceil,
    }
    if pooling.reduction == "average":
        options["count_include_pad"] = pooling.include_pad
    return options


def _computed(pool: Any, data: Array, **options: Any) -> Array:
    """Compile a function of one operator, and call it."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(data.shape, data.dtype.name))
    with _building:
        with builder.function("main", [x]):
            builder.emit_func_output(builder.emit(pool(x, **options)))
        compiled = tvm.compile(builder.get(), target="llvm")
    machine = relax.VirtualMachine(compiled, tvm.cpu())
    result: Array = machine["main"](tvm.runtime.tensor(np.ascontiguousarray(data))).numpy()
    return result
