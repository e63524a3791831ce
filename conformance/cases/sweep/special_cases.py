"""Cases no covering array of small numbers reaches: long axes, many planes, nothing to pool.

Each names what it is for in its tags. The lists are about kinds of numbers, not about faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of, case_spec
from conformance.dtypes import INTEGERS, dtype_of
from conformance.operators.operator import Operator
from conformance.vector import Case, Tier

_Ints = tuple[int, ...]
# Shape, kernel, strides, begin, end.
_Windows = tuple[_Ints, _Ints, _Ints, _Ints, _Ints]

_LONG: dict[str, _Windows] = {
    "more than 65,536 positions": ((1, 1, 65801), (3,), (1,), (1,), (0,)),
    "more than 65,536 in a plane": ((1, 1, 259, 263), (2, 5), (3, 4), (1, 0), (0, 2)),
    "more than 65,536 in a volume": ((1, 1, 41, 42, 43), (2, 1, 3), (3, 2, 4), (0, 0, 1), (1, 0, 1)),  # noqa: E501 - a row of numbers
    "more than 65,536 channels": ((1, 65539, 2), (2,), (1,), (0,), (0,)),
    "two planes of more than 65,536": ((1, 2, 257, 256), (2, 3), (5, 4), (0, 0), (0, 0)),
    "two batches of more than 65,536": ((2, 2, 257, 128), (2, 3), (5, 4), (0, 0), (0, 0)),
    "more than 256 in a batch": ((259, 2, 4, 3), (3, 2), (2, 1), (1, 0), (0, 1)),
    "more than 1,024 channels": ((2, 1031, 5), (3,), (2,), (1,), (1,)),
    "more than 255 cells in a window": ((1, 2, 20, 21), (17, 16), (1, 2), (2, 0), (0, 1)),
    "more than 65,536 cells in a window": ((1, 1, 257, 260), (257, 259), (1, 1), (0, 0), (0, 0)),
}  # fmt: skip

_IN_SMOKE = (
    "more than 65,536 in a plane",
    "more than 256 in a batch",
    "more than 1,024 channels",
    "more than 255 cells in a window",
    "i d beyond 2**24",
    "begin pads of a whole kernel",
    "a window past the input",
    "a window past the end padding",
)

# Shape, kernel, strides, begin, end, dilations: where cells of a window are apart.
_DILATED: dict[str, tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints]] = {
    "cells of a window on either side of the input": (
        *((1, 2, 2, 1), (2, 2), (1, 1), (1, 1), (1, 1)),
        (3, 2),
    ),
    "a dilation above the input": ((1, 2, 3, 4), (2, 3), (1, 1), (2, 3), (2, 3), (5, 4)),
    "a dilation above the stride": ((1, 2, 9, 8), (3, 2), (2, 1), (1, 0), (0, 1), (3, 4)),
    "a stride above the dilation": ((1, 2, 9, 11), (2, 3), (4, 3), (0, 1), (1, 0), (3, 2)),
    "a dilation of one cell": ((1, 2, 5, 4), (1, 1), (2, 1), (0, 0), (0, 0), (3, 4)),
    "dilated windows of a plane": ((1, 2, 13, 12), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
    "dilated windows of a volume": (
        *((1, 2, 7, 8, 9), (2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 1, 0)),
        (3, 2, 4),
    ),
    "a dilated window past the input": ((1, 1, 6, 5), (2, 2), (4, 3), (1, 0), (2, 1), (2, 2)),
}

# Of operators with few levels: what kernels are specialised on, and what their special cases meet.
_SPECIALISED: dict[str, _Windows] = {
    "3 x 3 with pads of 1": ((1, 2, 9, 10), (3, 3), (1, 1), (1, 1), (1, 1)),
    "windows of one row": ((1, 2, 6, 11), (1, 3), (1, 2), (0, 0), (0, 0)),
    "every second cell": ((1, 3, 14, 13), (1, 1), (2, 2), (0, 0), (0, 0)),
    "every second cell, padded": ((1, 3, 6, 7), (1, 1), (2, 2), (1, 1), (1, 0)),
    "3 x 3 with strides of 2": ((1, 2, 9, 10), (3, 3), (2, 2), (0, 0), (0, 0)),
    "the whole plane": ((2, 3, 4, 5), (4, 5), (1, 1), (0, 0), (0, 0)),
}
_BLOCKED: dict[str, _Windows] = {
    f"{channels} channels": ((1, channels, d, d + 1), (3, 3), (2, 2), (1, 1), (1, 1))
    for channels, d in ((8, 6), (16, 4), (32, 6))
}
_HARD_QUOTIENTS: dict[str, _Windows] = {
    "two batches of 41 channels": ((2, 41, 3), (2,), (1,), (0,), (0,)),
    "rows of 41": ((1, 1, 5, 41), (1, 1), (1, 1), (0, 0), (0, 0)),
}

# Indices that count the cells of a plane, as most engines do: with nothing else that these lack.
_OF_A_PLANE: dict[str, _Windows] = {
    f"indices of a plane, {len(shape) - 2} axes": (shape, *rest)
    for shape, *rest in (
        ((2, 3, 11), (3,), (2,), (1,), (1,)),
        ((2, 2, 6, 7), (3, 3), (2, 2), (1, 1), (1, 1)),
        ((1, 2, 4, 5, 6), (2, 3, 2), (2, 1, 2), (1, 1, 1), (1, 1, 1)),
    )
}

# Layers of published networks, with small channel counts.
_COMMON: dict[str, _Windows] = {
    "stem of ResNet": ((1, 2, 61, 56), (3, 3), (2, 2), (1, 1), (1, 1)),
    "halving": ((1, 2, 28, 30), (2, 2), (2, 2), (0, 0), (0, 0)),
    "Inception": ((1, 2, 35, 17), (3, 3), (1, 1), (1, 1), (1, 1)),
    "odd sizes, no pads": ((1, 2, 61, 29), (3, 3), (2, 2), (0, 0), (0, 0)),
    "large window": ((1, 2, 29, 30), (7, 7), (4, 4), (3, 3), (3, 3)),
    "global": ((1, 8, 7, 7), (7, 7), (1, 1), (0, 0), (0, 0)),
    "pyramid, 5": ((1, 2, 13, 13), (5, 5), (1, 1), (2, 2), (2, 2)),
    "pyramid, 9": ((1, 2, 13, 13), (9, 9), (1, 1), (4, 4), (4, 4)),
    "pyramid, 13": ((1, 2, 13, 13), (13, 13), (1, 1), (6, 6), (6, 6)),
    "stride alone": ((1, 3, 14, 13), (1, 1), (2, 2), (0, 0), (0, 0)),
    "neighbours": ((1, 3, 9, 10), (2, 2), (1, 1), (0, 0), (0, 0)),
    "thirds": ((1, 3, 20, 17), (3, 3), (3, 3), (0, 0), (0, 0)),
    "halving a volume": ((1, 2, 8, 9, 10), (2, 2, 2), (2, 2, 2), (0, 0, 0), (0, 0, 0)),
    "halving a volume with pads": ((1, 2, 7, 8, 9), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)),
    "smallest": ((1, 1, 1), (1,), (1,), (0,), (0,)),
    "video": ((1, 2, 7, 14, 13), (2, 3, 3), (2, 2, 2), (0, 1, 1), (0, 1, 1)),
    "sequence": ((2, 3, 199), (5,), (3,), (2,), (2,)),
}

# Pads against kernels, one axis of two; every way a window of padding alone arises.
_ALL_PADDING: dict[str, _Windows] = {
    "begin pads of a whole kernel": ((1, 2, 5, 4), (2, 3), (1, 2), (2, 0), (0, 1)),
    "end pads of a whole kernel": ((1, 2, 5, 4), (3, 2), (2, 1), (1, 0), (0, 2)),
    "pads above the kernel on both ends": ((1, 2, 3, 4), (2, 2), (1, 1), (3, 1), (3, 1)),
    "a corner of padding alone": ((1, 2, 4, 3), (2, 2), (1, 1), (2, 2), (2, 2)),
    "a window past the input": ((1, 2, 6, 5), (1, 2), (2, 3), (0, 0), (0, 0)),
    "a window past the end padding": ((1, 2, 5, 4), (3, 2), (4, 3), (1, 1), (1, 0)),
}

_TOO_LARGE: dict[str, _Windows] = {
    "kernel above the padded input": ((1, 2, 3, 4), (2, 6), (1, 1), (0, 1), (0, 0)),
    "kernel above the padded input, stride above": ((1, 2, 3), (5,), (3,), (1,), (0,)),
}
_EMPTY: dict[str, _Windows] = {
    f"empty {what}": (shape, (2, 2), (1, 2), (0, 0), (0, 0))
    for what, shape in (("batch", (0, 3, 4, 5)), ("channels", (2, 0, 4, 5)), ("axis", (1, 2, 0, 3)))
}

_LONG_ADAPTIVE: dict[str, tuple[tuple[int, int], list[tuple[int, int]]]] = {
    "i d beyond 2**24": ((1, 1), [(6007, 4001)]),
    "i d beyond 2**31": ((1, 1), [(70001, 40009)]),
    "more than 65,536 positions": ((1, 1), [(301, 257), (2, 256)]),
    "two planes of more than 65,536": ((1, 2), [(257, 2), (256, 1)]),
    "two batches of more than 65,536": ((2, 2), [(257, 2), (128, 1)]),
    "more than 1,024 channels": ((1, 1031), [(5, 3)]),
    "more than 256 in a batch": ((259, 2), [(4, 3), (3, 2)]),
    "264 channels": ((1, 264), [(5, 3), (3, 2)]),
    "global": ((1, 8), [(7, 1), (7, 1)]),
    "more than 255 cells in a window": ((1, 2), [(300, 1)]),
    "more than 65,536 cells in a window": ((1, 1), [(257, 1), (260, 1)]),
    "more than 65,536 channels": ((1, 65539), [(2, 1)]),
    "17 channels of a volume": ((1, 17), [(3, 2), (4, 3), (2, 3)]),
    # Places of a plane divided by its width with a rounded reciprocal.
    "80 rows of 41": ((1, 1), [(79, 80), (40, 41)]),
    "2 to 83": ((1, 2), [(2, 83)]),
    "three hard pairs": ((1, 2), [(11, 7), (14, 13), (5, 3)]),
    # Where i d / o is right in doubles only if the product comes before the division.
    **{
        f"{d} to {o}, hard in doubles": ((1, 2), [(d, o)])
        for d, o in ((30, 22), (14, 50), (7, 49), (22, 22), (6, 10), (14, 6))
    },
}


class Special(NamedTuple):
    """A special case without data, its tier and its source."""

    spec: CaseSpec
    tier: Tier
    source: str


class _Numbers(NamedTuple):
    """What a special case is for, its shape (N, C, d1..dr), and numbers by role."""

    tag: str
    shape: _Ints
    meanings: dict[str, _Ints]

    def of_axes(self, fewest: int) -> _Numbers:
        """Return the same with so many axes at least: those before the others have one cell."""
        more = fewest - (len(self.shape) - 2)
        if more <= 0:
            return self
        meanings = {
            role: (suited.PLAIN.get(role, 1),) * more + tuple(values)
            for role, values in self.meanings.items()
        }
        return _Numbers(self.tag, (*self.shape[:2], *(1,) * more, *self.shape[2:]), meanings)


class _Group(NamedTuple):
    """Numbers, element types and patterns of their data, and whether they meet every word.

    `others` are meanings of other roles that all of them have.
    """

    numbers: list[_Numbers]
    data: list[tuple[str, str]]
    words: bool = False
    source: str = ""
    others: Mapping[str, Any] = MappingProxyType({})


def special(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the special cases of an operator, in the standard tier or, small ones, in smoke."""
    for spec, tier, source in specials(operator):
        yield build(spec, seed=seed, tier=tier, source=source)
    if operator.reduction.sums and operator.takes_integers:
        yield from _integer_averages(operator)


