"""Indices of maxima: which position is numbered, in which planes, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.behaviour import INDEXED, Behaviour
from conformance.faults.wraps import after, before, instead
from conformance.operators import pipeline as steps
from conformance.operators.clause import StepWrap
from conformance.operators.indices import ChosenIndex
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.windows import Positions
from conformance.reference.position import NOWHERE
from conformance.vector import Array


@dataclass(frozen=True, slots=True, eq=False)
class ChosenCells:
    """The cells that the maxima of an output (N, C, o1..or) are.

    `batch`, `channel` and `positions` (one array per spatial axis) have the shape of the output;
    `step` numbers cells as the attributes say.
    """

    gathered: Gathered
    shape: tuple[int, ...]
    batch: Array
    channel: Array
    positions: list[Array]
    step: ChosenIndex

    @property
    def params(self) -> Params:
        """The parameters of the call."""
        return self.gathered.params

    @property
    def begins(self) -> list[int]:
        """The begin pad per spatial axis."""
        return [-int(start[0]) for start in self.gathered.windows.start]

    @property
    def starts(self) -> list[Array]:
        """The start of each output's window per spatial axis."""
        return [self._along(j, start) for j, start in enumerate(self.gathered.windows.start)]

    @property
    def windows(self) -> list[Array]:
        """The number of each output's window per spatial axis."""
        return [self._along(j, np.arange(o)) for j, o in enumerate(self.shape[2:])]

    def _along(self, axis: int, values: Positions) -> Array:
        axes = len(self.shape) - 2
        return values.reshape([-1 if j == axis else 1 for j in range(axes)])

    def at(self, positions: list[Array], sizes: tuple[int, ...] | None = None) -> Array:
        """Return the numbers of other cells, in planes of other sizes if they are given."""
        params = self.params if sizes is None else replace(self.params, sizes=sizes)
        return self.step.index_of([self.batch, self.channel, *positions], self.shape, params)

    def of(self, batch: Array, channel: Array, planes: tuple[int, int] | None = None) -> Array:
        """Return the numbers of the same cells in other planes."""
        places = [batch, channel, *self.positions]
        return self.step.index_of(places, planes or self.shape, self.params)


Number = Callable[[ChosenCells], Array]
"""The numbers of cells, of the shape of the output."""


class Position(NamedTuple):
    """What is numbered in place of the position of a cell: words, and positions per axis."""

    words: str
    of: Callable[[ChosenCells], list[Any]]


class Plane(NamedTuple):
    """What cells are numbered in, in place of the input: words, and sizes per axis."""

    words: str
    of: Callable[[ChosenCells], tuple[int, ...]]


class Numbered(NamedTuple):
    """Other numbers of a cell: words that follow "the position", and the numbers."""

    words: str
    of: Number


class Field(NamedTuple):
    """Another meaning of a field of the parameters, and words that follow "indices were"."""

    words: str
    name: str
    of: Callable[[Any], Any]


def _of_axes(words: str, change: Callable[..., Any]) -> Position:
    """Return `change(position, begin pad, start of the window, its number, size)` per axis."""

    def of(cells: ChosenCells) -> list[Any]:
        sizes = cells.params.sizes
        axes = zip(cells.positions, cells.begins, cells.starts, cells.windows, sizes, strict=True)
        return [change(*axis) for axis in axes]

    return Position(words, of)


def _exchanged(numbers: list[Any]) -> list[Any]:
    """Return numbers per axis with those of the last two exchanged."""
    return [*numbers[:-2], *numbers[:-3:-1]]


def _with_pads(words: str, begin: int, end: int) -> Plane:
    """Return sizes with so many times the begin and the end pad."""

    def of(cells: ChosenCells) -> tuple[int, ...]:
        axes = zip(steps.resolve_pads(cells.params), cells.params.sizes, strict=True)
        return tuple(d + begin * first + end * last for (first, last), d in axes)

    return Plane(words, of)


