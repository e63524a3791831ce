"""Faults that remember: outputs depend on earlier calls."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms.entries import COLUMN, last_of_several, mask_of
from conformance.faults.atoms.numbers import is_float, of_floats, rounded_to
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array

# Results of earlier calls, found by a key that says too little of a call -------------------------


def _first_kept(step: str, key: Callable[..., Any]) -> Fault:
    """Return the first result of a step with the same `key(right result, *arguments)`."""

    def wrap(right: Callable[..., Any]) -> Callable[..., Any]:
        cache: dict[Any, Any] = {}

        def other(*given: Any) -> Any:
            result = right(*given)
            return copy(cache.setdefault(key(result, *given), result))

        return other

    return Fault.of(**{step: wrap})


def _numbers(params: Params) -> list[tuple[int, ...]]:
    """Return all that a call says in numbers."""
    p = params
    return [p.sizes, p.kernel, p.strides, p.pads_begin, p.pads_end, p.output]


def _joined(_right: Windows, params: Params, *_: Any) -> Any:
    """Join numbers without separators: 1 and 12 read like 11 and 2."""
    text = "".join(str(number) for numbers in _numbers(params) for number in numbers)
    return len(params.sizes), params.auto_pad, params.rounding, text


def _sorted(_right: Windows, params: Params, *_: Any) -> Any:
    numbers = tuple(tuple(sorted(numbers)) for numbers in _numbers(params))
    return params.auto_pad, params.rounding, numbers


def _summed(_right: Windows, params: Params, *_: Any) -> Any:
    """Add the numbers of each attribute up."""
    numbers = tuple(map(sum, _numbers(params)))
    return len(params.sizes), params.auto_pad, params.rounding, numbers


def _attributes_and_sum(right: Array, gathered: Gathered, _divisor: Divisor) -> Any:
    bits = gathered.data.view(f"u{right.itemsize}")
    numbers = (*_numbers(gathered.params), gathered.params.exponent)
    return right.shape, right.dtype, numbers, int(bits.sum(dtype=np.uint64))


_KEPT = {
    "first-pads-kept": _first_kept("pads", lambda _, p: (p.kernel, p.strides)),
    "first-extent-kept": _first_kept(
        "extent", lambda _, p, _pads: (p.sizes, p.kernel, p.strides, p.output)
    ),
    "first-divisor-kept": _first_kept("divide", lambda right, *_: right.shape),
    "first-divisor-kept-without-flag": _first_kept(
        "divide", lambda right, p, pads, _: (right.shape, p.sizes, p.kernel, p.strides, pads)
    ),
    "first-divisor-kept-without-pads": _first_kept(
        "divide", lambda right, p, *_: (right.shape, p.sizes, p.kernel, p.strides, p.include_pad)
    ),
    "first-windows-kept-without-pads": _first_kept(
        "windows", lambda _, p, _pads, o: (p.sizes, p.kernel, p.strides, o)
    ),
    "first-windows-kept-by-joined-numbers": _first_kept("windows", _joined),
    "first-windows-kept-by-sorted-numbers": _first_kept("windows", _sorted),
    "first-windows-kept-by-summed-numbers": _first_kept("windows", _summed),
    "first-output-kept": _first_kept(
        "reduce", lambda right, gathered, _: (gathered.data.shape, right.shape, right.dtype)
    ),
    "first-output-kept-by-first-cell": _first_kept(
        "reduce",
        lambda right, gathered, _: (right.shape, right.dtype, gathered.data.flat[0].tobytes()),
    ),
    "first-output-kept-by-sum": _first_kept("reduce", _attributes_and_sum),
}

# Memory of earlier calls -------------------------------------------------------------------------


def _in_first_type(reduce: Reduce) -> Reduce:
    """Compute in the floating-point type of the first call of the same shape."""
    first: dict[Any, str] = {}

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        if is_float(data):
            kind = first.setdefault(data.shape, name_of(data.dtype))
            data = of_floats(rounded_to(kind).of)(data) if kind != name_of(data.dtype) else data
        return reduce(replace(gathered, data=data), divisor)

    return other


def _changed(change: Callable[[Array, dict[Any, Any]], Array]) -> Fault:
    """Change outputs by what earlier calls of a backend left: `change(right output, memory)`."""

    def wrap(reduce: Reduce) -> Reduce:
        memory: dict[Any, Any] = {}
        return lambda gathered, divisor: change(reduce(gathered, divisor), memory)

    return Fault.of(reduce=wrap)


def _with_previous(combine: Callable[[Array, Array], Array]) -> Fault:
    """Return `combine(right, previous right output)`, of calls of the same shape and type."""

    def change(right: Array, memory: dict[Any, Any]) -> Array:
        key = (right.shape, right.dtype)
        previous = memory.get(key)
        memory[key] = right
        return right if previous is None else combine(right, previous).astype(right.dtype)

    return _changed(change)


def _added_up(right: Array, memory: dict[Any, Any]) -> Array:
    """Add all outputs of one shape and type up."""
    key = (right.shape, right.dtype)
    with np.errstate(all="ignore"):
        memory[key] = (right + memory.get(key, 0)).astype(right.dtype)
    total: Array = memory[key].copy()
    return total


def _last_unwritten(right: Array, memory: dict[Any, Any]) -> Array:
    """Leave the last columns in memory that holds the output of the previous call."""
    left = np.resize(memory.get("output", np.zeros(1)), right.shape).astype(right.dtype)
    is_left = mask_of(COLUMN, last_of_several)(right.shape)
    memory["output"] = np.where(is_left, left, right)
    output: Array = memory["output"].copy()
    return output


def _as_large_as_first(right: Array, memory: dict[Any, Any]) -> Array:
    """Write no more outputs than the first call had."""
    size = memory.setdefault("size", right.size)
    beyond = np.arange(right.size).reshape(right.shape) >= size
    return np.where(beyond, right.dtype.type(0), right)


def _padding_not_cleared(right_gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
    """Read one cell of padding at each end from what the previous call left in memory."""
    memory: list[Array] = []

    def other(data: Array, params: Params, windows: Windows) -> Gathered:
        right = right_gather(data, params, windows)
        inside = (slice(None), slice(None), *[slice(1, -1)] * len(params.sizes))
        padded = np.zeros([*data.shape[:2], *(d + 2 for d in params.sizes)], data.dtype)
        left = memory.pop().astype(data.dtype) if memory else None
        if left is not None:
            padded[...] = np.resize(left, padded.shape)
        padded[inside] = data
        memory.append(padded)
        if left is None:
            return right
        start, stop = (tuple(end + 1 for end in ends) for ends in (windows.start, windows.stop))
        longer = replace(params, sizes=padded.shape[2:])
        return steps.clip(padded, longer, replace(windows, start=start, stop=stop))

    return other


_LEFT = {
    "first-type-kept": Fault.of(reduce=_in_first_type),
    "first-size-kept": _changed(_as_large_as_first),
    "added-to-previous-output": _with_previous(np.add),
    "maximum-from-previous-output": _with_previous(np.maximum),
    "last-output-left-from-previous-call": _changed(_last_unwritten),
    "gradient-not-cleared": _changed(_added_up),
    "padding-left-from-previous-call": Fault.of(gather=_padding_not_cleared),
}

FAULTS = {name: fault.but(remembers=True) for name, fault in {**_KEPT, **_LEFT}.items()}
