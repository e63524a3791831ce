"""ONNX Runtime's AveragePool and MaxPool, on its CPU execution provider.

Every model is one node with static shapes (`onnx_node`). An adaptive operator is global pooling
where every output size is 1, and unsupported otherwise: ONNX has no adaptive pooling.

`backend` takes these operators from opset 22, where AveragePool, MaxPool and GlobalAveragePool
have their latest versions; `onnxruntime:opset=11` takes them from another opset. An attribute or
element type that the opset lacks is unsupported, and what the runtime answers with NOT_IMPLEMENTED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NotImplementedThere

from conformance.backends.engines.engine import (
    check_most_axes,
    known_operator,
)
from conformance.backends.engines.onnx_node import has_type, kind_of, model
from conformance.errors import Unsupported
from conformance.operators import Params, pooling_of
from conformance.vector import Array

_FATAL = 4


@dataclass(frozen=True, slots=True)
class OnnxRuntime:
    """A backend that takes the operators from one opset of ONNX."""

    opset: int = 22

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case with one node; Unsupported for what ONNX or the runtime lacks."""
        data = inputs[0]
        axes = data.ndim - 2
        definition = known_operator(operator)
        kind, params = kind_of(definition), None
        if definition.is_adaptive:
            sizes = inputs[1]
            if sizes.dtype.kind != "i" or sizes.tolist() != [1] * axes:
                raise Unsupported(f"output_size={sizes.tolist()}: ONNX has global pooling alone")
        else:
            params = pooling_of(operator, inputs, attributes).params
        check_most_axes(definition, axes, "ONNX Runtime")
        # What the document does not take either, the runtime is to refuse.
        if data.dtype.name in definition.dtypes and not has_type(kind, self.opset, data.dtype):
            raise Unsupported(
                f"{data.dtype}: ONNX has no {kind} of this type in opset {self.opset}"
            )
        try:
            session = _session(self.opset, kind, params, data.dtype, data.shape)
            result: Array = session.run(None, {"x": data})[0]
        except NotImplementedThere as error:
            raise Unsupported(str(error)) from None
        return result


backend = OnnxRuntime()


@lru_cache(maxsize=256)
def _session(
    opset: int, kind: str, params: Params | None, dtype: Any, shape: tuple[int, ...]
) -> Any:
    """Return a session with a model of one node."""
    built = model(kind, params, opset, dtype, shape, [None] * len(shape))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL  # what is wrong comes back as an exception
    options.intra_op_num_threads = 1  # a pool of threads per model costs more than it computes
    return onnxruntime.InferenceSession(
        built.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
