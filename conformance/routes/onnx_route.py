"""Calls of ONNX's documents as a model of one node, through a converter: routes from ONNX.

`onnx:via=openvino`, which `backend` is, has OpenVINO import each model, and runs it on its CPU;
`onnx:via=onnx2torch` makes a module of torch of it. A node of an older version of a document is of
an opset that has that version. `graph` is one of `onnx_graph` around a node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from conformance.backends.engines.engine import known_operator
from conformance.backends.engines.onnx_graph import GRAPHS, around
from conformance.backends.engines.onnx_node import LATEST, model_of
from conformance.backends.options import check_known
from conformance.errors import Unsupported
from conformance.routes.program import Program, converting
from conformance.vector import Array, Outputs

_CONVERTERS = {
    "openvino": ("openvino_program", LATEST),
    # The last opset in which it has pools.
    "onnx2torch": ("onnx2torch_program", 18),
}
"""The module of routes whose `imported` a converter is, and the opset of nodes of today."""


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
        module, opset = _CONVERTERS[self.via]
        imported = import_module(f"conformance.routes.{module}").imported
        definition = known_operator(operator, "ONNX")
        if definition.family != "onnx" or definition.is_gradient:
            raise Unsupported(f"operator {operator}: this route is of ONNX's documents")
        opset = LATEST if definition.newer else opset
        model = model_of(definition, inputs, attributes, opset)
        program = _program(imported, around(model, self.graph), GRAPHS[self.graph].beside)
        return program.answer(operator, inputs, attributes)


backend = OnnxRoute()


@lru_cache(maxsize=256)
def _program(imported: Callable[[bytes, int], Program], model: bytes, beside: int) -> Program:
    with converting():
        return imported(model, beside)
