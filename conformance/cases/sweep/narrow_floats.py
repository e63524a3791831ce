"""Cases of floating-point types of 8 bits, which few documents take: small windows, any number.

They are beside the covering arrays, which are about geometry and the types of most documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import Layout, build, case_of_axes
from conformance.dtypes import FLOATS8
from conformance.operators.attributes import ZERO_POINTS
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_LAYOUTS: tuple[Layout, ...] = (
    ((1, 3), (Axis(7, 3, 2, 0, 0), Axis(8, 2, 2, 1, 1))),
    ((2, 2), (Axis(6, 2, 1, 1, 0), Axis(5, 3, 1, 0, 1))),
    ((1, 2), (Axis(9, 3, 2, 1, 1), Axis(7, 1, 1))),
    ((1, 17), (Axis(4, 2, 2), Axis(3, 2))),
)
_ONE_CELL: Layout = ((2, 3), (Axis(5), Axis(7, 1, 2)))
"""Windows of one cell, for averages of subnormal numbers: beside larger ones the bound hides them.
"""
_OF_MAXIMA = (
    *("codes", "codes", "subnormals", "nan", "nan-encodings", "infinities", "nan"),
    *("negative", "all-minus-infinity", "nan-encodings", "lowest", "signed-zeros"),
    *("near-largest", "subnormals", "infinity", "tiny", "codes", "normals"),
)
"""Data patterns: those of NaN and the numbers that only one of the types has, often."""
_OF_AVERAGES = (
    *("integers", "impulses", "normals", "ones", "subnormals", "ties", "integers", "nan"),
    *("lossy", "negative", "infinities", "cancellation", "index", "normals", "nan-encodings"),
    *("both-infinities", "impulses", "sign-changes", "codes", "near-largest"),
)
"""The same of averages."""
_BEYOND_FLOAT16 = {"float8_e5m2": ("codes", "subnormals", "near-largest")}
"""Patterns whose sums leave the range of float16, or are subnormal there: of averages, a document
that has them kept in float16 does not say what is right."""


def narrow_floats(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield cases of each type of 8 bits that an operator takes; the first is in the smoke tier."""
    words = list(suited.word_choices(operator, "nan"))
    points: dict[str, Any] = {role: 0 for role in ZERO_POINTS if role in operator.roles}
    for dtype in (name for name in FLOATS8 if name in operator.dtypes):
        held = [pattern for pattern in _patterns(operator, dtype) if suited.holds(dtype, pattern)]
        for turn, pattern in enumerate(held):
            alone = operator.reduction.sums and pattern == "subnormals"
            planes, axes = _ONE_CELL if alone else _LAYOUTS[turn % len(_LAYOUTS)]
            chosen = {**points, **words[turn // 2 % len(words)]}
            spec = case_of_axes(
                operator, planes, axes, chosen, dtype, pattern, tags=("type of 8 bits",)
            )
            yield build(spec, seed=seed, tier="standard" if turn else "smoke")


def _patterns(operator: Operator, dtype: str) -> tuple[str, ...]:
    if not operator.reduction.sums:
        return _OF_MAXIMA
    beyond = _BEYOND_FLOAT16.get(dtype, ())
    return tuple(pattern for pattern in _OF_AVERAGES if pattern not in beyond)
