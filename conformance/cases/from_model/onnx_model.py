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
from conformance.operators import OPERATORS

_MOST_BYTES = (1 << 31) - 1  # what protobuf can hold
_LARGE = 1 << 12  # bytes of a constant that no shape depends on
_DEEPEST = 16
_OPERATORS = {
    "AveragePool": "AvgPool-1",
    "MaxPool": "MaxPool-1",
    "GlobalAveragePool": "AdaptiveAvgPool-8",
    "GlobalMaxPool": "MaxPool-1",
}
"""Operators that compute the same, by the types of nodes."""
_AUTO_PAD = {
    "NOTSET": "explicit",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
    "VALID": "valid",
}


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
    model = Model(path)
    for graph in _graphs(_inferred(proto).graph, 0):
        values = {
            value.name: value.type.tensor_type
            for value in (*graph.input, *graph.value_info, *graph.output)
        }
        for node in graph.node:
            kind, domain = _text(node.op_type), _text(node.domain)
            if "Pool" in kind:
                own = kind if domain in {"", "ai.onnx"} else ""
                read = partial(_layer, kind=own, node=node, values=values)
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


def _layer(name: str, kind: str, node: Any, values: dict[str, Any]) -> Layer:
    """Return a node of a kind of ONNX's own, "" for one of another domain."""
    given = {attribute.name: attribute for attribute in node.attribute}
    shape, dtype = _tensor(values.get(node.input[0] if node.input else ""))
    if kind not in _OPERATORS:
        raise NotExpressible("none of the documents defines it")
    operator = OPERATORS[_OPERATORS[kind]]
    if operator.is_adaptive:
        axes = len(shape) - 2 if shape is not None else 2
        return Layer(name, operator.name, {}, shape, dtype, (1,) * axes)
    if kind.startswith("Global"):
        extents = shape[2:] if shape is not None else (None,)
        if None in extents:
            raise NotExpressible("the extents it pools over are open")
        attributes = operator.attributes_of(_windows([*extents]))
        return Layer(name, operator.name, attributes, shape, dtype)
    if any(value != 1 for value in _ints(given, "dilations", [])):
        raise NotExpressible("dilations: the documents have none")
    kernel = _ints(given, "kernel_shape", [])
    axes = len(kernel)
    pads = _ints(given, "pads", [0] * (2 * axes))
    meanings = _windows(kernel) | {
        "strides": _ints(given, "strides", [1] * axes),
        "pads_begin": pads[:axes],
        "pads_end": pads[axes:],
        "rounding": "ceil" if _int(given, "ceil_mode") else "floor",
        "auto_pad": _auto_pad(given),
        "include_pad": bool(_int(given, "count_include_pad")),
    }
    return Layer(name, operator.name, operator.attributes_of(meanings), shape, dtype)


def _windows(kernel: list[Any]) -> dict[str, Any]:
    """Return windows beside each other's first cell, without pads, by role."""
    zeros, ones = [0] * len(kernel), [1] * len(kernel)
    return {"kernel": kernel, "strides": ones, "pads_begin": zeros, "pads_end": zeros}


def _ints(given: dict[str, Any], name: str, default: list[int]) -> list[int]:
    return within(name, list(given[name].ints)) if name in given else default


def _int(given: dict[str, Any], name: str) -> int:
    return int(given[name].i) if name in given else 0


def _auto_pad(given: dict[str, Any]) -> str:
    word = given["auto_pad"].s.decode("utf-8", "replace") if "auto_pad" in given else "NOTSET"
    if word not in _AUTO_PAD:
        raise NotExpressible(f"auto_pad={printable(word)!r}")
    return _AUTO_PAD[word]


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
