"""Entries of arrays: which is read or written in place of another, and how arrays are laid out."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.faults.atoms.numbers import Change
from conformance.faults.behaviour import EVERY, Behaviour
from conformance.faults.wraps import before
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.vector import Array

Numbers = npt.NDArray[np.int64]


class Unit(NamedTuple):
    """What entries are counted by: words for one, for several, and the axes that number them.

    The axes are a slice of those of an array (N, C, x1..xr); one of too few axes is one unit.
    """

    words: str
    plural: str
    axes: Callable[[range], range]

    def lengths(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the lengths of the axes that number the units, of an array of a shape."""
        return tuple(shape[axis] for axis in self.axes(range(len(shape))))


class Source(NamedTuple):
    """What is taken: words, and from numbers 0..count-1 and their count the numbers of others."""

    words: str
    of: Callable[[Numbers, int], Any]


class Order(NamedTuple):
    """Another order of the axes of an array: words for those that are exchanged."""

    words: str
    of: Change


class Shape(NamedTuple):
    """Other axes of an array, which words with {} in its place tell."""

    words: str
    of: Change


BATCH = Unit("batch", "batches", lambda axes: axes[:1])
CHANNEL = Unit("channel", "channels", lambda axes: axes[1:2])
PLANE = Unit("plane of all batches", "planes", lambda axes: axes[:2])
SLICE_OF_VOLUME = Unit("slice of a volume", "slices of a volume", lambda axes: axes[2:][-3:-2])
ROW = Unit("row", "rows", lambda axes: axes[2:][-2:-1])
ROW_OF_ALL = Unit("row of all planes", "rows of all planes", lambda axes: axes[:-1])
COLUMN = Unit("slice along the last axis", "columns", lambda axes: axes[-1:])
CELL_OF_PLANE = Unit("cell of a plane", "outputs of a plane", lambda axes: axes[2:])
CELL = Unit("cell", "outputs of all planes", lambda axes: axes)
UNITS = (
    BATCH,
    CHANNEL,
    PLANE,
    Unit("slice along the first axis", "slices along the first axis", lambda axes: axes[2:3]),
    COLUMN,
    CELL_OF_PLANE,
    CELL,
)


def modulo(count: int) -> Source:
    """Take the entry of a number modulo another one."""
    return Source(f"that of its number modulo {count}", lambda i, n: i % count % n)


def _of_last_group(lanes: int) -> Source:
    def of(i: Array, n: int) -> Any:
        whole = n // lanes * lanes
        return np.where(i < whole, i, np.maximum(whole - lanes, 0) + i % lanes) % n

    return Source(f"beyond whole groups of {lanes} those of the last whole group", of)


FIRST = Source("the first", lambda i, _: i * 0)
IN_REVERSE = Source("those in reverse order", lambda i, n: n - 1 - i)
SOURCES = (
    FIRST,
    Source("the last", lambda i, n: i * 0 + n - 1),
    Source("the next", lambda i, n: np.minimum(i + 1, n - 1)),
    Source("the one before", lambda i, _: np.maximum(i - 1, 0)),
    IN_REVERSE,
    Source("the first of each pair", lambda i, _: i // 2 * 2),
    Source("the other of each pair", lambda i, n: np.minimum(i ^ 1, n - 1)),
    *map(modulo, (2, 3, 4, 8, 16, 32, 64, 128, 256, 1 << 15, 1 << 16)),
    *map(_of_last_group, (4, 8, 16)),
)


def taken(unit: Unit, source: Source) -> Change:
    """Return the change of an array that takes other entries."""
    return taken_by(unit, lambda numbers, lengths: source.of(numbers, prod(lengths)))


def taken_by(unit: Unit, found: Callable[[Numbers, tuple[int, ...]], Any]) -> Change:
    """Return the change that takes those `found` by numbers and the lengths of their axes."""

    def change(array: Array) -> Array:
        numbered = unit.axes(range(array.ndim))
        if not numbered or 0 in array.shape:
            return array
        lengths = unit.lengths(array.shape)
        before, after = array.shape[: numbered.start], array.shape[numbered.stop :]
        entries = array.reshape(*before, -1, *after)
        other: Array = entries.take(found(np.arange(prod(lengths)), lengths), numbered.start)
        return other.reshape(array.shape)

    return change


# Layouts -----------------------------------------------------------------------------------------

LAST_TWO = Order("the last two axes", lambda a: a.swapaxes(-1, -2) if a.ndim > 3 else a)
CHANNELS_LAST = Order("channels and the spatial axes", lambda a: np.moveaxis(a, 1, -1))
CHANNELS_FIRST = Order("batches and channels", lambda a: a.swapaxes(0, 1))
AXES_REVERSED = Order(
    "the first and the last axis", lambda a: a.swapaxes(2, -1) if a.ndim > 4 else a
)
ORDERS = (LAST_TWO, AXES_REVERSED, CHANNELS_FIRST, CHANNELS_LAST)
SQUEEZED = Shape("axes of length 1 of {} were dropped", lambda a: a.squeeze())
FLATTENED = Shape("the spatial axes of {} were one", lambda a: a.reshape(*a.shape[:2], -1))
FIRST_BATCH = Shape("the first batch alone of {} were returned, without its axis", lambda a: a[0])
SHAPES = (
    SQUEEZED,
    FLATTENED,
    FIRST_BATCH,
    Shape("batches and channels of {} were one axis", lambda a: a.reshape(-1, *a.shape[2:])),
)


def stored(order: Order) -> Change:
    """Return the change that takes the memory of a changed array in the shape of the array."""
    return lambda array: np.ascontiguousarray(order.of(array)).reshape(array.shape)


def on_data(change: Change) -> StepWrap:
    """Let the step `gather` read changed data of the same shape."""
    return before(lambda data, *others: (np.ascontiguousarray(change(data)), *others))


# Wrong behaviours --------------------------------------------------------------------------------


def read_as(unit: Unit, source: Source, *, needs: Needs = EVERY) -> Behaviour:
    """Read other entries of the data."""
    said = f"in place of each {unit.words} of the data, {source.words} read"
    return Behaviour(said, needs, {"gather": on_data(taken(unit, source))})
