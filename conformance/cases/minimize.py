"""The last steps down: a shrunk failure of which no axis, number or attribute can go.

Hypothesis lowers the numbers it drew; where several must change at once, as when an axis goes from
the middle, it may stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.cases.gradients import with_gradient
from conformance.cases.sweep.sweep_model import case_of
from conformance.operators import operator_named, vector_of
from conformance.operators.attributes import PADS, Attribute
from conformance.vector import Array, Case, Values

_SMALLEST = 3
"""The smallest numbers that are tried one by one: halves alone may all be odd, say."""


def polished(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the first case, from one that fails down, of which no simpler one fails."""
    if "invalid" in case.tags:
        return case

    def is_as_good(simpler: Case) -> bool:
        return _rank(simpler) < _rank(case) and _is_defined(simpler) and fails(simpler)

    while (simpler := next(filter(is_as_good, _simpler(case)), None)) is not None:
        case = simpler
    return case


def _is_defined(case: Case) -> bool:
    """Say whether the document defines a case: a kernel may have outgrown what is left of data."""
    return isinstance(vector_of(case).outcomes[0], Values)


def _rank(case: Case) -> tuple[Any, ...]:
    """Return what makes a case less simple, the weightiest first: every step lowers it."""
    operator, data = operator_named(case.operator), case.data
    given = [each for each in operator.attributes if each.key in case.attributes]
    words = [each for each in given if not each.is_list and _is_said(case, each)]
    lists = [_numbers(case, each) for each in given if each.is_list]
    begins, ends = _pads(case)
    extents = [*data.shape, *(n for size in case.own_inputs[1:] for n in size.tolist())]
    plain = [_equal(each, data) for _, each in _plain(data)]
    gradient = case.gradient if case.gradient is not None else data
    plain_gradient = [_equal(each, gradient) for _, each in _plain(gradient)]
    return (
        data.ndim,
        len(words),
        sum(begins) + sum(ends),
        sum(map(sum, lists)) + sum(extents),
        sum(begins),
        len(lists),
        data.dtype != np.float32,
        [*plain, True].index(True),
        [*plain_gradient, True].index(True),
        [*map(list, lists), extents],
    )


def _is_said(case: Case, attribute: Attribute) -> bool:
    """Say whether a word is there that need not be, or is not the plainest one."""
    if not attribute.required or not attribute.values:
        return not attribute.required
    return bool(case.attributes[attribute.key] != attribute.spelled(attribute.meanings[0]))


def _simpler(case: Case) -> Iterator[Case]:
    """Yield cases that may be simpler by one step, the longest steps first."""
    data, rest = case.data, case.own_inputs[1:]
    for name, plain in _plain(data):
        yield replace(_case(case, case.attributes, (plain, *rest)), pattern=name)
    if case.gradient is not None:
        for _, plain in _plain(case.gradient):
            yield _case(case, case.attributes, case.own_inputs, plain)
    yield from _with_fewer_axes(case)
    yield from _with_lower_attributes(case)
    yield from _with_smaller_inputs(case)
    yield from _with_plainer_words(case)
    yield from _with_cells_for_pads(case)
    yield from _with_lower_attributes_and_inputs(case)
    yield from _with_pads_at_ends(case)
    yield from _in_order(case)
    if data.dtype != np.float32:
        with np.errstate(all="ignore"):
            yield _case(case, case.attributes, (data.astype(np.float32), *rest))


def _with_fewer_axes(case: Case) -> Iterator[Case]:
    data, rest = case.data, case.own_inputs[1:]
    axes = data.ndim - 2
    lists = [
        attribute.key for attribute in operator_named(case.operator).attributes if attribute.is_list
    ]
    for axis in range(axes) if axes > 1 else ():
        given = {
            # Pads in one list have an entry for the axis at either end.
            key: [n for i, n in enumerate(value) if i % axes != axis] if key in lists else value
            for key, value in case.attributes.items()
        }
        sizes = tuple(np.delete(size, axis) for size in rest)
        fewer = _case(case, given, (data.take(0, axis=2 + axis), *sizes))
        yield fewer
        yield from _with_longer_windows(fewer)


def _with_longer_windows(case: Case) -> Iterator[Case]:
    """Yield the case with a window and its axis longer by one, for what took two axes to show."""
    data, rest = case.data, case.own_inputs[1:]
    for attribute in operator_named(case.operator).attributes:
        numbers = _numbers(case, attribute) if attribute.role == "kernel" else ()
        for place, number in enumerate(numbers):
            given = {**case.attributes, attribute.key: list(numbers)}
            given[attribute.key][place] = number + 1
            added = [(0, 0)] * data.ndim
            added[2 + place] = (0, 1)
            yield _case(case, given, (np.pad(data, added, mode="edge"), *rest))


def _with_lower_attributes(case: Case) -> Iterator[Case]:
    given = dict(case.attributes)
    for attribute in operator_named(case.operator).attributes:
        if not attribute.required and attribute.key in given:
            yield _case(
                case, {k: v for k, v in given.items() if k != attribute.key}, case.own_inputs
            )
    for lowered, _, _ in _lowered(case):
        yield _case(case, lowered, case.own_inputs)


def _with_lower_attributes_and_inputs(case: Case) -> Iterator[Case]:
    """Yield the case with a number, or a size, and the extent of its axis lower by as much."""
    data, rest = case.data, case.own_inputs[1:]
    for lowered, axis, fewer in _lowered(case):
        if fewer < data.shape[axis]:
            part = np.ascontiguousarray(data.take(range(data.shape[axis] - fewer), axis=axis))
            yield _case(case, lowered, (part, *rest))
    for size in rest:
        for place, extent in enumerate(data.shape[2:]):
            for fewer in _lower(extent, 1):
                changed = size.copy()
                changed[place] -= extent - fewer
                if changed[place] >= 1:
                    part = np.ascontiguousarray(data.take(range(fewer), axis=2 + place))
                    yield _case(case, case.attributes, (part, changed))


