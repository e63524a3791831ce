"""Cases near a given one: valid, made fast, with data that tell one cell from another.

Whoever supposes what is wrong with a backend asks it hundreds of fresh cases. These differ from one
that is known in a few numbers or words, or in one number that is to be a given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from conformance.batch import MAX_RANK
from conformance.cases.gradients import with_gradient
from conformance.cases.sweep.suited import scalar_values, types
from conformance.cases.sweep.sweep_model import case_of
from conformance.dtypes import FLOATS, dtype_of, float_format, name_of
from conformance.errors import InvalidCase
from conformance.operators import operator_named
from conformance.operators.attributes import (
    NUMBERS,
    SCALARS,
    WORDS,
    Attribute,
    Role,
    complete,
)
from conformance.operators.operator import Operator, output_size_of
from conformance.operators.params import UNSAID
from conformance.operators.windows import ceil_div, span_of
from conformance.reference.rounding import widen
from conformance.vector import Array, Case

AxisNumber = Literal["size", "kernel", "strides", "dilations", "pads_begin", "pads_end", "output"]
"""A number of one spatial axis: its input size, its entry of an attribute, its output size."""

_LADDER = (*range(1, 10), 12, *(2**n + more for n in (4, 5, 6, 7, 8) for more in (-1, 0, 1)))
_STEPS = (-4, -3, -2, -1, 1, 2, 3, 4)
_FEW = 4
"""Numbers of small cases go up to this, as a rule."""
_CELLS = 2048
_MOST_CELLS = 1 << 18
_LEAST: Mapping[str, int] = {"pads_begin": 0, "pads_end": 0}


class Feature(NamedTuple):
    """A number or word of a case.

    `name` is batch, channels, dtype, rank, an `AxisNumber`, the role of a word, or one of
    cells (of a window), outputs (of a plane), all_outputs. `axis` counts spatial axes from the
    last, which is 1, or from the first, which is -1; 0 for what is of no single axis, or of all.
    """

    name: str
    axis: int = 0


Axis = dict[str, int]
"""The numbers of one spatial axis by `AxisNumber`, those that the operator knows."""


@dataclass(slots=True)
class _Draft:
    """A case whose numbers and words can be changed one by one; `axes` are in the data's order."""

    of: Case
    operator: Operator
    batch: int
    channels: int
    axes: list[Axis]
    words: dict[Role, Any]
    dtype: str
    others: dict[str, Any] = field(default_factory=dict)  # attributes that change nothing
    left_out: set[str] = field(default_factory=set)  # attributes that are not given

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.batch, self.channels, *(axis["size"] for axis in self.axes))

    @property
    def size(self) -> int:
        """Cells of the input or elements of the output, whichever are more, about."""
        outputs = prod(map(_extent, self.axes))
        return self.batch * self.channels * max(prod(self.shape[2:]), outputs)

    @property
    def window_cells(self) -> int:
        """Cells of one window, about."""
        return prod(
            axis.get("kernel", ceil_div(axis["size"], max(1, axis.get("output", 1))) + 1)
            for axis in self.axes
        )

    def fit(self) -> None:
        """Make every axis long enough for a window."""
        auto_pad = self.words.get("auto_pad", "explicit")
        for axis in self.axes:
            pads = axis.get("pads_begin", 0) + axis.get("pads_end", 0)
            if auto_pad == "explicit":
                axis["size"] = max(axis["size"], _span_of(axis) - pads, 1)
            elif auto_pad == "valid":
                axis["size"] = max(axis["size"], _span_of(axis))

    def case(self, data: Callable[[_Draft], Array]) -> Case | None:
        """Return the case with data of its shape; None if it is not valid."""
        meanings: dict[str, Any] = {str(role): meaning for role, meaning in self.words.items()}
        for role in (name for name in NUMBERS if self.axes and name in self.axes[0]):
            meanings[role] = tuple(axis[role] for axis in self.axes)
        given = self.operator.attributes_of(meanings)
        for attribute in self.operator.attributes:
            # What is left out stays so while it has its default.
            key = attribute.key
            if key in given and key in self.left_out:
                default = attribute.default_for(len(self.axes))
                if given[key] == (list(default) if attribute.is_list else default):
                    del given[key]
        inputs: tuple[Array, ...] = (data(self),)
        if self.operator.is_adaptive:
            size = [axis["output"] for axis in self.axes]
            inputs = (*inputs, np.array(size, self.of.own_inputs[1].dtype))
        given |= self.others
        inputs = with_gradient(self.operator, self.of.gradient, inputs, given)
        try:
            self.operator.validate(inputs, given)
        except InvalidCase:
            return None
        return case_of(self.operator.name, given, inputs, pattern="cells")


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
        _CHANGES[int(rng.integers(len(_CHANGES)))](draft, rng)
    draft.fit()
    _shrink(draft, cells, rng)
    draft.fit()
    if draft.size > 4 * cells:
        return None
    return draft.case(lambda draft: _data(draft, rng))


