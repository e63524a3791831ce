"""OpenVINO's own pooling operators, on a device of OpenVINO.

An average is AvgPool of opset 1, of opset 14 where the document has ceil_torch, of opset 16 where
it has dilations; a maximum is MaxPool of opset 1, of opset 14 where the document has ceil_torch, of
opset 8 where it has dilations or indices without it. Of an adaptive operator they are opset8
AdaptiveAvgPool and AdaptiveMaxPool with the output size as a constant. Every model is one
parameter, one operator and its outputs, compiled for static shapes; attributes are handed over as
they are. Values are computed alone where indices are in column-major order, and where the CPU
device has no indices: those of MaxPool of bfloat16, and int64 ones of AdaptiveMaxPool. The memory
of inputs is shared; those that are read-only or not in C order are copied first.

The inference precision is float32, so that what is checked is the operator and not a faster
arithmetic that the device may choose. float64 and int64 are unsupported: the CPU device has no
primitives of these types and computes in float32 and int32.

`backend` runs on the CPU; `openvino:device=GPU,precision=f16` is one on another device and at
another precision, and `openvino:shapes=dynamic` has models whose dimensions are open, one for all
shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from conformance.backends.engines.engine import (
    SHAPES,
    check_most_axes,
    counterpart,
    is_row_major,
    known_operator,
    missing,
)
from conformance.backends.options import check_known
from conformance.errors import Unsupported
from conformance.operators import Operator, Params, pooling_of
from conformance.operators.attributes import INDEX_TYPES, PADS, Role
from conformance.vector import Array, Outputs

# With it, OpenVINO reports each import over the network, from a process that it forks in a thread:
# a fork at any moment, which warns or hangs where other threads run. Without it, it does not.
with missing("openvino_telemetry"):
    import openvino as ov
    from openvino import opset1, opset8, opset14, opset16

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {
    np.dtype(np.float16): ov.Type.f16,
    _BFLOAT16: ov.Type.bf16,
    np.dtype(np.float32): ov.Type.f32,
    np.dtype(np.int8): ov.Type.i8,
    np.dtype(np.uint8): ov.Type.u8,
    np.dtype(np.int32): ov.Type.i32,
}
_OPSETS = {1: opset1, 8: opset8, 14: opset14, 16: opset16}
_INDEX_TYPES = {meaning: word for word, meaning in INDEX_TYPES.items()}
_AS_GIVEN: tuple[Role, ...] = ("auto_pad", "rounding", "index_type", "index_axis", *PADS)
_core = ov.Core()


@dataclass(frozen=True, slots=True)
class OpenVino:
    """A backend on one device (`ov.Core().available_devices`) at a precision (f32, f16, bf16).

    `shapes` are static or dynamic.
    """

    device: str = "CPU"
    precision: str = "f32"
    shapes: str = "static"

    def __post_init__(self) -> None:
        """Raise ValueError for an option that there is not."""
        check_known(self.shapes, SHAPES)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case; Unsupported for element types the device computes in a smaller one."""
        data = inputs[0]
        element = TYPES.get(data.dtype)
        if element is None:
            raise Unsupported(f"{data.dtype}: OpenVINO's CPU has no primitives of this type")
        definition = known_operator(operator)
        if definition.is_adaptive:
            node_of, version = counterpart(definition, _ADAPTIVE), 8
            settings = definition.translate(data.shape[2:], attributes)
            size = _OutputSize(inputs[1].dtype.name, inputs[1].shape, inputs[1].tobytes())
        else:
            node_of, version = counterpart(definition, _SLIDING), _version(definition)
            takes = ("dilations", "ceil", "ceil_torch")
            settings = pooling_of(
                operator, inputs, attributes, as_given=_AS_GIVEN, takes=takes
            ).params
            size = _OutputSize()
        check_most_axes(definition, data.ndim - 2, "OpenVINO")
        indices = _has_indices(definition, settings, element)
        shape = data.shape
        if self.shapes == "dynamic":
            settings, shape = replace(settings, sizes=()), (-1,) * data.ndim
        node = _Node(node_of, version, settings, size, indices)
        model = _compiled(self.device, self.precision, node, element, shape)
        request = model.create_infer_request()  # one for each call: threads may not share one
        request.infer([tensor_of(data, element)])
        values = array_of(request.get_output_tensor(0)).view(data.dtype)
        return (values, array_of(request.get_output_tensor(1))) if node.indices else values


