"""PyTorch's pooling functions, as they are, on the CPU or another device of torch.

Operators of PyTorch's documents are calls of these functions with the attributes as they are given.
For those of others, the adapter translates attributes and nothing else: what one call of a torch
function cannot express is `Unsupported`, and what torch itself refuses stays torch's own exception
(a type it does not implement is unsupported too). Its indices are int64 and count the cells of a
plane; where a case counts others, values are computed alone. Its lp_pool pads nothing and adds
powers with their sign: norms are those of even exponents.

A gradient is that of torch.autograd, through the same call. Strides and offsets of inputs are
passed on; an input with negative strides, which torch has not, is copied first.

`backend` runs on the CPU; `torch:device=cuda` is one that moves inputs to that device and outputs
back, and `torch:compile=true` one that compiles each call with torch.compile; with
`torch:compile=true,shapes=dynamic` for any sizes, not for those of the call alone. With
`torch:quantized=true`, 8-bit data are those of quantised tensors, whose maxima torch computes by
kernels of their own, without indices.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch.nn import functional

from conformance.backends.engines.engine import (
    SHAPES,
    adaptive_params,
    counterpart,
    for_axes,
    forward_of,
    has_counted_indices,
    known_operator,
    of_axes,
)
from conformance.backends.options import check_known
from conformance.errors import Unsupported
from conformance.operators import Operator, Pooling, pooling_of
from conformance.vector import Array, Outputs

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_SLIDING = {
    "average": for_axes(functional, "avg_pool"),
    # what functional.max_pool*d calls, without its dispatch on return_indices
    "maximum": for_axes(torch, "max_pool"),
    "norm": for_axes(functional, "lp_pool"),
}
_WITH_INDICES = for_axes(functional, "max_pool")
_ADAPTIVE = {
    "average": for_axes(functional, "adaptive_avg_pool"),
    "maximum": for_axes(functional, "adaptive_max_pool"),
}
_OWN = "PyTorch"
"""Whose documents are torch's own: what it refuses of these, it refuses."""
_QUANTIZED = {np.dtype(np.int8): torch.qint8, np.dtype(np.uint8): torch.quint8}
_QUANTIZATION = (0.5, 3)
"""Scale and zero point of quantised tensors: a maximum is one of the cells whatever they are."""
_PLANE = 2
"""The axis from which on torch's indices count cells."""
_NOT_TAKEN = re.compile("at most half of|equal to half of|not implemented for")
"""What torch says of pads that its documentation excludes, and older releases of a type: it is no
fault, and no other says it."""

# torch warns once per process that it got a read-only array, which inputs here are on purpose:
# none of these functions writes to its input
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _read_only = np.zeros(1, np.float32)
    _read_only.flags.writeable = False
    torch.from_numpy(_read_only)


