"""OpenVINO's own pooling operators, on a device of OpenVINO.

AvgPool-1 is opset1 AvgPool, MaxPool-1 is opset1 MaxPool, AdaptiveAvgPool-8 is opset8
AdaptiveAvgPool with its output size as a constant; nGraph-AvgPool is opset1 AvgPool, its
descendant, with exclude-pad for "not include padding". Every model is one parameter, one
operator, one result, compiled for static shapes; attributes are handed over as they are.

The inference precision is float32, so that what is checked is the operator and not a faster
arithmetic that the device may choose. float64 and int64 are unsupported: the CPU device has no
primitives of these types and computes in float32 and int32.

`backend` runs on the CPU; `openvino:device=GPU,precision=f16` is one on another device and at
another precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import openvino as ov
from openvino import opset1, opset8

from conformance.backends.windowed import Windowed, windowed
from conformance.errors import Unsupported
from conformance.vector import Array

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_TYPES = {
    np.dtype(np.float16): ov.Type.f16,
    _BFLOAT16: ov.Type.bf16,
    np.dtype(np.float32): ov.Type.f32,
    np.dtype(np.int8): ov.Type.i8,
    np.dtype(np.uint8): ov.Type.u8,
    np.dtype(np.int32): ov.Type.i32,
}
_core = ov.Core()


@dataclass(frozen=True, slots=True)
class OpenVino:
    """A backend on one device (`ov.Core().available_devices`) at one inference precision."""

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
        what = windowed(operator, attributes, data.ndim - 2) or _output_size(operator, inputs)
        if operator == "nGraph-AvgPool" and data.ndim > 5:
            raise Unsupported(f"{data.ndim - 2} spatial axes: OpenVINO pools over one to three")
        request = _request(self.device, self.precision, what, element, data.shape)
        request.infer([_tensor(data, element)])
        return _array(request.get_output_tensor(0), data.dtype)


backend = OpenVino()


def make(*, device: str = "CPU", precision: str = "f32") -> OpenVino:
    """Return a backend on a device, at an inference precision (f32, f16, bf16)."""
    return OpenVino(device, precision)


@dataclass(frozen=True, slots=True)
class _OutputSize:
    """The second input of AdaptiveAvgPool-8, hashable."""

    dtype: str
    shape: tuple[int, ...]
    values: bytes


def _output_size(operator: str, inputs: Sequence[Array]) -> _OutputSize:
    if operator != "AdaptiveAvgPool-8":
        raise Unsupported(f"operator {operator}")
    size = inputs[1]
    return _OutputSize(size.dtype.name, size.shape, size.tobytes())


@lru_cache(maxsize=256)
def _request(
    device: str,
    precision: str,
    what: Windowed | _OutputSize,
    element: ov.Type,
    shape: tuple[int, ...],
) -> Any:
    """Compile a model of one operator and return an inference request of it."""
    data = opset1.parameter(list(shape), element)
    model = ov.Model([_node(what, data)], [data], "pooling")
    compiled = _core.compile_model(model, device, {"INFERENCE_PRECISION_HINT": precision})
    return compiled.create_infer_request()


def _node(what: Windowed | _OutputSize, data: Any) -> Any:
    if isinstance(what, _OutputSize):
        size = np.frombuffer(what.values, what.dtype).reshape(what.shape)
        return opset8.adaptive_avg_pool(data, opset1.constant(size))
    where = [list(what.strides), list(what.begin), list(what.end), list(what.kernel)]
    how = [what.rounding, what.auto_pad]
    if what.average:
        return opset1.avg_pool(data, *where, what.exclude_pad, *how)
    return opset1.max_pool(data, *where, *how)


def _tensor(data: Array, element: ov.Type) -> Any:
    """Return a tensor that shares the memory of `data`."""
    if element == ov.Type.bf16:
        return ov.Tensor(np.ascontiguousarray(data).view(np.int16), data.shape, element)
    return ov.Tensor(np.ascontiguousarray(data), shared_memory=True)


def _array(tensor: Any, dtype: np.dtype[Any]) -> Array:
    """Return a copy: the next inference writes to the same tensor."""
    return np.array(tensor.data, copy=True).view(dtype)
