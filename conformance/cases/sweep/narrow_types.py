"""Cases of narrow types: floats of 8 bits, and integers and half types whose sums leave the type.

Few documents take such floats: here are small windows with any number, beside the covering arrays,
which are about geometry and the types of most documents. Of integers, every cell of a plane is the
end of its element type, so that a sum grows as fast as it can and the average is known. The least
windows that pass a width follow from the type.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import ceil, isqrt
from typing import Any

import numpy as np

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, Geometry, case_of_axes, required_words
from conformance.dtypes import FLOATS8, INTEGERS, dtype_of, float_format
from conformance.operators.attributes import ZERO_POINTS
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

_GEOMETRIES: tuple[Geometry, ...] = (
    ((1, 3), (Axis(7, 3, 2, 0, 0), Axis(8, 2, 2, 1, 1))),
    ((2, 2), (Axis(6, 2, 1, 1, 0), Axis(5, 3, 1, 0, 1))),
    ((1, 2), (Axis(9, 3, 2, 1, 1), Axis(7, 1, 1))),
    ((1, 17), (Axis(4, 2, 2), Axis(3, 2))),
)
_ONE_CELL: Geometry = ((2, 3), (Axis(5), Axis(7, 1, 2)))
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
_CHANNELS = (2, 16)
"""Channels of such sums: few, and a block of those that are added up at once."""
_SUM_BITS, _PRODUCT_BITS = 16, 32
"""Widths, in bits, that sums pass, and that sums times counts pass, whatever their sign."""


def narrow_floats(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases of each type of 8 bits that an operator takes; the first is in the smoke tier."""
    words = list(levels.word_choices(operator, "nan"))
    points: dict[str, Any] = {role: 0 for role in ZERO_POINTS if role in operator.roles}
    for dtype in (name for name in FLOATS8 if name in operator.dtypes):
        held = [pattern for pattern in _patterns(operator, dtype) if levels.holds(dtype, pattern)]
        for turn, pattern in enumerate(held):
            alone = operator.reduction.sums and pattern == "subnormals"
            planes, axes = _ONE_CELL if alone else _GEOMETRIES[turn % len(_GEOMETRIES)]
            said, tier = (
                {**points, **words[turn // 2 % len(words)]},
                "standard" if turn else "smoke",
            )
            yield case_of_axes(
                *(operator, planes, axes, pattern, dtype, said), tier=tier, tags=("type of 8 bits",)
            )


def _patterns(operator: Operator, dtype: str) -> tuple[str, ...]:
    if not operator.reduction.sums:
        return _OF_MAXIMA
    beyond = _BEYOND_FLOAT16.get(dtype, ())
    return tuple(pattern for pattern in _OF_AVERAGES if pattern not in beyond)


def integer_sums(operator: Operator) -> Iterator[CaseSpec]:
    """Yield windows of each narrow type of integers whose averages a document defines."""
    if not operator.rounds_integers:
        return
    types = [name for name in INTEGERS if name in operator.dtypes]
    for channels, dtype in product(_CHANNELS, types):
        tier = levels.kind_tier(operator) if channels == _CHANNELS[0] else "standard"
        ends = np.iinfo(dtype_of(dtype))
        for cells in _passing(ends.bits, int(ends.max)):
            axes, tags = _window(operator, cells), ("sum beyond a narrower type",)
            spec = case_of_axes(operator, (1, channels), axes, "ends", dtype, tier=tier, tags=tags)
            data = np.empty(spec.shape, dtype_of(dtype))
            data[:, ::2], data[:, 1::2] = ends.max, ends.min
            yield spec.with_data(data)


def accumulators(operator: Operator) -> Iterator[CaseSpec]:
    """Yield sums that leave a half type, or stop growing in it, if a caller says the type of sums.

    Ones are added up past the number that one more does not change, where sums are to be wider.
    """
    attribute = operator.attribute("accumulator")
    halves = [name for name in ("float16", "bfloat16") if name in operator.dtypes]
    for dtype, meaning in product(halves, attribute.meanings if attribute is not None else ()):
        said = {**required_words(operator), "accumulator": meaning}
        every = [("overflow", [*_GEOMETRIES[0][1]])]
        if meaning == "wider":
            stops = 2 ** float_format(dtype).precision
            every.append(("ones", _window(operator, 2 * stops)))
        for pattern, axes in every:
            tags = ("sums in a type that the caller says",)
            yield case_of_axes(operator, (1, 2), axes, pattern, dtype, said, tags=tags)


def _passing(bits: int, most: int) -> Iterator[int]:
    """Yield the least cells whose sum passes 16 bits, and whose sum times their count 32.

    Of types of so many bits, a sum passes them anywhere, and of wider ones, both.
    """
    if bits < _SUM_BITS:
        yield 2**_SUM_BITS // most + 1
    if bits <= _SUM_BITS:
        yield isqrt(2**_PRODUCT_BITS // most) + 1


def _window(operator: Operator, cells: int) -> list[Axis]:
    """Return one window of at least so many cells, about square where there are two axes."""
    if not operator.takes_axes(2):
        return [Axis(cells, cells)]
    rows = isqrt(cells)
    return [Axis(side, side) for side in (rows, ceil(cells / rows))]