@dataclass(frozen=True, slots=True)
class Torch:
    """A backend on one device of torch ("cpu", "cuda", "cuda:1", "mps", ...), compiled or not.

    What is compiled is for `shapes` that are static or dynamic. Tensors may be `quantized`.
    """

    device: str = "cpu"
    compile: bool = False
    shapes: str = "static"
    quantized: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for an option that there is not."""
        check_known(self.shapes, SHAPES)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case with one call of torch; Unsupported says what it cannot express."""
        definition, own, gradient = forward_of(known_operator(operator, _OWN), inputs)
        with_indices = gradient is None and not self.quantized
        if self.quantized and not (definition.has_indices and own[0].dtype in _QUANTIZED):
            raise Unsupported("quantised: maxima of int8 and uint8")
        if definition.publisher == _OWN:
            name, given = own_call(definition, own, attributes, with_indices=with_indices)
            if definition.scatters:
                given["indices"] = self._tensor(own[1])
            function = getattr(functional, name)
            return _returned(self._computed(partial(function, **given), own[0], gradient))
        pool, arguments = _translated(definition, own, attributes, with_indices=with_indices)
        try:
            return _returned(self._computed(partial(_call, pool, arguments), own[0], gradient))
        except RuntimeError as refusal:
            if _NOT_TAKEN.search(str(refusal)):
                raise Unsupported(str(refusal)) from None
            raise

    def _computed(
        self, pool: Callable[..., Any], data: Array, gradient: Array | None
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Return what torch pools or, with the gradient of that, the gradient of the data."""
        if self.compile:
            torch.compiler.reset()  # each call has its own attributes
            pool = torch.compile(pool, dynamic=self.shapes == "dynamic")
        tensor = self._tensor(data)
        if gradient is None:
            result: torch.Tensor | tuple[torch.Tensor, ...] = pool(tensor)
            return result
        tensor.requires_grad_()
        of_data: tuple[torch.Tensor, ...] = torch.autograd.grad(
            pool(tensor), tensor, self._tensor(gradient)
        )
        return of_data[0]

    def _tensor(self, data: Array) -> torch.Tensor:
        """Return a tensor on the device; on the CPU it shares the memory of `data`."""
        tensor = tensor_of(data)
        if self.quantized:
            tensor = _quantised(tensor, _QUANTIZED[data.dtype])
        return tensor if self.device == "cpu" else tensor.to(self.device)


def tensor_of(data: Array) -> torch.Tensor:
    """Return a tensor on the CPU, which shares the memory of `data` if its strides allow that."""
    if min(data.strides, default=0) < 0:
        data = data.copy()
    if data.dtype == _BFLOAT16:
        return torch.from_numpy(data.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(data)


def _quantised(integers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the quantised tensor that keeps some integers."""
    scale, zero = _QUANTIZATION
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch 2.13 says that a later release has none
        return torch.quantize_per_tensor((integers.float() - zero) * scale, scale, zero, dtype)


backend = Torch()


def own_call(
    operator: Operator,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    *,
    with_indices: bool = True,
) -> tuple[str, dict[str, Any]]:
    """Return the function that an operator of PyTorch's documents is, and its keywords."""
    given = dict(attributes)
    if operator.has_indices:
        given["return_indices"] = with_indices
    if operator.reduction.powers and inputs[0].ndim == 3:
        given = {key: _alone(value) for key, value in given.items()}
    return operator.name.removeprefix(f"{_OWN}-"), given


def _translated(
    operator: Operator,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    *,
    with_indices: bool,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function that computes an operator of another document, and its arguments."""
    axes = inputs[0].ndim - 2
    pool = of_axes(
        counterpart(operator, _ADAPTIVE if operator.is_adaptive else _SLIDING), axes, "torch"
    )
    if operator.is_adaptive:
        params = adaptive_params(operator, inputs, attributes)
        arguments: tuple[Any, ...] = (inputs[1].tolist(),)
    else:
        kind = operator.reduction.name
        pooling = pooling_of(operator.name, inputs, attributes, takes=_TAKES[kind])
        params, arguments = pooling.params, _ARGUMENTS[kind](pooling)
    if with_indices and has_counted_indices(operator, params, inputs[0].shape, axis=_PLANE):
        arguments = (*arguments, True)
        pool = pool if operator.is_adaptive else _WITH_INDICES[axes - 1]
    return pool, arguments


def _alone(value: Any) -> Any:
    """Return the one number of a list: lp_pool1d takes none."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _call(pool: Callable[..., Any], arguments: tuple[Any, ...], tensor: torch.Tensor) -> Any:
    return pool(tensor, *arguments)


def _returned(result: torch.Tensor | tuple[torch.Tensor, ...]) -> Array | Outputs:
    """Return arrays that share the memory of a result, if that is on the CPU."""
    if isinstance(result, tuple):
        return tuple(array_of(tensor) for tensor in result)
    return array_of(result)


def array_of(result: torch.Tensor) -> Array:
    """Return an array that shares the memory of a tensor, if that is on the CPU."""
    result = (result.int_repr() if result.is_quantized else result).cpu()
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


def _average(pooling: Pooling) -> tuple[Any, ...]:
    return (*_windows(pooling), pooling.ceil, pooling.include_pad)


def _maximum(pooling: Pooling) -> tuple[Any, ...]:
    return (*_windows(pooling), pooling.dilations, pooling.ceil)


def _norm(pooling: Pooling) -> tuple[Any, ...]:
    kernel, strides, pads = _windows(pooling)
    if any(pads):
        raise Unsupported(f"pads {list(pads)}: torch's lp_pool has none")
    if pooling.exponent % 2:
        raise Unsupported(f"p={pooling.exponent}: torch adds odd powers with their sign")
    # of one axis it takes no list
    volume = kernel[0] if len(kernel) == 1 else kernel
    return pooling.exponent, volume, strides, pooling.ceil


_ARGUMENTS = {"average": _average, "maximum": _maximum, "norm": _norm}
# Its ceil_mode leaves out a last window that starts in padding.
_TAKES = {"average": ("ceil_torch",), "maximum": ("ceil_torch", "dilations"), "norm": ()}
