"""Cases no covering array of small numbers reaches: long axes, many planes, nothing to pool.

Each names what it is for in its tags. The lists are about kinds of numbers, not about faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import (
    CaseSpec,
    Geometry,
    case_of_axes,
    plain_type,
    required_words,
)
from conformance.dtypes import INTEGERS, dtype_of
from conformance.operators.attributes import PADS, ZERO_POINTS
from conformance.operators.axis import Axis, sizes
from conformance.operators.operator import Operator
from conformance.vector import Array

_NUMBERS = ("size", "kernel", "strides", "pads_begin", "pads_end", "dilations")


def _sliding(planes: tuple[int, int], *axes: tuple[int, ...]) -> Geometry:
    """Return planes, and axes of the `_NUMBERS` of each, but for plain ones at the end."""
    named = (zip(_NUMBERS, numbers, strict=False) for numbers in axes)
    return planes, tuple(Axis(**dict(each)) for each in named)


def _divided(planes: tuple[int, int], *axes: tuple[int, int]) -> Geometry:
    """Return planes, and axes of the size and the output size of each."""
    return planes, tuple(Axis(size, output=output) for size, output in axes)


_IN_A_PLANE = "more than 65,536 in a plane"
_TWO_PLANES = "two planes of more than 65,536"
_LONG: dict[str, Geometry] = {
    "more than 65,536 positions": _sliding((1, 1), (65801, 3, 1, 1)),
    _IN_A_PLANE: _sliding((1, 1), (259, 2, 3, 1), (263, 5, 4, 0, 2)),
    "more than 65,536 in a volume": _sliding(
        (1, 1), (41, 2, 3, 0, 1), (42, 1, 2), (43, 3, 4, 1, 1)
    ),
    "more than 65,536 channels": _sliding((1, 65539), (2, 2)),
    _TWO_PLANES: _sliding((1, 2), (257, 2, 5), (256, 3, 4)),
    "two batches of more than 65,536": _sliding((2, 2), (257, 2, 5), (128, 3, 4)),
    "more than 256 in a batch": _sliding((259, 2), (4, 3, 2, 1), (3, 2, 1, 0, 1)),
    "more than 1,024 channels": _sliding((2, 1031), (5, 3, 2, 1, 1)),
    "more than 255 cells in a window": _sliding((1, 2), (20, 17, 1, 2), (21, 16, 2, 0, 1)),
    "more than 65,536 cells in a window": _sliding((1, 1), (257, 257), (260, 259)),
}

_IN_SMOKE = (
    _IN_A_PLANE,
    "more than 256 in a batch",
    "more than 1,024 channels",
    "more than 255 cells in a window",
    "i d beyond 2**24",
    "begin pads of a whole kernel",
    "a window past the input",
    "a window past the end padding",
    "one output of a row",
    "blocks of two",
)

# Where cells of a window are apart.
_DILATED: dict[str, Geometry] = {
    "cells of a window on either side of the input": _sliding(
        (1, 2), (2, 2, 1, 1, 1, 3), (1, 2, 1, 1, 1, 2)
    ),
    "a dilation above the input": _sliding((1, 2), (3, 2, 1, 2, 2, 5), (4, 3, 1, 3, 3, 4)),
    "a dilation above the stride": _sliding((1, 2), (9, 3, 2, 1, 0, 3), (8, 2, 1, 0, 1, 4)),
    "a stride above the dilation": _sliding((1, 2), (9, 2, 4, 0, 1, 3), (11, 3, 3, 1, 0, 2)),
    "a dilation of one cell": _sliding((1, 2), (5, 1, 2, 0, 0, 3), (4, 1, 1, 0, 0, 4)),
    "dilated windows of a plane": _sliding((1, 2), (13, 3, 1, 2, 2, 2), (12, 3, 1, 2, 2, 2)),
    "dilated windows of a volume": _sliding(
        (1, 2), (7, 2, 2, 0, 1, 3), (8, 3, 1, 1, 1, 2), (9, 2, 2, 1, 0, 4)
    ),
    "a dilated window past the input": _sliding((1, 1), (6, 2, 4, 1, 2, 2), (5, 2, 3, 0, 1, 2)),
}

# Of operators with few levels: what kernels are specialised on, and what their special cases meet.
_SPECIALISED: dict[str, Geometry] = {
    "3 x 3 with pads of 1": _sliding((1, 2), (9, 3, 1, 1, 1), (10, 3, 1, 1, 1)),
    "windows of one row": _sliding((1, 2), (6,), (11, 3, 2)),
    "every second cell": _sliding((1, 3), (14, 1, 2), (13, 1, 2)),
    "every second cell, padded": _sliding((1, 3), (6, 1, 2, 1, 1), (7, 1, 2, 1)),
    "3 x 3 with strides of 2": _sliding((1, 2), (9, 3, 2), (10, 3, 2)),
    "the whole plane": _sliding((2, 3), (4, 4), (5, 5)),
}
_BLOCKED: dict[str, Geometry] = {
    f"{channels} channels": _sliding((1, channels), (d, 3, 2, 1, 1), (d + 1, 3, 2, 1, 1))
    for channels, d in ((8, 6), (16, 4), (32, 6))
}
_HARD_QUOTIENTS: dict[str, Geometry] = {
    "two batches of 41 channels": _sliding((2, 41), (3, 2)),
    "rows of 41": _sliding((1, 1), (5,), (41,)),
}

# Indices that count the cells of a plane, as most engines do: with nothing else that these lack.
_OF_A_PLANE: dict[str, Geometry] = {
    f"indices of a plane, {len(axes)} axes": (planes, axes)
    for planes, axes in (
        _sliding((2, 3), (11, 3, 2, 1, 1)),
        _sliding((2, 2), (6, 3, 2, 1, 1), (7, 3, 2, 1, 1)),
        _sliding((1, 2), (4, 2, 2, 1, 1), (5, 3, 1, 1, 1), (6, 2, 2, 1, 1)),
    )
}

# Layers of published networks, with small channel counts.
_COMMON: dict[str, Geometry] = {
    "stem of ResNet": _sliding((1, 2), (61, 3, 2, 1, 1), (56, 3, 2, 1, 1)),
    "halving": _sliding((1, 2), (28, 2, 2), (30, 2, 2)),
    "Inception": _sliding((1, 2), (35, 3, 1, 1, 1), (17, 3, 1, 1, 1)),
    "odd sizes, no pads": _sliding((1, 2), (61, 3, 2), (29, 3, 2)),
    "large window": _sliding((1, 2), (29, 7, 4, 3, 3), (30, 7, 4, 3, 3)),
    "global": _sliding((1, 8), (7, 7), (7, 7)),
    "pyramid, 5": _sliding((1, 2), (13, 5, 1, 2, 2), (13, 5, 1, 2, 2)),
    "pyramid, 9": _sliding((1, 2), (13, 9, 1, 4, 4), (13, 9, 1, 4, 4)),
    "pyramid, 13": _sliding((1, 2), (13, 13, 1, 6, 6), (13, 13, 1, 6, 6)),
    "stride alone": _sliding((1, 3), (14, 1, 2), (13, 1, 2)),
    "neighbours": _sliding((1, 3), (9, 2), (10, 2)),
    "thirds": _sliding((1, 3), (20, 3, 3), (17, 3, 3)),
    "halving a volume": _sliding((1, 2), (8, 2, 2), (9, 2, 2), (10, 2, 2)),
    "halving a volume with pads": _sliding(
        (1, 2), (7, 3, 2, 1, 1), (8, 3, 2, 1, 1), (9, 3, 2, 1, 1)
    ),
    "smallest": _sliding((1, 1), (1,)),
    "video": _sliding((1, 2), (7, 2, 2), (14, 3, 2, 1, 1), (13, 3, 2, 1, 1)),
    "sequence": _sliding((2, 3), (199, 5, 3, 2, 2)),
}

# Pads against kernels, one axis of two; every way a window of padding alone arises.
_ALL_PADDING: dict[str, Geometry] = {
    "begin pads of a whole kernel": _sliding((1, 2), (5, 2, 1, 2), (4, 3, 2, 0, 1)),
    "end pads of a whole kernel": _sliding((1, 2), (5, 3, 2, 1), (4, 2, 1, 0, 2)),
    "pads above the kernel on both ends": _sliding((1, 2), (3, 2, 1, 3, 3), (4, 2, 1, 1, 1)),
    "a corner of padding alone": _sliding((1, 2), (4, 2, 1, 2, 2), (3, 2, 1, 2, 2)),
    "a window past the input": _sliding((1, 2), (6, 1, 2), (5, 2, 3)),
    "a window past the end padding": _sliding((1, 2), (5, 3, 4, 1, 1), (4, 2, 3, 1)),
}

_TOO_LARGE: dict[str, Geometry] = {
    "kernel above the padded input": _sliding((1, 2), (3, 2), (4, 6, 1, 1)),
    "kernel above the padded input, stride above": _sliding((1, 2), (3, 5, 3, 1)),
}
_EMPTY: dict[str, Geometry] = {
    "empty batch": _sliding((0, 3), (4, 2), (5, 2, 2)),
    "empty channels": _sliding((2, 0), (4, 2), (5, 2, 2)),
    "empty axis": _sliding((1, 2), (0, 2), (3, 2, 2)),
}

_LONG_ADAPTIVE: dict[str, Geometry] = {
    "i d beyond 2**24": _divided((1, 1), (6007, 4001)),
    "i d beyond 2**31": _divided((1, 1), (70001, 40009)),
    "more than 65,536 positions": _divided((1, 1), (301, 257), (2, 256)),
    "two planes of more than 65,536": _divided((1, 2), (257, 2), (256, 1)),
    "two batches of more than 65,536": _divided((2, 2), (257, 2), (128, 1)),
    "more than 1,024 channels": _divided((1, 1031), (5, 3)),
    "more than 256 in a batch": _divided((259, 2), (4, 3), (3, 2)),
    "264 channels": _divided((1, 264), (5, 3), (3, 2)),
    "global": _divided((1, 8), (7, 1), (7, 1)),
    "more than 255 cells in a window": _divided((1, 2), (300, 1)),
    "more than 65,536 cells in a window": _divided((1, 1), (257, 1), (260, 1)),
    "more than 65,536 channels": _divided((1, 65539), (2, 1)),
    "17 channels of a volume": _divided((1, 17), (3, 2), (4, 3), (2, 3)),
    # Places of a plane divided by its width with a rounded reciprocal.
    "80 rows of 41": _divided((1, 1), (79, 80), (40, 41)),
    "2 to 83": _divided((1, 2), (2, 83)),
    "three hard pairs": _divided((1, 2), (11, 7), (14, 13), (5, 3)),
    # Where i d / o is right in doubles only if the product comes before the division.
    **{
        f"{d} to {o}, hard in doubles": _divided((1, 2), (d, o))
        for d, o in ((30, 22), (14, 50), (7, 49), (22, 22), (6, 10), (14, 6))
    },
}


_ROLES = ("kernel", "strides", "pads_begin", "pads_end", "output")
"""Of the lists of numbers, those that all special cases give."""


_Kind = tuple[str, str]
"""A type and a pattern of data."""


def special(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the special cases of an operator, in the standard tier or, small ones, in smoke."""
    yield from specials(operator)
    yield from _short_forms(operator)
    yield from _kept_sizes(operator)
    yield from _without_kernel(operator)
    if operator.rounds_integers:
        yield from _halves(operator)
    elif operator.reduction.sums and operator.takes_integers:
        yield from _integer_averages(operator)


