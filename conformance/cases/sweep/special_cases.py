"""Cases no covering array of small numbers reaches: long axes, many planes, nothing to pool.

Each names what it is for in its tags. The lists are about kinds of numbers, not about faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, Layout, build, case_of, case_of_axes
from conformance.dtypes import INTEGERS, dtype_of
from conformance.operators.attributes import PADS
from conformance.operators.axis import Axis, sizes
from conformance.operators.operator import Operator
from conformance.vector import Array, Case, Tier

_NUMBERS = ("size", "kernel", "strides", "pads_begin", "pads_end", "dilations")


def _row(planes: tuple[int, int], *axes: tuple[int, ...]) -> Layout:
    """Return a layout: planes, and for each axis its `_NUMBERS`, but for plain ones at the end."""
    named = (zip(_NUMBERS, numbers, strict=False) for numbers in axes)
    return planes, tuple(Axis(**dict(each)) for each in named)


def _divided(planes: tuple[int, int], *axes: tuple[int, int]) -> Layout:
    """Return a layout: planes, and for each axis its size and its output size."""
    return planes, tuple(Axis(size, output=output) for size, output in axes)


_IN_A_PLANE = "more than 65,536 in a plane"
_TWO_PLANES = "two planes of more than 65,536"
_LONG: dict[str, Layout] = {
    "more than 65,536 positions": _row((1, 1), (65801, 3, 1, 1)),
    _IN_A_PLANE: _row((1, 1), (259, 2, 3, 1), (263, 5, 4, 0, 2)),
    "more than 65,536 in a volume": _row((1, 1), (41, 2, 3, 0, 1), (42, 1, 2), (43, 3, 4, 1, 1)),
    "more than 65,536 channels": _row((1, 65539), (2, 2)),
    _TWO_PLANES: _row((1, 2), (257, 2, 5), (256, 3, 4)),
    "two batches of more than 65,536": _row((2, 2), (257, 2, 5), (128, 3, 4)),
    "more than 256 in a batch": _row((259, 2), (4, 3, 2, 1), (3, 2, 1, 0, 1)),
    "more than 1,024 channels": _row((2, 1031), (5, 3, 2, 1, 1)),
    "more than 255 cells in a window": _row((1, 2), (20, 17, 1, 2), (21, 16, 2, 0, 1)),
    "more than 65,536 cells in a window": _row((1, 1), (257, 257), (260, 259)),
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
_DILATED: dict[str, Layout] = {
    "cells of a window on either side of the input": _row(
        (1, 2), (2, 2, 1, 1, 1, 3), (1, 2, 1, 1, 1, 2)
    ),
    "a dilation above the input": _row((1, 2), (3, 2, 1, 2, 2, 5), (4, 3, 1, 3, 3, 4)),
    "a dilation above the stride": _row((1, 2), (9, 3, 2, 1, 0, 3), (8, 2, 1, 0, 1, 4)),
    "a stride above the dilation": _row((1, 2), (9, 2, 4, 0, 1, 3), (11, 3, 3, 1, 0, 2)),
    "a dilation of one cell": _row((1, 2), (5, 1, 2, 0, 0, 3), (4, 1, 1, 0, 0, 4)),
    "dilated windows of a plane": _row((1, 2), (13, 3, 1, 2, 2, 2), (12, 3, 1, 2, 2, 2)),
    "dilated windows of a volume": _row(
        (1, 2), (7, 2, 2, 0, 1, 3), (8, 3, 1, 1, 1, 2), (9, 2, 2, 1, 0, 4)
    ),
    "a dilated window past the input": _row((1, 1), (6, 2, 4, 1, 2, 2), (5, 2, 3, 0, 1, 2)),
}

# Of operators with few levels: what kernels are specialised on, and what their special cases meet.
_SPECIALISED: dict[str, Layout] = {
    "3 x 3 with pads of 1": _row((1, 2), (9, 3, 1, 1, 1), (10, 3, 1, 1, 1)),
    "windows of one row": _row((1, 2), (6,), (11, 3, 2)),
    "every second cell": _row((1, 3), (14, 1, 2), (13, 1, 2)),
    "every second cell, padded": _row((1, 3), (6, 1, 2, 1, 1), (7, 1, 2, 1)),
    "3 x 3 with strides of 2": _row((1, 2), (9, 3, 2), (10, 3, 2)),
    "the whole plane": _row((2, 3), (4, 4), (5, 5)),
}
_BLOCKED: dict[str, Layout] = {
    f"{channels} channels": _row((1, channels), (d, 3, 2, 1, 1), (d + 1, 3, 2, 1, 1))
    for channels, d in ((8, 6), (16, 4), (32, 6))
}
_HARD_QUOTIENTS: dict[str, Layout] = {
    "two batches of 41 channels": _row((2, 41), (3, 2)),
    "rows of 41": _row((1, 1), (5,), (41,)),
}

# Indices that count the cells of a plane, as most engines do: with nothing else that these lack.
_OF_A_PLANE: dict[str, Layout] = {
    f"indices of a plane, {len(axes)} axes": (planes, axes)
    for planes, axes in (
        _row((2, 3), (11, 3, 2, 1, 1)),
        _row((2, 2), (6, 3, 2, 1, 1), (7, 3, 2, 1, 1)),
        _row((1, 2), (4, 2, 2, 1, 1), (5, 3, 1, 1, 1), (6, 2, 2, 1, 1)),
    )
}

# Layers of published networks, with small channel counts.
_COMMON: dict[str, Layout] = {
    "stem of ResNet": _row((1, 2), (61, 3, 2, 1, 1), (56, 3, 2, 1, 1)),
    "halving": _row((1, 2), (28, 2, 2), (30, 2, 2)),
    "Inception": _row((1, 2), (35, 3, 1, 1, 1), (17, 3, 1, 1, 1)),
    "odd sizes, no pads": _row((1, 2), (61, 3, 2), (29, 3, 2)),
    "large window": _row((1, 2), (29, 7, 4, 3, 3), (30, 7, 4, 3, 3)),
    "global": _row((1, 8), (7, 7), (7, 7)),
    "pyramid, 5": _row((1, 2), (13, 5, 1, 2, 2), (13, 5, 1, 2, 2)),
    "pyramid, 9": _row((1, 2), (13, 9, 1, 4, 4), (13, 9, 1, 4, 4)),
    "pyramid, 13": _row((1, 2), (13, 13, 1, 6, 6), (13, 13, 1, 6, 6)),
    "stride alone": _row((1, 3), (14, 1, 2), (13, 1, 2)),
    "neighbours": _row((1, 3), (9, 2), (10, 2)),
    "thirds": _row((1, 3), (20, 3, 3), (17, 3, 3)),
    "halving a volume": _row((1, 2), (8, 2, 2), (9, 2, 2), (10, 2, 2)),
    "halving a volume with pads": _row((1, 2), (7, 3, 2, 1, 1), (8, 3, 2, 1, 1), (9, 3, 2, 1, 1)),
    "smallest": _row((1, 1), (1,)),
    "video": _row((1, 2), (7, 2, 2), (14, 3, 2, 1, 1), (13, 3, 2, 1, 1)),
    "sequence": _row((2, 3), (199, 5, 3, 2, 2)),
}

# Pads against kernels, one axis of two; every way a window of padding alone arises.
_ALL_PADDING: dict[str, Layout] = {
    "begin pads of a whole kernel": _row((1, 2), (5, 2, 1, 2), (4, 3, 2, 0, 1)),
    "end pads of a whole kernel": _row((1, 2), (5, 3, 2, 1), (4, 2, 1, 0, 2)),
    "pads above the kernel on both ends": _row((1, 2), (3, 2, 1, 3, 3), (4, 2, 1, 1, 1)),
    "a corner of padding alone": _row((1, 2), (4, 2, 1, 2, 2), (3, 2, 1, 2, 2)),
    "a window past the input": _row((1, 2), (6, 1, 2), (5, 2, 3)),
    "a window past the end padding": _row((1, 2), (5, 3, 4, 1, 1), (4, 2, 3, 1)),
}

_TOO_LARGE: dict[str, Layout] = {
    "kernel above the padded input": _row((1, 2), (3, 2), (4, 6, 1, 1)),
    "kernel above the padded input, stride above": _row((1, 2), (3, 5, 3, 1)),
}
_EMPTY: dict[str, Layout] = {
    "empty batch": _row((0, 3), (4, 2), (5, 2, 2)),
    "empty channels": _row((2, 0), (4, 2), (5, 2, 2)),
    "empty axis": _row((1, 2), (0, 2), (3, 2, 2)),
}

_LONG_ADAPTIVE: dict[str, Layout] = {
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


class Special(NamedTuple):
    """A special case without data, its tier and its source."""

    spec: CaseSpec
    tier: Tier
    source: str


class _Group(NamedTuple):
    """What cases are for, and their planes and axes; types and patterns of their data.

    `words` says whether they meet every word; all of them have the meanings `others`.
    """

    layouts: Iterable[tuple[str, Layout]]
    data: list[tuple[str, str]]
    words: bool = False
    source: str = ""
    others: Mapping[str, Any] = MappingProxyType({})


def special(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the special cases of an operator, in the standard tier or, small ones, in smoke."""
    for spec, tier, source in specials(operator):
        yield build(spec, seed=seed, tier=tier, source=source)
    yield from _short_forms(operator, seed)
    yield from _kept_sizes(operator, seed)
    yield from _without_kernel(operator, seed)
    if operator.rounds_integers:
        yield from _halves(operator)
    elif operator.reduction.sums and operator.takes_integers:
        yield from _integer_averages(operator)


