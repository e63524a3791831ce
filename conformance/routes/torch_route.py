"""Calls of torch.nn.functional through the converters that there are for torch.

A program depends on the function, its keywords, and the types and shapes of its tensors; the last
ones are kept, so that calls alike but for their values are converted once.
"""

# ruff: noqa: PLC0415 - the converters of other routes need not be installed
from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import torch

from conformance.backends.engines.engine import frozen, known_operator
from conformance.backends.engines.torch_backend import tensor_of
from conformance.backends.options import check_known
from conformance.dtypes import INTEGERS
from conformance.errors import Unsupported
from conformance.routes import onnx_program
from conformance.routes.function_module import FunctionModule, function_of
from conformance.routes.onnx_program import ENGINES
from conformance.routes.program import Program, converting
from conformance.vector import Array, Outputs

_BY_ONNX = {"float16", "float32", "float64", *INTEGERS}
_TYPES = {
    "onnx": _BY_ONNX,
    "onnx-script": _BY_ONNX,
    "openvino": {"float16", "float32", "int8", "uint8", "int32", "int64"},
}
"""Types of tensors that can be handed to the engines of a route, by its converter."""
Tensors = tuple[torch.Tensor, ...]


def _by_onnx(*, dynamo: bool, opset: int) -> Callable[[FunctionModule, Tensors, str], Program]:
    def converted(module: FunctionModule, tensors: Tensors, engine: str) -> Program:
        written = io.BytesIO()
        torch.onnx.export(
            module, tensors, written, dynamo=dynamo, opset_version=opset, verbose=False
        )
        return onnx_program.program_of(onnx.load_from_string(written.getvalue()), engine)

    return converted


def _by_openvino(module: FunctionModule, tensors: Tensors, _engine: str) -> Program:
    import openvino

    from conformance.routes.openvino_program import program_of

    return program_of(openvino.convert_model(module, example_input=tensors))


_CONVERTERS: Mapping[str, Callable[[FunctionModule, Tensors, str], Program]] = {
    # 22 is that of the documents here; the older exporter ends at 20.
    "onnx": _by_onnx(dynamo=True, opset=22),
    "onnx-script": _by_onnx(dynamo=False, opset=20),
    "openvino": _by_openvino,
}


@dataclass(frozen=True, slots=True)
class TorchRoute:
    """A route from torch, `via` a converter `into` an engine that takes what it emits."""

    via: str = "onnx"
    into: str = "onnxruntime"

    def __post_init__(self) -> None:
        """Raise ValueError for a route that there is not."""
        check_known(self.via, _CONVERTERS)
        check_known(self.into, ENGINES)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Outputs:
        """Compute one case; Unsupported for other documents than PyTorch's, and gradients."""
        name, given = function_of(known_operator(operator, "PyTorch"), inputs, attributes)
        lacking = [each.dtype for each in inputs if each.dtype.name not in _TYPES[self.via]]
        if lacking:
            raise Unsupported(f"{lacking[0]}: no engine of this route takes it")
        types = tuple((each.dtype, each.shape) for each in inputs)
        program = _program(self.via, self.into, name, frozen(given), types)
        return program.answer(operator, inputs, attributes)


backend = TorchRoute()


@lru_cache(maxsize=256)
def _program(
    via: str,
    into: str,
    name: str,
    given: tuple[tuple[str, Any], ...],
    inputs: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...],
) -> Program:
    keywords = {key: list(value) if isinstance(value, tuple) else value for key, value in given}
    tensors = tuple(tensor_of(np.zeros(shape, dtype)) for dtype, shape in inputs)
    with converting():
        return _CONVERTERS[via](FunctionModule(name, keywords), tensors, into)
