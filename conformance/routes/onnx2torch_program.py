"""Modules of torch that onnx2torch makes of models of ONNX."""

from __future__ import annotations

from functools import partial

from onnx import load_from_string
from onnx2torch import convert

from conformance.routes.program import Program
from conformance.routes.torch_program import outputs_by, rightly


def imported(model: bytes, beside: int) -> Program:
    """Return a model of ONNX as a program; its last outputs, as many as `beside`, are left out."""
    module = convert(load_from_string(model))
    calls = (node.target for node in module.graph.nodes if node.op == "call_module")
    run = partial(outputs_by, module, beside=beside)
    words = "; ".join(repr(module.get_submodule(name)) for name in calls)
    return Program(words, run, rightly(run), "PyTorch")