def specials(operator: Operator) -> Iterator[Special]:
    """Yield the special cases that have data of a pattern, without their data."""
    half = (suited.floats(operator)[0], "integers")
    most = operator.axes[1]
    for group in _groups(operator):
        choices = list(suited.word_choices(operator, "rounding", "include_pad"))
        for turn, (what, (planes, axes)) in enumerate(group.layouts):
            if most is not None and len(axes) > most:
                continue
            roles = (*_ROLES, *(("dilations",) if any(axis.dilations > 1 for axis in axes) else ()))
            every = list(product(choices if group.words else choices[:1], group.data))
            for words, data in (
                every if operator.levels == "all" else every[turn % max(1, min(3, len(every))) :: 3]
            ):
                tag, said = what or f"type {data[0]}", {**words, **group.others}
                spec = case_of_axes(operator, planes, axes, said, *data, roles=roles, tags=(tag,))
                smoke = tag in _IN_SMOKE and data != half
                yield Special(spec, "smoke" if smoke else "standard", group.source)


def _groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    if operator.is_adaptive:
        yield from _adaptive_groups(operator)
        planes, axes = _divided((1, 2), (13, 5), (7, 9), (4, 3))
        sized = planes, axes[: suited.axes(operator)[-1]]
    elif operator.has_windows:
        yield from _window_groups(operator)
        sized = _COMMON["stem of ResNet"]
    else:
        yield from _plane_groups(operator)
        planes, axes = _row((1, 2), (13,), (7,), (4,))
        sized = planes, axes[: suited.axes(operator)[-1]]
    if operator.has_indices and "float64" in operator.dtypes:
        what = "cells that differ in float64 alone"
        yield _Group([(what, sized)], [("float64", "lossy")])
    if operator.reduction.powers:
        yield _Group([("minus infinity alone", sized)], [(plain, "minus-infinity")])
    if operator.settles_integers:
        integers = [name for name in INTEGERS if name in operator.dtypes]
        yield _Group([("", sized)], [*product(integers, ("extremes", "negative", "lowest"))])
        if operator.reduction.sums and operator.has_windows and "int8" in integers:
            what = "more than 255 cells in a window"
            yield _Group([(f"{what} of int8", _LONG[what])], [("int8", "lowest")])


