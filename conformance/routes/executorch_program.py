"""Programs of ExecuTorch, on its portable kernels or on XNNPACK, for what that takes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from operator import getitem
from typing import Any

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.delegate import executorch_call_delegate
from executorch.runtime import Runtime

from conformance.routes.program import Program, converting
from conformance.routes.torch_program import outputs_by, rightly
from conformance.vector import Array, Outputs

_NO_STEP = {getitem, executorch_call_delegate}


def exported(module: torch.nn.Module, tensors: tuple[torch.Tensor, ...], engine: str) -> Program:
    """Return a module as a program of an engine, "portable" or "xnnpack"."""
    aten = torch.export.export(module, tensors)
    if engine == "xnnpack":
        edge = to_edge_transform_and_lower(aten, partitioner=[XnnpackPartitioner()])
    else:
        edge = to_edge(aten)
    nodes = "; ".join(_in_words(edge.exported_program().graph_module))
    emitted = edge.to_executorch().buffer
    Runtime.get().load_program(emitted).load_method("forward")  # refused if a kernel is missing

    @cache
    def undelegated() -> Any:
        with converting():
            return to_edge(aten).exported_program().module()

    def computed(inputs: Sequence[Array]) -> Outputs:
        return rightly(partial(outputs_by, undelegated()))(inputs)

    def run(inputs: Sequence[Array]) -> Outputs:
        # A program was exported for cells in C order, and reads others as if they were.
        return outputs_by(partial(_executed, emitted), [*map(np.ascontiguousarray, inputs)])

    return Program(nodes, run, computed, "PyTorch")


def _executed(emitted: bytes, *tensors: torch.Tensor) -> Any:
    """Execute a program in memory of its own: calls may be of threads."""
    program = Runtime.get().load_program(emitted)  # which its method does not keep
    return program.load_method("forward").execute(tensors)


def _in_words(module: Any) -> Iterator[str]:
    """Yield the nodes of a graph, those that a backend takes within the name of that."""
    for node in module.graph.nodes:
        if node.op == "get_attr":
            lowered = getattr(module, node.target)
            within = _in_words(lowered.original_module.graph_module)
            yield f"{lowered.backend_id}({'; '.join(within)})"
        elif node.op == "call_function" and node.target not in _NO_STEP:
            given = (repr(each) for each in node.args if not isinstance(each, torch.fx.Node))
            yield f"{node.target.__name__}({', '.join(given)})"
