"""Calls as programs: what an adapter of an engine that runs models begins with.

    model = programs.onnx_model("ONNX-MaxPool-22", inputs, attributes)

The package of each kind is imported where it is used: onnx, flatbuffers or torch.
"""

# ruff: noqa: PLC0415 - see above
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conformance.operators import operator_named
from conformance.vector import Array

if TYPE_CHECKING:
    import torch


def onnx_model(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], opset: int = 22
) -> bytes:
    """Return a model of one node of ONNX that computes a case, serialised.

    Of an older version of a document, the last opset that has it stands for opset 22.
    Its inputs are x, x1 and so on, so many as the node of the operator has, its outputs y and
    indices. Of another document than ONNX's an average is AveragePool, a maximum MaxPool and a norm
    LpPool. Raises Unsupported for what no node of the opset says, UsageError for an operator that
    there is not.
    """
    from conformance.backends.engines.onnx_node import model_of

    return model_of(operator_named(operator), inputs, attributes, opset)


def litert_model(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> bytes:
    """Return a model of LiteRT, a flatbuffer of one operation, from tensor 0 to tensor 1.

    Raises Unsupported for another operator than LiteRT's, or a type that its operations have not.
    """
    from conformance.backends.engines.litert_model import model_of

    return model_of(operator, inputs[0], attributes)


def torch_module(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """Return a module that calls a function of torch.nn.functional, and the tensors for it.

    Raises Unsupported for another operator than PyTorch's, and for a gradient.
    """
    from conformance.backends.engines.torch_backend import tensor_of
    from conformance.routes.function_module import FunctionModule, function_of

    module = FunctionModule(*function_of(operator_named(operator), inputs, attributes))
    return module, tuple(map(tensor_of, inputs))
