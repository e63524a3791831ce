"""The last steps down: a shrunk failure of which no axis, number or attribute can go.

Hypothesis lowers the numbers it drew; where several must change at once, as when an axis goes from
the middle, it may stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.operators import operator_named, vector_of
from conformance.operators.attributes import Attribute
from conformance.sweep.model import case_of
from conformance.vector import Array, Case

_SMALLEST = 3
"""The smallest numbers that are tried one by one: halves alone may all be odd, say."""


def polished(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the first case, from one that fails down, of which no simpler one fails."""
    if "invalid" in case.tags:
        return case

    def is_as_good(simpler: Case) -> bool:
        return _is_defined(simpler) and fails(simpler)

    while (simpler := next(filter(is_as_good, _simpler(case)), None)) is not None:
        case = simpler
    return case


def _is_defined(case: Case) -> bool:
    """Say whether the document defines a case: a kernel may have outgrown what is left of data."""
    return vector_of(case).outcomes[0].kind == "values"


def _simpler(case: Case) -> Iterator[Case]:
    """Yield the cases that are simpler by one step, the longest steps first."""
    data, rest = case.inputs[0], case.inputs[1:]
    for name, plain in _plain(data):
        if _equal(plain, data):
            break
        yield case_of(case.operator, case.attributes, (plain, *rest), pattern=name)
    yield from _with_fewer_axes(case)
    yield from _with_lower_attributes(case)
    yield from _with_smaller_inputs(case)
    yield from _in_order(case)
    if data.dtype != np.float32:
        with np.errstate(all="ignore"):
            yield _case(case, case.attributes, (data.astype(np.float32), *rest))


def _with_fewer_axes(case: Case) -> Iterator[Case]:
    data, rest = case.inputs[0], case.inputs[1:]
    axes = data.ndim - 2
    lists = [each.key for each in operator_named(case.operator).attributes if each.is_list]
    for axis in range(axes) if axes > 1 else ():
        given = {
            # Pads in one list have an entry for the axis at either end.
            key: [n for i, n in enumerate(value) if i % axes != axis] if key in lists else value
            for key, value in case.attributes.items()
        }
        sizes = tuple(np.delete(size, axis) for size in rest)
        yield _case(case, given, (data.take(0, axis=2 + axis), *sizes))


def _with_lower_attributes(case: Case) -> Iterator[Case]:
    given = dict(case.attributes)
    for attribute in operator_named(case.operator).attributes:
        if not attribute.required and attribute.key in given:
            yield _case(case, {k: v for k, v in given.items() if k != attribute.key}, case.inputs)
        numbers = _numbers(case, attribute)
        for place, number in enumerate(numbers):
            for lower in _lower(number, attribute.least):
                changed = [*numbers[:place], lower, *numbers[place + 1 :]]
                yield _case(case, {**given, attribute.key: changed}, case.inputs)


def _with_smaller_inputs(case: Case) -> Iterator[Case]:
    data, rest = case.inputs[0], case.inputs[1:]
    for axis, extent in enumerate(data.shape):
        for fewer in _lower(extent, 1):
            part = np.ascontiguousarray(data.take(range(fewer), axis=axis))
            yield _case(case, case.attributes, (part, *rest))
    for size in rest:
        for place, extent in enumerate(size.tolist()):
            for fewer in _lower(extent, 1):
                changed = size.copy()
                changed[place] = fewer
                yield _case(case, case.attributes, (data, changed))


def _in_order(case: Case) -> Iterator[Case]:
    """Yield the case with the numbers of one attribute, or the sizes, in ascending order."""
    data, rest = case.inputs[0], case.inputs[1:]
    for attribute in operator_named(case.operator).attributes:
        numbers = _numbers(case, attribute)
        if list(numbers) != sorted(numbers):
            given = {**case.attributes, attribute.key: sorted(numbers)}
            yield _case(case, given, case.inputs)
    sizes = data.shape[2:]
    if list(sizes) != sorted(sizes):
        yield _case(case, case.attributes, (data.reshape(*data.shape[:2], *sorted(sizes)), *rest))


def _numbers(case: Case, attribute: Attribute) -> Sequence[int]:
    """Return the numbers of an attribute, none where it is absent or holds something else."""
    if not attribute.is_list:
        return ()
    numbers: Sequence[int] = case.attributes.get(attribute.key, ())
    return numbers


def _lower(number: int, least: int) -> Iterator[int]:
    """Yield the smallest numbers there may be, then half as far from the number each time."""
    few = min(number, least + _SMALLEST)
    yield from range(least, few)
    below = number - few
    while below > 0:
        yield number - below
        below //= 2


def _plain(data: Array) -> Iterator[tuple[str, Array]]:
    yield "zeros", np.zeros_like(data)
    yield "ones", np.ones_like(data)
    if data.size < 100:
        yield "index", np.arange(1, data.size + 1).reshape(data.shape).astype(data.dtype)


def _equal(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _case(case: Case, given: Mapping[str, Any], inputs: tuple[Array, ...]) -> Case:
    return case_of(case.operator, given, inputs, pattern=case.pattern)
