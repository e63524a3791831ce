"""Ways to break one rule of a document in a case that keeps all the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from conformance.operators.attributes import Attribute
from conformance.operators.operator import Operator
from conformance.vector import Array, Case

Broken = tuple[dict[str, Any], tuple[Array, ...], str]
Way = Callable[[Case], st.SearchStrategy[Broken]]

_BELOW = (1, 1, 2, 5)
"""How far below the least a number is: a kernel of 0 as often as one below it."""


def ways(operator: Operator) -> list[Way]:
    """Return what breaks one rule each: attributes, inputs and the rule in words."""
    found: list[Way] = []
    for attribute in operator.attributes:
        if attribute.is_list:
            found += [_too_small(attribute), _too_long(attribute), _too_short(attribute)]
        if any(isinstance(choice, str) for choice in attribute.choices):
            found.append(_no_such_word(attribute))
        if attribute.required:
            found.append(_left_out(attribute))
    if len(operator.input_names) > 1:
        found += [_negative_size, _size_too_long, _size_of_floats, _data_of_integers]
    found.append(_two_dimensions)
    if operator.axes[1] is not None:
        found.append(_too_many_dimensions(operator, operator.axes[1] + 1))
    return found


def _changed(case: Case, attribute: Attribute, value: Any, why: str) -> Broken:
    return {**case.attributes, attribute.key: value}, case.inputs, f"{attribute.key}: {why}"


def _numbers(case: Case, attribute: Attribute) -> list[int]:
    return list(case.attributes.get(attribute.key, attribute.default_for(case.inputs[0].ndim - 2)))


def _too_small(attribute: Attribute) -> Way:
    def way(case: Case) -> st.SearchStrategy[Broken]:
        numbers = _numbers(case, attribute)

        def broken(place: int, below: int) -> Broken:
            low = attribute.least - below
            value = [*numbers[:place], low, *numbers[place + 1 :]]
            return _changed(case, attribute, value, f"{low} is too small")

        return st.builds(broken, st.integers(0, len(numbers) - 1), st.sampled_from(_BELOW))

    return way


def _too_long(attribute: Attribute) -> Way:
    return lambda case: st.just(
        _changed(case, attribute, [*_numbers(case, attribute), 1], "one entry too many")
    )


def _too_short(attribute: Attribute) -> Way:
    def way(case: Case) -> st.SearchStrategy[Broken]:
        numbers = _numbers(case, attribute)
        if len(numbers) == 1 and attribute.least == 0:
            # An empty list of pads is read as no pads by some.
            return _too_long(attribute)(case)
        return st.just(_changed(case, attribute, numbers[:-1], "one entry too few"))

    return way


def _no_such_word(attribute: Attribute) -> Way:
    words = ("nearest", "", *(choice.upper() for choice in attribute.choices))
    return lambda case: st.sampled_from(words).map(
        lambda word: _changed(case, attribute, word, "not a value of the document")
    )


def _left_out(attribute: Attribute) -> Way:
    def way(case: Case) -> st.SearchStrategy[Broken]:
        rest = {key: value for key, value in case.attributes.items() if key != attribute.key}
        return st.just((rest, case.inputs, f"{attribute.key}: left out though required"))

    return way


def _negative_size(case: Case) -> st.SearchStrategy[Broken]:
    size = case.inputs[1]

    def broken(place: int, below: int) -> Broken:
        changed = size.copy()
        changed[place] = -below
        why = f"output_size: {-below} is too small"
        return dict(case.attributes), (case.inputs[0], changed), why

    return st.builds(broken, st.integers(0, len(size) - 1), st.sampled_from(_BELOW))


def _size_too_long(case: Case) -> st.SearchStrategy[Broken]:
    size = np.append(case.inputs[1], case.inputs[1].dtype.type(1))
    return st.just(
        (dict(case.attributes), (case.inputs[0], size), "output_size: one entry too many")
    )


def _size_of_floats(case: Case) -> st.SearchStrategy[Broken]:
    size = case.inputs[1].astype(np.float32)
    return st.just((dict(case.attributes), (case.inputs[0], size), "output_size: floating point"))


def _data_of_integers(case: Case) -> st.SearchStrategy[Broken]:
    inputs = (case.inputs[0].astype(np.int32), *case.inputs[1:])
    return st.just((dict(case.attributes), inputs, "data: integers"))


def _too_many_dimensions(operator: Operator, axes: int) -> Way:
    plain = {each.key: each.least for each in operator.attributes if each.is_list}

    def way(case: Case) -> st.SearchStrategy[Broken]:
        data, more = case.inputs[0], axes + 2 - case.inputs[0].ndim
        given = {
            key: [*value, *[plain[key]] * more] if key in plain else value
            for key, value in case.attributes.items()
        }
        sizes = (np.append(size, [1] * more).astype(size.dtype) for size in case.inputs[1:])
        inputs = (data.reshape(*data.shape, *[1] * more), *sizes)
        return st.just((given, inputs, f"data: {axes + 2} dimensions"))

    return way


def _two_dimensions(case: Case) -> st.SearchStrategy[Broken]:
    # Lists as long as there are axes, so that the number of dimensions alone is wrong.
    none = {key: [] if isinstance(value, list) else value for key, value in case.attributes.items()}
    data, rest = case.inputs[0], case.inputs[1:]
    flat = data.reshape(*data.shape[:2], -1)[..., 0]
    return st.just((none, (flat, *(size[:0] for size in rest)), "data: two dimensions"))
