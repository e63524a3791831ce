"""Entries of arrays: which is read or written in place of another, and how arrays are laid out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conformance.faults.atoms.numbers import Change
from conformance.faults.behaviour import EVERY, Behaviour
from conformance.faults.wraps import before
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.vector import Array


class Unit(NamedTuple):
    """What is taken for another: words, and from the number of axes those that number it."""

    words: str
    axes: Callable[[int], range]


class Source(NamedTuple):
    """What is taken: words, and from numbers 0..count-1 and their count the numbers of others."""

    words: str
    of: Callable[[Array, int], Any]


class Order(NamedTuple):
    """Another order of the axes of an array: words for those that are exchanged."""

    words: str
    of: Change


class Shape(NamedTuple):
    """Other axes of an array, which words with {} in its place tell."""

    words: str
    of: Change


BATCH = Unit("batch", lambda _: range(1))
CHANNEL = Unit("channel", lambda _: range(1, 2))
LAST_AXIS = Unit("slice along the last axis", lambda n: range(n - 1, n))
CELL_OF_PLANE = Unit("cell of a plane", lambda n: range(2, n))
CELL = Unit("cell", range)
UNITS = (
    BATCH,
    CHANNEL,
    Unit("plane of all batches", lambda _: range(2)),
    Unit("slice along the first axis", lambda _: range(2, 3)),
    LAST_AXIS,
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

    def change(array: Array) -> Array:
        numbered = unit.axes(array.ndim)
        if not numbered or 0 in array.shape:
            return array
        before, after = array.shape[: numbered.start], array.shape[numbered.stop :]
        entries = array.reshape(*before, -1, *after)
        count = entries.shape[numbered.start]
        other: Array = entries.take(source.of(np.arange(count), count), numbered.start)
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