def specials(operator: Operator) -> Iterator[Special]:
    """Yield the special cases that have data of a pattern, without their data."""
    half = (suited.floats(operator)[0], "integers")
    fewest, most = operator.axes
    for group in _groups(operator):
        choices = list(suited.word_choices(operator, "rounding", "include_pad"))
        for turn, numbers in enumerate(each.of_axes(fewest) for each in group.numbers):
            if most is not None and len(numbers.shape) - 2 > most:
                continue
            every = list(product(choices if group.words else choices[:1], group.data))
            for words, data in (
                every if operator.levels == "all" else every[turn % max(1, min(3, len(every))) :: 3]
            ):
                tag = numbers.tag or f"type {data[0]}"
                meanings = {**numbers.meanings, **words, **group.others}
                spec = case_spec(operator, numbers.shape, meanings, *data, tags=(tag,))
                smoke = tag in _IN_SMOKE and data != half
                yield Special(spec, "smoke" if smoke else "standard", group.source)


def _groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    if operator.is_adaptive:
        yield from _adaptive_groups(operator)
        sized = [_adaptive("", (1, 2), [(13, 5), (7, 9), (4, 3)][: suited.axes(operator)[-1]])]
    elif operator.has_windows:
        yield from _window_groups(operator)
        sized = _sliding({"": _COMMON["stem of ResNet"]})
    else:
        yield from _plane_groups(operator)
        sized = [_Numbers("", (1, 2, 13, 7, 4)[: 2 + suited.axes(operator)[-1]], {})]
    if operator.has_indices and "float64" in operator.dtypes:
        yield _Group(_tagged("cells that differ in float64 alone", sized), [("float64", "lossy")])
    if operator.reduction.powers:
        yield _Group(_tagged("minus infinity alone", sized), [(plain, "minus-infinity")])
    if not operator.reduction.sums:
        integers = [name for name in INTEGERS if name in operator.dtypes]
        yield _Group(sized, [*product(integers, ("extremes", "negative", "lowest"))])