def at(case: Case, feature: Feature, value: Any) -> Case | None:
    """Return the case with one feature set to a value, and data that name their cell.

    Input sizes grow where a window would not fit otherwise. None where the operator or the case
    has no such feature, or the case would not be valid or far too large.
    """
    draft = _draft_of(case)
    if draft is None or not _set(draft, feature, value):
        return None
    draft.fit()
    if draft.size > max(_MOST_CELLS, case.data.size):
        return None
    rng = np.random.default_rng(prod(draft.shape))
    return draft.case(lambda draft: _named_cells(draft, rng))


def named(case: Case, rng: np.random.Generator) -> Case | None:
    """Return the case with data that name their cell, if it is valid."""
    draft = _draft_of(case)
    return None if draft is None else draft.case(lambda draft: _named_cells(draft, rng))


def named_cells(shape: Sequence[int], dtype: str, rng: np.random.Generator, span: int) -> Array:
    """Return integers 1 to `span` in random order, all different as far as there are enough."""
    count = prod(shape)
    return (rng.permutation(count) % span + 1).reshape(shape).astype(dtype_of(dtype))


def words_of(case: Case) -> dict[str, Any]:
    """Return what of a case is one of a few: operator, dtype, and the meaning of each word."""
    draft = _draft_of(case)
    words = {} if draft is None else draft.words
    found: dict[str, Any] = {str(role): meaning for role, meaning in words.items()}
    return found | {"operator": case.operator, "dtype": name_of(case.data.dtype)}


def other_words(operator: Operator, axes: int) -> Iterator[tuple[str, Any]]:
    """Yield each value that each word of an operator may have, and each type of its data."""
    yield from (("dtype", name) for name in types(operator))
    for attribute in operator.attributes:
        if attribute.role in {*WORDS, *SCALARS}:
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
    known = {"size", *operator.roles}
    others = [_ANOTHER | {"kernel": axis["size"]} | axis for axis in draft.axes]
    draft.axes = [{name: axis[name] for name in axis if name in known} for axis in others]
    draft.words = {
        attribute.role: _word_of(attribute, draft)
        for attribute in operator.attributes
        if attribute.role in {*WORDS, *SCALARS}
    }
    draft.left_out = {each.key for each in operator.attributes if not each.required}
    draft.operator, draft.others = operator, {}
    return draft.case(lambda draft: draft.of.data)


def _manner(operator: Operator) -> tuple[bool, ...]:
    return operator.is_gradient, operator.is_adaptive


def _word_of(attribute: Attribute, draft: _Draft) -> Any:
    """Return the word of a draft that an attribute knows, else one that it may be."""
    default, *_ = _values(attribute, len(draft.axes))
    word = draft.words.get(attribute.role, default)
    return default if attribute.meanings and word not in attribute.meanings else word


def _values(attribute: Attribute, axes: int) -> tuple[Any, ...]:
    """Return what a word may mean, or some integers that a scalar may be."""
    return attribute.meanings or scalar_values(attribute, axes)


