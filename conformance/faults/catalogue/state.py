"""Faults that remember: outputs depend on earlier calls."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms.entries import COLUMN
from conformance.faults.atoms.numbers import is_float, of_floats, rounded_to
from conformance.faults.atoms.outputs import entries, last_of_several
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array

# Results of earlier calls, found by a key that says too little of a call -------------------------


def _first_kept(summary: str, step: str, key: Callable[..., Any]) -> Fault:
    """Return the first result of a step with the same `key(right result, *arguments)`."""

    def wrap(right: Callable[..., Any]) -> Callable[..., Any]:
        cache: dict[Any, Any] = {}

        def other(*given: Any) -> Any:
            result = right(*given)
            return copy(cache.setdefault(key(result, *given), result))

        return other

    return Fault.of(summary, **{step: wrap})


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


_KEPT = (
    _first_kept(
        "pads kept from an earlier call of the same kernel and strides",
        "pads",
        lambda _, p: (p.kernel, p.strides),
    ),
    _first_kept(
        "the output size kept from an earlier call that differed in other attributes",
        "extent",
        lambda _, p, _pads: (p.sizes, p.kernel, p.strides, p.output),
    ),
    _first_kept(
        "divisors kept from an earlier call of the same output size",
        "divide",
        lambda right, *_: right.shape,
    ),
    _first_kept(
        "divisors kept from an earlier call that differed only in whether padding counts",
        "divide",
        lambda right, p, pads, _: (right.shape, p.sizes, p.kernel, p.strides, pads),
    ),
    _first_kept(
        "divisors kept from an earlier call that differed only in its pads",
        "divide",
        lambda right, p, *_: (right.shape, p.sizes, p.kernel, p.strides, p.include_pad),
    ),
    _first_kept(
        "windows kept from an earlier call that differed only in how pads are split",
        "windows",
        lambda _, p, _pads, o: (p.sizes, p.kernel, p.strides, o),
    ),
    _first_kept(
        "windows kept from an earlier call whose numbers read the same without separators",
        "windows",
        _joined,
    ),
    _first_kept(
        "windows kept from an earlier call whose sizes and attributes differ in their order alone",
        "windows",
        _sorted,
    ),
    _first_kept(
        "windows kept from an earlier call whose sizes and attributes have the same sums",
        "windows",
        _summed,
    ),
    _first_kept(
        "the output of an earlier call of the same shape returned",
        "reduce",
        lambda right, gathered, _: (gathered.data.shape, right.shape, right.dtype),
    ),
    _first_kept(
        "the output of an earlier call of the same shape and first cell returned",
        "reduce",
        lambda right, gathered, _: (right.shape, right.dtype, gathered.data.flat[0].tobytes()),
    ),
    _first_kept(
        "the output of an earlier call with the same attributes and sum of cells returned",
        "reduce",
        _attributes_and_sum,
    ),
)

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


def _changed(summary: str, change: Callable[[Array, dict[Any, Any]], Array]) -> Fault:
    """Change outputs by what earlier calls of a backend left: `change(right output, memory)`."""

    def wrap(reduce: Reduce) -> Reduce:
        memory: dict[Any, Any] = {}
        return lambda gathered, divisor: change(reduce(gathered, divisor), memory)

    return Fault.of(summary, reduce=wrap)


def _with_previous(summary: str, combine: Callable[[Array, Array], Array]) -> Fault:
    """Return `combine(right, previous right output)`, of calls of the same shape and type."""

    def change(right: Array, memory: dict[Any, Any]) -> Array:
        key = (right.shape, right.dtype)
        previous = memory.get(key)
        memory[key] = right
        return right if previous is None else combine(right, previous).astype(right.dtype)

    return _changed(summary, change)


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
    is_left = entries(COLUMN, last_of_several)(right.shape)
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


_LEFT = (
    Fault.of("cells kept in the type of an earlier call of the same shape", reduce=_in_first_type),
    _changed("no more outputs written than the first call had", _as_large_as_first),
    _with_previous("the output added to that of the previous call", np.add),
    _with_previous("the maximum started from the output of the previous call", np.maximum),
    _changed("the last output of several in a row left from the previous call", _last_unwritten),
    _changed("the gradient of the call before is added, if it has the same shape", _added_up),
    Fault.of(
        "padding next to the input holds what the previous call left there",
        gather=_padding_not_cleared,
    ),
)

FAULTS = tuple(fault.but(remembers=True) for fault in (*_KEPT, *_LEFT))
