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

from conformance.backends.engines.engine import (
    counterpart,
    for_axes,
    known_operator,
    of_axes,
)
from conformance.errors import Unsupported
from conformance.operators import Pooling, pooling_of
from conformance.vector import Array

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_SLIDING = {
    "average": for_axes(functional, "avg_pool"),
    # what functional.max_pool*d calls, without its dispatch on return_indices
    "maximum": for_axes(torch, "max_pool"),
}
_ADAPTIVE = {
    "average": for_axes(functional, "adaptive_avg_pool"),
    "maximum": for_axes(functional, "adaptive_max_pool"),
}
_MOST_PADDING = "at most half of"
"""What torch says of pads that its documentation excludes: it is no fault, and no other says it."""

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
        definition = known_operator(operator)
        data = inputs[0]
        pools = counterpart(definition, _ADAPTIVE if definition.is_adaptive else _SLIDING)
        pool = of_axes(pools, data.ndim - 2, "torch")
        if definition.is_adaptive:
            return _array(pool(self._tensor(data), inputs[1].tolist()))
        averages = definition.reduction.sums
        # Its ceil_mode leaves out a last window that starts in padding.
        takes = ("ceil_torch",) if averages else ("ceil_torch", "dilations")
        pooling = pooling_of(operator, inputs, attributes, takes=takes)
        ceil = pooling.ceil
        rest = (ceil, pooling.include_pad) if averages else (pooling.dilations, ceil)
        try:
            return _array(pool(self._tensor(data), *_windows(pooling), *rest))
        except RuntimeError as refusal:
            if _MOST_PADDING in str(refusal):
                raise Unsupported(str(refusal)) from None
            raise

    def _tensor(self, data: Array) -> torch.Tensor:
        """Return a tensor on the device; on the CPU it shares the memory of `data`."""
        if data.dtype == _BFLOAT16:
            tensor = torch.from_numpy(data.view(np.int16)).view(torch.bfloat16)
        else:
            tensor = torch.from_numpy(data)
        return tensor if self.device == "cpu" else tensor.to(self.device)


backend = Torch()


def _array(result: torch.Tensor) -> Array:
    """Return an array that shares the memory of `result`, if that is on the CPU."""
    result = result.cpu()
    if result.dtype is torch.bfloat16:
        bits: Array = result.view(torch.int16).numpy()
        return bits.view(_BFLOAT16)
    values: Array = result.numpy()
    return values


def _windows(pooling: Pooling) -> tuple[Sequence[int], ...]:
    """Return kernel, strides and padding; Unsupported where the same lists mean else to torch."""
    begin, end = pooling.pads_begin, pooling.pads_end
    if begin != end:
        raise Unsupported(f"pads {list(begin)} and {list(end)}: torch pads both ends alike")
    lists = (pooling.kernel, pooling.strides, begin)
    every = (*lists, pooling.dilations)
    if any(len(values) == 1 for values in every) and len(pooling.params.sizes) > 1:
        raise Unsupported("one number in a list: torch takes it for every axis")
    if not pooling.strides:
        raise Unsupported("no strides: torch takes those of the kernel")
    return lists
