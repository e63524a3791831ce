"""Calls of ONNX's documents as a model of one node, through a converter: routes from ONNX.

`onnx:via=openvino`, which `backend` is, has OpenVINO import each model, and runs it on its CPU.
Nodes are those of opset 22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.backends.engines.engine import known_operator
from conformance.backends.engines.onnx_node import model_of
from conformance.errors import Unsupported
from conformance.routes.program import Program, check_known, converting
from conformance.vector import Array, Outputs

_OPSET = 22


@dataclass(frozen=True, slots=True)
class OnnxRoute:
    """A route from a model of ONNX, `via` a converter that imports it."""

    via: str = "openvino"

    def __post_init__(self) -> None:
        """Raise ValueError for a converter that there is not."""
        check_known(self.via, _CONVERTERS)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case; Unsupported for other documents than those of ONNX."""
        definition = known_operator(operator, "ONNX")
        if definition.family != "onnx" or definition.is_gradient:
            raise Unsupported(f"operator {operator}: this route is of ONNX's documents")
        model = model_of(definition, inputs, attributes, _OPSET)
        return _program(self.via, model).answer(operator, inputs, attributes)


def _by_openvino(model: bytes) -> Program:
    import openvino  # noqa: PLC0415 - another route may be without it

    from conformance.routes.openvino_program import program_of  # noqa: PLC0415

    return program_of(openvino.Core().read_model(model))


_CONVERTERS = {"openvino": _by_openvino}
backend = OnnxRoute()


@lru_cache(maxsize=256)
def _program(via: str, model: bytes) -> Program:
    with converting():
        return _CONVERTERS[via](model)
