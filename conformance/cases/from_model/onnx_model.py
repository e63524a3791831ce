"""Pooling nodes of an ONNX model, with the shapes that its shape inference finds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from conformance.cases.from_model.layer import (
    MOST,
    Extent,
    Layer,
    Model,
    NotExpressible,
    printable,
    within,
)
from conformance.dtypes import is_known, name_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS, Attribute, Operator

_MOST_BYTES = (1 << 31) - 1  # what protobuf can hold
_LARGE = 1 << 12  # bytes of a constant that no shape depends on
_DEEPEST = 16
_ONNX = ("", "ai.onnx")
"""The domain of ONNX's own operators."""
_LATEST = 22
"""The opset of a model that names none."""


def read_onnx(path: Path) -> Model:
    """Return the pooling nodes of a file; UsageError if it is no ONNX model."""
    if find_spec("onnx") is None:
        raise UsageError(f"{path}: reading an ONNX model needs the package onnx: pip install onnx")
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path}: above 2 GiB, which no ONNX model can be")
    import onnx  # noqa: PLC0415 - an optional dependency
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - comes with onnx

    try:
        proto = onnx.load_model(str(path), load_external_data=False)
    except DecodeError:
        proto = onnx.ModelProto()
    if not (proto.ir_version and proto.HasField("graph") and proto.graph.node):
        raise UsageError(f"{path}: neither the XML of an OpenVINO model nor a whole ONNX model")
    opsets = [each.version for each in proto.opset_import if _text(each.domain) in _ONNX]
    opset = max(opsets, default=_LATEST)
    model = Model(path)
    for graph in _graphs(_inferred(proto).graph, 0):
        values = {
            value.name: value.type.tensor_type
            for value in (*graph.input, *graph.value_info, *graph.output)
        }
        for node in graph.node:
            kind, domain = _text(node.op_type), _text(node.domain)
            if "Pool" in kind:
                own = kind if domain in _ONNX else ""
                read = partial(_layer, kind=own, opset=opset, node=node, values=values)
                model.add(_text(node.name), f"{domain}.{kind}" if domain else kind, read)
    return model


def _text(value: str | bytes) -> str:
    """Return a text of a message, which is bytes where it is not UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _inferred(proto: Any) -> Any:
    """Return the model with inferred shapes; the model itself where inference gives up."""
    from onnx import shape_inference  # noqa: PLC0415 - an optional dependency

    for constant in proto.graph.initializer:
        if len(constant.raw_data) > _LARGE:
            constant.ClearField("raw_data")
    try:
        return shape_inference.infer_shapes(proto)
    except Exception:  # noqa: BLE001 - what it raises is not documented; shapes are optional here
        return proto


def _graphs(graph: Any, depth: int) -> Iterator[Any]:
    """Yield a graph and those of the branches and loops in it."""
    yield graph
    if depth < _DEEPEST:
        for node in graph.node:
            for attribute in node.attribute:
                for inner in (
                    *([attribute.g] if attribute.HasField("g") else []),
                    *attribute.graphs,
                ):
                    yield from _graphs(inner, depth + 1)


def _layer(name: str, kind: str, opset: int, node: Any, values: dict[str, Any]) -> Layer:
    """Return a node of a kind of ONNX's own, "" for one of another domain."""
    operator = _operator(kind, opset)
    shape, dtype = _tensor(values.get(node.input[0] if node.input else ""))
    declared = {attribute.key: attribute for attribute in operator.attributes}
    given: dict[str, Any] = {}
    for each in node.attribute:
        key = _text(each.name)
        if key not in declared:
            raise NotExpressible(f"{printable(key)}: {kind} of opset {opset} has no such attribute")
        given[key] = _value(declared[key], each)
    return Layer(name, operator.name, given, shape, dtype)


def _operator(kind: str, opset: int) -> Operator:
    """Return the version of an operator of ONNX that an opset has; NotExpressible without one."""
    from onnx import defs  # noqa: PLC0415 - an optional dependency

    if not any(name.startswith(f"ONNX-{kind}-") for name in OPERATORS):
        raise NotExpressible("none of the documents defines it")
    try:
        schema = defs.get_schema(kind, min(opset, defs.onnx_opset_version()), "")
    except Exception:  # noqa: BLE001 - a type of the package's own, for an opset from a file
        raise NotExpressible(f"opset {opset} has no {kind}") from None
    operator = OPERATORS.get(f"ONNX-{kind}-{schema.since_version}")
    if operator is None:
        raise NotExpressible(f"opset {opset} defines {kind} anew, in a document that is not here")
    return operator


def _value(attribute: Attribute, given: Any) -> Any:
    """Return the value of an attribute of a node; NotExpressible for one that no document has."""
    key = attribute.key
    if attribute.is_list:
        return within(key, list(given.ints))
    if attribute.is_float:
        if not given.f.is_integer():
            raise NotExpressible(f"{key}={given.f:g} is no integer")
        return float(within(key, [int(given.f)])[0])
    value = _text(given.s) if isinstance(attribute.default, str) else int(given.i)
    if attribute.values and value not in attribute.values:
        shown = repr(printable(value)) if isinstance(value, str) else value
        raise NotExpressible(f"{key}={shown}: must be {attribute.allowed}")
    return value


def _tensor(kind: Any) -> tuple[tuple[Extent, ...] | None, str]:
    """Return the shape and element type of a value, float32 where the model does not say."""
    from onnx import TensorProto, helper  # noqa: PLC0415 - an optional dependency

    if kind is None:
        return None, "float32"
    dtype = "float32"
    if kind.elem_type:
        try:
            element = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        except (KeyError, ValueError):
            element = None
        if element is None or not is_known(element):
            names = {number: name for name, number in TensorProto.DataType.items()}
            raise NotExpressible(f"data of type {names.get(kind.elem_type, kind.elem_type)}")
        dtype = name_of(element)
    if not kind.HasField("shape"):
        return None, dtype
    extents = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    if len(extents) > 8 or any(value is not None and value > MOST for value in extents):
        raise NotExpressible(f"an extent of its input is above {MOST:,}")
    return tuple(None if value is not None and value < 0 else value for value in extents), dtype
