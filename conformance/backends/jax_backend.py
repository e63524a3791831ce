"""JAX's pooling: lax.reduce_window, on the default device, compiled by XLA for each case.

MaxPool-1 is reduce_window with max, from the lowest value. An average is reduce_window with add,
from zero, divided the way `flax.linen.avg_pool` does: by the number of cells of the window
(padding counted), or by reduce_window over ones (padding not counted). same_* and valid are the
padding words SAME, SAME_LOWER and VALID, explicit pads are handed over.

JAX has no rounding_type: ceil is unsupported where it differs from floor. It has no adaptive
pooling: AdaptiveAvgPool-8 is unsupported. To JAX a negative pad means to crop, which the documents
do not have: it is refused here. Any number of axes and any element type will do; float64
and int64 are switched on for the calls made here alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from conformance.backends.windowed import Windowed, windowed
from conformance.errors import Unsupported
from conformance.vector import Array

_WORDS = {"same_upper": "SAME", "same_lower": "SAME_LOWER", "valid": "VALID"}


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case; Unsupported for ceil rounding and adaptive pooling."""
    data = inputs[0]
    axes = data.ndim - 2
    what = windowed(operator, attributes, axes)
    if what is None:
        raise Unsupported(f"operator {operator}: JAX has no adaptive pooling")
    if axes < 1 or (axes > 3 and operator != "nGraph-AvgPool"):
        raise ValueError(f"{operator} of {data.ndim} dimensions")
    what.check_lengths(axes)
    if min(what.begin + what.end, default=0) < 0:
        raise ValueError("a negative pad: JAX would crop")
    _check_rounding(what, data.shape[2:])
    with jax.enable_x64(True):  # noqa: FBT003 - its signature
        return np.asarray(_pool(what, data.shape, data.dtype)(data))


def _check_rounding(what: Windowed, sizes: Sequence[int]) -> None:
    if not what.ceil:
        return
    padded = [*sizes]
    if what.auto_pad == "explicit":
        padded = [b + d + e for b, d, e in zip(what.begin, sizes, what.end, strict=True)]
    for d, k, s in zip(padded, what.kernel, what.strides, strict=True):
        same = what.auto_pad.startswith("same") and k >= s
        if s > 0 and not same and (d - k) % s:
            raise Unsupported("rounding_type=ceil: reduce_window rounds down")


@lru_cache(maxsize=256)
def _pool(what: Windowed, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the compiled computation for inputs of one shape and type."""
    window, strides = (1, 1, *what.kernel), (1, 1, *what.strides)
    padding: Any = _WORDS.get(what.auto_pad)
    if padding is None:
        padding = [(0, 0), (0, 0), *zip(what.begin, what.end, strict=True)]

    def reduce(x: Any, start: Any, combine: Any) -> Any:
        return lax.reduce_window(x, start, combine, window, strides, padding)

    def maximum(x: Any) -> Any:
        lowest = -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min
        return reduce(x, jnp.asarray(lowest, dtype), lax.max)

    def average(x: Any) -> Any:
        total = reduce(x, jnp.zeros((), dtype), lax.add)
        if not what.exclude_pad:
            return total / prod(what.kernel)
        return total / reduce(jnp.ones(shape, dtype), jnp.zeros((), dtype), lax.add)

    return jax.jit(average if what.average else maximum)
