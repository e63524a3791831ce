"""Models of LiteRT that litert-torch makes of modules of torch, in LiteRT's interpreter."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import litert_torch
import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from ai_edge_litert.schema_py_generated import BuiltinOperator, ModelT, Padding, TensorType

from conformance.backends.answer import error_line
from conformance.backends.engines.litert_backend import KERNELS
from conformance.errors import Unsupported
from conformance.operators import evaluate
from conformance.routes.program import Program, Run
from conformance.vector import Array, Outputs

_NO_KERNEL = "unsupported kernel data type"
"""What the interpreter says of an operation that it has, of a type that it has not."""
_NAMES: Mapping[int, str] = {
    code: name for name, code in vars(BuiltinOperator).items() if isinstance(code, int)
}
_TYPES = {code: name.lower() for name, code in vars(TensorType).items() if isinstance(code, int)}


def exported(module: torch.nn.Module, tensors: tuple[torch.Tensor, ...], engine: str) -> Program:
    """Return a module as a program of the interpreter with some kernels, one of `KERNELS`."""
    with redirect_stdout(io.StringIO()):  # it shows its progress
        model = litert_torch.convert(module.eval(), tensors, enable_x64=True).model_content()

    def run(inputs: Sequence[Array]) -> Outputs:
        interpreter = Interpreter(
            model_content=model, experimental_op_resolver_type=KERNELS[engine]
        )
        names = (f"args_{place}" for place in range(len(inputs)))
        given = map(np.ascontiguousarray, inputs)
        try:
            outputs = interpreter.get_signature_runner()(**dict(zip(names, given, strict=True)))
        except RuntimeError as error:
            if _NO_KERNEL in str(error):
                raise Unsupported(error_line(error)) from None
            raise
        return tuple(np.array(outputs[name]) for name in sorted(outputs))

    read = ModelT.InitFromPackedBuf(model)
    nodes = "; ".join(_in_words(read, operation) for operation in read.subgraphs[0].operators)
    return Program(nodes, run, _rightly(read), "LiteRT")


def _kind_of(model: Any, operation: Any) -> str:
    code = model.operatorCodes[operation.opcodeIndex]
    return _NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]


def _in_words(model: Any, operation: Any) -> str:
    options = operation.builtinOptions or operation.builtinOptions2
    given = vars(options).items() if options else ()
    return f"{_kind_of(model, operation)}({', '.join(f'{key}={value}' for key, value in given)})"


def _rightly(model: Any) -> Run | None:
    """Compute a model with the pooling of this package; None if others than `_STEPS` are in it."""
    graph, signature = model.subgraphs[0], model.signatureDefs[0]
    kinds = [_kind_of(model, each) for each in graph.operators]
    if not _STEPS.keys() >= set(kinds):
        return None

    def run(inputs: Sequence[Array]) -> Outputs:
        held = {place: _constant(model, tensor) for place, tensor in enumerate(graph.tensors)}
        places = {each.name: each.tensorIndex for each in (*signature.inputs, *signature.outputs)}
        held |= {places[b"args_%d" % place]: array for place, array in enumerate(inputs)}
        for kind, each in zip(kinds, graph.operators, strict=True):
            given = (held[place] for place in each.inputs)
            held[each.outputs[0]] = _STEPS[kind](each.builtinOptions, *given)
        return tuple(held[places[name]] for name in sorted(each.name for each in signature.outputs))

    return run


def _constant(model: Any, tensor: Any) -> Any:
    """Return the array that a tensor holds in a model, None for one that is computed."""
    data = model.buffers[tensor.buffer].data
    if data is None or tensor.type == TensorType.STRING:
        return None
    dtype, shape = _TYPES[tensor.type], () if tensor.shape is None else tensor.shape
    return np.asarray(data, np.uint8).view(dtype).reshape(shape)


def _pooled(kind: str, options: Any, data: Array) -> Any:
    attributes: Mapping[str, Any] = {
        "padding": "SAME" if options.padding == Padding.SAME else "VALID",
        "filter_height": options.filterHeight,
        "filter_width": options.filterWidth,
        "stride_h": options.strideH,
        "stride_w": options.strideW,
        "fused_activation_function": "NONE",
    }
    return evaluate(f"LiteRT-{kind}_POOL_2D", [data], attributes)


_STEPS: Mapping[str, Callable[..., Any]] = {
    "AVERAGE_POOL_2D": partial(_pooled, "AVERAGE"),
    "MAX_POOL_2D": partial(_pooled, "MAX"),
    "PAD": lambda _, data, pads: np.pad(data, pads),
    "PADV2": lambda _, data, pads, value: np.pad(data, pads, constant_values=value.item()),
    "RESHAPE": lambda _, data, shape: data.reshape(shape),
    "TRANSPOSE": lambda _, data, order: data.transpose(order),
}
"""What is around pools that stand for those of torch."""
