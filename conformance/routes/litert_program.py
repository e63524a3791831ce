"""Models of LiteRT that litert-torch makes of modules of torch, in LiteRT's interpreter."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import litert_torch
import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from ai_edge_litert.schema_py_generated import BuiltinOperator, ModelT

from conformance.backends.engines.litert_backend import KERNELS
from conformance.routes.program import Program
from conformance.vector import Array, Outputs

_NAMES = {code: name for name, code in vars(BuiltinOperator).items() if isinstance(code, int)}


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
        outputs = interpreter.get_signature_runner()(**dict(zip(names, given, strict=True)))
        return tuple(np.array(outputs[name]) for name in sorted(outputs))

    return Program("; ".join(_in_words(ModelT.InitFromPackedBuf(model))), run)


def _in_words(model: Any) -> Iterator[str]:
    for operation in model.subgraphs[0].operators:
        code = model.operatorCodes[operation.opcodeIndex]
        name = _NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]
        options = operation.builtinOptions or operation.builtinOptions2
        given = vars(options).items() if options else ()
        yield f"{name}({', '.join(f'{key}={value}' for key, value in given)})"
