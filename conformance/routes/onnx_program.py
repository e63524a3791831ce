"""Models of ONNX that converters emit: in words, in engines, and computed as ONNX says."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from onnx import ModelProto, defs, helper, load_from_string
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from conformance.backends.engines.onnx_node import LATEST
from conformance.operators import OPERATORS, evaluate
from conformance.routes.program import Program, Run
from conformance.vector import Array, Outputs, outputs_of


def exported(
    module: Any, tensors: Sequence[Any], engine: str, *, dynamo: bool, opset: int
) -> Program:
    """Return what torch.onnx.export makes of a module of torch, as a program of an engine."""
    from torch.onnx import export  # noqa: PLC0415 - another source may be without it

    written = io.BytesIO()
    export(module, tuple(tensors), written, dynamo=dynamo, opset_version=opset, verbose=False)
    return program_of(load_from_string(written.getvalue()), engine)


def program_of(model: ModelProto, engine: str) -> Program:
    """Return a model as a program of an engine, one of `ENGINES`."""
    nodes = "; ".join(map(_in_words, model.graph.node))
    return Program(nodes, _in_engine(model, engine), _rightly(model))


def _in_words(node: Any) -> str:
    values = ((each.name, helper.get_attribute_value(each)) for each in node.attribute)
    known = defs.get_schema(node.op_type, domain=node.domain).attributes
    given = [
        f"{name}={value.decode() if isinstance(value, bytes) else value}"
        for name, value in values
        if not hasattr(value, "dims") and value != _default(known.get(name))
    ]
    return f"{node.op_type}({', '.join(given)})"


def _default(attribute: Any) -> Any:
    if attribute is None or not attribute.default_value.type:
        return None
    return helper.get_attribute_value(attribute.default_value)


def _rightly(model: ModelProto) -> Run:
    """Compute a model with the pooling of this package, and all else with ONNX's evaluator."""
    (opset,) = (each.version for each in model.opset_import if not each.domain)

    def run(inputs: Sequence[Array]) -> Outputs:
        return _outputs(ReferenceEvaluator(model, new_ops=_pooling_in(opset)), model, inputs)

    return run


def _outputs(session: Any, model: ModelProto, inputs: Sequence[Array]) -> Outputs:
    names = (each.name for each in model.graph.input)
    return tuple(session.run(None, dict(zip(names, inputs, strict=False))))


ENGINES = {"onnxruntime": "onnxruntime_backend", "onnx-reference": "onnx_reference_backend"}
"""What runs a model of ONNX, by the name of its backend, and the module of that."""


def _in_engine(model: ModelProto, name: str) -> Run:
    """Have an engine compute a model; Unsupported for what it says that it lacks."""
    engine = import_module(f"conformance.backends.engines.{ENGINES[name]}")
    with engine.implemented():
        session = engine.session_of(model.SerializeToString())

    def run(inputs: Sequence[Array]) -> Outputs:
        with engine.implemented():
            return _outputs(session, model, inputs)

    return run


def _pooling(kind: str, operator: str) -> type[OpRun]:
    """Return the class by which ONNX's evaluator has this package compute an operator."""

    def _run(self: OpRun, *inputs: Array, **attributes: Any) -> Outputs:
        given = {each.name for each in self.onnx_node.attribute}
        own = {
            name: list(map(int, value)) if isinstance(value, list | tuple | np.ndarray) else value
            for name, value in attributes.items()
            if name in given
        }
        return outputs_of(evaluate(operator, inputs, own))[: len(self.onnx_node.output)]

    return type(kind, (OpRun,), {"op_domain": "", "_run": _run})


@cache
def _pooling_in(opset: int) -> list[type[OpRun]]:
    """Return the classes of the versions that an opset has; of MaxUnpool there is one here."""
    every = [
        name for name, each in OPERATORS.items() if each.family == "onnx" and not each.is_gradient
    ]
    made = []
    for kind in dict.fromkeys(name.split("-")[1] for name in every):
        version = defs.get_schema(kind, min(opset, LATEST), "").since_version
        name = f"ONNX-{kind}-{version}"
        made.append(_pooling(kind, name if name in every else f"ONNX-{kind}-{LATEST}"))
    return made
