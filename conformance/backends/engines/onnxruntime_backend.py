"""ONNX Runtime's pooling operators, on its CPU execution provider.

Every model is one node with static shapes (`onnx_node`). An adaptive operator is global pooling
where every output size is 1, and unsupported otherwise: ONNX has no adaptive pooling. Indices are
those of the runtime where a case counts cells as ONNX does; otherwise values are computed alone.
Inputs are handed over as they lie in memory, and the runtime copies those that are not in C order.
Operators of the runtime's own domain are handed over as they are, scales and zero points as inputs.

`backend` takes these operators from opset 22, where they have their latest versions, and an older
version of ONNX from the last opset that has it; `onnxruntime:opset=11` takes all from one opset, of
older versions the one that it has, `onnxruntime:shapes=dynamic` has models whose dimensions are
open, one for all shapes, and `onnxruntime:graph=transposed` puts one of the graphs of `onnx_graph`
around each node. An attribute, element type or version that the opset lacks is unsupported, and
what the runtime answers with NOT_IMPLEMENTED.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NotImplementedThere

from conformance.backends.engines.engine import SHAPES, check_most_axes, known_operator
from conformance.backends.engines.onnx_graph import GRAPHS, around
from conformance.backends.engines.onnx_node import (
    LATEST,
    given_inputs,
    model_of,
    outputs_of,
    own_model_of,
)
from conformance.backends.options import check_known
from conformance.errors import Unsupported
from conformance.operators import OPERATORS
from conformance.vector import Array, Outputs

_FATAL = 4
DOMAIN = "com.microsoft"
"""That of the operators that the runtime adds to ONNX."""


@dataclass(frozen=True, slots=True)
class OnnxRuntime:
    """A backend that takes the operators from one opset of ONNX.

    `shapes` are static or dynamic; `graph` is one around each node, plain for none.
    """

    opset: int = LATEST
    shapes: str = "static"
    graph: str = "plain"

    def __post_init__(self) -> None:
        """Raise ValueError for an option that there is not."""
        check_known(self.shapes, SHAPES)
        check_known(self.graph, GRAPHS)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case with one node; Unsupported for what ONNX or the runtime lacks."""
        definition = OPERATORS.get(operator)
        if definition is not None and definition.publisher == "ORT":
            made, given = own_model_of(operator, inputs, attributes, DOMAIN), inputs
        else:
            definition = known_operator(operator, "ONNX")
            dynamic = self.shapes == "dynamic"
            made = model_of(definition, inputs, attributes, self.opset, dynamic=dynamic)
            given = given_inputs(definition, inputs)
        check_most_axes(definition, inputs[0].ndim - 2, "ONNX Runtime")
        made = around(made, self.graph)
        with implemented():
            return outputs_of(session_of(made), given, GRAPHS[self.graph].beside)


backend = OnnxRuntime()


@contextmanager
def implemented() -> Iterator[None]:
    """Raise Unsupported for what the runtime has no kernel of."""
    try:
        yield
    except NotImplementedThere as error:
        raise Unsupported(str(error)) from None


@lru_cache(maxsize=256)
def session_of(model: bytes) -> Any:
    """Return a session with a model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL  # what is wrong comes back as an exception
    options.intra_op_num_threads = 1  # a pool of threads per model costs more than it computes
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