def _adaptive_groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    positions = [(plain, suited.positions(operator))]
    source = f"{operator.name}, Detailed description"
    for what, (planes, axes) in _LONG_ADAPTIVE.items():
        # What has one rank has few cases: each shows which cells are read.
        usual = operator.rank is None and prod(sizes(axes)) < 5_000
        data = [(plain, suited.pattern_for("normals", plain))] if usual else positions
        yield _Group([(what, (planes, axes))], data, source=source)
    empty = [
        ("empty dimension", (planes, tuple(Axis(axis.size, output=o) for axis in axes)))
        for planes, axes in (*_EMPTY.values(), _row((1, 2), (4,), (5,)))
        for o in (2, 0)
    ]
    yield _Group(empty, [(plain, "zeros")])
    if operator.levels != "all":
        for values in _special_values(operator):
            yield _Group([("7 to 9", _divided((1, 2), (7, 9)))], [values])
        yield _Group([("two batches of 41 channels", _divided((2, 41), (3, 2)))], positions)
    if operator.rank == 1 and not operator.reduction.sums:
        yield _Group(
            [("one output of a row", _divided((2, 3), (5, 1)))], [(plain, "all-minus-infinity")]
        )
        yield _Group([("blocks of two", _divided((2, 3), (6, 3)))], [(plain, "infinity")])
    if operator.rank is not None:
        kinds = tuple(_special_values(operator))
        yield from _of_one_rank("5 to 9 and 7 to 7", _divided((2, 3), (5, 9), (7, 7)), kinds)
        halves = _divided((2, 3), (6, 3), (4, 2))
        yield from _of_one_rank("blocks of four", halves, ((plain, "infinity"),))
        kinds = ((plain, "nan"), ("float64", "tiny"), ("float64", "large"))
        yield from _of_one_rank("one output of a plane", _divided((2, 3), (3, 1), (5, 1)), kinds)


