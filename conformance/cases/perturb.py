"""Cases near a given one: valid, made fast, with data that tell one cell from another.

Whoever supposes what is wrong with a backend asks it hundreds of held-out cases. These differ from
one that is known in a few numbers or words, or in one number that is to be a given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conformance.batch import MAX_RANK
from conformance.cases.gradients import with_gradient
from conformance.cases.sweep.draft import PLANES, Draft, Place, draft_of
from conformance.cases.sweep.levels import scalar_values, types
from conformance.cases.sweep.sweep_model import case_of, has_one_answer
from conformance.dtypes import FLOATS, dtype_of, float_format, name_of
from conformance.errors import InvalidCase
from conformance.operators import operator_named
from conformance.operators.attributes import NUMBERS, SCALARS, WORDS, Attribute
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.operators.windows import ceil_div
from conformance.reference.rounding import widen
from conformance.vector import Array, Case

_LADDER = (*range(1, 10), 12, *(2**n + more for n in (4, 5, 6, 7, 8) for more in (-1, 0, 1)))
_STEPS = (-4, -3, -2, -1, 1, 2, 3, 4)
_FEW = 4
"""Numbers of small cases go up to this, as a rule."""
_CELLS = 2048
_MOST_CELLS = 1 << 18
_LEAST: Mapping[str, int] = {"pads_begin": 0, "pads_end": 0}
_ANOTHER = Axis(3, kernel=2, output=2)
"""An axis that a case may get."""


class Feature(NamedTuple):
    """A number or word of a case.

    `name` is batch, channels, dtype, rank, one of `draft.AXIS_NUMBERS`, the role of a word, or one
    of cells (of a window), outputs (of a plane), all_outputs. `axis` counts spatial axes from the
    last, which is 1, or from the first, which is -1; 0 for what is of no single axis, or of all.
    """

    name: str
    axis: int = 0


def near(case: Case, rng: np.random.Generator) -> Case | None:
    """Return a case with one to three numbers, words or traits of the data changed at random.

    The data are new: their cells tell where a value comes from, or they are the old ones in
    another shape. None where the case is not valid, or what comes out of it is not.
    """
    draft = _draft_of(case)
    if draft is None:
        return None
    cells = max(_CELLS, case.data.size)
    for _ in range(int(rng.integers(1, 4))):
        draft = _CHANGES[int(rng.integers(len(_CHANGES)))](draft, rng)
    draft = _fit(_shrunk(_fit(draft), cells, rng))
    if _size(draft) > 4 * cells:
        return None
    return _made(case, draft, lambda draft: _data(case.data, draft, rng))


def at(case: Case, feature: Feature, value: Any) -> Case | None:
    """Return the case with one feature set to a value, and data that name their cell.

    NaN and infinities stay where the case has them: on these may depend what it shows. Input sizes
    grow where a window would not fit otherwise. None where the operator or the case has no such
    feature, or the case would not be valid or far too large.
    """
    draft = _draft_of(case)
    draft = None if draft is None else _set(draft, feature, value)
    if draft is None:
        return None
    draft = _fit(draft)
    if _size(draft) > max(_MOST_CELLS, case.data.size):
        return None
    rng = np.random.default_rng(prod(draft.shape))
    return _made(case, draft, lambda draft: _named_but_for_odd(case.data, draft, rng))


def named(case: Case, rng: np.random.Generator) -> Case | None:
    """Return the case with data that name their cell, if it is valid."""
    draft = _draft_of(case)
    return None if draft is None else _made(case, draft, lambda draft: _named_cells(draft, rng))


def named_cells(shape: Sequence[int], dtype: str, rng: np.random.Generator, span: int) -> Array:
    """Return integers 1 to `span` in random order, all different as far as there are enough."""
    count = prod(shape)
    return (rng.permutation(count) % span + 1).reshape(shape).astype(dtype_of(dtype))


def words_of(case: Case) -> dict[str, Any]:
    """Return what of a case is one of a few: operator, dtype, and the meaning of each word."""
    draft = _draft_of(case)
    words = {} if draft is None else draft.words
    return {**words, "operator": case.operator, "dtype": name_of(case.data.dtype)}


def other_words(operator: Operator, axes: int) -> Iterator[tuple[str, Any]]:
    """Yield each value that each word of an operator may have, and each type of its data."""
    yield from (("dtype", name) for name in types(operator))
    for attribute in _words_of(operator):
        values = dict.fromkeys(_values(attribute, axes))
        yield from ((attribute.role, value) for value in values)


def with_word(case: Case, name: str, value: Any) -> Case | None:
    """Return the case with another word, type or operator; None where that is not valid."""
    if name == "operator":
        return called_on(case, operator_named(value))
    known = other_words(operator_named(case.operator), case.data.ndim - 2)
    return at(case, Feature(name), value) if (name, value) in known else None


def called_on(case: Case, operator: Operator) -> Case | None:
    """Return the case as a call of another operator, with the numbers and words that it knows.

    A window without a kernel is the whole plane. None where one of the two is adaptive or a
    gradient and the other is not, or where the call would not be valid.
    """
    draft = _draft_of(case)
    if draft is None or _manner(draft.operator) != _manner(operator):
        return None
    axes = draft.axes
    if not draft.operator.has_windows:
        axes = tuple(axis._replace(kernel=axis.size) for axis in axes)
    words: dict[str, Any] = {each.role: _word_of(each, draft) for each in _words_of(operator)}
    required = dict.fromkeys(each.key for each in operator.attributes if each.required)
    said = tuple(axis.said(operator) for axis in axes)
    call = replace(draft, operator=operator, axes=said, words=words, given=required)
    return _made(case, call, lambda _: case.data)


def _manner(operator: Operator) -> tuple[bool, ...]:
    return operator.is_gradient, operator.is_adaptive, operator.scatters


def _words_of(operator: Operator) -> list[Attribute]:
    return [each for each in operator.attributes if each.role in {*WORDS, *SCALARS}]


def _word_of(attribute: Attribute, draft: Draft) -> Any:
    """Return the word of a draft that an attribute knows, else one that it may be."""
    default, *_ = _values(attribute, len(draft.axes))
    word = draft.words.get(attribute.role, default)
    return default if attribute.meanings and word not in attribute.meanings else word


def _values(attribute: Attribute, axes: int) -> tuple[Any, ...]:
    """Return what a word may mean, or some integers that a scalar may be."""
    return attribute.meanings or scalar_values(attribute, axes)


def _draft_of(case: Case) -> Draft | None:
    """Return the draft of a case; None where the case is not valid, or holds nothing."""
    axes = case.data.ndim - 2
    is_valid = operator_named(case.operator).takes_axes(axes) and "invalid" not in case.tags
    if not is_valid or 0 in case.data.shape:
        return None
    try:
        return draft_of(case)
    except (InvalidCase, IndexError):
        return None


def _made(case: Case, draft: Draft, data: Callable[[Draft], Array]) -> Case | None:
    """Return the case of a draft with data of its shape; None if it has not one right answer."""
    operator, spec = draft.operator, draft.spec()
    order = (*draft.words, *NUMBERS, "ignored")
    in_order = sorted(operator.attributes, key=lambda attribute: order.index(attribute.role))
    given = {
        each.key: _as_before(each, spec.attributes[each.key], case)
        for each in in_order
        if each.key in spec.attributes
    }
    inputs = with_gradient(operator, case.gradient, spec.own_inputs(data(draft)), given)
    try:
        operator.validate(inputs, given)
    except InvalidCase:
        return None
    made = case_of(operator.name, given, inputs, pattern="cells")
    return made if has_one_answer(made) else None


def _as_before(attribute: Attribute, value: Any, case: Case) -> Any:
    """Let one number stand for all axes where it does so in a case, if all are the same."""
    before = case.attributes.get(attribute.key)
    is_short = before != attribute.spread(before, case.data.ndim - 2)
    if not is_short or not isinstance(value, list) or len({*value}) != 1:
        return value
    return value[:1] if isinstance(before, list) else value[0]


def _fit(draft: Draft) -> Draft:
    """Return the draft with every axis long enough for a window."""
    if draft.operator.scatters:
        return draft  # a cell of the data has a window in the output
    least = {
        place: max(1, draft.at(place), draft.axes[place.axis].least_size(1, draft.auto_pad))
        for place in draft.places("size")
    }
    return draft.put(least)


def _extents(draft: Draft) -> list[int]:
    """Return about how many windows each axis has."""
    if draft.operator.scatters:
        return [max(1, axis.unpooled) for axis in draft.axes]
    if not draft.operator.has_windows:
        return [axis.output for axis in draft.axes]
    return [max(1, axis.extent("explicit")) for axis in draft.axes]


def _size(draft: Draft) -> int:
    """Return the cells of the input or the elements of the output, whichever are more, about."""
    return max(prod(draft.shape), draft.batch * draft.channels * prod(_extents(draft)))


def _window_cells(draft: Draft) -> int:
    """Return the cells of one window, about."""
    if draft.operator.has_windows:
        return prod(axis.kernel for axis in draft.axes)
    return prod(ceil_div(axis.size, max(1, axis.output)) + 1 for axis in draft.axes)


def _number(old: int, least: int, rng: np.random.Generator) -> int:
    """Return another number: a step away, a small one, or one of a ladder."""
    way = int(rng.integers(4))
    if way < 2:
        new = old + _STEPS[int(rng.integers(len(_STEPS)))]
    elif way == 2:
        new = int(rng.integers(least, least + _FEW))
    else:
        new = _LADDER[int(rng.integers(len(_LADDER)))]
    return max(least, new)


_Change = Callable[[Draft, np.random.Generator], Draft]


def _changing(place: Place) -> _Change:
    """Return the change of one number to another."""

    def change(draft: Draft, rng: np.random.Generator) -> Draft:
        number = _number(draft.at(place), _LEAST.get(place.name, 1), rng)
        if place.name.startswith("pads"):
            # Whether such pads may reach the kernel is disputed.
            number = min(number, draft.axes[place.axis].kernel - 1)
        return draft.put({place: number})

    return change


def _change_axis(draft: Draft, rng: np.random.Generator) -> Draft:
    axis, names = int(rng.integers(len(draft.axes))), draft.axis_numbers
    return _changing(Place(names[int(rng.integers(len(names)))], axis))(draft, rng)


def _change_rank(draft: Draft, rng: np.random.Generator) -> Draft:
    axes = list(draft.axes)
    place = int(rng.integers(len(axes)))
    way = int(rng.integers(3))
    if way == 0:
        del axes[place]
    elif way == 1:
        axes.insert(place, _ANOTHER.said(draft.operator))
    else:
        axes = [axes[i] for i in rng.permutation(len(axes))]
    fits = draft.operator.takes_axes(len(axes)) and len(axes) + 2 <= MAX_RANK
    return replace(draft, axes=tuple(axes)) if fits else draft


def _change_word(draft: Draft, rng: np.random.Generator) -> Draft:
    if not draft.words:
        return draft
    role = [*draft.words][int(rng.integers(len(draft.words)))]
    attribute = next(each for each in draft.operator.attributes if each.role == role)
    meanings = _values(attribute, len(draft.axes))
    word = meanings[int(rng.integers(len(meanings)))]
    if word == draft.words[role] and not attribute.required:
        # Spelled out, or left to its default.
        is_given = attribute.key in draft.given
        draft = draft.without(attribute) if is_given else draft.saying(attribute)
    return draft.with_word(role, word)


def _change_type(draft: Draft, rng: np.random.Generator) -> Draft:
    names = types(draft.operator)
    return replace(draft, dtype=names[int(rng.integers(len(names)))])


_CHANGES: tuple[_Change, ...] = (
    *map(_changing, PLANES),
    *(_change_axis,) * 6,
    _change_rank,
    _change_word,
    _change_word,
    _change_type,
)


def _shrunk(draft: Draft, cells: int, rng: np.random.Generator) -> Draft:
    """Return a draft made smaller, at random, until it has no more cells, if it can be."""
    for _ in range(64):
        if _size(draft) <= cells:
            break
        place = int(rng.integers(2 + len(draft.axes)))
        if place < len(PLANES):
            halved = [PLANES[place]]
        else:
            names = {"size", "output"} & set(draft.axis_numbers)
            halved = [Place(name, place - len(PLANES)) for name in names]
        draft = draft.put({each: (draft.at(each) + 1) // 2 for each in halved})
    return draft


def _data(old: Array, draft: Draft, rng: np.random.Generator) -> Array:
    """Return data that name their cell, of any sign; or those of the old case in the new shape."""
    way = int(rng.integers(8))
    if way < 2 and name_of(old.dtype) == draft.dtype:
        return np.resize(old, draft.shape)
    span = _span(draft)
    data = named_cells(draft.shape, draft.dtype, rng, span)
    if data.dtype.kind == "u":
        return data
    if way == 2:
        data = -data
    elif way < 5:
        data = data - data.dtype.type(span // 2)
    if data.dtype.kind != "i" and old.dtype.kind not in "iu":
        odd = widen(old[~np.isfinite(old)])
        if odd.size and way % 2:
            places = rng.integers(data.size, size=1 + data.size // (2 * _window_cells(draft)))
            data.reshape(-1)[places] = rng.choice(odd, places.size)
    return data


def _named_cells(draft: Draft, rng: np.random.Generator) -> Array:
    return named_cells(draft.shape, draft.dtype, rng, _span(draft))


def _named_but_for_odd(old: Array, draft: Draft, rng: np.random.Generator) -> Array:
    """Return data that name their cell, but for NaN and infinities of the old ones.

    Beside those, they have the old signs: a maximum of negative cells alone shows some.
    """
    data = _named_cells(draft, rng)
    wide = widen(old)
    if data.dtype.kind in "iu" or np.isfinite(wide).all():
        return data
    kept = np.resize(wide, data.shape)
    data = np.where(kept < 0, -data, data)
    odd = ~np.isfinite(kept)
    data[odd] = kept[odd]
    return data


def _span(draft: Draft) -> int:
    """Return how many integers there are whose sums over a window are exact, but a few at least."""
    if draft.dtype in FLOATS:
        most = 1 << min(float_format(draft.dtype).precision, 30)
    else:
        most = min(int(np.iinfo(dtype_of(draft.dtype)).max), 1 << 30)
    return max(7, most // _window_cells(draft) if draft.operator.reduction.sums else most)


def _set(draft: Draft, feature: Feature, value: Any) -> Draft | None:
    """Return the draft with a feature set; None where it has no such feature or value."""
    name, place = feature
    if name in _PRODUCTS:
        # The last axis makes a product at least as large as it is to be.
        number, rest = _PRODUCTS[name](draft)
        return _set(draft, Feature(number, 1), ceil_div(value, rest))
    if name == "dtype":
        return replace(draft, dtype=value) if value in draft.operator.dtypes else None
    if name == "rank":
        return _with_rank(draft, value)
    if name in draft.words:
        word = next((a for a in draft.operator.attributes if a.role == name), None)
        # a number of cells of NaN has the name of a word, too
        return draft.with_word(name, value) if word and value in word.meanings else None
    return _with_number(draft, _places(draft, name, place), value)


def _places(draft: Draft, name: str, place: int) -> list[Place]:
    """Return the places of a number: of all axes, or of one; none where there is no such one."""
    if Place(name) in PLANES:
        return [Place(name)]
    places = draft.places(name)
    if place == 0:
        return places
    axis = len(places) - place if place > 0 else -place - 1
    return places[axis : axis + 1] if axis >= 0 else []


def _with_number(draft: Draft, places: Sequence[Place], value: int) -> Draft | None:
    if not places or value < _LEAST.get(places[0].name, 1):
        return None
    name = places[0].name
    if places[0] in PLANES or name in draft.axis_numbers:
        return draft.put(dict.fromkeys(places, value))
    if name != "output" or not draft.operator.has_windows:
        return None
    sizes = {
        Place("size", axis): _size_of(draft.axes[axis], value, draft.auto_pad) for _, axis in places
    }
    return draft.put(sizes)


def _size_of(axis: Axis, windows: int, auto_pad: str) -> int:
    """Return a size with so many windows: the least, or the largest under same_*."""
    more = axis.strides - 1 if auto_pad.startswith("same") else 0
    return max(1, axis.least_size(windows, auto_pad) + more)


def _with_rank(draft: Draft, value: int) -> Draft | None:
    if not draft.operator.takes_axes(value) or value + 2 > MAX_RANK:
        return None
    # Axes of one cell and a window on it change nothing.
    first = (Axis(1),) * (value - len(draft.axes))
    return replace(draft, axes=(*first, *draft.axes[-value:]))


_PRODUCTS: Mapping[str, Callable[[Draft], tuple[str, int]]] = {
    "cells": lambda draft: ("kernel", prod(axis.kernel for axis in draft.axes[:-1])),
    "outputs": lambda draft: ("output", prod(_extents(draft)[:-1])),
    "all_outputs": lambda draft: (
        "output",
        draft.batch * draft.channels * prod(_extents(draft)[:-1]),
    ),
}
"""The number of an axis that makes each product over the axes, and what the others make."""
