"""The last steps down: a shrunk failure of which no axis, number or attribute can go.

Hypothesis lowers the numbers it drew; where several must change at once, as when an axis goes from
the middle, it may stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from conformance.operators import operator_named
from conformance.sweep.model import case_of
from conformance.vector import Array, Case


def polished(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the first case, from one that fails down, of which no simpler one fails."""
    if "invalid" in case.tags:
        return case
    while (simpler := next(filter(fails, _simpler(case)), None)) is not None:
        case = simpler
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """Yield the cases that are simpler by one step, the longest steps first."""
    yield from _with_fewer_axes(case)
    yield from _with_lower_attributes(case)
    yield from _with_smaller_inputs(case)
    for name, plain in _plain(case.inputs[0]):
        if np.array_equal(plain, case.inputs[0]):
            return
        inputs = (plain, *case.inputs[1:])
        yield case_of(case.operator, case.attributes, inputs, pattern=name)


def _with_fewer_axes(case: Case) -> Iterator[Case]:
    data, rest = case.inputs[0], case.inputs[1:]
    for axis in range(data.ndim - 2) if data.ndim > 3 else ():
        given = {
            key: value[:axis] + value[axis + 1 :] if isinstance(value, list) else value
            for key, value in case.attributes.items()
        }
        sizes = tuple(np.delete(size, axis) for size in rest)
        yield _case(case, given, (data.take(0, axis=2 + axis), *sizes))


def _with_lower_attributes(case: Case) -> Iterator[Case]:
    given = dict(case.attributes)
    for attribute in operator_named(case.operator).attributes:
        if not attribute.required and attribute.key in given:
            yield _case(case, {k: v for k, v in given.items() if k != attribute.key}, case.inputs)
        numbers = given.get(attribute.key, ()) if attribute.kind == "ints" else ()
        for place, number in enumerate(numbers):
            if number > attribute.least:
                lower = [*numbers[:place], number - 1, *numbers[place + 1 :]]
                yield _case(case, {**given, attribute.key: lower}, case.inputs)


def _with_smaller_inputs(case: Case) -> Iterator[Case]:
    data, rest = case.inputs[0], case.inputs[1:]
    for axis, extent in enumerate(data.shape):
        if extent > 1:
            fewer = data.take(range(extent - 1), axis=axis)
            yield _case(case, case.attributes, (fewer, *rest))
    for size in rest:
        for place in np.flatnonzero(size > 1).tolist():
            lower = size.copy()
            lower[place] -= 1
            yield _case(case, case.attributes, (data, lower))


def _plain(data: Array) -> Iterator[tuple[str, Array]]:
    yield "zeros", np.zeros_like(data)
    yield "ones", np.ones_like(data)
    if data.size < 100:
        yield "index", np.arange(1, prod(data.shape) + 1).reshape(data.shape).astype(data.dtype)


def _case(case: Case, given: Mapping[str, Any], inputs: tuple[Array, ...]) -> Case:
    return case_of(case.operator, given, inputs, pattern=case.pattern)
