"""The reference evaluator of the package onnx, which computes the expected values of its tests.

Every model is one node with static shapes, as it is for ONNX Runtime (`onnx_node`);
`onnx-reference:opset=11` takes the operators from another opset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from conformance.backends.engines.engine import known_operator
from conformance.backends.engines.onnx_node import LATEST, given_inputs, model_of, outputs_of
from conformance.errors import Unsupported
from conformance.vector import Array, Outputs


@dataclass(frozen=True, slots=True)
class OnnxReference:
    """A backend that takes the operators from one opset of ONNX."""

    opset: int = LATEST

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case with one node; Unsupported for what ONNX or the evaluator lacks."""
        definition = known_operator(operator, "ONNX")
        made = model_of(definition, inputs, attributes, self.opset)
        with implemented():
            return outputs_of(session_of(made), given_inputs(definition, inputs))


backend = OnnxReference()


@contextmanager
def implemented() -> Iterator[None]:
    """Raise Unsupported for what the evaluator says that it does not support."""
    with np.errstate(all="ignore"):
        try:
            yield
        except AssertionError as refusal:
            if "not supported" in str(refusal):
                raise Unsupported(str(refusal)) from None
            raise


@lru_cache(maxsize=256)
def session_of(model: bytes) -> Any:
    """Return an evaluator of a model."""
    return ReferenceEvaluator(model)
