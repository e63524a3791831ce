"""Pooling as one node of ONNX: what the ONNX Runtime backend runs and `export onnx` writes.

AvgPool-1 and nGraph-AvgPool are AveragePool, MaxPool-1 is MaxPool: pads are begins then ends,
exclude-pad is the opposite of count_include_pad, rounding_type is ceil_mode, same_* and valid are
auto_pad. AdaptiveAvgPool-8 is GlobalAveragePool where every output size is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from onnx import defs, helper

from conformance.backends.windowed import Windowed
from conformance.dtypes import DType
from conformance.errors import Unsupported

_AUTO_PAD = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}
_TYPE_WORDS = {"float32": "float", "float64": "double"}


def kind_of(what: Windowed | None) -> str:
    """Return the ONNX operator: that of a windowed operator, or GlobalAveragePool for None."""
    if what is None:
        return "GlobalAveragePool"
    return "AveragePool" if what.average else "MaxPool"


@cache
def has_type(kind: str, opset: int, dtype: DType) -> bool:
    """Say whether an ONNX operator takes an element type in an opset."""
    known = defs.get_schema(kind, opset, "").type_constraints[0].allowed_type_strs
    return f"tensor({_TYPE_WORDS.get(dtype.name, dtype.name)})" in known


def node(what: Windowed | None, opset: int) -> Any:
    """Return the node, from x to y; Unsupported if the opset lacks an attribute it needs."""
    kind = kind_of(what)
    given: dict[str, Any] = {}
    if what is not None:
        given = {"kernel_shape": what.kernel, "strides": what.strides}
        if what.auto_pad == "explicit":
            given["pads"] = what.begin + what.end
        else:
            given["auto_pad"] = _AUTO_PAD[what.auto_pad]
        if what.ceil:
            given["ceil_mode"] = 1
        if what.average and not what.exclude_pad:
            given["count_include_pad"] = 1
    lacking = given.keys() - defs.get_schema(kind, opset, "").attributes.keys()
    if lacking:
        raise Unsupported(f"opset {opset}: {kind} has no {', '.join(sorted(lacking))}")
    return helper.make_node(kind, ["x"], ["y"], **given)


def model(
    what: Windowed | None,
    opset: int,
    dtype: DType,
    shape: Sequence[int],
    output_shape: Sequence[int | None],
    **about: str,
) -> Any:
    """Return a model of the one node, of the oldest IR version that has the opset."""
    element = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        [node(what, opset)],
        "pooling",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, output_shape)],
    )
    opsets = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(opsets)
    return helper.make_model(graph, opset_imports=opsets, ir_version=version, **about)
