"""LiteRT's AVERAGE_POOL_2D and MAX_POOL_2D, each call a model of one operation.

The adapter answers the operators of LiteRT's own documents alone. Their arrays have channels last,
as the interpreter takes them; integers of a call that says no scale and no zero point have 1 and 0,
so that they stand for themselves. What the interpreter refuses stays its own exception.

`backend` runs the interpreter as it comes, which hands what it can to XNNPACK;
`litert:kernels=builtin` runs LiteRT's own kernels, `litert:kernels=reference` their plain ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from conformance.backends.engines.litert_model import model_of
from conformance.errors import UsageError
from conformance.vector import Array

KERNELS = {
    "default": OpResolverType.AUTO,
    "builtin": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "reference": OpResolverType.BUILTIN_REF,
}


@dataclass(frozen=True, slots=True)
class LiteRT:
    """A backend of one kind of kernels: "default", "builtin" or "reference"."""

    kernels: str = "default"

    def __post_init__(self) -> None:
        """Raise UsageError for other kernels."""
        if self.kernels not in KERNELS:
            raise UsageError(f"kernels={self.kernels}: there are {', '.join(KERNELS)}")

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case; Unsupported for an operator of another document, or another type."""
        data = inputs[0]
        interpreter = Interpreter(
            model_content=model_of(operator, data, attributes),
            experimental_op_resolver_type=KERNELS[self.kernels],
        )
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.ascontiguousarray(data))
        interpreter.invoke()
        return np.array(interpreter.get_tensor(1))


backend = LiteRT()