def _adaptive_groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    positions = [(plain, suited.positions(operator))]
    source = f"{operator.name}, Detailed description"
    for tag, (planes, pairs) in _LONG_ADAPTIVE.items():
        small = [(plain, suited.pattern_for("normals", plain))]
        data = small if prod(d for d, _ in pairs) < 5_000 else positions
        yield _Group([_adaptive(tag, planes, pairs)], data, source=source)
    shapes = (*(shape for shape, *_ in _EMPTY.values()), (1, 2, 4, 5))
    empty = [
        _Numbers("empty dimension", shape, {"output": (o, o)})
        for shape, o in product(shapes, (2, 0))
    ]
    yield _Group(empty, [(plain, "zeros")])
    if operator.levels != "all":
        for values in _special_values(operator):
            yield _Group([_adaptive("7 to 9", (1, 2), [(7, 9)])], [values])
        yield _Group([_adaptive("two batches of 41 channels", (2, 41), [(3, 2)])], positions)


def _window_groups(operator: Operator) -> Iterator[_Group]:
    plain, floats = suited.plain_type(operator), suited.floats(operator)
    yield _Group(_sliding(_LONG), [(plain, suited.positions(operator))])
    common = [(dtype, "integers") for dtype in floats[::2]]
    yield _Group(_sayable(operator, _COMMON), common, words=True)
    padding = [(plain, "negative"), (floats[0], "integers")]
    yield _Group(_sayable(operator, _ALL_PADDING), padding, words=True)
    yield _Group(_dilated(operator), padding, words=True)
    yield _Group(_sliding(_TOO_LARGE), [(plain, "integers")], words=True)
    yield _Group(_sliding(_EMPTY), [(plain, "zeros")], words=True)
    if operator.levels != "all":
        for values in _special_values(operator):
            yield _Group(_sayable(operator, _SPECIALISED), [values])
        yield _Group(_sayable(operator, _BLOCKED), [(floats[0], "integers")], words=True)
        yield _Group(_sliding(_HARD_QUOTIENTS), [(plain, "names")])
    if {"index_type", "index_axis"} <= operator.roles:
        data = [(plain, "integers"), (plain, "index")]
        of_a_plane = {"index_type": "int32", "index_axis": 2}
        yield _Group(_sliding(_OF_A_PLANE), data, words=True, others=of_a_plane)


