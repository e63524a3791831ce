"""tract's pooling of ONNX, on the CPU.

Every model is one node with static shapes, as it is for ONNX Runtime (`onnx_node`), written to a
file, which is all that tract's Python reads. bfloat16 is unsupported: tract's Python has no such
type; so is what tract says it does not implement. Inputs are copied into C order.

`tract:opset=11` takes the operators from another opset of ONNX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tract

from conformance.backends.engines.engine import known_operator
from conformance.backends.engines.onnx_node import LATEST, given_inputs, model_of
from conformance.errors import Unsupported
from conformance.vector import Array, Outputs, as_returned

_NOT_IMPLEMENTED = "Unimplemented("


@dataclass(frozen=True, slots=True)
class Tract:
    """A backend that takes the operators from one opset of ONNX."""

    opset: int = LATEST

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case with one node; Unsupported for what ONNX or tract lacks."""
        definition = known_operator(operator, "ONNX")
        given = list(given_inputs(definition, inputs))
        if any(array.dtype.isbuiltin != 1 for array in given):
            raise Unsupported(f"{given[0].dtype}: tract's Python has no such type")
        try:
            runnable = _runnable(model_of(definition, inputs, attributes, self.opset))
        except tract.TractError as refusal:
            if _NOT_IMPLEMENTED in str(refusal):
                raise Unsupported(f"operator {operator}: tract does not implement it") from None
            raise
        return as_returned(tuple(output.to_numpy() for output in runnable.run(given)))


backend = Tract()


@lru_cache(maxsize=256)
def _runnable(model: bytes) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder, "pooling.onnx")
        path.write_bytes(model)
        return tract.onnx().load(path).into_model().into_runnable()