backend = OpenVino()


class _OutputSize(NamedTuple):
    """The second input of an adaptive operator, hashable."""

    dtype: str = "int64"
    shape: tuple[int, ...] = (0,)
    values: bytes = b""

    @property
    def constant(self) -> Any:
        """The node that holds it."""
        return opset1.constant(np.frombuffer(self.values, self.dtype).reshape(self.shape))


class _Node(NamedTuple):
    """An operator of an opset with its attributes, which `make` adds to a parameter."""

    make: Callable[[_Node, Any], Any]
    opset: int
    params: Params
    size: _OutputSize
    indices: bool


def _version(operator: Operator) -> int:
    """Return the first opset whose AvgPool or MaxPool has all that a document has."""
    rounding = operator.attribute("rounding")
    dilated, averages = "dilations" in operator.roles, operator.reduction.sums
    if dilated and averages:
        return 16
    if rounding is not None and "ceil_torch" in rounding.meanings:
        return 14
    return 8 if dilated or operator.has_indices else 1


def _has_indices(operator: Operator, params: Params, element: ov.Type) -> bool:
    """Say whether a case has indices, and OpenVINO the same ones."""
    if operator.is_adaptive:
        return operator.has_indices and params.index_type != "int64"
    return operator.has_indices and is_row_major(params) and element != ov.Type.bf16


@lru_cache(maxsize=256)
def _compiled(
    device: str, precision: str, node: _Node, element: ov.Type, shape: tuple[int, ...]
) -> Any:
    """Compile a model of one operator."""
    data = opset1.parameter(list(shape), element)
    outputs = node.make(node, data).outputs()[: 1 + node.indices]
    model = ov.Model(outputs, [data], "pooling")
    return compiled(model, device, precision)


def compiled(model: ov.Model, device: str = "CPU", precision: str = "f32") -> Any:
    """Return a model for a device, which computes in a precision."""
    return _core.compile_model(model, device, {"INFERENCE_PRECISION_HINT": precision})


def _average(node: _Node, data: Any) -> Any:
    params = node.params
    options: list[Any] = [not params.include_pad, params.rounding, params.auto_pad]
    if node.opset == 16:
        options.append(list(params.dilations))
    return _OPSETS[node.opset].avg_pool(data, *_lists(params), *options)


def _maximum(node: _Node, data: Any) -> Any:
    params = node.params
    lists, options = _lists(params), [params.rounding, params.auto_pad]
    if node.opset == 1:
        return opset1.max_pool(data, *lists, *options)
    lists.insert(1, list(params.dilations))
    indices = _index_type(params), params.index_axis
    return _OPSETS[node.opset].max_pool(data, *lists, *options, *indices)


def _adaptive_average(node: _Node, data: Any) -> Any:
    return opset8.adaptive_avg_pool(data, node.size.constant)


def _adaptive_maximum(node: _Node, data: Any) -> Any:
    indices = _index_type(node.params) if node.indices else "i32"
    return opset8.adaptive_max_pool(data, node.size.constant, indices)


def _lists(params: Params) -> list[list[int]]:
    lists = (params.strides, params.pads_begin, params.pads_end, params.kernel)
    return [list(values) for values in lists]


def _index_type(params: Params) -> str:
    return _INDEX_TYPES.get(params.index_type, params.index_type)


_SLIDING = {"average": _average, "maximum": _maximum}
_ADAPTIVE = {"average": _adaptive_average, "maximum": _adaptive_maximum}


def tensor_of(data: Array, element: ov.Type) -> Any:
    """Return a tensor that shares the memory of `data`, if that is writable and in C order."""
    data = np.require(data, requirements=["C", "W"])
    if element == ov.Type.bf16:
        return ov.Tensor(data.view(np.int16), data.shape, element)
    return ov.Tensor(data, shared_memory=True)


def array_of(tensor: Any) -> Array:
    """Return a copy, which outlives the request."""
    return np.array(tensor.data, copy=True)