def _of_one_rank(what: str, layout: Layout, kinds: Iterable[tuple[str, str]]) -> Iterator[_Group]:
    """Yield groups of one case each."""
    for kind in kinds:
        yield _Group([(what, layout)], [kind])


def _window_groups(operator: Operator) -> Iterator[_Group]:
    plain, floats = suited.plain_type(operator), suited.floats(operator)
    long = dict(_LONG)
    if operator.rank is not None:
        long[_IN_A_PLANE] = long.pop(_TWO_PLANES)  # where each is as large
    yield _Group(long.items(), [(plain, suited.positions(operator))])
    common = [(dtype, "integers") for dtype in floats[::2]]
    yield _Group(_sayable(operator, _COMMON), common, words=True)
    padding = [(plain, "negative"), (floats[0], "integers")]
    yield _Group(_sayable(operator, _ALL_PADDING), padding, words=True)
    if "dilations" in operator.roles:
        yield _Group(_DILATED.items(), padding, words=True)
    yield _Group(_TOO_LARGE.items(), [(plain, "integers")], words=True)
    yield _Group(_EMPTY.items(), [(plain, "zeros")], words=True)
    if operator.levels != "all":
        for values in _special_values(operator):
            yield _Group(_sayable(operator, _SPECIALISED), [values])
        yield _Group(_sayable(operator, _BLOCKED), [(floats[0], "integers")], words=True)
        yield _Group(_HARD_QUOTIENTS.items(), [(plain, "names")])
    yield from _nan_modes(operator)
    mode = operator.attribute("auto_pad")
    if mode is not None and not {*PADS} & operator.roles:
        above = [("kernel above the input", _row((1, 2), (3, 4), (5, 6, 2)))]
        for same in (word for word in mode.meanings if word.startswith("same")):
            kinds = [(plain, suited.positions(operator))]
            yield _Group(above, kinds, others={"auto_pad": same})
    if operator.rank is not None and "exponent" in operator.roles:
        halves = _row((2, 17), (4, 2, 2), (6, 2, 2))
        yield _Group([("halves of 17 channels", halves)], [(plain, "negative")], words=True)
    if {"index_type", "index_axis"} <= operator.roles:
        data = [(plain, "integers"), (plain, "index")]
        of_a_plane = {"index_type": "int32", "index_axis": 2}
        yield _Group(_OF_A_PLANE.items(), data, words=True, others=of_a_plane)


