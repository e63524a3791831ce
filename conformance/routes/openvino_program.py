"""Models that OpenVINO's converters make, on its CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openvino

from conformance.backends.engines.openvino_backend import TYPES, array_of, compiled, tensor_of
from conformance.errors import Unsupported
from conformance.routes.program import Program
from conformance.vector import Array, Outputs

_TYPES = {dtype.name for dtype in TYPES} - {"bfloat16"}
"""Those whose results it returns in the same type."""
_NO_STEP = {"Parameter", "Constant", "Result"}


def exported(module: Any, tensors: Any, _engine: str) -> Program:
    """Return what OpenVINO makes of a module of torch, as a program."""
    return _program_of(openvino.convert_model(module, example_input=tensors))


def imported(model: bytes, beside: int) -> Program:
    """Return a model of ONNX as a program; its last outputs, as many as `beside`, are left out."""
    return _program_of(openvino.Core().read_model(model), beside)


def _program_of(model: Any, beside: int = 0) -> Program:
    """Return a model as a program; Unsupported for types that the CPU computes in a smaller one."""
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() not in _NO_STEP]
    made = compiled(model)

    def run(inputs: Sequence[Array]) -> Outputs:
        lacking = [each.dtype for each in inputs if each.dtype.name not in _TYPES]
        if lacking:
            raise Unsupported(f"{lacking[0]}: OpenVINO's CPU has no primitives of this type")
        request = made.create_infer_request()
        request.infer([tensor_of(each, TYPES[each.dtype]) for each in inputs])
        outputs = tuple(map(array_of, request.output_tensors))
        return outputs[: len(outputs) - beside]

    return Program("; ".join(map(_in_words, nodes)), run)


def _in_words(node: Any) -> str:
    given = (f"{name}={value}" for name, value in node.get_attributes().items())
    return f"{node.get_type_name()}({', '.join(given)})"
