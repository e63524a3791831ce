"""Pooling as one node of ONNX: what the ONNX adapters run and `export onnx` writes.

An operator of ONNX is handed over with its attributes as they are. Of another document an average
is AveragePool, a maximum MaxPool and a norm LpPool: pads are begins then ends, rounding up is
ceil_mode, same_* and valid are auto_pad, but valid that rounds up are no pads: by the text of ONNX,
VALID never rounds up. Of an adaptive operator they are GlobalAveragePool and
GlobalMaxPool, where every output size is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from onnx import AttributeProto, TensorProto, defs, helper

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    frozen,
    has_counted_indices,
    output_sizes,
)
from conformance.dtypes import DType
from conformance.errors import Unsupported
from conformance.operators import Operator, Params, pooling_of
from conformance.vector import Array, Outputs, as_returned

_SLIDING = {"average": "AveragePool", "maximum": "MaxPool", "norm": "LpPool"}
_GLOBAL = {"average": "GlobalAveragePool", "maximum": "GlobalMaxPool", "norm": "GlobalLpPool"}
_AUTO_PAD = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}
_SCATTERING = {"unpooling": "MaxUnpool"}
_TYPE_WORDS = {"float32": "float", "float64": "double"}
_WITHOUT = {"dilations": 1, "ceil_mode": 0, "count_include_pad": 0, "storage_order": 0}
"""What a node without them means, of the attributes that came later, in each entry of a list."""
INPUTS, NAMES = ("x", "x1", "x2", "x3", "x4"), ("y", "indices")
"""Of a node's inputs and of its outputs."""
LATEST = 22
"""The opset of the newest documents, which a model of an engine's own operator names, too."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node: an operator of ONNX, its attributes by name, how many outputs and inputs it has.

    `domain` and `version` are of an engine's own operator; one of ONNX has neither.
    """

    kind: str
    attributes: tuple[tuple[str, Any], ...] = ()
    outputs: int = 1
    inputs: int = 1
    domain: str = ""
    version: int = 0


Input = tuple[DType, tuple[int | None, ...]]
"""Element type and shape of an input, None for an open dimension."""


def inputs_of(node: Node, inputs: Sequence[Array]) -> tuple[Input, ...]:
    """Return element type and shape of each input that a node has."""
    return tuple((array.dtype, array.shape) for array in inputs[: node.inputs])


def kind_of(operator: Operator) -> str:
    """Return the operator of ONNX that computes an operator; Unsupported if there is none."""
    if operator.scatters:
        return counterpart(operator, _SCATTERING)
    return counterpart(operator, _SLIDING if operator.has_windows else _GLOBAL)


@cache
def opset_of(operator: Operator, opset: int = LATEST) -> int:
    """Return the opset of a model of an operator, where one is asked for.

    Of an older version of a document, the last that has it stands for the latest; Unsupported for
    another that has another version.
    """
    if operator.newer is None or operator.family != "onnx":
        return opset
    _, kind, version = operator.name.split("-")
    having = [
        each
        for each in range(1, LATEST)
        if defs.get_schema(kind, each, "").since_version == int(version)
    ]
    if opset not in {LATEST, *having}:
        raise Unsupported(f"opset {opset} has another version of {kind}")
    return having[-1] if opset == LATEST else opset


@cache
def has_type(kind: str, opset: int, dtype: DType) -> bool:
    """Say whether an ONNX operator takes an element type in an opset."""
    allowed = defs.get_schema(kind, opset, "").type_constraints[0].allowed_type_strs
    return f"tensor({_TYPE_WORDS.get(dtype.name, dtype.name)})" in allowed


@cache
def outputs_in(kind: str, opset: int) -> int:
    """Return how many outputs an ONNX operator has in an opset: MaxPool has indices from 8 on."""
    most: int = defs.get_schema(kind, opset, "").max_output
    return most