def channels_last(cells: ChosenCells, batch: Array) -> Array:
    """Return the numbers of cells in memory where channels come last."""
    sizes = (*cells.shape[:1], *cells.params.sizes, cells.shape[1])
    return row_major([batch, *cells.positions, cells.channel], sizes)


def row_major(places: list[Array], sizes: tuple[int, ...]) -> Array:
    """Return the numbers of places in arrays of some sizes."""
    numbers: Array = np.zeros((), np.int64)
    for place, d in zip(places, sizes, strict=True):
        numbers = numbers * d + place
    return numbers


POSITION = _of_axes("the position", lambda p, *_: p)
PADDED_POSITION = _of_axes("the padded position", lambda p, begin, *_: p + begin)
LESS_BEGIN_PAD = _of_axes("the position less the begin pad", lambda p, begin, *_: p - begin)
FROM_CLIPPED_START = _of_axes(
    "the position in what the window holds of the input",
    lambda p, _b, start, *_: p - np.maximum(start, 0),
)
WINDOW_START = _of_axes(
    "the first position of the window", lambda p, _b, s, *_: np.maximum(s, 0) + 0 * p
)
WINDOW = _of_axes("the number of the window", lambda p, _b, _s, window, _d: window + 0 * p)
LAST_TWO_EXCHANGED = Position(
    "the position with the last two axes exchanged", lambda cells: _exchanged(cells.positions)
)
POSITIONS = (
    POSITION,
    PADDED_POSITION,
    LESS_BEGIN_PAD,
    _of_axes("the position in the window", lambda p, _b, start, *_: p - start),
    FROM_CLIPPED_START,
    WINDOW_START,
    WINDOW,
    _of_axes("the position from the end", lambda p, _b, _s, _w, d: d - 1 - p),
    _of_axes("the position and one", lambda p, *_: p + 1),
    _of_axes("the position less one", lambda p, *_: p - 1),
    Position("the position in reverse axis order", lambda cells: cells.positions[::-1]),
    LAST_TWO_EXCHANGED,
)
INPUT = Plane("the input", lambda cells: cells.params.sizes)
PADDED_INPUT = _with_pads("the padded input", 1, 1)
OUTPUT = Plane("the output", lambda cells: cells.shape[2:])
SIZES_EXCHANGED = Plane(
    "the input with the last two axes exchanged",
    lambda cells: (*_exchanged([*cells.params.sizes]),),
)
PLANES = (
    INPUT,
    PADDED_INPUT,
    _with_pads("the input and its begin pads", 1, 0),
    _with_pads("the input and its end pads", 0, 1),
    OUTPUT,
    Plane("the kernel", lambda cells: cells.params.kernel or cells.params.sizes),
    Plane("the input in reverse axis order", lambda cells: cells.params.sizes[::-1]),
    SIZES_EXCHANGED,
    Plane("1 cell", lambda cells: (1,) * len(cells.params.sizes)),
)
WITHOUT_BATCH = Numbered("without the batch", lambda c: c.of(0 * c.batch, c.channel))
WITHOUT_CHANNEL = Numbered("without the channel", lambda c: c.of(c.batch, 0 * c.channel))
OF_NEXT_CHANNEL = Numbered("of the next channel", lambda c: c.of(c.batch, c.channel + 1))
PLANES_EXCHANGED = Numbered(
    "with batch and channel exchanged",
    lambda c: c.of(c.channel, c.batch, (c.shape[1], c.shape[0])),
)
CHANNELS_LAST = Numbered("as if channels came last", lambda c: channels_last(c, c.batch))
NUMBERED = (
    WITHOUT_BATCH,
    WITHOUT_CHANNEL,
    Numbered("of the next batch", lambda c: c.of(c.batch + 1, c.channel)),
    OF_NEXT_CHANNEL,
    PLANES_EXCHANGED,
    CHANNELS_LAST,
    Numbered(
        "as if channels came last, without the batch", lambda c: channels_last(c, 0 * c.batch)
    ),
)


