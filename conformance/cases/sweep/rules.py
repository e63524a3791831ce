"""The rules of a document that a case can break, and the ways to break one of them alone.

What attributes, inputs and traits of an operator demand, read the other way round. The sweep takes
the fixed ways, the strategies draw any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conformance.operators import pipeline as steps
from conformance.operators.attributes import PADS, Attribute, complete
from conformance.operators.axis import axes_of, by_role
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.vector import Array

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
"""Numbers of dimensions in words, as many as an array of a file may have."""
_BELOW = (1, 2, 5)
"""How far below the least a number is."""
_TOO_SMALL = re.compile(r"-?\d+ (is too small|on the (first|last) axis)")
NO_WINDOWS = "a size that windows do not have"
_NO_WORDS = ("nearest", "")


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """Attributes and inputs that break one rule: of an attribute or, where it is None, an input.

    `rule` names the rule, `how` says what breaks it, and `exactly` where. `fixed` ways are in the
    vector files.
    """

    what: str
    rule: str
    how: str
    exactly: str
    attribute: Attribute | None
    attributes: dict[str, Any]
    inputs: tuple[Array, ...]
    fixed: bool = True

    @property
    def is_left_open(self) -> bool:
        """Whether the document does not say that it is invalid."""
        attribute = self.attribute
        return attribute is not None and attribute.leaves_open(self.attributes.get(attribute.key))


class _Wrong(NamedTuple):
    """A wrong value; the other fields are those of `Broken`."""

    value: Any
    rule: str
    how: str
    exactly: str = ""
    fixed: bool = True


def broken(
    operator: Operator, attributes: Mapping[str, Any], inputs: tuple[Array, ...]
) -> Iterator[Broken]:
    """Yield the ways to break one rule in a valid case: the same rules in every case."""
    given, axes = dict(attributes), inputs[0].ndim - 2
    for attribute in operator.attributes:
        if attribute.key in given:
            given[attribute.key] = attribute.spread(given[attribute.key], axes)
    data = inputs[operator.is_gradient]
    stated = complete(operator.attributes, given, data.shape[2:])
    for attribute in operator.attributes:
        key = attribute.key
        if attribute.required and key not in operator.convention.optional:
            rest = {name: value for name, value in given.items() if name != key}
            why = "left out though required"
            yield Broken(key, why, why, why, attribute, rest, inputs)
        if attribute.role == "fixed_output" and operator.has_windows:
            params = operator.stated(stated, data.shape[2:])
            stated[key] = steps.rounded_extent(params, steps.resolve_pads(params), "ceil")
            for sizes, where in _of_no_windows(params, stated[key]):
                changed = {**given, key: sizes}
                yield Broken(key, NO_WINDOWS, NO_WINDOWS, where, attribute, changed, inputs)
        wrong_values = _wrong_values(attribute, stated, axes)
        if key in operator.convention.split:  # which has an attribute for each number, and no more
            wrong_values = (wrong for wrong in wrong_values if wrong.rule == "too small")
        for value, rule, how, exactly, fixed in wrong_values:
            changed = {**given, key: value}
            yield Broken(key, rule, how, exactly or how, attribute, changed, inputs, fixed)
    yield from _breaking(operator, given, stated, inputs)
    yield from _of_inputs(operator, given, inputs)


def _of_no_windows(params: Params, most: steps.Extent) -> Iterator[tuple[list[int], str]]:
    """Yield output sizes that windows do not have, of which there are `most` at most, and where."""
    first, *others = most
    yield [first + 1, *others], "one more on the first axis"
    if not any(steps.sizes_fit(replace(params, fixed_output=(first - 1, *others)))):
        yield [first - 1, *others], "one fewer on the first axis"


def _of_inputs(
    operator: Operator, given: dict[str, Any], inputs: tuple[Array, ...]
) -> Iterator[Broken]:
    """Yield the ways to break one rule of an input."""
    gradient, own = inputs[: operator.is_gradient], inputs[operator.is_gradient :]
    for value, rule in _wrong_gradients(gradient):
        yield Broken("gradient", rule, rule, rule, None, given, (value, *own))
    data, name = own[0], operator.input_names[len(gradient)]
    for wrong in _wrong_numbers_of_axes(operator):
        why = f"{_COUNTS[wrong + 2]} dimensions"
        yield Broken(name, why, why, why, None, *_with_axes(operator, given, inputs, wrong))
    # Of windows, engines pool more types than the documents list.
    if operator.is_adaptive and not operator.takes_integers:
        typed = (*gradient, data.astype(np.int32), *own[1:])
        yield Broken(name, "integers", "integers", "integers", None, given, typed)
    if operator.scatters:
        for value, rule in _wrong_indices(own[1]):
            yield Broken("indices", rule, rule, rule, None, given, (data, value))
    if operator.takes_output_size:
        name = operator.input_names[-1]
        for value, rule, how, exactly, fixed in _wrong_sizes(own[1]):
            sized = (*gradient, data, value)
            yield Broken(name, rule, how, exactly or how, None, given, sized, fixed)


def _breaking(
    operator: Operator,
    given: dict[str, Any],
    stated: Mapping[str, Any],
    inputs: tuple[Array, ...],
) -> Iterator[Broken]:
    """Yield the attributes that break a rule of an operator on one axis: the first or the last."""
    params = operator.stated(stated, inputs[-1].shape[2:])
    places = ((0, "first"), (-1, "last"))[: len(params.sizes)]
    refusing = (rule for rule in operator.rules if not rule.undefined)
    for rule, (place, where) in product(refusing, places):
        axes = axes_of(params)
        axes[place] = rule.broken(axes[place])
        if axes[place].fixed_output:  # given for one axis, it is given for all
            axes = [
                axis._replace(fixed_output=axis.fixed_output or max(1, axis.inferred))
                for axis in axes
            ]
        wrong = operator.attributes_of(by_role(axes))
        key = next(key for key, value in wrong.items() if [*value] != [*stated[key]])
        exactly = f"{rule.says} on the {where} axis"
        yield Broken(key, rule.says, rule.says, exactly, None, {**given, key: wrong[key]}, inputs)


def _wrong_gradients(gradient: tuple[Array, ...]) -> Iterator[tuple[Array, str]]:
    """Yield gradients that cannot be those of an output, and why."""
    for right in gradient:
        yield right[..., :-1], "one fewer on the last axis"
        yield np.concatenate([right, right], axis=-1), "twice as many on the last axis"
        yield np.concatenate([right, right], axis=1), "twice the channels"
        yield right[0], "a dimension less"


def _wrong_indices(indices: Array) -> Iterator[tuple[Array, str]]:
    """Yield indices that cannot be those of data, and why."""
    yield indices[..., :-1], "one fewer on the last axis"
    yield indices[0], "a dimension less"
    yield indices.astype(np.int32), "int32"
    yield indices.astype(np.float32), "floating point"


def _wrong_values(attribute: Attribute, stated: Mapping[str, Any], axes: int) -> Iterator[_Wrong]:
    if attribute.is_list:
        yield from _wrong_lists(attribute, list(stated[attribute.key]))
    elif attribute.is_scalar:
        least, most = attribute.bounds(axes)
        if least is not None:
            yield _Wrong(least - 1, "too small", f"{least - 1} is too small")
        if most is not None:
            yield _Wrong(most + 1, "too large", f"{most + 1} is too large")
    elif any(isinstance(choice, str) for choice in attribute.choices):
        words = (*_NO_WORDS, *(str(choice).upper() for choice in attribute.choices))
        for turn, word in enumerate(words):
            if word not in attribute.choices:
                yield _no_choice(word, fixed=turn < len(_NO_WORDS))
    elif any(not isinstance(choice, bool) for choice in attribute.choices):
        yield _no_choice(max(attribute.choices) + 1)


def _wrong_lists(attribute: Attribute, numbers: list[int]) -> Iterator[_Wrong]:
    low = attribute.least - 1
    yield _too_small(numbers, 0, low)
    takes_one = attribute.one_for_all == "in a list"
    if len(numbers) > 1 + takes_one:
        yield _too_few(numbers)
    elif not takes_one:
        # An empty list of pads is read as no pads by some.
        of_pads = attribute.role in PADS
        yield _too_many(numbers)._replace(rule="too few") if of_pads else _too_few(numbers)
    yield _too_small(numbers, 0, min(low, -2))
    if len(numbers) > 1:
        yield _too_small(numbers, len(numbers) - 1, low)
    yield _too_many(numbers)
    if low >= 0 and not attribute.is_left_out({attribute.key: []}):
        yield _Wrong([], "no entries", "no entries")
    yield from _any_too_small(numbers, attribute.least)


def _no_choice(value: Any, *, fixed: bool = True) -> _Wrong:
    why = "not a value of the document"
    return _Wrong(value, why, why, "" if value else "empty", fixed)


def _wrong_sizes(size: Array) -> Iterator[_Wrong]:
    numbers = size.tolist()
    lists = (
        _too_small(numbers, 0, -1),
        _too_few(numbers),
        _too_small(numbers, len(numbers) - 1, -2),
        _too_many(numbers),
        _Wrong([numbers], "two dimensions", "two dimensions"),
        *_any_too_small(numbers, 0),
    )
    for wrong in lists:
        yield wrong._replace(value=np.array(wrong.value, size.dtype))
    yield _Wrong(size.astype(np.float32), "floating point", "floating point")


def _too_small(numbers: list[int], place: int, low: int, *, fixed: bool = True) -> _Wrong:
    value = [*numbers[:place], low, *numbers[place + 1 :]]
    where = "the first axis" if place == 0 else "the last axis"
    return _Wrong(value, "too small", f"{low} is too small", f"{low} on {where}", fixed)


def rule_of(how: str) -> str:
    """Return the rule that is broken as `how` or `exactly` says: how far is another matter."""
    return "too small" if _TOO_SMALL.fullmatch(how) else how


def _any_too_small(numbers: list[int], least: int) -> Iterator[_Wrong]:
    for place, below in product(range(len(numbers)), _BELOW):
        yield _too_small(numbers, place, least - below, fixed=False)


def _too_few(numbers: list[int]) -> _Wrong:
    return _Wrong(numbers[:-1], "too few", "one entry too few")


def _too_many(numbers: list[int]) -> _Wrong:
    return _Wrong([*numbers, 1], "too many", "one entry too many")


def _wrong_numbers_of_axes(operator: Operator) -> Iterator[int]:
    """Yield numbers of axes that are refused; data without a batch have one less."""
    fewest, most = operator.axes
    if not operator.takes_unbatched:
        yield fewest - 1
    if most is not None and most + 3 < len(_COUNTS):
        yield most + 1


def _with_axes(
    operator: Operator, given: dict[str, Any], inputs: tuple[Array, ...], axes: int
) -> tuple[dict[str, Any], tuple[Array, ...]]:
    """Return a case with fewer or more axes and lists as long: their number alone is wrong."""
    now = inputs[0].ndim - 2
    lists = {attribute.key: attribute for attribute in operator.attributes if attribute.is_list}
    attributes = {
        key: _resized(value, now, axes, _plain(lists[key])) if key in lists else value
        for key, value in given.items()
    }
    changed = []
    for each in inputs:
        if each.ndim == 1:
            changed.append(np.array(_resized(each.tolist(), now, axes, 1), each.dtype))
        elif axes < now:
            changed.append(each[(0,) * (now - axes)])
        else:
            changed.append(each.reshape(*each.shape[:3], *(1,) * (axes - now), *each.shape[3:]))
    return attributes, tuple(changed)


def _plain(attribute: Attribute) -> int:
    """Return the least number of a list that leaves something to pool."""
    return max(1, attribute.least) if attribute.role == "output" else attribute.least


def _resized(values: list[int], now: int, axes: int, fill: int) -> list[int]:
    """Return values, of each spatial axis in turn, for fewer or more axes."""
    runs = [values[start : start + now] for start in range(0, len(values), now)]
    more = [fill] * (axes - now)
    return [value for run in runs for value in ([*run[:1], *more, *run[1:]][:axes])]
