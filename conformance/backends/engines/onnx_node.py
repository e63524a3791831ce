"""Pooling as one node of ONNX: what the ONNX Runtime backend runs and `export onnx` writes.

An average is AveragePool, a maximum MaxPool and a norm LpPool: pads are begins then ends, rounding
is ceil_mode, same_* and valid are auto_pad. Of an adaptive operator they are GlobalAveragePool and
GlobalMaxPool, where every output size is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from onnx import defs, helper

from conformance.backends.engines.engine import counterpart
from conformance.dtypes import DType
from conformance.errors import Unsupported
from conformance.operators import Operator, Params

_SLIDING = {"average": "AveragePool", "maximum": "MaxPool", "norm": "LpPool"}
_GLOBAL = {"average": "GlobalAveragePool", "maximum": "GlobalMaxPool"}
_AUTO_PAD = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}
_TYPE_WORDS = {"float32": "float", "float64": "double"}


def kind_of(operator: Operator) -> str:
    """Return the operator of ONNX that computes an operator; Unsupported if there is none."""
    return counterpart(operator, _GLOBAL if operator.is_adaptive else _SLIDING)


@cache
def has_type(kind: str, opset: int, dtype: DType) -> bool:
    """Say whether an ONNX operator takes an element type in an opset."""
    allowed = defs.get_schema(kind, opset, "").type_constraints[0].allowed_type_strs
    return f"tensor({_TYPE_WORDS.get(dtype.name, dtype.name)})" in allowed


def node(kind: str, params: Params | None, opset: int) -> Any:
    """Return the node, from x to y, of global pooling where there are no `params`.

    Unsupported if the opset lacks an attribute it needs, or if the pads would become other pads.
    """
    attributes: dict[str, Any] = {}
    if params is not None:
        attributes = {"kernel_shape": params.kernel, "strides": params.strides}
        if params.auto_pad == "explicit":
            attributes["pads"] = _joined(params)
        else:
            attributes["auto_pad"] = _AUTO_PAD[params.auto_pad]
        if params.dilations != (1,) * len(params.sizes):
            attributes["dilations"] = params.dilations
        if params.ceil:
            attributes["ceil_mode"] = 1
        if kind == "LpPool":
            attributes["p"] = params.exponent
        if params.include_pad:
            attributes["count_include_pad"] = 1
    known = defs.get_schema(kind, opset, "").attributes
    lacking = attributes.keys() - known.keys()
    if lacking:
        raise Unsupported(f"opset {opset}: {kind} has no {', '.join(sorted(lacking))}")
    made = helper.make_node(kind, ["x"], ["y"])
    made.attribute.extend(
        # Of a list without numbers its type cannot be told.
        helper.make_attribute(key, value, attr_type=known[key].type.value)
        for key, value in sorted(attributes.items())
    )
    return made


def _joined(params: Params) -> tuple[int, ...]:
    """Return begins and ends in one list; Unsupported where it would be split elsewhere."""
    begins, ends = params.pads_begin, params.pads_end
    if len(begins) != len(ends) and len(begins) + len(ends) == 2 * len(params.sizes):
        raise Unsupported(
            f"pads {list(begins)} and {list(ends)}: ONNX splits one list in the middle"
        )
    return begins + ends


def model(
    kind: str,
    params: Params | None,
    opset: int,
    dtype: DType,
    shape: Sequence[int],
    output_shape: Sequence[int | None],
    **about: str,
) -> Any:
    """Return a model of the one node, of the oldest IR version that has the opset."""
    element = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        [node(kind, params, opset)],
        "pooling",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, output_shape)],
    )
    opsets = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(opsets)
    return helper.make_model(graph, opset_imports=opsets, ir_version=version, **about)
