"""Graphs around a pool of ONNX in which the optimiser of an engine has something to do.

Each has the outputs of the plain node, so that its document is what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from conformance.backends.engines.onnx_node import INPUTS, NAMES
from conformance.errors import Unsupported
from conformance.operators.reduction import lowest

_INPUT, _OUTPUT = INPUTS[0], NAMES[0]
_BESIDE = "beside"
_QUANTISED = {
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
}
"""Operators of quantised numbers in ONNX Runtime's domain, and those of real numbers."""
_PER_SIDE = 2
"""A scale and a zero point."""
_BYTES = (TensorProto.INT8, TensorProto.UINT8)


@lru_cache(maxsize=256)
def around(model: bytes, graph: str) -> bytes:
    """Return a model of one node with a graph around it, one of `GRAPHS`.

    Unsupported where there is no such graph.
    """
    made = ModelProto.FromString(model)
    GRAPHS[graph].change(made.graph)
    changed: bytes = made.SerializeToString()
    return changed


def _transposed(graph: Any) -> None:
    """Put the channels last and back, before the pool and behind it."""
    rank = _rank(graph)
    last = [0, *range(2, rank), 1]
    back = [0, rank - 1, *range(1, rank - 1)]
    (pool,) = graph.node
    pool.input[0], pool.output[0] = "x_back", "y_pooled"
    nodes = [
        helper.make_node("Transpose", [_INPUT], ["x_last"], perm=last),
        helper.make_node("Transpose", ["x_last"], ["x_back"], perm=back),
        pool,
        helper.make_node("Transpose", ["y_pooled"], ["y_last"], perm=last),
        helper.make_node("Transpose", ["y_last"], [_OUTPUT], perm=back),
    ]
    _replace_nodes(graph, nodes)


def _padded(graph: Any) -> None:
    """Put the padding of the pool into a node of its own: what it counts for is its value."""
    (pool,) = graph.node
    given = _attributes(pool)
    pads, rank = list(given.get("pads", [])), _rank(graph)
    is_maximum = pool.op_type == "MaxPool"
    counted = is_maximum or pool.op_type == "LpPool" or given.get("count_include_pad") == 1
    # Where sizes are rounded up, a window may not begin in padding, as it may in the input.
    as_input = counted and len(pool.output) == 1 and not given.get("ceil_mode")
    axes = rank - 2
    if not (as_input and any(pads) and min(pads) >= 0 and len(pads) == 2 * axes):
        raise Unsupported("no padding that can be a node of its own")
    if given.get("auto_pad", b"NOTSET") != b"NOTSET":
        raise Unsupported("auto_pad: its padding is no attribute")
    dtype = helper.tensor_dtype_to_np_dtype(graph.input[0].type.tensor_type.elem_type)
    value = np.array(lowest(dtype) if is_maximum else 0, dtype)
    ends = np.array([0, 0, *pads[:axes], 0, 0, *pads[axes:]], np.int64)
    graph.initializer.extend(
        [numpy_helper.from_array(ends, "ends"), numpy_helper.from_array(value, "value")]
    )
    _leave_out(pool, "pads")
    pool.input[0] = "x_padded"
    _replace_nodes(graph, [helper.make_node("Pad", [_INPUT, "ends", "value"], ["x_padded"]), pool])


def _twice(graph: Any) -> None:
    """Pool other data by the same attributes beside."""
    (pool,) = graph.node
    other = deepcopy(pool)
    other.input[0] = "x_other"
    del other.output[1:]
    other.output[0] = _BESIDE
    _replace_nodes(graph, [helper.make_node("Abs", [_INPUT], ["x_other"]), other, pool])
    _add_output(graph)


def _used(graph: Any) -> None:
    """Use the output, which is one of the graph, as an input of another node, too."""
    (pool,) = graph.node
    _replace_nodes(graph, [pool, helper.make_node("Abs", [_OUTPUT], [_BESIDE])])
    _add_output(graph)


def _clipped(graph: Any) -> None:
    """Clip what is pooled, as an activation does, to bounds that no number is beyond."""
    (pool,) = graph.node
    dtype = helper.tensor_dtype_to_np_dtype(graph.output[0].type.tensor_type.elem_type)
    most = np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
    graph.initializer.extend(
        numpy_helper.from_array(np.array(bound, dtype), name)
        for name, bound in (("least", lowest(dtype)), ("most", most))
    )
    pool.output[0] = "y_pooled"
    clip = helper.make_node("Clip", ["y_pooled", "least", "most"], [_OUTPUT])
    _replace_nodes(graph, [pool, clip])


def _quantised(graph: Any) -> None:
    """Dequantise before the pool and quantise behind it, where numbers stand for others.

    A pool of numbers with scales is one of floats in between; integers without any have scale 1.
    """
    (pool,) = graph.node
    given, kind = _attributes(pool), graph.input[0].type.tensor_type.elem_type
    if pool.op_type in _QUANTISED:
        _, *scaled = pool.input
        if len(scaled) != 2 * _PER_SIDE or given.get("channels_last"):
            raise Unsupported("no scale and zero point at both ends, or channels that come last")
        _leave_out(pool, "channels_last")
        pool.op_type, pool.domain = _QUANTISED[pool.op_type], ""
    elif pool.op_type == "MaxPool" and kind in _BYTES:
        scaled = ["scale", "zero"] * 2
        zero = np.zeros((), helper.tensor_dtype_to_np_dtype(kind))
        graph.initializer.extend(
            [numpy_helper.from_array(np.float32(1), "scale"), numpy_helper.from_array(zero, "zero")]
        )
    else:
        raise Unsupported("a node that is not of quantised numbers")
    del pool.input[:]
    pool.input.append("x_real")
    pool.output[0] = "y_real"
    before, behind = scaled[:_PER_SIDE], scaled[_PER_SIDE:]
    nodes = [
        helper.make_node("DequantizeLinear", [_INPUT, *before], ["x_real"]),
        pool,
        helper.make_node("QuantizeLinear", ["y_real", *behind], [_OUTPUT]),
    ]
    _replace_nodes(graph, nodes)


class Graph(NamedTuple):
    """A graph: how one of a pool alone becomes it, and how many outputs it has besides, the last.

    To change may raise Unsupported.
    """

    change: Callable[[Any], None]
    beside: int = 0


GRAPHS: Mapping[str, Graph] = {
    "plain": Graph(lambda _: None),
    "clipped": Graph(_clipped),
    "transposed": Graph(_transposed),
    "padded": Graph(_padded),
    "quantised": Graph(_quantised),
    "twice": Graph(_twice, beside=1),
    "used": Graph(_used, beside=1),
}


def _attributes(node: Any) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


def _leave_out(node: Any, attribute: str) -> None:
    kept = [each for each in node.attribute if each.name != attribute]
    del node.attribute[:]
    node.attribute.extend(kept)


def _rank(graph: Any) -> int:
    return len(graph.input[0].type.tensor_type.shape.dim)


def _replace_nodes(graph: Any, nodes: list[Any]) -> None:
    copies = deepcopy(nodes)  # one of them is the graph's own
    del graph.node[:]
    graph.node.extend(copies)


def _add_output(graph: Any) -> None:
    output = deepcopy(graph.output[0])
    output.name = _BESIDE
    graph.output.append(output)
