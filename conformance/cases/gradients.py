"""The gradient that a case of a gradient takes: of the shape of the output it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.operators.operator import Operator
from conformance.vector import Array


def with_gradient(
    operator: Operator,
    gradient: Array | None,
    own_inputs: tuple[Array, ...],
    attributes: Mapping[str, Any],
) -> tuple[Array, ...]:
    """Return the inputs of a case, where `own_inputs` are those but for the gradient.

    The gradient gets the shape of the output, in the default readings, and the type of the data;
    numbers are left out or repeated. Beside inputs and attributes that are invalid it stays as it
    is.
    """
    if operator.forward is None or gradient is None:
        return own_inputs
    try:
        shape = operator.forward.output_shape(own_inputs, attributes)
    except InvalidCase:
        return (gradient, *own_inputs)
    with np.errstate(all="ignore"):
        fitted = np.resize(gradient, shape).astype(own_inputs[0].dtype)
    return (fitted, *own_inputs)