def _cases(
    operator: Operator,
    named: Mapping[str, Geometry],
    *kinds: _Kind,
    every_word: bool = False,
    source: str = "",
    **others: Any,
) -> Iterator[CaseSpec]:
    """Yield cases of geometries, by what they are for, with kinds of data.

    Each with each kind or, with few levels, with some in turn. All have the meanings `others`, and
    meet `every_word` if they are to.
    """
    half = (levels.floats(operator)[0], "integers")
    choices = list(levels.word_choices(operator, "rounding", "include_pad"))
    every = list(product(choices if every_word else choices[:1], kinds))
    turns, step = (1, 1) if operator.levels == "all" else (max(1, min(3, len(every))), 3)
    for turn, (what, (planes, axes)) in enumerate(named.items()):
        if operator.axes[1] is not None and len(axes) > operator.axes[1]:
            continue
        dilated = ("dilations",) if any(axis.dilations > 1 for axis in axes) else ()
        for words, kind in every[turn % turns :: step]:
            dtype, pattern = kind
            tag = what or f"type {dtype}"
            yield case_of_axes(
                *(operator, planes, axes, pattern, dtype, {**words, **others}),
                roles=(*_ROLES, *dilated),
                tier="smoke" if tag in _IN_SMOKE and kind != half else "standard",
                source=source,
                tags=(tag,),
            )


