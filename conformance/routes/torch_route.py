"""Calls of torch.nn.functional through the converters that there are for torch.

A program depends on the function, its keywords, and the types and shapes of its tensors; the last
ones are kept, so that calls alike but for their values are converted once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from conformance.backends.engines.engine import frozen, known_operator
from conformance.backends.engines.torch_backend import tensor_of
from conformance.backends.options import check_known
from conformance.dtypes import INTEGERS
from conformance.errors import Unsupported
from conformance.routes.function_module import FunctionModule, function_of
from conformance.routes.program import Program, converting
from conformance.vector import Array, Outputs

_ONNX_ENGINES = ("onnxruntime", "onnx-reference")
_ONNX_TYPES = frozenset({"float16", "float32", "float64", *INTEGERS})


@dataclass(frozen=True, slots=True)
class _Converter:
    """A converter: the module of routes whose `exported` it is, and what runs what it emits.

    Tensors of the `types` can be handed to the engines, of which the first is the default.
    """

    module: str
    engines: tuple[str, ...]
    types: frozenset[str]
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """Import the module, which raises where a package of the converter is missing."""
        return import_module(f"conformance.routes.{self.module}")


_CONVERTERS: Mapping[str, _Converter] = {
    # 22 is that of the documents here; the older exporter ends at 20.
    "onnx": _Converter("onnx_program", _ONNX_ENGINES, _ONNX_TYPES, {"dynamo": True, "opset": 22}),
    "onnx-script": _Converter(
        "onnx_program", _ONNX_ENGINES, _ONNX_TYPES, {"dynamo": False, "opset": 20}
    ),
    "openvino": _Converter(
        "openvino_program",
        ("openvino",),
        frozenset({"float16", "float32", "int8", "uint8", "int32", "int64"}),
    ),
    "executorch": _Converter(
        "executorch_program", ("portable", "xnnpack"), _ONNX_TYPES | {"bfloat16"}
    ),
    "litert": _Converter("litert_program", ("default", "builtin", "reference"), _ONNX_TYPES),
}


@dataclass(frozen=True, slots=True)
class TorchRoute:
    """A route from torch, `via` a converter `into` an engine that takes what it emits.

    That is "" for the first of those of the converter. A maximum is exported without its `indices`
    where these are false: an engine may have another kernel for it then.
    """

    via: str = "onnx"
    into: str = ""
    indices: bool = True

    def __post_init__(self) -> None:
        """Raise ValueError for a route that there is not."""
        check_known(self.via, _CONVERTERS)
        check_known(self.into, ("", *_CONVERTERS[self.via].engines))

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Outputs:
        """Compute one case; Unsupported for other documents than PyTorch's, and gradients."""
        converter = _CONVERTERS[self.via]
        converter.load()
        definition = known_operator(operator, "PyTorch")
        name, given = function_of(definition, inputs, attributes, with_indices=self.indices)
        lacking = [each.dtype for each in inputs if each.dtype.name not in converter.types]
        if lacking:
            raise Unsupported(f"{lacking[0]}: no engine of this route takes it")
        types = tuple((each.dtype, each.shape) for each in inputs)
        engine = self.into or converter.engines[0]
        program = _program(self.via, engine, name, frozen(given), types)
        return program.answer(operator, inputs, attributes)


backend = TorchRoute()


@lru_cache(maxsize=256)
def _program(
    via: str,
    engine: str,
    name: str,
    given: tuple[tuple[str, Any], ...],
    inputs: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...],
) -> Program:
    keywords = {key: list(value) if isinstance(value, tuple) else value for key, value in given}
    tensors = tuple(tensor_of(np.zeros(shape, dtype)) for dtype, shape in inputs)
    converter = _CONVERTERS[via]
    module = FunctionModule(name, keywords)
    with converting():
        program: Program = converter.load().exported(module, tensors, engine, **converter.options)
    return program