def _draft_of(case: Case) -> _Draft | None:
    operator, data = operator_named(case.operator), case.data
    axes = data.ndim - 2
    if not operator.takes_axes(axes) or 0 in data.shape or "invalid" in case.tags:
        return None
    try:
        given = complete(operator.attributes, case.attributes, axes)
        output = output_size_of(case.own_inputs[1], axes) if operator.is_adaptive else ()
        params = operator.stated(given, data.shape[2:], output)
    except (InvalidCase, IndexError):
        return None
    numbers = {"size": params.sizes, **{name: getattr(params, name) for name in _LISTS}}
    known = {name: values for name, values in numbers.items() if values}
    known = {
        name: values
        for name, values in known.items()
        if name not in UNSAID or name in operator.roles
    }
    words = {r: getattr(params, r) for r in (*WORDS, *SCALARS) if operator.attribute(r) is not None}
    ignored = [a.key for a in operator.attributes if a.role == "ignored"]
    return _Draft(
        of=case,
        operator=operator,
        batch=data.shape[0],
        channels=data.shape[1],
        axes=[{name: values[i] for name, values in known.items()} for i in range(axes)],
        words=words,
        dtype=name_of(data.dtype),
        others={key: case.attributes[key] for key in ignored if key in case.attributes},
        left_out={
            attribute.key
            for attribute in operator.attributes
            if not attribute.required and attribute.key not in case.attributes
        },
    )


_LISTS: tuple[AxisNumber, ...] = get_args(AxisNumber)[1:]


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


def _change_batch(draft: _Draft, rng: np.random.Generator) -> None:
    draft.batch = _number(draft.batch, 1, rng)


def _change_channels(draft: _Draft, rng: np.random.Generator) -> None:
    draft.channels = _number(draft.channels, 1, rng)


def _change_axis(draft: _Draft, rng: np.random.Generator) -> None:
    axis = draft.axes[int(rng.integers(len(draft.axes)))]
    name = [*axis][int(rng.integers(len(axis)))]
    axis[name] = _number(axis[name], _LEAST.get(name, 1), rng)
    if name.startswith("pads"):
        # Whether such pads may reach the kernel is disputed.
        axis[name] = min(axis[name], axis["kernel"] - 1)


def _change_rank(draft: _Draft, rng: np.random.Generator) -> None:
    axes = list(draft.axes)
    place = int(rng.integers(len(axes)))
    way = int(rng.integers(3))
    if way == 0:
        del axes[place]
    elif way == 1:
        axes.insert(place, {name: _ANOTHER[name] for name in axes[place]})
    else:
        axes = [axes[i] for i in rng.permutation(len(axes))]
    if draft.operator.takes_axes(len(axes)) and len(axes) + 2 <= MAX_RANK:
        draft.axes = axes


_ANOTHER: Axis = {
    "size": 3,
    "kernel": 2,
    "strides": 1,
    "dilations": 1,
    "pads_begin": 0,
    "pads_end": 0,
    "output": 2,
}
"""An axis that a case may get."""


def _change_word(draft: _Draft, rng: np.random.Generator) -> None:
    if draft.words:
        role = [*draft.words][int(rng.integers(len(draft.words)))]
        attribute = draft.operator.attribute(role)
        if attribute is not None:
            meanings = _values(attribute, len(draft.axes))
            word = meanings[int(rng.integers(len(meanings)))]
            if word == draft.words[role] and not attribute.required:
                draft.left_out ^= {attribute.key}  # spelled out, or left to its default
            draft.words[role] = word


def _change_type(draft: _Draft, rng: np.random.Generator) -> None:
    names = types(draft.operator)
    draft.dtype = names[int(rng.integers(len(names)))]


_CHANGES: tuple[Callable[[_Draft, np.random.Generator], None], ...] = (
    _change_batch,
    _change_channels,
    *(_change_axis,) * 6,
    _change_rank,
    _change_word,
    _change_word,
    _change_type,
)


def _shrink(draft: _Draft, cells: int, rng: np.random.Generator) -> None:
    """Make a draft smaller, at random, until it has no more cells than given, if it can be."""
    for _ in range(64):
        if draft.size <= cells:
            return
        place = int(rng.integers(2 + len(draft.axes)))
        if place == 0:
            draft.batch = (draft.batch + 1) // 2
        elif place == 1:
            draft.channels = (draft.channels + 1) // 2
        else:
            axis = draft.axes[place - 2]
            for name in {"size", "output"} & axis.keys():
                axis[name] = (axis[name] + 1) // 2


