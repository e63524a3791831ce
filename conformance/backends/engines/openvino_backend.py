"""OpenVINO's own pooling operators, on a device of OpenVINO.

An average is opset1 AvgPool, a maximum opset1 MaxPool; of an adaptive operator they are opset8
AdaptiveAvgPool and AdaptiveMaxPool with the output size as a constant. Every model is one
parameter, one operator, one result, compiled for static shapes; attributes are handed over as
they are.

The inference precision is float32, so that what is checked is the operator and not a faster
arithmetic that the device may choose. float64 and int64 are unsupported: the CPU device has no
primitives of these types and computes in float32 and int32.

`backend` runs on the CPU; `openvino:device=GPU,precision=f16` is one on another device and at
another precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from conformance.backends.engines.engine import (
    check_most_axes,
    counterpart,
    known_operator,
    missing,
)
from conformance.errors import Unsupported
from conformance.operators import Params, pooling_of
from conformance.operators.attributes import PADS
from conformance.vector import Array

# With it, OpenVINO reports each import over the network, from a process that it forks in a thread:
# a fork at any moment, which warns or hangs where other threads run. Without it, it does not.
with missing("openvino_telemetry"):
    import openvino as ov
    from openvino import opset1, opset8

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_TYPES = {
    np.dtype(np.float16): ov.Type.f16,
    _BFLOAT16: ov.Type.bf16,
    np.dtype(np.float32): ov.Type.f32,
    np.dtype(np.int8): ov.Type.i8,
    np.dtype(np.uint8): ov.Type.u8,
    np.dtype(np.int32): ov.Type.i32,
}
_AS_GIVEN = ("auto_pad", "rounding", *PADS)
_core = ov.Core()


@dataclass(frozen=True, slots=True)
class OpenVino:
    """A backend on one device (`ov.Core().available_devices`) at a precision (f32, f16, bf16)."""

    device: str = "CPU"
    precision: str = "f32"

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case; Unsupported for element types the device computes in a smaller one."""
        data = inputs[0]
        element = _TYPES.get(data.dtype)
        if element is None:
            raise Unsupported(f"{data.dtype}: OpenVINO's CPU has no primitives of this type")
        definition = known_operator(operator)
        node_of: Callable[..., Any]
        settings: Params | _OutputSize
        if definition.is_adaptive:
            node_of, size = counterpart(definition, _ADAPTIVE), inputs[1]
            settings = _OutputSize(size.dtype.name, size.shape, size.tobytes())
        else:
            node_of = counterpart(definition, _SLIDING)
            settings = pooling_of(operator, inputs, attributes, as_given=_AS_GIVEN).params
        check_most_axes(definition, data.ndim - 2, "OpenVINO")
        request = _request(self.device, self.precision, node_of, settings, element, data.shape)
        request.infer([_tensor(data, element)])
        return _array(request.get_output_tensor(0), data.dtype)


backend = OpenVino()


class _OutputSize(NamedTuple):
    """The second input of an adaptive operator, hashable."""

    dtype: str
    shape: tuple[int, ...]
    values: bytes

    @property
    def constant(self) -> Any:
        """The node that holds it."""
        return opset1.constant(np.frombuffer(self.values, self.dtype).reshape(self.shape))


@lru_cache(maxsize=256)
def _request(
    device: str,
    precision: str,
    node_of: Callable[..., Any],
    settings: Params | _OutputSize,
    element: ov.Type,
    shape: tuple[int, ...],
) -> Any:
    """Compile a model of one operator and return an inference request of it."""
    data = opset1.parameter(list(shape), element)
    model = ov.Model([node_of(data, settings).output(0)], [data], "pooling")
    compiled = _core.compile_model(model, device, {"INFERENCE_PRECISION_HINT": precision})
    return compiled.create_infer_request()


def _lists(params: Params) -> list[list[int]]:
    lists = (params.strides, params.pads_begin, params.pads_end, params.kernel)
    return [list(values) for values in lists]


def _average(data: Any, params: Params) -> Any:
    options = (not params.include_pad, params.rounding, params.auto_pad)
    return opset1.avg_pool(data, *_lists(params), *options)


def _maximum(data: Any, params: Params) -> Any:
    return opset1.max_pool(data, *_lists(params), params.rounding, params.auto_pad)


def _adaptive_average(data: Any, size: _OutputSize) -> Any:
    return opset8.adaptive_avg_pool(data, size.constant)


def _adaptive_maximum(data: Any, size: _OutputSize) -> Any:
    return opset8.adaptive_max_pool(data, size.constant, "i32")  # of indices


_SLIDING = {"average": _average, "maximum": _maximum}
_ADAPTIVE = {"average": _adaptive_average, "maximum": _adaptive_maximum}


def _tensor(data: Array, element: ov.Type) -> Any:
    """Return a tensor that shares the memory of `data`."""
    if element == ov.Type.bf16:
        return ov.Tensor(np.ascontiguousarray(data).view(np.int16), data.shape, element)
    return ov.Tensor(np.ascontiguousarray(data), shared_memory=True)


def _array(tensor: Any, dtype: np.dtype[Any]) -> Array:
    """Return a copy: the next inference writes to the same tensor."""
    return np.array(tensor.data, copy=True).view(dtype)
