"""The exhaustive tier: a full product of small numbers on one axis, in parts.

Geometry is separable, so every combination of size, kernel, stride and pads of one axis under
every attribute is what the covering arrays sample; here nothing is left out. Some twenty
million cases: each part can be made alone, in any order and on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, case_of_axes, cases_of
from conformance.operators import OPERATORS
from conformance.operators.attributes import Role
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_SIZES, _KERNELS, _STRIDES, _PADS = range(1, 13), range(1, 7), range(1, 6), range(5)
_DILATIONS = range(1, 4)
_VARIED: tuple[Role, ...] = ("auto_pad", "rounding", "include_pad")
_LONG, _LONG_STEP = range(1, 65), 8
"""Sizes where there is no kernel, and how many of them are a part."""
_CHANNELS = 4
"""As no case of the smaller tiers has: so none of them is made twice."""


def in_product(shape: tuple[int, ...]) -> bool:
    """Say whether the product has cases of a shape: the smaller tiers leave these to it."""
    return len(shape) == 3 and shape[:2] == (1, _CHANNELS)


def parts(operator: str) -> int:
    """Return how many parts the product of an operator has; that of an unpooling is left out."""
    if OPERATORS[operator].scatters:
        return 0
    if OPERATORS[operator].has_windows:
        return len(_SIZES) * len(_KERNELS)
    return len(_LONG) // _LONG_STEP


def exhaustive(operator: str, seed: int, part: int) -> Iterator[Case]:
    """Yield the cases of one part, counted from 1."""
    yield from cases_of(case_specs(operator, part), seed=seed)


def case_specs(operator: str, part: int) -> Iterator[CaseSpec]:
    """Yield one part without data: each element type, while data patterns take turns."""
    definition = OPERATORS[operator]
    return _windows(definition, part) if definition.has_windows else _sizes(definition, part)


def _sizes(operator: Operator, part: int) -> Iterator[CaseSpec]:
    long = _LONG[(part - 1) * _LONG_STEP : part * _LONG_STEP]
    patterns = ("impulses", "index", "normals")
    outputs = _LONG if operator.is_adaptive else (1,)
    words = list(levels.word_choices(operator, *_VARIED))
    data = [
        (dtype, pattern)
        for dtype in levels.floats(operator)
        for pattern in dict.fromkeys(levels.pattern_for(name, dtype) for name in patterns)
    ]
    for d, o, said in product(long, outputs, words):
        yield from _specs(operator, Axis(d, output=o), said, data)


def _windows(operator: Operator, part: int) -> Iterator[CaseSpec]:
    size, kernel = list(product(_SIZES, _KERNELS))[part - 1]
    patterns = ("index", "impulses", "negative")
    strides = _STRIDES if "strides" in operator.roles else range(1, 2)
    pads = [_PADS if role in operator.roles else range(1) for role in ("pads_begin", "pads_end")]
    dilations = _DILATIONS if "dilations" in operator.roles else range(1, 2)
    words = list(levels.word_choices(operator, *_VARIED))
    every = (
        Axis(size, kernel, stride, begin, end, dilations=dilation)
        for stride, begin, end, dilation in product(strides, *pads, dilations)
    )
    axes = (axis for axis in every if axis.is_allowed(operator))
    types = levels.floats(operator)
    turns = [
        [
            (dtype, levels.pattern_for(patterns[(turn + shift) % len(patterns)], dtype))
            for shift, dtype in enumerate(types)
        ]
        for turn in range(len(patterns))
    ]
    for turn, (axis, said) in enumerate(product(axes, words)):
        yield from _specs(operator, axis, said, turns[turn % len(turns)])


def _specs(
    operator: Operator, axis: Axis, words: dict[str, Any], data: list[tuple[str, str]]
) -> Iterator[CaseSpec]:
    """Yield cases of one axis, one for each element type and pattern of `data`.

    Other axes, where there must be more, have one cell.
    """
    axes = (axis, *(Axis(1),) * (operator.axes[0] - 1))
    dtype, pattern = data[0]
    planes = 1, _CHANNELS
    spec = case_of_axes(operator, planes, axes, pattern, dtype, words, tier="exhaustive")
    for dtype, pattern in data:
        yield replace(spec, dtype=dtype, pattern=pattern)
