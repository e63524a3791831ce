"""Pairs of calls alike but for one role: one attribute, or one of the inputs.

What a backend keeps of a call under a key that leaves a role out comes back in a call that differs
in that role alone. So each role has two calls of the same data, one after the other, whose answers
differ: an attribute has another value, a gradient or indices others beside the same data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from conformance.cases.gradients import with_gradient
from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import (
    CaseSpec,
    build,
    case_of_axes,
    given,
    plain_type,
)
from conformance.errors import InvalidCase
from conformance.operators import vector_of
from conformance.operators.attributes import PADS, ZERO_POINTS, Attribute
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Array, Outputs, Raises

_PLANES = (1, 2)
_AXES = (
    Axis(6, 3, 2, 1, 1, output=4),
    Axis(8, 3, 2, 1, 1, output=3),
    Axis(7, 3, 2, 1, 1, output=5),
)
"""Axes on which one more or less of any number changes the windows, and so does each rounding."""
_SPARSE = (Axis(9, 3, 4, 1), Axis(8, 3, 4, 1), Axis(9, 3, 4, 1))
"""Axes with fewer windows than their stride, and a cell left over."""
_PATTERNS: dict[str, str] = {"nan": "nan", "accumulator": "lossy"}
"""Kinds of numbers in which a role shows that does not in others."""
_CUBE = Axis(6, 3, 2, 1, 1)
"""The axes, and the channels, of a case that has one shape in either layout."""


def role_pairs(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the first call of each pair and the other behind it; several may share the first."""
    for attribute in operator.attributes:
        yield from _specs(operator, _of_attribute(operator, attribute), attribute.key)
    for number, name in enumerate(operator.input_names):
        yield from _specs(operator, _of_input(operator, number), name)


_OF_INDICES = ("index_type", "index_axis", "storage_order")
"""Roles of a further output, which a gradient does not have."""

_Call = tuple[Mapping[str, Any], tuple[Array, ...], str]
"""Attributes and inputs, and the pattern of the data."""


def _specs(operator: Operator, pair: tuple[_Call, _Call] | None, what: str) -> Iterator[CaseSpec]:
    for attributes, inputs, pattern in pair or ():
        tier = "standard" if operator.is_gradient else "smoke"
        tags = (f"alike but for one role: {what}",)
        yield given(operator.name, attributes, inputs, pattern, tier=tier, tags=tags)


def _of_attribute(operator: Operator, attribute: Attribute) -> tuple[_Call, _Call] | None:
    """Return two calls that differ in an attribute; None where no value changes an answer.

    Calls that no reading lets a backend refuse come first.
    """
    dtype = attribute.of_types[0] if attribute.of_types else plain_type(operator)
    if operator.is_gradient and attribute.role in _OF_INDICES:
        return None
    if attribute.role == "channels_last":
        return _of_layout(operator, attribute)
    pattern = _PATTERNS.get(attribute.role, "names")
    bases = [replace(base, pattern=pattern) for base in _bases(operator, dtype)]
    for refused, spec in product((False, True), bases):
        call = spec.attributes, build(spec, seed=0).inputs, pattern
        answer = _answer(operator, call, refused=refused)
        for value in _others(operator, attribute, spec):
            other = _with_value(operator, attribute, call, value)
            if answer and _differ(answer, _answer(operator, other, refused=refused)):
                return call, other
    return None


def _of_layout(operator: Operator, attribute: Attribute) -> tuple[_Call, _Call]:
    """Return calls in either layout, of the same numbers in the same memory."""
    cube = [_CUBE] * (operator.rank or 2)
    planes, layouts = (1, _CUBE.size), {attribute.meaning_of(v): v for v in attribute.values}
    spec = case_of_axes(operator, planes, cube, "names")
    inputs = build(spec, seed=0).inputs
    turned = tuple([np.ascontiguousarray(np.moveaxis(array, -1, 1)) for array in inputs])
    first, last = ({**spec.attributes, attribute.key: layouts[turn]} for turn in (False, True))
    return (
        (first, inputs, spec.pattern),
        (last, _fitting(operator, turned, last), spec.pattern),
    )