def from_dimension(axis: int) -> Field:
    """Count from a dimension of the data, whatever is asked for."""
    return Field(f"counted from dimension {axis}", "index_axis", lambda _: axis)


def in_order(order: str) -> Field:
    """Count in an order, whatever is asked for."""
    return Field(f"in {order} order", "storage_order", lambda _: order)


def returned_as(kind: str) -> Field:
    """Return a type, whatever is asked for."""
    return Field(f"returned as {kind}", "index_type", lambda _: kind)


FROM_NEXT_DIMENSION = Field("counted from the dimension after", "index_axis", lambda axis: axis + 1)
FIELDS = (
    *map(from_dimension, (0, 1, 2, -1)),
    FROM_NEXT_DIMENSION,
    Field("counted from the dimension before", "index_axis", lambda axis: axis - 1),
    *map(in_order, ("row-major", "column-major")),
    *map(returned_as, ("int32", "int64")),
)
KEPT_IN = ("int8", "uint8", "int16", "uint16", "int32", "float16", "float32", "float64")


# Ways to replace the step `further` --------------------------------------------------------------


def numbered(number: Number) -> StepWrap:
    """Return `number(cells)` instead of the numbers of the chosen cells."""

    def further(
        right: Callable[..., Any], gathered: Gathered, divisor: Divisor, first: Array
    ) -> tuple[Array, ...]:
        params = gathered.params
        in_tensor = replace(params, index_axis=0, storage_order="row-major", index_type="int64")
        (flat,) = right(replace(gathered, params=in_tensor), divisor, first)
        places = np.unravel_index(np.maximum(flat, 0), (*first.shape[:2], *params.sizes))
        batch, channel, *positions = places
        step = right if isinstance(right, ChosenIndex) else ChosenIndex()
        cells = ChosenCells(gathered, first.shape, batch, channel, positions, step)
        numbers = np.where(flat == NOWHERE, NOWHERE, number(cells))
        return (numbers.astype(dtype_of(params.index_type)),)

    return instead(further)


def at(position: Position, plane: Plane) -> Number:
    """Return the numbers of other positions, in planes of other sizes."""
    return lambda cells: cells.at(position.of(cells), plane.of(cells))


def meaning(field: Field) -> StepWrap:
    """Let a field of the parameters mean something else."""

    def other(gathered: Gathered, *given: Any) -> tuple[Any, ...]:
        params = gathered.params
        changed = replace(params, **{field.name: field.of(getattr(params, field.name))})
        return replace(gathered, params=changed), *given

    return before(other)


def changed(change: Callable[[Array], Array]) -> StepWrap:
    """Change the indices."""
    return after(lambda right, *_: tuple(np.array(change(each), order="C") for each in right))


def kept_in(kind: str) -> Callable[[Array], Array]:
    """Keep indices in a type, and return them in their own."""
    return lambda indices: indices.astype(dtype_of(kind)).astype(indices.dtype)


# Wrong behaviours --------------------------------------------------------------------------------


def number(
    position: Position = POSITION, plane: Plane = INPUT, *, needs: Needs = INDEXED
) -> Behaviour:
    """Return the numbers of other positions, in planes of other sizes."""
    words = f"indices made from {position.words}, for planes as large as {plane.words}"
    return Behaviour(words, needs, {"further": numbered(at(position, plane))})


def number_as(other: Numbered, *, needs: Needs = INDEXED) -> Behaviour:
    """Return other numbers of cells."""
    words = f"indices made from the position {other.words}"
    return Behaviour(words, needs, {"further": numbered(other.of)})


def mean(field: Field, *, needs: Needs = INDEXED) -> Behaviour:
    """Let a field of the parameters mean something else."""
    return Behaviour(f"as if indices were {field.words}", needs, {"further": meaning(field)})