def _nan_modes(operator: Operator) -> Iterator[_Group]:
    """Yield NaN among numbers and NaN alone, where an attribute says what comes of them."""
    mode = operator.attribute("nan")
    for meaning in list(mode.meanings)[1:] if mode is not None else ():  # others have the first
        kinds = [("3 x 3 with pads of 1", dtype) for dtype in suited.floats(operator)]
        for what, dtype in (*kinds, ("every second cell", suited.plain_type(operator))):
            layouts = _sayable(operator, {what: _SPECIALISED[what]})
            yield _Group(layouts, [(dtype, "nan")], others={"nan": meaning})


def _plane_groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    positions = [(plain, suited.positions(operator))]
    yield _Group(_LONG.items(), positions)
    yield _Group(_EMPTY.items(), [(plain, "zeros")])
    yield _Group([("edges of a long axis", _row((1, 2), (65801,)))], [(plain, "edges")])
    yield _Group([("two batches of 41 channels", _row((2, 41), (3,)))], positions)
    for values in (*_special_values(operator), (suited.floats(operator)[0], "lossy")):
        yield _Group([("planes of one cell", _row((1, 17), (1,)))], [values])
        yield _Group([("planes of five cells", _row((1, 17), (5,)))], [values])


def _special_values(operator: Operator) -> list[tuple[str, str]]:
    """Return types and patterns of values that operators with few levels do not meet elsewhere."""
    of_maxima = () if operator.reduction.sums else ("lowest", "all-minus-infinity")
    patterns = ("nan-encodings", "infinities", *of_maxima)
    return [(suited.plain_type(operator), pattern) for pattern in patterns]


def _sayable(operator: Operator, table: Mapping[str, Layout]) -> list[tuple[str, Layout]]:
    """Return what of a table an operator has attributes for.

    With other sizes, where it leaves no cell over.
    """
    mended = {
        what: (planes, tuple(axis.allowed(operator) for axis in axes))
        for what, (planes, axes) in table.items()
    }
    return [
        (what, (planes, axes))
        for what, (planes, axes) in (mended if operator.leaves_no_rest else table).items()
        if all(axis.is_sayable(operator) for axis in axes)
    ]