def _kind_by_kind(
    operator: Operator, named: Mapping[str, Geometry], kinds: Iterable[_Kind]
) -> Iterator[CaseSpec]:
    """Yield cases of every geometry with each kind of data in turn."""
    for kind in kinds:
        yield from _cases(operator, named, kind)


def specials(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the special cases that have data of a pattern."""
    plain, rank = plain_type(operator), levels.axes(operator)[-1]
    if operator.is_adaptive:
        yield from _of_sizes(operator)
        planes, axes = _divided((1, 2), (13, 5), (7, 9), (4, 3))
        sized = planes, axes[:rank]
    elif operator.has_windows:
        yield from _of_windows(operator)
        sized = _COMMON["stem of ResNet"]
    else:
        yield from _of_planes(operator)
        planes, axes = _sliding((1, 2), (13,), (7,), (4,))
        sized = planes, axes[:rank]
    if operator.has_indices and "float64" in operator.dtypes:
        yield from _cases(
            operator, {"cells that differ in float64 alone": sized}, ("float64", "lossy")
        )
    if operator.reduction.powers:
        yield from _cases(operator, {"minus infinity alone": sized}, (plain, "minus-infinity"))
    if operator.settles_integers:
        integers = [name for name in INTEGERS if name in operator.dtypes]
        kinds = product(integers, ("extremes", "negative", "lowest"))
        yield from _cases(operator, {"": sized}, *kinds)
        if operator.reduction.sums and operator.has_windows and "int8" in integers:
            what = "more than 255 cells in a window"
            yield from _cases(operator, {f"{what} of int8": _LONG[what]}, ("int8", "lowest"))


def _of_sizes(operator: Operator) -> Iterator[CaseSpec]:
    plain = plain_type(operator)
    positions = (plain, levels.positions(operator))
    source = f"{operator.name}, Detailed description"
    for what, (planes, axes) in _LONG_ADAPTIVE.items():
        # What has one rank has few cases: each shows which cells are read.
        usual = operator.rank is None and prod(sizes(axes)) < 5_000
        kind = (plain, levels.pattern_for("normals", plain)) if usual else positions
        yield from _cases(operator, {what: (planes, axes)}, kind, source=source)
    for (planes, axes), o in product((*_EMPTY.values(), _sliding((1, 2), (4,), (5,))), (2, 0)):
        empty = planes, tuple(Axis(axis.size, output=o) for axis in axes)
        yield from _cases(operator, {"empty dimension": empty}, (plain, "zeros"))
    values = _special_values(operator)
    if operator.levels != "all":
        yield from _kind_by_kind(operator, {"7 to 9": _divided((1, 2), (7, 9))}, values)
        channels = {"two batches of 41 channels": _divided((2, 41), (3, 2))}
        yield from _cases(operator, channels, positions)
    if operator.rank == 1 and not operator.reduction.sums:
        one = {"one output of a row": _divided((2, 3), (5, 1))}
        yield from _cases(operator, one, (plain, "all-minus-infinity"))
        blocks = {"blocks of two": _divided((2, 3), (6, 3))}
        yield from _cases(operator, blocks, (plain, "infinity"))
    if operator.rank is not None:
        two_axes = {"5 to 9 and 7 to 7": _divided((2, 3), (5, 9), (7, 7))}
        yield from _kind_by_kind(operator, two_axes, values)
        blocks = {"blocks of four": _divided((2, 3), (6, 3), (4, 2))}
        yield from _cases(operator, blocks, (plain, "infinity"))
        one = {"one output of a plane": _divided((2, 3), (3, 1), (5, 1))}
        kinds = ((plain, "nan"), ("float64", "tiny"), ("float64", "large"))
        yield from _kind_by_kind(operator, one, kinds)


def _of_windows(operator: Operator) -> Iterator[CaseSpec]:
    plain, floats = plain_type(operator), levels.floats(operator)
    positions = (plain, levels.positions(operator))
    long = dict(_LONG)
    if operator.rank is not None:
        long[_IN_A_PLANE] = long.pop(_TWO_PLANES)  # where each is as large
    yield from _cases(operator, long, positions)
    common = ((dtype, "integers") for dtype in floats[::2])
    yield from _cases(operator, _sayable(operator, _COMMON), *common, every_word=True)
    padding = (plain, "negative"), (floats[0], "integers")
    yield from _cases(operator, _sayable(operator, _ALL_PADDING), *padding, every_word=True)
    if "dilations" in operator.roles:
        yield from _cases(operator, _DILATED, *padding, every_word=True)
    yield from _cases(operator, _TOO_LARGE, (plain, "integers"), every_word=True)
    yield from _cases(operator, _EMPTY, (plain, "zeros"), every_word=True)
    if operator.levels != "all":
        values = _special_values(operator)
        yield from _kind_by_kind(operator, _sayable(operator, _SPECIALISED), values)
        blocked, half = _sayable(operator, _BLOCKED), (floats[0], "integers")
        yield from _cases(operator, blocked, half, every_word=True)
        yield from _cases(operator, _HARD_QUOTIENTS, (plain, "names"))
    yield from _nan_modes(operator)
    mode = operator.attribute("auto_pad")
    if mode is not None and not {*PADS} & operator.roles:
        above = {"kernel above the input": _sliding((1, 2), (3, 4), (5, 6, 2))}
        for same in (word for word in mode.meanings if word.startswith("same")):
            yield from _cases(operator, above, positions, auto_pad=same)
    if operator.rank is not None and "exponent" in operator.roles:
        halves = {"halves of 17 channels": _sliding((2, 17), (4, 2, 2), (6, 2, 2))}
        yield from _cases(operator, halves, (plain, "negative"), every_word=True)
    if {"index_type", "index_axis"} <= operator.roles:
        kinds = (plain, "integers"), (plain, "index")
        of_a_plane: dict[str, Any] = {"index_type": "int32", "index_axis": 2}
        yield from _cases(operator, _OF_A_PLANE, *kinds, every_word=True, **of_a_plane)


def _nan_modes(operator: Operator) -> Iterator[CaseSpec]:
    """Yield NaN among numbers and NaN alone, where an attribute says what comes of them."""
    mode = operator.attribute("nan")
    for meaning in list(mode.meanings)[1:] if mode is not None else ():  # others have the first
        kinds = [("3 x 3 with pads of 1", dtype) for dtype in levels.floats(operator)]
        for what, dtype in (*kinds, ("every second cell", plain_type(operator))):
            named = _sayable(operator, {what: _SPECIALISED[what]})
            yield from _cases(operator, named, (dtype, "nan"), nan=meaning)


def _of_planes(operator: Operator) -> Iterator[CaseSpec]:
    plain = plain_type(operator)
    positions = (plain, levels.positions(operator))
    yield from _cases(operator, _LONG, positions)
    yield from _cases(operator, _EMPTY, (plain, "zeros"))
    long = {"edges of a long axis": _sliding((1, 2), (65801,))}
    yield from _cases(operator, long, (plain, "edges"))
    channels = {"two batches of 41 channels": _sliding((2, 41), (3,))}
    yield from _cases(operator, channels, positions)
    cells = {
        "planes of one cell": _sliding((1, 17), (1,)),
        "planes of five cells": _sliding((1, 17), (5,)),
    }
    kinds = (*_special_values(operator), (levels.floats(operator)[0], "lossy"))
    yield from _kind_by_kind(operator, cells, kinds)


def _special_values(operator: Operator) -> list[tuple[str, str]]:
    """Return types and patterns of values that operators with few levels do not meet elsewhere."""
    of_maxima = () if operator.reduction.sums else ("lowest", "all-minus-infinity")
    patterns = ("nan-encodings", "infinities", *of_maxima)
    return [(plain_type(operator), pattern) for pattern in patterns]


def _sayable(operator: Operator, table: Mapping[str, Geometry]) -> dict[str, Geometry]:
    """Return what of a table an operator has attributes for.

    With other sizes, where it leaves no cell over.
    """
    if operator.leaves_no_rest:
        table = {
            what: (planes, tuple(axis.allowed(operator) for axis in axes))
            for what, (planes, axes) in table.items()
        }
    return {
        what: (planes, axes)
        for what, (planes, axes) in table.items()
        if all(axis.is_sayable(operator) for axis in axes)
    }


def _saying(spec: CaseSpec, attributes: Mapping[str, Any], tag: str) -> CaseSpec:
    """Return a case, in the smoke tier, with attributes in another form."""
    return replace(spec, attributes={**spec.attributes, **attributes}, tier="smoke", tags=(tag,))


def _short_forms(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases in which one number stands for all axes, or an empty list for a default."""
    short = {each.key: each for each in operator.attributes if each.one_for_all}
    if not short:
        return
    axes = (Axis(11, 3, 2, 1, 1, output=4),) * levels.axes(operator)[-1]
    spec = case_of_axes(operator, (1, 2), axes, "integers", words={})
    one = {key: spec.attributes[key][0] for key in short if key in spec.attributes}
    empty: dict[str, list[int]] = {
        key: [] for key, each in short.items() if each.is_left_out({key: []})
    }
    lists = {key: [one[key]] for key in one if short[key].one_for_all == "in a list"}
    for attributes in (one, {**one, **lists}, {**one, **empty}):
        yield _saying(spec, attributes, "one number for all axes")


def _kept_sizes(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases in which an output size is None, that of the input, on some axes or on all."""
    keeping = [each for each in operator.attributes if each.keeps_sizes]
    axes = (Axis(5, output=5), Axis(6, output=4), Axis(3, output=2))[: levels.axes(operator)[-1]]
    for attribute, kept in product(keeping, ((0,), (-1,), range(8))):
        spec = case_of_axes(operator, (2, 3), axes, "integers", words={})
        numbers = spec.attributes[attribute.key]
        some = [
            None if place in kept or place - len(numbers) in kept else number
            for place, number in enumerate(numbers)
        ]
        yield _saying(spec, {attribute.key: some}, "None for the size of the input")


def _without_kernel(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases without a kernel, where that is one as large as the plane."""
    kernel = operator.attribute("kernel")
    if kernel is None or kernel.default != "sizes":
        return
    axes = (Axis(5, 5), Axis(4, 4), Axis(3, 3))[: levels.axes(operator)[-1]]
    choices = levels.word_choices(operator, "rounding", "include_pad")
    for padded, words in product((False, True), choices):
        pads = [axis._replace(pads_begin=int(padded), pads_end=2 * padded) for axis in axes]
        yield case_of_axes(
            *(operator, (2, 3), pads, "integers", "", words),
            roles=Axis._fields[2:],  # all but the kernel
            tier="smoke",
            tags=("a kernel as large as the plane",),
        )


_KERNELS_OF_HALVES = ((1, 2), (2, 2), (3, 2), (4, 4), (2, 7), (5, 6))
"""Kernels of an even number of cells, 14 and 30 among them: there, float32(1 / n) moves halves."""
_ZERO_POINTS_OF_HALVES = ((0, 0), (3, -2), (-128, -101))
_SCALES_OF_HALVES = {"input_scale": 0.5, "output_scale": 0.5}
"""Powers of two: with these, and of as many cells, no sound computation rounds on the way."""


def _halves(operator: Operator) -> Iterator[CaseSpec]:
    """Yield averages of integers that end in a half, of either sign, under zero points.

    Of windows side by side and, where numbers are requantised, of one window as large as the plane,
    for which backends have other code.
    """
    scalars = levels.scalars(operator)
    zero_point = scalars.get("input_zero_point")
    pointed = () if zero_point is None else zero_point.of_types or operator.dtypes
    kinds = [
        (dtype, points)
        for dtype in (name for name in INTEGERS if name in operator.dtypes)
        for points in (_ZERO_POINTS_OF_HALVES if dtype in pointed else _ZERO_POINTS_OF_HALVES[:1])
    ]
    for turn, (kernel, (dtype, points)) in enumerate(product(_KERNELS_OF_HALVES, kinds)):
        side_by_side = (1, 2), tuple(Axis(5 * k, k, k) for k in kernel)
        whole = (1, 7), tuple(Axis(k, k, k) for k in kernel)
        geometries = (side_by_side,) * operator.has_windows + (whole,) * operator.requantises
        encoding = dict(zip(ZERO_POINTS, points, strict=True)) | _SCALES_OF_HALVES
        words = required_words(operator)
        words |= {role: number for role, number in encoding.items() if role in scalars}
        for planes, axes in geometries:
            spec = case_of_axes(
                *(operator, planes, axes, "halves", dtype, words),
                tier="smoke" if operator.requantises or turn % 4 == 1 else "standard",
                source=f"{operator.document}: halves",
                tags=("averages that end in a half",),
            )
            zero = operator.stated(spec.attributes, spec.shape[2:]).input_zero_point
            yield spec.with_data(_ending_in_halves(spec.shape, kernel, dtype, zero, turn))


def _ending_in_halves(
    shape: tuple[int, ...], kernel: tuple[int, int], dtype: str, zero: int, seed: int
) -> Array:
    """Return integers around a zero point whose windows, side by side, have sums of n / 2 mod n."""
    rng = np.random.default_rng(seed)
    ends, n = np.iinfo(dtype_of(dtype)), prod(kernel)
    data = np.clip(zero + rng.integers(-n, n + 1, shape), ends.min + n, ends.max - n)
    height, width = (d // k for d, k in zip(shape[2:], kernel, strict=True))
    for y, x in product(range(height), range(width)):
        rows, columns = slice(y * kernel[0], (y + 1) * kernel[0]), slice(x * kernel[1], None)
        window = data[:, :, rows, columns][..., : kernel[1]]
        window[:, :, 0, 0] += (n // 2 - (window - zero).sum(axis=(2, 3))) % n
    return data.astype(dtype_of(dtype))


def _integer_averages(operator: Operator) -> Iterator[CaseSpec]:
    # The averages that engines dispute are halves and thirds.
    if 2 not in levels.axes(operator):
        return
    required = {each.role for each in operator.attributes if each.required}
    pads = ("pads_begin", "pads_end") if required & {*PADS} else ()
    for name in ("int8", "uint8", "int32", "int64"):
        if name in operator.dtypes:
            axes = Axis(2, output=2), Axis(4, 2, 2, output=2)
            spec = case_of_axes(
                *(operator, (1, 1), axes, "integers", name),
                roles=("kernel", "strides", *pads, "output"),
                source=f"{operator.document}, Inputs, Element Type",
                tags=("integer average",),
            )
            data = np.array([[1, 2, 4, 7], [2, 3, 5, 9]], dtype_of(name))
            yield spec.with_data(data.reshape(spec.shape))
