"""Slips in what cells are: what padding holds, which entry of an array is read or written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.diagnosis.slips.slip import Slip, on_outputs
from conformance.dtypes import dtype_of, float_format
from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.entries import ORDERS, SHAPES, SOURCES, UNITS, on_data, stored, taken
from conformance.faults.atoms.numbers import Change
from conformance.faults.behaviour import STRIDED, WINDOWED
from conformance.faults.wraps import instead
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows, clip
from conformance.vector import Array

_MOST_CELLS = 1 << 20
"""Cells of padded data, at most: what reaches further beyond the input is left as it is."""


# Padding -----------------------------------------------------------------------------------------


def of_padding() -> Iterator[Slip]:
    """Yield slips in what windows read beyond the input."""
    for (words, fill), (place, reach) in product(_FILLS, _SIDES):
        yield Slip(f"{place} held {words}", "gather", instead(_filled(fill, reach)))


def of_number(value: float, words: str) -> Iterator[Slip]:
    """Yield slips in which windows read a given value beyond the input."""
    for place, reach in _SIDES:
        fill = _filled(_constant(value), reach)
        yield Slip(f"{place} held {words}", "gather", instead(fill))


Fill = Callable[[Array, list[tuple[int, int]]], Array]
"""Data with so many cells more before and after each spatial axis."""
Reach = Callable[[tuple[int, int]], tuple[int, int]]


def _filled(fill: Fill, reach: Reach) -> Callable[..., Gathered]:
    def gather(right: Any, data: Array, params: Params, windows: Windows) -> Gathered:
        beyond = [
            reach((max(0, -int(a.min(initial=0))), max(0, int(b.max(initial=0)) - d)))
            for a, b, d in zip(windows.start, windows.stop, data.shape[2:], strict=True)
        ]
        sizes = [d + sum(more) for d, more in zip(data.shape[2:], beyond, strict=True)]
        if not any(map(any, beyond)) or prod(data.shape[:2]) * prod(sizes) > _MOST_CELLS:
            gathered: Gathered = right(data, params, windows)
            return gathered
        begins = [begin for begin, _ in beyond]
        moved = replace(
            windows,
            start=tuple(a + begin for a, begin in zip(windows.start, begins, strict=True)),
            stop=tuple(b + begin for b, begin in zip(windows.stop, begins, strict=True)),
        )
        padded = clip(fill(data, beyond), replace(params, sizes=tuple(sizes)), moved)
        places = zip(padded.positions, begins, strict=True)
        positions = tuple(place - begin for place, begin in places)
        return replace(padded, positions=positions, params=params, windows=windows)

    return gather


def _padded(mode: Any) -> Fill:
    return lambda data, beyond: np.pad(data, [(0, 0), (0, 0), *beyond], mode)


def _constant(value: float) -> Fill:
    """Fill with a number, or the one of the type that is nearest to it."""

    def fill(data: Array, beyond: list[tuple[int, int]]) -> Array:
        number = value
        if data.dtype.kind in "iu":
            info = np.iinfo(data.dtype)
            number = 0 if np.isnan(value) else int(np.clip(value, info.min, info.max))
        held = np.array(number).astype(data.dtype)
        return np.pad(data, [(0, 0), (0, 0), *beyond], constant_values=held)

    return fill


def _in_memory(data: Array, beyond: list[tuple[int, int]]) -> Array:
    """Compute addresses of cells beyond an axis as those of cells inside it."""
    address: Array = np.arange(prod(data.shape[:2])).reshape(*data.shape[:2])
    for size, (begin, end) in zip(data.shape[2:], beyond, strict=True):
        address = address[..., np.newaxis] * size + np.arange(-begin, size + end)
    lying: Array = data.reshape(-1)[address % data.size]
    return lying


_FILLS: tuple[tuple[str, Fill], ...] = (
    ("zeros", _constant(0.0)),
    ("NaN", _constant(np.nan)),
    ("the nearest cell of the input", _padded("edge")),
    ("the input mirrored at its first and last cell", _padded("reflect")),
    ("the input mirrored at its borders", _padded("symmetric")),
    ("the other end of the input", _padded("wrap")),
    ("what lies there in memory", _in_memory),
    *(
        (f"the lowest number of {name}", _constant(-float_format(name).largest))
        for name in ("float16", "float32")
    ),
)
_SIDES: tuple[tuple[str, Reach], ...] = (
    ("padding", lambda reach: reach),
    ("padding before the input", lambda reach: (reach[0], 0)),
    ("padding after the input", lambda reach: (0, reach[1])),
)


# Cells of windows --------------------------------------------------------------------------------

_STEPS: tuple[tuple[str, Callable[[Params, int], int], Needs], ...] = (
    ("2 cells", lambda _params, _axis: 2, WINDOWED),
    ("3 cells", lambda _params, _axis: 3, WINDOWED),
    ("as many cells as the stride", lambda params, axis: params.strides[axis], STRIDED),
)


def of_steps() -> Iterator[Slip]:
    """Yield slips in which the cells of a window lie apart."""
    for words, step, needs in _STEPS:
        apart = reading_other_cells(partial(_apart, step), unclipped=True)
        yield Slip(f"cells of a window lay {words} apart", "gather", apart, needs)


def _apart(
    step: Callable[[Params, int], int], cells: list[int], d: int, params: Params, axis: int
) -> list[int]:
    positions = range(cells[0], cells[0] + len(cells) * step(params, axis), step(params, axis))
    return [position for position in positions if 0 <= position < d]


# Entries of arrays -------------------------------------------------------------------------------


def of_entries() -> Iterator[Slip]:
    """Yield slips in which entry of the data is read, or of the output written."""
    for words, change in other_entries("the data"):
        yield Slip(words, "gather", on_data(change))
    for words, change in other_entries("the output", "returned"):
        yield Slip(words, "reduce", on_outputs(change))


def other_entries(what: str, done: str = "read") -> Iterator[tuple[str, Change]]:
    """Yield words and a change for each way to take other entries of an array."""
    for unit, source in product(UNITS, SOURCES):
        said = f"in place of each {unit.words} of {what}, {source.words} were {done}"
        yield said, taken(unit, source)


# Layouts -----------------------------------------------------------------------------------------


def of_layouts() -> Iterator[Slip]:
    """Yield slips in the order of axes, and in the element type of the output."""
    for words, change in other_layouts("the output"):
        yield Slip(words, "reduce", on_outputs(change))
    for order in ORDERS:
        said = f"the data were laid out with {order.words} exchanged"
        yield Slip(said, "gather", on_data(stored(order)))
    for name in ("float32", "float64", "int32", "int64"):
        for kinds, what in (("iu", "integers"), ("fV", "floating-point numbers")):
            words = f"an output of {what} were {name}"
            yield Slip(words, "reduce", on_outputs(_cast(kinds, name)))


def other_layouts(what: str) -> Iterator[tuple[str, Change]]:
    """Yield words and a change for each other order or number of axes of an array."""
    for order in ORDERS:
        said = f"{order.words} of {what} were exchanged"
        yield said, order.of
        yield f"{said}, and its shape were right", stored(order)
    for shape in SHAPES:
        yield shape.words.format(what), shape.of


def _cast(kinds: str, name: str) -> Change:
    return lambda array: array.astype(dtype_of(name)) if array.dtype.kind in kinds else array
