"""Entries of arrays: which is read or written in place of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.faults.atoms.atom import Atom, family, faults
from conformance.faults.atoms.numbers import Change
from conformance.faults.concerns import EVERY
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, OnOutputs
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


BATCH = Unit("batch", "batches", lambda axes: axes[:1])
CHANNEL = Unit("channel", "channels", lambda axes: axes[1:2])
PLANE = Unit("plane of all batches", "planes", lambda axes: axes[:2])
SLICE_OF_VOLUME = Unit("slice of a volume", "slices of a volume", lambda axes: axes[2:][-3:-2])
ROW = Unit("row", "rows", lambda axes: axes[2:][-2:-1])
ROW_OF_ALL = Unit("row of all planes", "rows of all planes", lambda axes: axes[:-1])
COLUMN = Unit("slice along the last axis", "columns", lambda axes: axes[-1:])
CELL_OF_PLANE = Unit("cell of a plane", "outputs of a plane", lambda axes: axes[2:])
CELL = Unit("cell", "outputs of all planes", lambda axes: axes)
_UNITS = (
    BATCH,
    CHANNEL,
    PLANE,
    Unit("slice along the first axis", "slices along the first axis", lambda axes: axes[2:3]),
    COLUMN,
    CELL_OF_PLANE,
    CELL,
)

Source = Atom[Callable[[Numbers, int], Any]]
"""What is taken: words, and from numbers 0..count-1 and their count the numbers of others."""


def _last_group(lanes: int) -> Callable[[Numbers, int], Any]:
    def of(i: Numbers, n: int) -> Any:
        whole = n // lanes * lanes
        return np.where(i < whole, i, np.maximum(whole - lanes, 0) + i % lanes) % n

    return of


_SOURCES: tuple[Source, ...] = (
    Source("the first", lambda i, _: i * 0),
    Source("the last", lambda i, n: i * 0 + n - 1),
    Source("the next", lambda i, n: np.minimum(i + 1, n - 1)),
    Source("the one before", lambda i, _: np.maximum(i - 1, 0)),
    Source("those in reverse order", lambda i, n: n - 1 - i),
    Source("the first of each pair", lambda i, _: i // 2 * 2),
    Source("the other of each pair", lambda i, n: np.minimum(i ^ 1, n - 1)),
    *family(
        "that of its number modulo {}",
        (2, 3, 4, 8, 16, 32, 64, 128, 256, 1 << 15, 1 << 16),
        lambda count: lambda i, n: i % count % n,
    ),
    *family("beyond whole groups of {} those of the last whole group", (4, 8, 16), _last_group),
)


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


def _taken(unit: Unit, source: Source) -> Change:
    return taken_by(unit, lambda numbers, lengths: source.of(numbers, prod(lengths)))


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield which entry of the data is read, or of the output written."""
    yield from faults("{}", EVERY, "gather", OnData, other_entries("the data", "read"))
    yield from faults("{}", EVERY, "reduce", OnOutputs, other_entries("the output", "returned"))


def other_entries(what: str, done: str) -> Iterator[Atom[Change]]:
    """Yield a change for each way to take other entries of an array."""
    for unit, source in product(_UNITS, _SOURCES):
        said = f"in place of each {unit.words} of {what}, {source.words} {done}"
        yield Atom(said, _taken(unit, source))
