"""PyTorch's pooling functions, as they are, on the CPU or another device of torch.

The adapter translates attributes and nothing else: what one call of a torch function cannot
express is `Unsupported`, and what torch itself refuses stays torch's own exception (a type it does
not implement is a NotImplementedError, hence unsupported too).

`backend` runs on the CPU; `torch:device=cuda` is one that moves inputs to that device and outputs
back.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch.nn import functional

from conformance.errors import Unsupported
from conformance.vector import Array

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_AVERAGE = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
# what functional.max_pool*d calls, without its dispatch on return_indices
_MAXIMUM = (torch.max_pool1d, torch.max_pool2d, torch.max_pool3d)
_ADAPTIVE = (
    functional.adaptive_avg_pool1d,
    functional.adaptive_avg_pool2d,
    functional.adaptive_avg_pool3d,
)

_FLOOR = False  # ceil_mode

# torch warns once per process that it got a read-only array, which inputs here are on purpose:
# none of these functions writes to its input
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _read_only = np.zeros(1, np.float32)
    _read_only.flags.writeable = False
    torch.from_numpy(_read_only)


@dataclass(frozen=True, slots=True)
class Torch:
    """A backend on one device of torch ("cpu", "cuda", "cuda:1", "mps", ...)."""

    device: str = "cpu"

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case with one call of torch; Unsupported says what it cannot express."""
        data = inputs[0]
        axes = data.ndim - 2
        if not 1 <= axes <= 3:
            if operator == "nGraph-AvgPool" and axes > 3:
                raise Unsupported(f"{axes} spatial axes: torch pools over one to three")
            raise ValueError(f"{operator} of {data.ndim} dimensions")
        match operator:
            case "AvgPool-1":
                strides, kernel = attributes["strides"], attributes["kernel"]
                pads, ceil = _windowed(data, attributes)
                include = not _boolean("exclude_pad", attributes["exclude_pad"])
                given = (kernel, strides, pads, ceil, include)
                result = _AVERAGE[axes - 1](self._tensor(data), *given)
            case "MaxPool-1":
                strides, kernel = attributes["strides"], attributes["kernel"]
                pads, ceil = _windowed(data, attributes)
                result = _MAXIMUM[axes - 1](self._tensor(data), kernel, strides, pads, 1, ceil)
            case "AdaptiveAvgPool-8":
                result = _ADAPTIVE[axes - 1](self._tensor(data), inputs[1].tolist())
            case "nGraph-AvgPool":
                kernel = attributes["window_shape"]
                strides = attributes.get("window_movement_strides", [1] * axes)
                begin = attributes.get("padding_below", [0] * axes)
                end = attributes.get("padding_above", [0] * axes)
                name = "include_padding_in_avg_computation"
                include = _boolean(name, attributes.get(name, False))
                _check_lengths(axes, kernel, strides, begin, end)
                given = (kernel, strides, _symmetric(kernel, begin, end), _FLOOR, include)
                result = _AVERAGE[axes - 1](self._tensor(data), *given)
            case _:
                raise Unsupported(f"operator {operator}")
        return _array(result)

    def _tensor(self, data: Array) -> torch.Tensor:
        """Return a tensor on the device; on the CPU it shares the memory of `data`."""
        if data.dtype == _BFLOAT16:
            tensor = torch.from_numpy(data.view(np.int16)).view(torch.bfloat16)
        else:
            tensor = torch.from_numpy(data)
        return tensor if self.device == "cpu" else tensor.to(self.device)


backend = Torch()


def make(*, device: str = "cpu") -> Torch:
    """Return a backend on a device."""
    return Torch(device)


def _array(result: torch.Tensor) -> Array:
    """Return an array that shares the memory of `result`, if that is on the CPU."""
    result = result.cpu()
    if result.dtype is torch.bfloat16:
        bits: Array = result.view(torch.int16).numpy()
        return bits.view(_BFLOAT16)
    values: Array = result.numpy()
    return values


def _windowed(data: Array, attributes: Mapping[str, Any]) -> tuple[list[int], bool]:
    """Translate pads, auto_pad and rounding_type to torch's padding and ceil_mode."""
    kernel, strides = attributes["kernel"], attributes["strides"]
    begin, end = attributes["pads_begin"], attributes["pads_end"]
    _check_lengths(data.ndim - 2, kernel, strides, begin, end)
    rounding = attributes.get("rounding_type", "floor")
    if rounding not in {"floor", "ceil"}:
        raise ValueError(f"rounding_type={rounding!r}: floor or ceil")
    mode = attributes.get("auto_pad", "explicit")
    if mode == "explicit":
        return _symmetric(kernel, begin, end), rounding == "ceil"
    if mode == "valid":
        return [0] * len(kernel), rounding == "ceil"
    if mode not in {"same_upper", "same_lower"}:
        raise ValueError(f"auto_pad={mode!r}: explicit, same_upper, same_lower or valid")
    # With the pads of same_* floor gives ceil(d / s) windows, so ceil_mode stays off
    totals = [
        max(0, ((d - 1) // s) * s + k - d)
        for d, k, s in zip(data.shape[2:], kernel, strides, strict=True)
    ]
    if any(total % 2 for total in totals):
        raise Unsupported(f"{mode} with an odd padding {totals}: torch pads both ends alike")
    return [total // 2 for total in totals], False


def _symmetric(kernel: Sequence[int], begin: Sequence[int], end: Sequence[int]) -> Any:
    """Return torch's padding; Unsupported where the pads differ or pass half of the kernel."""
    if begin == end:
        for k, pad in zip(kernel, begin, strict=True):
            if 2 * pad > k > 0:
                raise Unsupported(f"pad {pad} on kernel {k}: torch pads by half of the kernel")
        return begin
    if min(*begin, *end) < 0:
        raise ValueError("a negative pad")
    raise Unsupported(f"pads {list(begin)} and {list(end)}: torch pads both ends alike")


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):  # torch would take any number
        raise TypeError(f"{name}={value!r}: true or false")
    return value


def _check_lengths(axes: int, *lists: Sequence[int]) -> None:
    """Refuse lists that torch would stretch to the axes."""
    for values in lists:
        if len(values) != axes:
            raise ValueError(f"{values!r}: {axes} values, one per spatial axis")
