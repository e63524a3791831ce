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

from conformance.backends.engine import (
    check_axes,
    check_lengths,
    counterpart,
    known_operator,
)
from conformance.errors import Unsupported
from conformance.operators import Params
from conformance.vector import Array

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_SLIDING = {
    "average": (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
    # what functional.max_pool*d calls, without its dispatch on return_indices
    "maximum": (torch.max_pool1d, torch.max_pool2d, torch.max_pool3d),
}
_ADAPTIVE = {
    "average": (
        functional.adaptive_avg_pool1d,
        functional.adaptive_avg_pool2d,
        functional.adaptive_avg_pool3d,
    ),
    "maximum": (
        functional.adaptive_max_pool1d,
        functional.adaptive_max_pool2d,
        functional.adaptive_max_pool3d,
    ),
}
_NO_DILATION = 1

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
        asked = known_operator(operator)
        data = inputs[0]
        axes = data.ndim - 2
        check_axes(asked, axes, "torch")
        if asked.is_adaptive:
            pool = counterpart(asked, _ADAPTIVE)[axes - 1]
            return _array(pool(self._tensor(data), inputs[1].tolist()))
        pool = counterpart(asked, _SLIDING)[axes - 1]
        params = asked.translate(data.shape[2:], attributes)
        check_lengths(params)
        pads, ceil = _padding(params)
        rest = (ceil, params.include_pad) if asked.reduction.sums else (_NO_DILATION, ceil)
        return _array(pool(self._tensor(data), params.kernel, params.strides, pads, *rest))

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


def _padding(params: Params) -> tuple[Sequence[int], bool]:
    """Return torch's padding and ceil_mode."""
    if params.auto_pad == "explicit":
        return _symmetric(params.kernel, params.pads_begin, params.pads_end), params.ceil
    if params.auto_pad == "valid":
        return [0] * len(params.kernel), params.ceil
    # With the pads of same_* floor gives ceil(d / s) windows, so ceil_mode stays off
    totals = [
        max(0, ((d - 1) // s) * s + k - d)
        for d, k, s in zip(params.sizes, params.kernel, params.strides, strict=True)
    ]
    if any(total % 2 for total in totals):
        raise Unsupported(
            f"{params.auto_pad} with an odd padding {totals}: torch pads both ends alike"
        )
    return [total // 2 for total in totals], False


def _symmetric(kernel: Sequence[int], begin: Sequence[int], end: Sequence[int]) -> Sequence[int]:
    """Return torch's padding; Unsupported where the pads differ or pass half of the kernel."""
    if begin == end:
        for k, pad in zip(kernel, begin, strict=True):
            if 2 * pad > k > 0:
                raise Unsupported(f"pad {pad} on kernel {k}: torch pads by half of the kernel")
        return begin
    if min(*begin, *end) < 0:
        raise ValueError("a negative pad")
    raise Unsupported(f"pads {list(begin)} and {list(end)}: torch pads both ends alike")
