"""Entries of arrays: which is read or written in place of another, or is left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.faults.atoms.atom import Atom, family, faults
from conformance.faults.atoms.numbers import Change
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.concerns import EVERY, SPREAD, VOLUMETRIC
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, OnOutputs
from conformance.operators.needs import AVERAGES, Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.wraps import instead
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


_MODULI = (2, 3, 4, 8, 16, 32, 64, 128, 256, 1 << 15, 1 << 16)
_SOURCES: tuple[Source, ...] = (
    Source("the first", lambda i, _: i * 0),
    Source("the last", lambda i, n: i * 0 + n - 1),
    Source("the next", lambda i, n: np.minimum(i + 1, n - 1)),
    Source("the one before", lambda i, _: np.maximum(i - 1, 0)),
    Source("those in reverse order", lambda i, n: n - 1 - i),
    Source("the first of each pair", lambda i, _: i // 2 * 2),
    Source("the other of each pair", lambda i, n: np.minimum(i ^ 1, n - 1)),
    *family("that of its number modulo {}", _MODULI, lambda count: lambda i, n: i % count % n),
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
        flat = array.reshape(*before, -1, *after)
        other: Array = flat.take(found(np.arange(prod(lengths)), lengths), numbered.start)
        return other.reshape(array.shape)

    return change


def _taken(unit: Unit, source: Source) -> Change:
    return taken_by(unit, lambda numbers, lengths: source.of(numbers, prod(lengths)))


# Some of them -----------------------------------------------------------------------------------

Chosen = Callable[[Numbers, int], Any]
"""From the numbers 0..count-1 of units and their count: a mask of some of them."""
Mask = Callable[[tuple[int, ...]], Any]
"""From the shape (N, C, o1..or) of an output, a mask that broadcasts to it."""

_COUNTED = (BATCH, CHANNEL, PLANE, SLICE_OF_VOLUME, ROW, COLUMN, CELL_OF_PLANE, ROW_OF_ALL, CELL)
_BOUNDS = (*(1 << bit for bit in range(4, 17)), 65535)
_GROUPS = (2, 4, 8, 16, 32, 64)


def mask_of(unit: Unit, are_in: Chosen) -> Mask:
    """Return a mask of some units of an output: `are_in(numbers 0..count-1, count)`."""

    def mask(shape: tuple[int, ...]) -> Array:
        axes, count = unit.axes(range(len(shape))), prod(unit.lengths(shape))
        chosen: Array = are_in(np.arange(count), count)
        return chosen.reshape([length if axis in axes else 1 for axis, length in enumerate(shape)])

    return mask


def beyond(first: int) -> Chosen:
    """Choose units from a number on."""
    return lambda number, _count: number >= first


def beyond_groups(lanes: int) -> Chosen:
    """Choose what a loop over whole groups of `lanes` leaves over."""
    return lambda number, count: number >= count // lanes * lanes


def tail(lanes: int) -> Chosen:
    """Choose what whole groups leave over, if there is a group."""
    return lambda number, count: (count >= lanes) & beyond_groups(lanes)(number, count)


def last_of_several(number: Numbers, count: int) -> Any:
    """Choose the last unit, unless it is the only one."""
    return (number == count - 1) & (count > 1)


def some_outputs(*units: Unit) -> Iterator[Atom[Mask]]:
    """Yield outputs that a loop over whole groups writes or leaves over, and ends of all."""
    return chain(*(_masks(unit, _SOME) for unit in units))


def _masks(unit: Unit, some: Iterable[Atom[Chosen]]) -> Iterator[Atom[Mask]]:
    """Yield masks of some units of an output: words have {} in place of the units."""
    for chosen in some:
        yield Atom(chosen.words.format(unit.plural), mask_of(unit, chosen.of), _needs(unit))


_LAST_OF_SEVERAL: Atom[Chosen] = Atom("the last of several {}", last_of_several)
_ALL_BUT_FIRST: Atom[Chosen] = Atom("all {} but the first", beyond(1))
_LEFT_OVER = tuple(family("{{}} beyond the last whole group of {}", _GROUPS, beyond_groups))
_WHOLE = family(
    "{{}} of whole groups of {}", _GROUPS, lambda n: lambda i, count: i < count // n * n
)
_SOME: tuple[Atom[Chosen], ...] = (
    *chain(*zip(_LEFT_OVER, _WHOLE, strict=True)),
    Atom("the first of all {}", lambda i, _: i == 0),
    Atom("the last of all {}", lambda i, n: i == n - 1),
    _LAST_OF_SEVERAL,
    _ALL_BUT_FIRST,
    Atom("every second of all {}", lambda i, _: i % 2 == 1),
)
_WRONG: tuple[Atom[Chosen], ...] = (
    *family("{{}} beyond {:,}", _BOUNDS, beyond),
    *family("{{}} beyond groups of {}", _GROUPS, tail),
    *_LEFT_OVER,
    _LAST_OF_SEVERAL,
    _ALL_BUT_FIRST,
)


def unwritten(mask: Mask) -> OnOutputs:
    """Leave some outputs at zero."""
    return OnOutputs(lambda right: np.where(mask(right.shape), right.dtype.type(0), right))


def _undivided(mask: Mask, reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    right = reduce(gathered, divisor)
    wrong = mask(right.shape)
    if not wrong.any():
        return right
    return np.where(wrong, reduce(gathered, np.minimum(divisor, 1)), right)


def _first_ones(unit: Unit, count: int) -> Change:
    """Take the first units over and over."""
    return taken_by(unit, lambda number, _lengths: number % count)


def _last_written(unit: Unit, lanes: int) -> Change:
    """Take the last unit of whole groups for all that these leave over."""

    def found(number: Numbers, lengths: tuple[int, ...]) -> Any:
        whole = prod(lengths) // lanes * lanes
        return np.minimum(number, whole - 1) if whole else number

    return taken_by(unit, found)


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield which entry of the data is read or of the output written, and which are wrong."""
    yield from faults("{}", EVERY, "gather", OnData, other_entries("the data", "read"))
    yield from faults("{}", EVERY, "reduce", OnOutputs, other_entries("the output", "returned"))
    yield from _of_some()


