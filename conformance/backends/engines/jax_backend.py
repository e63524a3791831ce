"""JAX's pooling: lax.reduce_window, on the default device, compiled by XLA for each case.

A maximum is reduce_window with max, from the lowest value. An average is reduce_window with add,
from zero, divided the way `flax.linen.avg_pool` does: by the number of cells of the window
(padding counted), or by reduce_window over ones (padding not counted). same_* and valid are the
padding words SAME, SAME_LOWER and VALID, explicit pads are handed over.

JAX rounds down: ceil is unsupported where it differs from floor. It has no adaptive pooling and no
norms, which are unsupported, and no indices: values are computed alone. A gradient is that of
jax.vjp, through the same computation. Nothing is refused here
that JAX would answer: it is more general than documents, as it crops for negative pads and pools
over any number of axes (`--allow-extensions`). Any element type will do; float64 and int64 are
switched on for the calls made here alone. An input is copied to the device, in C order: its
strides are not passed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import jax
import jax.experimental
import numpy as np
from jax import lax
from jax import numpy as jnp

from conformance.backends.engines.engine import counterpart, forward_of, known_operator, pad_pairs
from conformance.errors import Unsupported
from conformance.operators import Params, pooling_of
from conformance.vector import Array

_enable_x64: Any = (jax if hasattr(jax, "enable_x64") else jax.experimental).enable_x64  # from 0.8
_WORDS = {"same_upper": "SAME", "same_lower": "SAME_LOWER", "valid": "VALID"}


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case; Unsupported for ceil rounding and adaptive pooling."""
    definition, own, gradient = forward_of(known_operator(operator), inputs)
    data = own[0]
    if definition.is_adaptive:
        raise Unsupported(f"operator {operator}: JAX has no adaptive pooling")
    averages = counterpart(definition, {"average": True, "maximum": False})
    pooling = pooling_of(definition.name, own, attributes, takes=("dilations", "ceil_torch"))
    params = pooling.params
    if pooling.ceil_matters:
        raise Unsupported("rounding_type=ceil: reduce_window rounds down")
    with _enable_x64(True):  # noqa: FBT003 - its signature
        pool = _pool(params, data.shape, data.dtype, averages=averages)
        if gradient is None:
            return np.asarray(pool(data))
        return np.asarray(jax.vjp(pool, data)[1](jnp.asarray(gradient))[0])


@lru_cache(maxsize=256)
def _pool(params: Params, shape: tuple[int, ...], dtype: Any, *, averages: bool) -> Any:
    """Return the compiled computation for inputs of one shape and type."""
    window, strides, dilations = (
        (1, 1, *numbers) for numbers in (params.kernel, params.strides, params.dilations)
    )
    padding: Any = _WORDS.get(params.auto_pad)
    if padding is None:
        padding = [(0, 0), (0, 0), *pad_pairs(params)]

    # JAX differentiates only reductions that start from a number it sees.
    zero = np.zeros((), dtype)

    def reduce(x: Any, start: Any, combine: Any) -> Any:
        return lax.reduce_window(
            x, start, combine, window, strides, padding, window_dilation=dilations
        )

    def maximum(x: Any) -> Any:
        lowest = -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min
        return reduce(x, np.asarray(lowest, dtype), lax.max)

    def average(x: Any) -> Any:
        total = reduce(x, zero, lax.add)
        if params.include_pad:
            return total / prod(params.kernel)
        return total / reduce(jnp.ones(shape, dtype), zero, lax.add)

    return jax.jit(average if averages else maximum)
