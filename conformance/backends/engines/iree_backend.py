"""TOSA's AVG_POOL2D and MAX_POOL2D in IREE: text of MLIR's dialect of TOSA, compiled for each case.

The adapter answers the operators of TOSA's own document alone. Attributes are handed over as they
are, zero points as constants, and the sizes of the output are left to the compiler: what it refuses
stays its own error. A module is compiled once for each text, in about half a second.

`backend` compiles for the CPU that it runs on, by LLVM; `iree:target=vmvx` for IREE's virtual
machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np
from iree import compiler, runtime

from conformance.errors import Unsupported, UsageError
from conformance.vector import Array

_FLAGS = {"llvm-cpu": ("--iree-llvmcpu-target-cpu=host",), "vmvx": ()}
"""Options of the compiler by target."""
_OPERATIONS = {"TOSA-AVG_POOL2D": "avg_pool2d", "TOSA-MAX_POOL2D": "max_pool2d"}
_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16"}
_LISTS = ("kernel", "stride", "pad")
_WORDS = {
    "acc_type": {"FP32": "f32", "FP16": "f16", "INT32": "i32"},
    "nan_mode": {word: f"#tosa.nan_mode<{word}>" for word in ("PROPAGATE", "IGNORE")},
}


@dataclass(frozen=True, slots=True)
class IREE:
    """A backend of one target: "llvm-cpu" or "vmvx"."""

    target: str = "llvm-cpu"

    def __post_init__(self) -> None:
        """Raise UsageError for another target."""
        if self.target not in _FLAGS:
            raise UsageError(f"target={self.target}: there are {', '.join(_FLAGS)}")

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case; Unsupported for an operator of another document, or another type."""
        data = inputs[0]
        if operator not in _OPERATIONS:
            raise Unsupported(f"operator {operator}: the adapter has those of TOSA's document")
        if data.dtype.name not in _TYPES:
            raise Unsupported(f"{data.dtype}: no type of the operation")
        module = _compiled(_text(_OPERATIONS[operator], inputs, attributes), self.target)
        config = runtime.Config("local-sync")  # with a state of its own: calls may be of threads
        loaded = runtime.load_vm_module(
            runtime.VmModule.copy_buffer(config.vm_instance, module), config
        )
        return np.array(loaded.main(np.ascontiguousarray(data)).to_host())


backend = IREE()


@lru_cache(maxsize=256)
def _compiled(text: str, target: str) -> bytes:
    """Return the module of a text.

    RuntimeError says in one line what the compiler refuses, Unsupported what it has no code for.
    """
    try:
        module: bytes = compiler.compile_str(
            text, target_backends=[target], input_type="tosa", extra_args=_FLAGS[target]
        )
    except compiler.CompilerToolError as refusal:
        lines = str(refusal).splitlines()
        line = next((line for line in lines if " error: " in line), lines[1])
        error = Unsupported if "failed to legalize" in line else RuntimeError
        raise error(line) from None
    return module


def _text(operation: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
    """Return a function of one operation, whose constants are the inputs after the first.

    KeyError for a word or a type that the dialect does not have, TypeError for what is no integer.
    """
    types = [_type(array.shape, array.dtype) for array in inputs]
    names = [f"%{place}" for place in range(len(inputs))]
    result = _type("????", inputs[0].dtype)
    constants = "".join(
        f'  {name} = "tosa.const"() <{{values = dense<"0x{array.tobytes().hex()}"> : {of}}}>'
        f" : () -> {of}\n"
        for name, array, of in list(zip(names, inputs, types, strict=True))[1:]
    )
    properties = ", ".join(f"{key} = {_property(key, value)}" for key, value in attributes.items())
    return (
        f"func.func @main(%0: {types[0]}) -> {result} {{\n{constants}"
        f'  %result = "tosa.{operation}"({", ".join(names)}) <{{{properties}}}>'
        f" : ({', '.join(types)}) -> {result}\n"
        f"  return %result : {result}\n}}\n"
    )


def _type(shape: Sequence[Any], dtype: Any) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, _TYPES[dtype.name])))}>"


def _property(key: str, value: Any) -> str:
    if key in _WORDS:
        return _WORDS[key][value]
    if key not in _LISTS:
        raise Unsupported(f"attribute {key}: no property of the operation")
    return f"array<i64: {', '.join(str(index(number)) for number in value)}>"
