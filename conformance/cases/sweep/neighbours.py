"""Cases that differ from one another in one thing each.

A backend that keeps what it has worked out for one case, under a key that leaves something out,
takes it for the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_spec
from conformance.operators.attributes import Attribute
from conformance.operators.operator import Operator
from conformance.vector import Case

# Sizes at which one more of anything, at either end, changes the windows or what they count.
_PLANES, _SIZES, _OUTPUT = (1, 2), (6, 8, 7), (4, 3, 5)
_NUMBERS = {"kernel": 3, "strides": 2, "pads_begin": 0, "pads_end": 0, "dilations": 1}


def neighbours(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield bases of an operator, each followed by what differs from it in one thing."""
    for base in _bases(operator):
        for spec in (base, *_near(operator, base)):
            yield build(replace(spec, tags=("one thing apart",)), seed=seed)


def one_off(values: list[int], step: int, least: int = 0) -> Iterator[tuple[int, list[int]]]:
    """Yield an axis and the values with `step` more there, where that is not below `least`."""
    for axis, value in enumerate(values):
        if value + step >= least:
            yield axis, [*values[:axis], value + step, *values[axis + 1 :]]


def _bases(operator: Operator) -> Iterator[CaseSpec]:
    """Yield a base for each value of the first word."""
    swept = suited.axes(operator)
    axes = 2 if 2 in swept else swept[0]
    numbers: dict[str, Any] = {role: (value,) * axes for role, value in _NUMBERS.items()}
    numbers["output"] = _OUTPUT[:axes]
    for role, scalar in suited.scalars(operator).items():
        numbers[role] = suited.scalar_values(scalar, axes)[0]
    words = {role: _meanings(word) for role, word in suited.words(operator).items()}
    dtype = suited.plain_type(operator)
    first = next(iter(words), None)
    for word in words[first] if first else (None,):
        given = {role: word if role == first else meanings[0] for role, meanings in words.items()}
        yield case_spec(
            operator,
            (*_PLANES, *_SIZES[:axes]),
            {**numbers, **given},
            dtype,
            suited.pattern_for("normals", dtype),
        )


def _meanings(word: Attribute) -> tuple[Any, ...]:
    """Return what a word may mean; first that padding counts: then more depends on the numbers."""
    return tuple(sorted(word.meanings, key=lambda meaning: meaning is not True))


def _near(operator: Operator, base: CaseSpec) -> Iterator[CaseSpec]:
    for attributes in _near_attributes(operator, base.attributes, len(base.shape) - 2):
        yield replace(base, attributes=attributes)
    for _, shape in one_off(list(base.shape), 1):
        yield replace(base, shape=tuple(shape))
    if base.output_size is not None:
        size, _ = base.output_size
        for _, sizes in one_off(list(size), 1):
            yield replace(base, output_size=(tuple(sizes), "int64"))
        yield replace(base, output_size=(size, "int32"))
    for dtype in ("float64", *suited.types(operator)):
        if dtype in operator.dtypes and dtype != base.dtype:
            yield replace(base, dtype=dtype, pattern=suited.pattern_for(base.pattern, dtype))
            break


def _near_attributes(
    operator: Operator, base: Mapping[str, Any], axes: int
) -> Iterator[dict[str, Any]]:
    declared = {attribute.key: attribute for attribute in operator.attributes}
    for key, value in base.items():
        attribute = declared[key]
        changed: list[Any]
        if attribute.is_list:
            changed = [values for _, values in one_off(value, 1)]
        elif attribute.is_scalar:
            changed = [*suited.scalar_values(attribute, axes)]
        else:
            changed = [attribute.spelled(meaning) for meaning in _meanings(attribute)]
        yield from ({**base, key: other} for other in changed if other != value)
    for attribute in operator.attributes:
        if attribute.is_list and not (attribute.required or suited.may_be_absent(attribute)):
            yield {key: value for key, value in base.items() if key != attribute.key}
