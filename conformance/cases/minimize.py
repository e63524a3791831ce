"""The last steps down: a shrunk failure of which no axis, number or attribute can go.

Hypothesis lowers the numbers it drew; where several must change at once, as when an axis goes from
the middle, it may stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from conformance.cases.gradients import with_gradient
from conformance.cases.sweep.draft import PLANES, Draft, Place, draft_of
from conformance.cases.sweep.sweep_model import case_of, has_one_answer
from conformance.errors import InvalidCase
from conformance.operators import vector_of
from conformance.operators.attributes import PADS, Attribute
from conformance.operators.axis import sizes
from conformance.vector import Array, Case, Values

_SMALLEST = 3
"""The smallest numbers that are tried one by one: halves alone may all be odd, say."""

_Drafts = Iterator[tuple[Draft, Array]]
"""Drafts with data, which are cut, or repeated at the end, where the draft has other sizes."""


def polished(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the first case, from one that fails down, of which no simpler one fails."""
    if "invalid" in case.tags or not _rank(case):
        return case

    def is_as_good(simpler: Case) -> bool:
        return () < _rank(simpler) < _rank(case) and _is_defined(simpler) and fails(simpler)

    while (simpler := next(filter(is_as_good, _simpler(case)), None)) is not None:
        case = simpler
    return case


def _is_defined(case: Case) -> bool:
    """Say whether the document defines a case: a kernel may have outgrown what is left of data."""
    return isinstance(vector_of(case).outcomes[0], Values) and has_one_answer(case)


def _rank(case: Case) -> tuple[Any, ...]:
    """Return what makes a case less simple, the weightiest first: every step lowers it.

    Nothing of a case that is not valid: a step may leave an axis that indices count from.
    """
    try:
        draft, data = draft_of(case), case.data
    except InvalidCase:
        return ()
    words = [each for each in _given(draft) if not each.is_list and _is_said(draft, each)]
    lists = [
        [draft.at(place) for place in draft.places_of(each)]
        for each in _given(draft)
        if each.is_list
    ]
    begins = sum(axis.pads_begin for axis in draft.axes)
    sizes = case.own_inputs[1:] if draft.operator.takes_output_size else ()
    extents = [*data.shape, *(n for size in sizes for n in size.tolist())]
    plain = [_equal(each, data) for _, each in _plain(data)]
    gradient = case.gradient if case.gradient is not None else data
    plain_gradient = [_equal(each, gradient) for _, each in _plain(gradient)]
    return (
        data.ndim,
        len(words),
        begins + sum(axis.pads_end for axis in draft.axes),
        sum(map(sum, lists)) + sum(extents),
        begins,
        len(lists),
        data.dtype != np.float32,
        [*plain, True].index(True),
        [*plain_gradient, True].index(True),
        [*lists, extents],
    )


def _given(draft: Draft) -> list[Attribute]:
    return [each for each in draft.operator.attributes if each.key in draft.given]


def _is_said(draft: Draft, attribute: Attribute) -> bool:
    """Say whether a word is there that need not be, or is not the plainest one."""
    if not attribute.required or not attribute.values:
        return not attribute.required
    return bool(draft.words[attribute.role] != attribute.meanings[0])


def _simpler(case: Case) -> Iterator[Case]:
    """Yield cases that may be simpler by one step, the longest steps first."""
    draft, data = draft_of(case), case.data
    for name, plain in _plain(data):
        yield replace(_made(case, draft, plain), pattern=name)
    if case.gradient is not None:
        for _, plain in _plain(case.gradient):
            yield _made(case, draft, data, plain)
    for fewer, cells in _with_fewer_axes(draft, data):
        of_fewer_axes = _made(case, fewer, cells)
        yield of_fewer_axes
        for longer, same in _with_longer_windows(fewer, cells):
            yield _made(of_fewer_axes, longer, same)
    steps = (
        _with_lower_attributes,
        _with_smaller_inputs,
        _with_plainer_words,
        _with_cells_for_pads,
        _with_lower_attributes_and_inputs,
        _with_pads_at_ends,
        _in_order,
    )
    for changed, cells in chain.from_iterable(step(draft, data) for step in steps):
        yield _made(case, changed, cells)
    if data.dtype != np.float32:
        with np.errstate(all="ignore"):
            yield _made(case, draft, data.astype(np.float32))


def _made(case: Case, draft: Draft, data: Array, gradient: Array | None = None) -> Case:
    """Return the case of a draft with data that are made to fit, and so is the gradient."""
    kept = data[tuple(map(slice, draft.shape))]
    more = [(0, size - now) for size, now in zip(draft.shape, kept.shape, strict=True)]
    spec = draft.spec()
    own = spec.own_inputs(np.pad(kept, more, mode="edge"))
    gradient = case.gradient if gradient is None else gradient
    inputs = with_gradient(draft.operator, gradient, own, spec.attributes)
    return case_of(case.operator, spec.attributes, inputs, pattern=case.pattern)