def _data(draft: _Draft, rng: np.random.Generator) -> Array:
    """Return data that name their cell, of any sign; or those of the old case in the new shape."""
    old, way = draft.of.data, int(rng.integers(8))
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
            places = rng.integers(data.size, size=1 + data.size // (2 * draft.window_cells))
            data.reshape(-1)[places] = rng.choice(odd, places.size)
    return data


def _named_cells(draft: _Draft, rng: np.random.Generator) -> Array:
    return named_cells(draft.shape, draft.dtype, rng, _span(draft))


def _span(draft: _Draft) -> int:
    """Return how many integers there are whose sums over a window are exact, but a few at least."""
    if draft.dtype in FLOATS:
        most = 1 << min(float_format(draft.dtype).precision, 30)
    else:
        most = min(int(np.iinfo(dtype_of(draft.dtype)).max), 1 << 30)
    return max(7, most // draft.window_cells if draft.operator.reduction.sums else most)


def _set(draft: _Draft, feature: Feature, value: Any) -> bool:
    """Set a feature; say whether there is one."""
    name, place = feature
    if name in _SET:
        return _SET[name](draft, value)
    for role in draft.words:
        if role == name:
            draft.words[role] = value
            return True
    axes = draft.axes
    if place:
        if abs(place) > len(axes):
            return False
        axes = [axes[-place if place > 0 else -place - 1]]
    done = [_set_on_axis(draft, axis, name, value) for axis in axes]
    return all(done)


def _set_on_axis(draft: _Draft, axis: Axis, name: str, value: int) -> bool:
    if value < _LEAST.get(name, 1):
        return False
    if name == "output" and "kernel" in axis:
        s, k = axis.get("strides", 1), _span_of(axis)
        auto_pad = draft.words.get("auto_pad", "explicit")
        pads = axis.get("pads_begin", 0) + axis.get("pads_end", 0) if auto_pad == "explicit" else 0
        same = auto_pad.startswith("same")
        axis["size"] = max(1, value * s if same else (value - 1) * s + k - pads)
        return True
    if name not in axis:
        return False
    axis[name] = value
    return True


def _set_batch(draft: _Draft, value: int) -> bool:
    draft.batch = max(1, value)
    return value >= 1


def _set_channels(draft: _Draft, value: int) -> bool:
    draft.channels = max(1, value)
    return value >= 1


def _set_type(draft: _Draft, value: str) -> bool:
    draft.dtype = value
    return value in draft.operator.dtypes


def _set_rank(draft: _Draft, value: int) -> bool:
    if not draft.operator.takes_axes(value) or value + 2 > MAX_RANK:
        return False
    # Axes of one cell and a window on it change nothing.
    first = {name: 0 if name.startswith("pads") else 1 for name in draft.axes[0]}
    draft.axes = [dict(first) for _ in range(value - len(draft.axes))] + draft.axes[-value:]
    return True


def _set_cells(draft: _Draft, value: int) -> bool:
    rest = prod(axis.get("kernel", 1) for axis in draft.axes[:-1])
    return _set_on_axis(draft, draft.axes[-1], "kernel", ceil_div(value, rest))


def _set_outputs(draft: _Draft, value: int) -> bool:
    rest = prod(_extent(axis) for axis in draft.axes[:-1])
    return _set_on_axis(draft, draft.axes[-1], "output", ceil_div(value, rest))


def _set_all_outputs(draft: _Draft, value: int) -> bool:
    return _set_outputs(draft, ceil_div(value, draft.batch * draft.channels))


_SET: Mapping[str, Callable[[_Draft, Any], bool]] = {
    "batch": _set_batch,
    "channels": _set_channels,
    "dtype": _set_type,
    "rank": _set_rank,
    # Products over the axes: the last one makes them at least as large as they are to be.
    "cells": _set_cells,
    "outputs": _set_outputs,
    "all_outputs": _set_all_outputs,
}


def _extent(axis: Axis) -> int:
    """Return about how many windows an axis has."""
    if "kernel" not in axis:
        return axis.get("output", 1)
    pads = axis.get("pads_begin", 0) + axis.get("pads_end", 0)
    return max(1, (axis["size"] + pads - _span_of(axis)) // axis.get("strides", 1) + 1)


def _span_of(axis: Axis) -> int:
    """Return the cells from the first to the last of a window on an axis."""
    return span_of(axis.get("kernel", 1), axis.get("dilations", 1))