def node_of(operator: Operator, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Node:
    """Return the node that computes a case, with indices where they are the operator's own.

    Unsupported if ONNX cannot express it.
    """
    kind = kind_of(operator)
    if operator.family == "onnx":
        return Node(kind, frozen(attributes), len(operator.outputs), len(inputs))
    data = inputs[0]
    if operator.is_adaptive:
        sizes = output_sizes(inputs[1], data.ndim - 2)
        if sizes != [1] * len(sizes):
            raise Unsupported(f"output_size={sizes}: ONNX has global pooling alone")
        return translated(kind, adaptive_params(operator, inputs, attributes))
    takes = ("dilations",) if operator.reduction.powers else ("dilations", "ceil_torch")
    params = pooling_of(operator.name, inputs, attributes, takes=takes).params
    return translated(kind, params, 1 + has_counted_indices(operator, params, data.shape, axis=0))


def translated(kind: str, params: Params, outputs: int = 1) -> Node:
    """Return the node for parameters; Unsupported if the pads would become other pads."""
    attributes: dict[str, Any] = {}
    if kind in _SLIDING.values():
        attributes = {"kernel_shape": params.kernel, "strides": params.strides}
        if params.auto_pad == "explicit":
            attributes["pads"] = _joined(params)
        elif params.same or not params.ceil:
            attributes["auto_pad"] = _AUTO_PAD[params.auto_pad]
        if params.dilations != (1,) * len(params.sizes):
            attributes["dilations"] = params.dilations
        if params.ceil:
            attributes["ceil_mode"] = 1
        if params.include_pad:
            attributes["count_include_pad"] = 1
    if kind.endswith("LpPool"):
        attributes["p"] = params.exponent
    return Node(kind, tuple(sorted(attributes.items())), outputs)


def given_inputs(operator: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    """Return the inputs that the node of a case has: an output size of others is none of them."""
    return inputs if operator.family == "onnx" else inputs[:1]


def outputs_of(session: Any, inputs: Sequence[Array], beside: int = 0) -> Array | Outputs:
    """Return what a session with such a node, of any engine, computes of the node's inputs.

    The last outputs of the model, so many as are `beside`, are none of the node.
    """
    outputs = tuple(session.run(None, dict(zip(INPUTS, inputs, strict=False))))
    return as_returned(outputs[: len(outputs) - beside])


def _joined(params: Params) -> tuple[int, ...]:
    """Return begins and ends in one list; Unsupported where it would be split elsewhere."""
    begins, ends = params.pads_begin, params.pads_end
    if len(begins) != len(ends) and len(begins) + len(ends) == 2 * len(params.sizes):
        raise Unsupported(
            f"pads {list(begins)} and {list(ends)}: ONNX splits one list in the middle"
        )
    return begins + ends


def _proto(node: Node, opset: int) -> Any:
    """Return the node from its inputs to its outputs; Unsupported for what the opset cannot say.

    An attribute that came later is left out where a node without it says the same.
    """
    types, attributes = _types_of_own(node), dict(node.attributes)
    if not node.domain:
        known = defs.get_schema(node.kind, opset, "").attributes
        later = {key: attributes.pop(key) for key in [*attributes] if key not in known}
        lacking = [key for key, value in later.items() if not _is_without(key, value, attributes)]
        if lacking:
            raise Unsupported(f"opset {opset}: {node.kind} has no {', '.join(lacking)}")
        types = {key: known[key].type.value for key in attributes}
    made = helper.make_node(
        node.kind, INPUTS[: node.inputs], NAMES[: node.outputs], domain=node.domain
    )
    for key, value in attributes.items():
        try:
            # Of a list without numbers its type cannot be told.
            made.attribute.append(helper.make_attribute(key, value, attr_type=types.get(key)))
        except (TypeError, ValueError) as error:
            raise Unsupported(f"{key}={value!r}: no such attribute can be written") from error
    return made


def _is_without(key: str, value: Any, others: Mapping[str, Any]) -> bool:
    """Say whether a node means the same without an attribute; a list has an entry per axis."""
    if isinstance(value, tuple) and len(value) != len(others.get("kernel_shape", ())):
        return False
    entries = value if isinstance(value, tuple) else (value,)
    return key in _WITHOUT and all(entry == _WITHOUT[key] for entry in entries)


def _types_of_own(node: Node) -> dict[str, Any]:
    """Return the types of those attributes of an engine's own operator that are lists."""
    return {key: AttributeProto.INTS for key, value in node.attributes if isinstance(value, tuple)}


def model(
    node: Node,
    opset: int,
    inputs: Sequence[Input],
    output_shape: Sequence[int | None],
    **about: str,
) -> Any:
    """Return a model of the one node, of the oldest IR version that has the opset."""
    elements = [helper.np_dtype_to_tensor_dtype(dtype) for dtype, _ in inputs]
    element = elements[0]
    types = (element, TensorProto.INT64)[: node.outputs]
    graph = helper.make_graph(
        [_proto(node, opset)],
        "pooling",
        [
            helper.make_tensor_value_info(name, kind, shape)
            for name, kind, (_, shape) in zip(INPUTS, elements, inputs, strict=False)
        ],
        [
            helper.make_tensor_value_info(name, kind, output_shape)
            for name, kind in zip(NAMES, types, strict=False)
        ],
    )
    opsets = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(opsets)
    if node.domain:
        opsets.append(helper.make_opsetid(node.domain, node.version))
    return helper.make_model(graph, opset_imports=opsets, ir_version=version, **about)


def model_of(
    operator: Operator,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    opset: int,
    *,
    dynamic: bool = False,
    most_outputs: int = 2,
) -> bytes:
    """Return a serialised model that computes a case; Unsupported if the opset has none.

    A type that the operator's document does not take either is the engine's to refuse. One that is
    `dynamic` has open dimensions, and is the same for all shapes. `most_outputs` is 1 where an
    engine has the values alone.
    """
    opset = opset_of(operator, opset)
    node, data = node_of(operator, inputs, attributes), inputs[0]
    outputs = min(node.outputs, most_outputs, outputs_in(node.kind, opset))
    node = replace(node, outputs=outputs)
    if data.dtype.name in operator.dtypes and not has_type(node.kind, opset, data.dtype):
        raise Unsupported(f"{data.dtype}: ONNX has no {node.kind} of this type in opset {opset}")
    given = inputs_of(node, inputs)
    if dynamic:
        given = tuple((dtype, (None,) * len(shape)) for dtype, shape in given)
    return _serialised(node, opset, given)


@lru_cache(maxsize=256)
def _serialised(node: Node, opset: int, inputs: tuple[Input, ...]) -> bytes:
    _, shape = inputs[0]
    made: bytes = model(node, opset, inputs, [None] * len(shape)).SerializeToString()
    return made


def own_model_of(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], domain: str
) -> bytes:
    """Return a serialised model of one node of an engine's own domain, handed over as it is.

    The operator is PUBLISHER-KIND-VERSION. Unsupported for attributes that no node can have.
    """
    _, kind, version = operator.split("-")
    node = Node(kind, frozen(attributes), inputs=len(inputs), domain=domain, version=int(version))
    return _serialised(node, LATEST, inputs_of(node, inputs))
