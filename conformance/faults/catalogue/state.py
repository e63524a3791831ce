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
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.behaviour import (
    APART,
    BORDERED,
    EVERY,
    INCLUDING,
    MAXIMUM,
    PADDED,
    SPREAD,
    WINDOWED,
    Behaviour,
    Faults,
    Replaces,
)
from conformance.faults.catalogue.values import Mask, entries
from conformance.operators import pipeline as steps
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array


def _kept(summary: str, needs: Needs, replaces: Replaces) -> Behaviour:
    return Behaviour(summary, needs, replaces, remembers=True)


# Results of earlier calls, found by a key that says too little of a call -------------------------


def _first_kept(step: str, key: Callable[..., Any]) -> Replaces:
    """Return the first result of a step with the same `key(right result, *arguments)`."""

    def wrap(right: Callable[..., Any]) -> Callable[..., Any]:
        cache: dict[Any, Any] = {}

        def other(*given: Any) -> Any:
            result = right(*given)
            return copy(cache.setdefault(key(result, *given), result))

        return other

    return {step: wrap}


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


def _in_first_type(reduce: Reduce) -> Reduce:
    """Compute in the floating-point type of the first call of the same shape."""
    first: dict[Any, str] = {}

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        if is_float(data):
            kind = first.setdefault(data.shape, name_of(data.dtype))
            data = of_floats(rounded_to(kind))(data) if kind != name_of(data.dtype) else data
        return reduce(replace(gathered, data=data), divisor)

    return other


# Memory of earlier calls -------------------------------------------------------------------------


def _with_previous(combine: Callable[[Array, Array], Array]) -> StepWrap:
    """Return `combine(right, previous right output)`, of calls of the same shape and type."""

    def wrap(reduce: Reduce) -> Reduce:
        previous: dict[Any, Array] = {}

        def other(gathered: Gathered, divisor: Divisor) -> Array:
            right = reduce(gathered, divisor)
            key = (right.shape, right.dtype)
            combined = combine(right, previous[key]) if key in previous else right
            previous[key] = right
            return combined.astype(right.dtype)

        return other

    return wrap


def _left_in_memory(mask: Mask) -> Replaces:
    """Leave outputs unwritten, in memory that holds the output of the previous call."""

    def wrap(reduce: Reduce) -> Reduce:
        memory = [np.zeros(1)]

        def other(gathered: Gathered, divisor: Divisor) -> Array:
            right = reduce(gathered, divisor)
            left = np.resize(memory[-1], right.shape).astype(right.dtype)
            memory[-1] = np.where(mask(right.shape), left, right)
            return memory[-1].copy()

        return other

    return {"reduce": wrap}


def _as_large_as_first(reduce: Reduce) -> Reduce:
    """Write no more outputs than the first call had."""
    sizes: list[int] = []

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        sizes.append(right.size)
        beyond = np.arange(right.size).reshape(right.shape) >= sizes[0]
        return np.where(beyond, right.dtype.type(0), right)

    return other


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


FAULTS: Faults = {
    "first-pads-kept": _kept(
        "pads kept from an earlier call of the same kernel and strides",
        PADDED,
        _first_kept("pads", lambda _, p: (p.kernel, p.strides)),
    ),
    "first-extent-kept": _kept(
        "the output size kept from an earlier call that differed in other attributes",
        WINDOWED & Needs(some=("pads_begin", "auto_pad", "rounding")),
        _first_kept("extent", lambda _, p, _pads: (p.sizes, p.kernel, p.strides, p.output)),
    ),
    "first-divisor-kept": _kept(
        "divisors kept from an earlier call of the same output size",
        INCLUDING,
        _first_kept("divide", lambda right, *_: right.shape),
    ),
    "first-divisor-kept-without-flag": _kept(
        "divisors kept from an earlier call that differed only in whether padding counts",
        INCLUDING,
        _first_kept(
            "divide", lambda right, p, pads, _: (right.shape, p.sizes, p.kernel, p.strides, pads)
        ),
    ),
    "first-divisor-kept-without-pads": _kept(
        "divisors kept from an earlier call that differed only in its pads",
        INCLUDING & PADDED,
        _first_kept(
            "divide",
            lambda right, p, *_: (right.shape, p.sizes, p.kernel, p.strides, p.include_pad),
        ),
    ),
    "first-windows-kept-without-pads": _kept(
        "windows kept from an earlier call that differed only in how pads are split",
        BORDERED & APART & PADDED,
        _first_kept("windows", lambda _, p, _pads, o: (p.sizes, p.kernel, p.strides, o)),
    ),
    **{
        f"first-windows-kept-by-{name}": _kept(
            f"windows kept from an earlier call {words}", EVERY, _first_kept("windows", key)
        )
        for name, words, key in (
            ("joined-numbers", "whose numbers read the same without separators", _joined),
            ("sorted-numbers", "whose sizes and attributes differ in their order alone", _sorted),
            ("summed-numbers", "whose sizes and attributes have the same sums", _summed),
        )
    },
    "first-type-kept": _kept(
        "cells kept in the type of an earlier call of the same shape",
        Needs(dtypes=("float16",)),
        {"reduce": _in_first_type},
    ),
    "first-size-kept": _kept(
        "no more outputs written than the first call had", EVERY, {"reduce": _as_large_as_first}
    ),
    "added-to-previous-output": _kept(
        "the output added to that of the previous call", EVERY, {"reduce": _with_previous(np.add)}
    ),
    "maximum-from-previous-output": _kept(
        "the maximum started from the output of the previous call",
        MAXIMUM,
        {"reduce": _with_previous(np.maximum)},
    ),
    "first-output-kept": _kept(
        "the output of an earlier call of the same shape returned",
        EVERY,
        _first_kept(
            "reduce", lambda right, gathered, _: (gathered.data.shape, right.shape, right.dtype)
        ),
    ),
    "first-output-kept-by-first-cell": _kept(
        "the output of an earlier call of the same shape and first cell returned",
        EVERY,
        _first_kept(
            "reduce",
            lambda right, gathered, _: (right.shape, right.dtype, gathered.data.flat[0].tobytes()),
        ),
    ),
    "first-output-kept-by-sum": _kept(
        "the output of an earlier call with the same attributes and sum of cells returned",
        EVERY,
        _first_kept(
            "reduce",
            lambda right, gathered, _: (
                *_numbers(gathered.params),
                *(right.shape, right.dtype, gathered.params.exponent),
                int(gathered.data.view(f"u{right.itemsize}").sum(dtype=np.uint64)),
            ),
        ),
    ),
    "last-output-left-from-previous-call": _kept(
        "the last output of several in a row left from the previous call",
        SPREAD,
        _left_in_memory(entries(COLUMN, lambda number, count: (number == count - 1) & (count > 1))),
    ),
    "padding-left-from-previous-call": _kept(
        "padding next to the input holds what the previous call left there",
        BORDERED,
        {"gather": _padding_not_cleared},
    ),
}