def _plane_groups(operator: Operator) -> Iterator[_Group]:
    plain = suited.plain_type(operator)
    positions = [(plain, suited.positions(operator))]
    yield _Group([_Numbers(tag, shape, {}) for tag, (shape, *_) in _LONG.items()], positions)
    empty = [_Numbers(tag, shape, {}) for tag, (shape, *_) in _EMPTY.items()]
    yield _Group(empty, [(plain, "zeros")])
    yield _Group([_Numbers("edges of a long axis", (1, 2, 65801), {})], [(plain, "edges")])
    yield _Group([_Numbers("two batches of 41 channels", (2, 41, 3), {})], positions)
    for values in (*_special_values(operator), (suited.floats(operator)[0], "lossy")):
        yield _Group([_Numbers("planes of one cell", (1, 17, 1), {})], [values])
        yield _Group([_Numbers("planes of five cells", (1, 17, 5), {})], [values])


def _special_values(operator: Operator) -> list[tuple[str, str]]:
    """Return types and patterns of values that operators with few levels do not meet elsewhere."""
    of_maxima = () if operator.reduction.sums else ("lowest", "all-minus-infinity")
    patterns = ("nan-encodings", "infinities", *of_maxima)
    return [(suited.plain_type(operator), pattern) for pattern in patterns]