def _with_fewer_axes(draft: Draft, data: Array) -> _Drafts:
    axes = draft.axes
    for place in range(len(axes)) if len(axes) > 1 else ():
        fewer = replace(draft, axes=(*axes[:place], *axes[place + 1 :]))
        cells = data.take(0, axis=2 + place)
        yield fewer, cells


def _with_longer_windows(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with a window and its axis longer by one, for what took two axes to show."""
    for attribute in _given(draft):
        for place in draft.places_of(attribute) if attribute.role == "kernel" else ():
            yield draft.put({place: draft.at(place) + 1} | _longer(draft, place.axis, 1)), data


def _longer(draft: Draft, axis: int, more: int) -> dict[Place, int]:
    return {Place("size", axis): draft.axes[axis].size + more}


def _with_lower_attributes(draft: Draft, data: Array) -> _Drafts:
    for attribute in _given(draft):
        if not attribute.required:
            yield draft.without(attribute), data
    for place, lower in _lowered(draft):
        yield draft.put({place: lower}), data


def _lowered(draft: Draft) -> Iterator[tuple[Place, int]]:
    """Yield the place of each number of an attribute, and what is lower."""
    for attribute in _given(draft):
        for place in draft.places_of(attribute):
            for lower in _lower(draft.at(place), attribute.least):
                yield place, lower


def _with_lower_attributes_and_inputs(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with a number, or a size, and the extent of its axis lower by as much."""
    for place, lower in _lowered(draft):
        fewer = draft.at(place) - lower
        if fewer < draft.axes[place.axis].size:
            yield draft.put({place: lower} | _longer(draft, place.axis, -fewer)), data
    for place in draft.places("output") if draft.operator.is_adaptive else ():
        size = draft.axes[place.axis].size
        for lower in _lower(size, 1):
            output = draft.at(place) - (size - lower)
            if output >= 1:
                yield draft.put({place: output, Place("size", place.axis): lower}), data


def _with_smaller_inputs(draft: Draft, data: Array) -> _Drafts:
    outputs = draft.places("output") if draft.operator.is_adaptive else []
    for place in (*PLANES, *draft.places("size"), *outputs):
        for fewer in _lower(draft.at(place), 1):
            yield draft.put({place: fewer}), data


def _with_plainer_words(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with a word at its plainest, where other data or pads may be needed."""
    for attribute in _given(draft):
        if attribute.values and _is_said(draft, attribute):
            plainer = draft.without(attribute)
            if attribute.required:
                plainer = draft.with_word(attribute.role, attribute.meanings[0])
            ways = [plainer]
            if attribute.role == "auto_pad":
                ways.append(_with_pads_of(draft, plainer))
            for way in ways:
                for cells in (data, *(plain for _, plain in _plain(data))):
                    yield way, cells


def _with_pads_of(draft: Draft, other: Draft) -> Draft:
    """Return another draft with the pads that come about in one, given on each axis."""
    operator = draft.operator
    params = operator.translate(sizes(draft.axes), draft.attributes)
    pads = chain(*zip(*operator.pipeline.pads(params), strict=True))
    for attribute in operator.attributes:
        other = other.saying(attribute) if attribute.role in PADS else other
    return other.put(dict(zip(draft.places("pads_begin", "pads_end"), pads, strict=True)))


def _with_cells_for_pads(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with cells of the input in place of the padding at one end of an axis."""
    for attribute in _given(draft):
        for place in draft.places_of(attribute) if attribute.role in PADS else ():
            number = draft.at(place)
            if number:
                changed = draft.put({place: 0} | _longer(draft, place.axis, number))
                added = [(0, 0)] * data.ndim
                added[2 + place.axis] = (0, number)
                yield from ((changed, longer) for _, longer in _plain(np.pad(data, added)))


def _with_pads_at_ends(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with the padding at one begin at the end of an axis instead."""
    for begin in draft.places("pads_begin"):
        number = draft.at(begin)
        for end in draft.places("pads_end") if number else ():
            yield draft.put({begin: 0, end: draft.at(end) + number}), data


def _in_order(draft: Draft, data: Array) -> _Drafts:
    """Yield the case with the numbers of one attribute, or the sizes, in ascending order."""
    lists = [draft.places_of(attribute) for attribute in _given(draft)]
    for places in (*lists, draft.places("size")):
        numbers = [draft.at(place) for place in places]
        if numbers != sorted(numbers):
            ordered = draft.put(dict(zip(places, sorted(numbers), strict=True)))
            yield ordered, data.reshape(ordered.shape)


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
