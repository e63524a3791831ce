"""Cases that differ from one another in one thing each.

A backend that keeps what it has worked out for one case, under a key that leaves something out,
takes it for the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.cases.sweep import levels
from conformance.cases.sweep.draft import PLANES, Draft, draft_of_spec, each_one_off
from conformance.cases.sweep.sweep_model import CaseSpec, case_of_axes
from conformance.operators.attributes import Attribute
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

# Sizes at which one more of anything, at either end, changes the windows or what they count.
_PLANES = (1, 2)
_AXES = (Axis(6, 3, 2, output=4), Axis(8, 3, 2, output=3), Axis(7, 3, 2, output=5))


def one_off(operator: Operator) -> Iterator[CaseSpec]:
    """Yield bases of an operator, each followed by what differs from it in one thing."""
    for base in _bases(operator):
        pattern = levels.pattern_for("normals", base.dtype)
        for draft in (base, *_near(base)):
            yield draft.spec(levels.pattern_for(pattern, draft.dtype), tags=("one thing apart",))


def _bases(operator: Operator) -> Iterator[Draft]:
    """Yield a base for each value of the first word."""
    swept = levels.axes(operator)
    axes = _AXES[: 2 if 2 in swept else swept[0]]
    scalars: dict[str, Any] = {
        role: levels.scalar_values(scalar, len(axes))[0]
        for role, scalar in levels.scalars(operator).items()
    }
    words = {role: _meanings(word) for role, word in levels.words(operator).items()}
    first = next(iter(words), None)
    for word in words[first] if first else (None,):
        given: dict[str, Any] = {
            role: word if role == first else meanings[0] for role, meanings in words.items()
        }
        spec = case_of_axes(operator, _PLANES, axes, "", words={**scalars, **given})
        yield draft_of_spec(spec)


def _meanings(word: Attribute) -> tuple[Any, ...]:
    """Return what a word may mean; first that padding counts: then more depends on the numbers."""
    return tuple(sorted(word.meanings, key=lambda meaning: meaning is not True))


def _near(base: Draft) -> Iterator[Draft]:
    operator, declared = base.operator, {each.key: each for each in base.operator.attributes}
    for attribute in (declared[key] for key in base.given):
        if attribute.is_list:
            yield from each_one_off(base, base.places_of(attribute), 1)
        else:
            scalars = levels.scalar_values(attribute, len(base.axes)) if attribute.is_scalar else ()
            for meaning in scalars or _meanings(attribute):
                if meaning != base.words[attribute.role]:
                    yield base.with_word(attribute.role, meaning)
    for attribute in operator.attributes:
        if attribute.is_list and not (attribute.required or levels.may_be_absent(attribute)):
            yield base.without(attribute)
    yield from each_one_off(base, (*PLANES, *base.places("size")), 1)
    if operator.takes_output_size:
        yield from each_one_off(base, base.places("output"), 1)
        yield replace(base, size_type="int32")
    for dtype in ("float64", *levels.types(operator)):
        if dtype in operator.dtypes and dtype != base.dtype:
            yield replace(base, dtype=dtype)
            break