def other_entries(what: str, done: str) -> Iterator[Atom[Change]]:
    """Yield a change for each way to take other entries of an array."""
    for unit, source in product(_UNITS, _SOURCES):
        said = f"in place of each {unit.words} of {what}, {source.words} {done}"
        yield Atom(said, _taken(unit, source))


def _needs(unit: Unit) -> Needs:
    """Return what a fault of some units needs: planes of one output have but one in space."""
    if unit is SLICE_OF_VOLUME:
        return (*SPREAD, *VOLUMETRIC)
    return SPREAD if unit in {ROW, COLUMN, CELL_OF_PLANE} else EVERY


def _of_some() -> Iterator[Fault]:
    """Yield outputs that are wrong from some number on, or beyond whole groups."""
    for unit in _COUNTED:
        what, needs, masks = unit.plural, _needs(unit), tuple(_masks(unit, _WRONG))
        yield from faults("{} left unwritten", EVERY, "reduce", unwritten, masks)
        not_divided = partial(instead, _undivided)
        yield from faults("{} not divided", AVERAGES, "reduce", not_divided, masks)
        repeated = (
            *(
                Atom(f"{what} beyond {n:,}", _first_ones(unit, n))
                for n in _BOUNDS
                if unit not in _UNITS or n not in _MODULI  # those are numbers modulo n
            ),
            *(Atom(f"{what} beyond groups of {n}", _last_written(unit, n)) for n in _GROUPS),
        )
        yield from faults("{} filled with earlier ones", needs, "reduce", OnOutputs, repeated)
