"""Pooling of keras.ops, on one of the backends of Keras.

A window is max_pool or average_pool, an adaptive operator adaptive_max_pool or
adaptive_average_pool. same_upper is the padding "same", valid and pads of zero are "valid". Keras
has no other pads, rounds down, leaves padding out of divisors and does not dilate: the rest is
unsupported, and so are norms, gradients and more than the three axes that Keras's layers have;
there are no indices: values are computed alone. Data are handed over as their document lays them
out; `keras:layout=channels_last` transposes those with channels second.

The backend is that of the environment variable KERAS_BACKEND, else numpy, which needs JAX and
SciPy; `keras:backend=torch` is another one. A process has one: the first call decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    known_operator,
    of_axes,
    output_sizes,
    padding_word,
)
from conformance.errors import Unsupported, UsageError
from conformance.operators import pooling_of
from conformance.vector import Array

_POOLS = {"average": "average_pool", "maximum": "max_pool"}
_LAST = "channels_last"
_VARIABLE = "KERAS_BACKEND"


@dataclass(frozen=True, slots=True)
class Keras:
    """A backend on one of Keras's own, in the layout of documents or with channels last."""

    backend: str = os.environ.get(_VARIABLE, "numpy")
    layout: str = "channels_first"

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case with one function; Unsupported says what Keras cannot express."""
        definition, data, keras = known_operator(operator), inputs[0], _imported(self.backend)
        is_last = definition.convention_of(attributes).channels_last
        name = of_axes((counterpart(definition, _POOLS),) * 3, data.ndim - 2, "Keras")
        given: dict[str, Any]
        if definition.is_adaptive:
            adaptive_params(definition, inputs, attributes)
            name = f"adaptive_{name}"
            given = {"output_size": tuple(output_sizes(inputs[1], data.ndim - 2))}
        else:
            pooling = pooling_of(operator, inputs, attributes, takes=(_LAST,))
            padding = padding_word(pooling, "Keras").lower()
            if not padding:
                raise Unsupported("pads of numbers: Keras has SAME and VALID")
            given = {"pool_size": pooling.kernel, "strides": pooling.strides, "padding": padding}
        is_moved = self.layout == _LAST and not is_last
        layout = _LAST if is_last else self.layout
        cells = np.ascontiguousarray(np.moveaxis(data, 1, -1) if is_moved else data)
        # As a tensor of Keras it would be of float32 or int32.
        result = getattr(keras.ops, name)(cells, **given, data_format=layout)
        values: Array = keras.ops.convert_to_numpy(result)
        return np.moveaxis(values, -1, 1) if is_moved else values


backend = Keras()


@cache
def _imported(backend: str) -> Any:
    """Return Keras on a backend; UsageError if it was imported on another one."""
    named = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = backend
    try:
        import keras  # noqa: PLC0415 - it reads the variable when it is imported
    finally:  # other processes have a backend of their own
        del os.environ[_VARIABLE]
        os.environ |= {} if named is None else {_VARIABLE: named}
    if keras.backend.backend() != backend:
        raise UsageError(f"Keras is imported already, on the backend {keras.backend.backend()}")
    return keras