def _short_forms(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield cases in which one number stands for all axes, or an empty list for a default."""
    short = {each.key: each for each in operator.attributes if each.one_for_all}
    if not short:
        return
    axes = (Axis(11, 3, 2, 1, 1, output=4),) * suited.axes(operator)[-1]
    spec = case_of_axes(operator, (1, 2), axes, {}, suited.plain_type(operator), "integers")
    one = {key: spec.attributes[key][0] for key in short if key in spec.attributes}
    empty: dict[str, list[int]] = {
        key: [] for key, each in short.items() if each.is_left_out({key: []})
    }
    lists = {key: [one[key]] for key in one if short[key].one_for_all == "in a list"}
    for attributes in (one, {**one, **lists}, {**one, **empty}):
        given = {**spec.attributes, **attributes}
        form = replace(spec, attributes=given, tags=("one number for all axes",))
        yield build(form, seed=seed, tier="smoke")


def _kept_sizes(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield cases in which an output size is None, that of the input, on some axes or on all."""
    keeping = [each for each in operator.attributes if each.keeps_sizes]
    for attribute, kept in product(keeping, ((0,), (-1,), range(8))):
        axes = (Axis(5, output=5), Axis(6, output=4), Axis(3, output=2))[
            : suited.axes(operator)[-1]
        ]
        spec = case_of_axes(operator, (2, 3), axes, {}, suited.plain_type(operator), "integers")
        numbers = list(spec.attributes[attribute.key])
        for place in range(len(numbers)):
            if place in kept or place - len(numbers) in kept:
                numbers[place] = None
        given = {**spec.attributes, attribute.key: numbers}
        kept_size = replace(spec, attributes=given, tags=("None for the size of the input",))
        yield build(kept_size, seed=seed, tier="smoke")


def _without_kernel(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield cases without a kernel, where that is one as large as the plane."""
    kernel = operator.attribute("kernel")
    if kernel is None or kernel.default != "sizes":
        return
    axes = (Axis(5, 5), Axis(4, 4), Axis(3, 3))[: suited.axes(operator)[-1]]
    choices = suited.word_choices(operator, "rounding", "include_pad")
    for padded, words in product((False, True), choices):
        pads = [axis._replace(pads_begin=int(padded), pads_end=2 * padded) for axis in axes]
        spec = case_of_axes(operator, (2, 3), pads, words, suited.plain_type(operator), "integers")
        given = {key: value for key, value in spec.attributes.items() if key != kernel.key}
        whole = replace(spec, attributes=given, tags=("a kernel as large as the plane",))
        yield build(whole, seed=seed, tier="smoke")


_KERNELS_OF_HALVES = ((1, 2), (2, 2), (3, 2), (4, 4), (2, 7), (5, 6))
"""Kernels of an even number of cells, 14 and 30 among them: there, float32(1 / n) moves halves."""
_ZERO_POINTS_OF_HALVES = ((0, 0), (3, -2), (-128, -101))
_SCALES_OF_HALVES = {"input_scale": 0.5, "output_scale": 0.5}
"""Powers of two: with these, and of as many cells, no sound computation rounds on the way."""


def _halves(operator: Operator) -> Iterator[Case]:
    """Yield averages of integers that end in a half, of either sign, under zero points.

    Of windows side by side and, where numbers are requantised, of one window as large as the plane,
    for which backends have other code.
    """
    zero_point = suited.scalars(operator).get("input_zero_point")
    pointed = () if zero_point is None else zero_point.of_types or operator.dtypes
    kinds = [
        (dtype, points)
        for dtype in (name for name in INTEGERS if name in operator.dtypes)
        for points in (_ZERO_POINTS_OF_HALVES if dtype in pointed else _ZERO_POINTS_OF_HALVES[:1])
    ]
    for turn, (kernel, (dtype, points)) in enumerate(product(_KERNELS_OF_HALVES, kinds)):
        side_by_side = (1, 2), tuple(Axis(5 * k, k, k) for k in kernel)
        whole = (1, 7), tuple(Axis(k, k, k) for k in kernel)
        layouts = (side_by_side,) * operator.has_windows + (whole,) * operator.requantises
        tier: Tier = "smoke" if operator.requantises or turn % 4 == 1 else "standard"
        for layout in layouts:
            yield _of_halves(operator, layout, dtype, points, turn, tier)


def _of_halves(
    operator: Operator, layout: Layout, dtype: str, points: tuple[int, int], seed: int, tier: Tier
) -> Case:
    planes, axes = layout
    encoding: dict[str, Any] = {
        "input_zero_point": points[0],
        "output_zero_point": points[1],
        **_SCALES_OF_HALVES,
    }
    scalars = suited.scalars(operator)
    words = next(suited.word_choices(operator))
    words |= {role: number for role, number in encoding.items() if role in scalars}
    tags = ("averages that end in a half",)
    spec = case_of_axes(operator, planes, axes, words, dtype, "halves", tags=tags)
    stated = operator.stated(spec.attributes, spec.shape[2:])
    kernel = axes[0].kernel, axes[1].kernel
    data = _ending_in_halves(spec.shape, kernel, dtype, stated.input_zero_point, seed)
    return case_of(
        operator.name,
        spec.attributes,
        spec.own_inputs(data),
        pattern="halves",
        tier=tier,
        source=f"{operator.document}: halves",
        tags=tags,
    )


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


def _integer_averages(operator: Operator) -> Iterator[Case]:
    # The averages that engines dispute are halves and thirds.
    if 2 not in suited.axes(operator):
        return
    required = {each.role for each in operator.attributes if each.required}
    pads = ("pads_begin", "pads_end") if required & {*PADS} else ()
    roles, words = ("kernel", "strides", *pads, "output"), next(suited.word_choices(operator))
    axes, source = (Axis(2, output=2), Axis(4, 2, 2, output=2)), "Inputs, Element Type"
    for name in ("int8", "uint8", "int32", "int64"):
        if name in operator.dtypes:
            spec = case_of_axes(operator, (1, 1), axes, words, name, "integers", roles=roles)
            data = np.array([[1, 2, 4, 7], [2, 3, 5, 9]], dtype_of(name)).reshape(spec.shape)
            yield case_of(
                operator.name,
                spec.attributes,
                spec.own_inputs(data),
                pattern="integers",
                source=f"{operator.document}, {source}",
                tags=("integer average",),
            )
