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
from conformance.faults.wraps import remembering
from conformance.operators import pipeline as steps
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array

# Results of earlier calls, found by a key that says too little of a call -------------------------


Memory = dict[Any, Any]


def _first_kept(step: str, key: Callable[..., Any]) -> Fault:
    """Return the first result of a step with the same `key(right result, *arguments)`."""

    def first(memory: Memory, right: Callable[..., Any], *given: Any) -> Any:
        result = right(*given)
        return copy(memory.setdefault(key(result, *given), result))

    return Fault.of(**{step: remembering(first)})


def _numbers(params: Params) -> list[tuple[int, ...]]:
    """Return all that a call says in numbers."""
    p = params
    return [p.sizes, p.kernel, p.strides, p.pads_begin, p.pads_end, p.output]


def _windows_kept(by: Callable[[list[tuple[int, ...]]], Any]) -> Fault:
    """Return the first windows of as many axes, the same words, and numbers that read the same."""

    def key(_right: Windows, params: Params, *_: Any) -> Any:
        return len(params.sizes), params.auto_pad, params.rounding, by(_numbers(params))

    return _first_kept("windows", key)


def _joined(numbers: list[tuple[int, ...]]) -> str:
    """Join numbers without separators: 1 and 12 read like 11 and 2."""
    return "".join(str(number) for each in numbers for number in each)


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
    "first-windows-kept-by-joined-numbers": _windows_kept(_joined),
    "first-windows-kept-by-sorted-numbers": _windows_kept(
        lambda numbers: tuple(tuple(sorted(each)) for each in numbers)
    ),
    "first-windows-kept-by-summed-numbers": _windows_kept(lambda numbers: tuple(map(sum, numbers))),
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


def _in_first_type(memory: Memory, reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Compute in the floating-point type of the first call of the same shape."""
    data = gathered.data
    if is_float(data):
        kind = memory.setdefault(data.shape, name_of(data.dtype))
        data = of_floats(rounded_to(kind).of)(data) if kind != name_of(data.dtype) else data
    return reduce(replace(gathered, data=data), divisor)


def _changed(change: Callable[[Array, Memory], Array]) -> Fault:
    """Change outputs by what earlier calls of a backend left: `change(right output, memory)`."""
    return Fault.of(
        reduce=remembering(lambda memory, reduce, *given: change(reduce(*given), memory))
    )


def _with_previous(combine: Callable[[Array, Array], Array]) -> Fault:
    """Return `combine(right, previous right output)`, of calls of the same shape and type."""

    def change(right: Array, memory: Memory) -> Array:
        key = (right.shape, right.dtype)
        previous = memory.get(key)
        memory[key] = right
        return right if previous is None else combine(right, previous).astype(right.dtype)

    return _changed(change)


def _added_up(right: Array, memory: Memory) -> Array:
    """Add all outputs of one shape and type up."""
    key = (right.shape, right.dtype)
    with np.errstate(all="ignore"):
        memory[key] = (right + memory.get(key, 0)).astype(right.dtype)
    total: Array = memory[key].copy()
    return total


def _last_unwritten(right: Array, memory: Memory) -> Array:
    """Leave the last columns in memory that holds the output of the previous call."""
    left = np.resize(memory.get("output", np.zeros(1)), right.shape).astype(right.dtype)
    is_left = mask_of(COLUMN, last_of_several)(right.shape)
    memory["output"] = np.where(is_left, left, right)
    output: Array = memory["output"].copy()
    return output


def _as_large_as_first(right: Array, memory: Memory) -> Array:
    """Write no more outputs than the first call had."""
    size = memory.setdefault("size", right.size)
    beyond = np.arange(right.size).reshape(right.shape) >= size
    return np.where(beyond, right.dtype.type(0), right)


def _padding_not_cleared(
    memory: Memory,
    gather: Callable[..., Gathered],
    data: Array,
    params: Params,
    windows: Windows,
) -> Gathered:
    """Read one cell of padding at each end from what the previous call left in memory."""
    right = gather(data, params, windows)
    inside = (slice(None), slice(None), *[slice(1, -1)] * len(params.sizes))
    padded = np.zeros([*data.shape[:2], *(d + 2 for d in params.sizes)], data.dtype)
    left = memory.get("padded")
    if left is not None:
        padded[...] = np.resize(left.astype(data.dtype), padded.shape)
    padded[inside] = data
    memory["padded"] = padded
    if left is None:
        return right
    start, stop = (tuple(end + 1 for end in ends) for ends in (windows.start, windows.stop))
    longer = replace(params, sizes=padded.shape[2:])
    return steps.clip(padded, longer, replace(windows, start=start, stop=stop))


_LEFT = {
    "first-type-kept": Fault.of(reduce=remembering(_in_first_type)),
    "first-size-kept": _changed(_as_large_as_first),
    "added-to-previous-output": _with_previous(np.add),
    "maximum-from-previous-output": _with_previous(np.maximum),
    "last-output-left-from-previous-call": _changed(_last_unwritten),
    "gradient-not-cleared": _changed(_added_up),
    "padding-left-from-previous-call": Fault.of(gather=remembering(_padding_not_cleared)),
}

FAULTS = {name: fault.but(remembers=True) for name, fault in {**_KEPT, **_LEFT}.items()}