def _lowered(case: Case) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield attributes with one number lower, the axis of the data it is for, and by how much."""
    axes = case.data.ndim - 2
    for attribute in operator_named(case.operator).attributes:
        numbers = _numbers(case, attribute)
        for place, number in enumerate(numbers):
            for lower in _lower(number, attribute.least):
                changed = [*numbers[:place], lower, *numbers[place + 1 :]]
                given = {**case.attributes, attribute.key: changed}
                yield given, 2 + place % axes, number - lower


def _with_smaller_inputs(case: Case) -> Iterator[Case]:
    data, rest = case.data, case.own_inputs[1:]
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


def _with_plainer_words(case: Case) -> Iterator[Case]:
    """Yield the case with a word at its plainest, where other data or pads may be needed."""
    operator, (data, *rest) = operator_named(case.operator), case.own_inputs
    for attribute in operator.attributes:
        if attribute.values and attribute.key in case.attributes and _is_said(case, attribute):
            plainer = {k: v for k, v in case.attributes.items() if k != attribute.key}
            if attribute.required:
                plainer[attribute.key] = attribute.spelled(attribute.meanings[0])
            ways = [plainer]
            if attribute.role == "auto_pad":
                pads = operator.pipeline.pads(operator.translate(data.shape[2:], case.attributes))
                ways.append(_padded(case, plainer, *zip(*pads, strict=True)))
            for given in ways:
                for cells in (data, *(plain for _, plain in _plain(data))):
                    yield _case(case, given, (cells, *rest))


def _with_cells_for_pads(case: Case) -> Iterator[Case]:
    """Yield the case with cells of the input in place of the padding at one end of an axis."""
    data = case.data
    for attribute in operator_named(case.operator).attributes:
        if attribute.role in PADS:
            numbers = _numbers(case, attribute)
            for place, number in enumerate(numbers):
                if number:
                    fewer = [*numbers[:place], 0, *numbers[place + 1 :]]
                    added = [(0, 0)] * data.ndim
                    added[2 + place % (data.ndim - 2)] = (0, number)
                    for _, longer in _plain(np.pad(data, added)):
                        yield _case(case, {**case.attributes, attribute.key: fewer}, (longer,))


def _with_pads_at_ends(case: Case) -> Iterator[Case]:
    """Yield the case with the padding at one begin at the end of an axis instead."""
    begins, ends = _pads(case)
    for place, number in enumerate(begins):
        for other, end in enumerate(ends) if number else ():
            fewer = [*begins[:place], 0, *begins[place + 1 :]]
            more = [*ends[:other], end + number, *ends[other + 1 :]]
            yield _case(case, _padded(case, case.attributes, fewer, more), case.own_inputs)


def _in_order(case: Case) -> Iterator[Case]:
    """Yield the case with the numbers of one attribute, or the sizes, in ascending order."""
    data, rest = case.data, case.own_inputs[1:]
    for attribute in operator_named(case.operator).attributes:
        numbers = _numbers(case, attribute)
        if list(numbers) != sorted(numbers):
            given = {**case.attributes, attribute.key: sorted(numbers)}
            yield _case(case, given, case.own_inputs)
    sizes = data.shape[2:]
    if list(sizes) != sorted(sizes):
        yield _case(case, case.attributes, (data.reshape(*data.shape[:2], *sorted(sizes)), *rest))


def _numbers(case: Case, attribute: Attribute) -> Sequence[int]:
    """Return the numbers of an attribute, none where it is absent or holds something else."""
    if not attribute.is_list:
        return ()
    numbers: Sequence[int] = case.attributes.get(attribute.key, ())
    return numbers


def _pads(case: Case) -> tuple[Sequence[int], Sequence[int]]:
    """Return the pads that are given, at the begin and at the end of each axis."""
    fields: dict[str, Sequence[int]] = {}
    for attribute in operator_named(case.operator).attributes:
        fields |= attribute.by_role(_numbers(case, attribute))
    none = [0] * (case.data.ndim - 2)
    return fields.get("pads_begin") or none, fields.get("pads_end") or none


def _padded(
    case: Case, given: Mapping[str, Any], begins: Sequence[int], ends: Sequence[int]
) -> dict[str, Any]:
    """Return attributes with other pads."""
    pads = {"pads_begin": begins, "pads_end": ends}
    return {**given, **operator_named(case.operator).attributes_of(pads)}


def _lower(number: int, least: int) -> Iterator[int]:
    """Yield the smallest numbers there may be, then half as far from the number each time."""
    few = min(number, least + _SMALLEST)
    yield from range(least, few)
    below = number - few
    while below > 0:
        yield number - below
        below //= 2


def _plain(data: Array) -> Iterator[tuple[str, Array]]:
    """Yield data of the same shape, the plainest first, with a name each."""
    yield "zeros", np.zeros_like(data)
    yield "ones", np.ones_like(data)
    if data.size < 100:
        yield "index", np.arange(1, data.size + 1).reshape(data.shape).astype(data.dtype)
    with np.errstate(all="ignore"):
        yield "signs", np.sign(data)
        yield "whole", np.rint(data).astype(data.dtype)


def _equal(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _case(
    case: Case,
    given: Mapping[str, Any],
    own_inputs: tuple[Array, ...],
    gradient: Array | None = None,
) -> Case:
    """Return the case with other attributes and inputs, and a gradient that fits them."""
    gradient = case.gradient if gradient is None else gradient
    inputs = with_gradient(operator_named(case.operator), gradient, own_inputs, given)
    return case_of(case.operator, given, inputs, pattern=case.pattern)