def _bases(operator: Operator, dtype: str) -> Iterator[CaseSpec]:
    """Yield cases whose padding counts, of some strides, one without pads, and some with a word."""
    swept = levels.axes(operator)
    axes = _AXES[: 2 if 2 in swept else swept[0]]
    words = next(levels.word_choices(operator))
    if "include_pad" in operator.roles:
        words["include_pad"] = True
    for role, scalar in levels.scalars(operator).items():
        if scalar.required:
            words[role] = levels.scalar_values(scalar, len(axes))[0]
    apart = operator.of_roles(levels.APART).items()
    further = [{role: meaning} for role, each in apart for meaning in each.meanings[1:]]
    dense = [axis._replace(strides=1) for axis in axes]
    for each in (axes, dense, _SPARSE[: len(axes)]):
        yield case_of_axes(operator, _PLANES, each, "names", dtype, words)
    if not any(pads.required for pads in operator.of_roles(PADS).values()):
        roles = [role for role in Axis._fields[1:] if role not in PADS]
        yield case_of_axes(operator, _PLANES, axes, "names", dtype, words, roles=roles)
    for word in further:
        yield case_of_axes(operator, _PLANES, axes, "names", dtype, words | word)


def _others(operator: Operator, attribute: Attribute, spec: CaseSpec) -> Iterator[Any]:
    """Yield other values of an attribute than a case has, those near it first."""
    if attribute.role == "fixed_output":
        params = operator.stated(spec.attributes, spec.shape[2:])
        extent = operator.pipeline.extent(params, operator.pipeline.pads(params))
        yield from ([number + more for number in extent] for more in (1, 2, 0))
    elif attribute.is_list:
        value = spec.attributes.get(attribute.key)
        if isinstance(value, list):
            yield from ([value[0] + more, *value[1:]] for more in (1, -1))
    elif attribute.is_scalar:
        values = levels.scalar_values(attribute, len(spec.shape) - 2)
        if attribute.role in ZERO_POINTS:
            values = tuple(np.int64(value or 0).astype(spec.dtype).item() for value in values)
        yield from (attribute.spelled(value) for value in values if value is not None)
    else:
        yield from attribute.values


def _with_value(operator: Operator, attribute: Attribute, call: _Call, value: Any) -> _Call:
    attributes, inputs, pattern = call
    changed = {**attributes, attribute.key: value}
    return changed, _fitting(operator, inputs, changed), pattern


def _fitting(
    operator: Operator, inputs: tuple[Array, ...], attributes: Mapping[str, Any]
) -> tuple[Array, ...]:
    """Return inputs of whose gradient, if there is one, numbers are left out or repeated."""
    if not operator.is_gradient:
        return inputs
    return with_gradient(operator, inputs[0], inputs[1:], attributes)


def _of_input(operator: Operator, number: int) -> tuple[_Call, _Call] | None:
    """Return two calls that differ in an input, of whose other inputs there are some."""
    spec = next(_bases(operator, plain_type(operator)))
    inputs = build(spec, seed=0).inputs
    if len(inputs) == 1:
        return None
    call = spec.attributes, inputs, spec.pattern
    changed = inputs[number]
    # An output size may be one number, any other input is another in reverse.
    value = np.append(changed[:1] + 1, changed[1:]) if changed.ndim == 1 else _reversed(changed)
    other = (*inputs[:number], value, *inputs[number + 1 :])
    second = spec.attributes, _fitting(operator, other, spec.attributes), spec.pattern
    answer = _answer(operator, call)
    return (call, second) if answer and _differ(answer, _answer(operator, second)) else None


def _reversed(array: Array) -> Array:
    return np.ascontiguousarray(array.ravel()[::-1].reshape(array.shape))


def _answer(operator: Operator, call: _Call, *, refused: bool = False) -> Outputs | None:
    """Return the right answer to a call; None where it may be `refused`, if that matters."""
    attributes, inputs, pattern = call
    try:
        vector = vector_of(build(given(operator.name, attributes, inputs, pattern), seed=0))
    except InvalidCase:
        return None
    may_be_refused = any(isinstance(outcome, Raises) for outcome in vector.outcomes)
    if not vector.values or (may_be_refused and not refused):
        return None
    return tuple(output.values for output in vector.values[0].outputs)


def _differ(one: Outputs, other: Outputs | None) -> bool:
    if other is None:
        return False
    pairs = zip(one, other, strict=True)
    return any((a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()) for a, b in pairs)