def _tagged(tag: str, numbers: list[_Numbers]) -> list[_Numbers]:
    return [each._replace(tag=tag) for each in numbers]


def _sliding(table: Mapping[str, _Windows]) -> list[_Numbers]:
    roles = ("kernel", "strides", "pads_begin", "pads_end")
    return [
        _Numbers(tag, shape, dict(zip(roles, lists, strict=True)))
        for tag, (shape, *lists) in table.items()
    ]


def _dilated(operator: Operator) -> list[_Numbers]:
    """Return the numbers of dilated windows, if an operator has any."""
    roles = ("kernel", "strides", "pads_begin", "pads_end", "dilations")
    return [
        _Numbers(tag, shape, dict(zip(roles, lists, strict=True)))
        for tag, (shape, *lists) in _DILATED.items()
        if "dilations" in operator.roles
    ]


def _sayable(operator: Operator, table: Mapping[str, _Windows]) -> list[_Numbers]:
    """Return the numbers of a table that an operator has attributes for."""
    return [
        numbers
        for numbers in _sliding(table)
        if all(
            role in operator.roles or set(values) == {suited.PLAIN[role]}
            for role, values in numbers.meanings.items()
        )
    ]


def _adaptive(tag: str, planes: tuple[int, int], pairs: list[tuple[int, int]]) -> _Numbers:
    shape = (*planes, *(d for d, _ in pairs))
    return _Numbers(tag, shape, {"output": tuple(o for _, o in pairs)})


def _integer_averages(operator: Operator) -> Iterator[Case]:
    # The averages that engines dispute are halves and thirds.
    if 2 not in suited.axes(operator):
        return
    pads = {
        role: (0, 0)
        for role in ("pads_begin", "pads_end")
        if any(a.required and a.role in {role, "pads"} for a in operator.attributes)
    }
    words = next(suited.word_choices(operator))
    meanings = {"kernel": (1, 2), "strides": (1, 2), **pads, **words}
    sizes = (np.array([2, 2], np.int64),) if operator.is_adaptive else ()
    for name in ("int8", "uint8", "int32", "int64"):
        if name in operator.dtypes:
            data = np.array([[1, 2, 4, 7], [2, 3, 5, 9]], dtype_of(name)).reshape(1, 1, 2, 4)
            yield case_of(
                operator.name,
                operator.attributes_of(meanings),
                (data, *sizes),
                pattern="integers",
                source=f"{operator.document}, Inputs, Element Type",
                tags=("integer average",),
            )
