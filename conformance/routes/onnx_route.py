"""Calls of ONNX's documents as a model of one node, through a converter: routes from ONNX.

`onnx:via=openvino`, which `backend` is, has OpenVINO import each model, and runs it on its CPU.
Nodes are those of the opset of their documents; `graph` is one of `onnx_graph` around each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.backends.engines.engine import known_operator
from conformance.backends.engines.onnx_graph import GRAPHS, around
from conformance.backends.engines.onnx_node import LATEST, model_of
from conformance.backends.options import check_known
from conformance.errors import Unsupported
from conformance.routes.program import Program, converting
from conformance.vector import Array, Outputs


@dataclass(frozen=True, slots=True)
class OnnxRoute:
    """A route from a model of ONNX, `via` a converter that imports it."""

    via: str = "openvino"
    graph: str = "plain"

    def __post_init__(self) -> None:
        """Raise ValueError for a converter or a graph that there is not."""
        check_known(self.via, _CONVERTERS)
        check_known(self.graph, GRAPHS)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case; Unsupported for other documents than those of ONNX."""
        definition = known_operator(operator, "ONNX")
        if definition.family != "onnx" or definition.is_gradient:
            raise Unsupported(f"operator {operator}: this route is of ONNX's documents")
        model = model_of(definition, inputs, attributes, LATEST)
        program = _program(self.via, around(model, self.graph), GRAPHS[self.graph].beside)
        return program.answer(operator, inputs, attributes)


def _by_openvino(model: bytes, beside: int) -> Program:
    import openvino  # noqa: PLC0415 - another route may be without it

    from conformance.routes.openvino_program import program_of  # noqa: PLC0415

    return program_of(openvino.Core().read_model(model), beside)


_CONVERTERS = {"openvino": _by_openvino}
backend = OnnxRoute()


@lru_cache(maxsize=256)
def _program(via: str, model: bytes, beside: int) -> Program:
    with converting():
        return _CONVERTERS[via](model, beside)
