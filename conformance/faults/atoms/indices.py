"""Indices of maxima: which position is numbered, in which planes, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.dtypes import dtype_of
from conformance.faults.atoms.atom import Atom, family, faults
from conformance.faults.atoms.entries import other_entries
from conformance.faults.atoms.layouts import other_layouts
from conformance.faults.atoms.numbers import (
    MINUS_INFINITY_IF_NAN,
    NUMBERS,
    Change,
    is_float,
    of_floats,
)
from conformance.faults.concerns import INDEXED
from conformance.faults.fault import Fault
from conformance.faults.wraps import gathering, on_further
from conformance.operators import pipeline as steps
from conformance.operators.indices import ChosenIndex
from conformance.operators.needs import has, has_any
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import lowest, maximum_of_cells
from conformance.operators.wraps import StepWrap, after, before, instead
from conformance.reference.position import NOWHERE, numbers_of, positions_of
from conformance.reference.rounding import widen
from conformance.vector import Array


class Along(NamedTuple):
    """Cells along an axis of d cells, with arrays that broadcast to the output's shape.

    Positions p, the start and the number of the window of each; the begin pad and the dilation n.
    """

    p: Array
    start: Array
    window: Array
    begin: int
    d: int
    n: int

    @property
    def tap(self) -> Array:
        """The number of each cell in its window."""
        return (self.p - self.start) // self.n


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
    def axes(self) -> list[Along]:
        """Where the cells are along each spatial axis."""
        axes, params = range(len(self.shape) - 2), self.params
        found = []
        for j, (start, _, n) in enumerate(self.gathered.windows.axes):
            along = [-1 if j == axis else 1 for axis in axes]
            starts, windows = start.reshape(along), np.arange(len(start)).reshape(along)
            found.append(
                Along(self.positions[j], starts, windows, -int(start[0]), params.sizes[j], n)
            )
        return found

    @property
    def taps(self) -> list[Array]:
        """The number of each cell in its window per spatial axis."""
        return [along.tap for along in self.axes]

    @property
    def planes(self) -> tuple[Array, Array]:
        """The cells of each plane in order, and the place of each chosen one in its plane."""
        sizes, data = self.params.sizes, self.gathered.data
        order = np.argsort(numbers_of(self.gathered.positions, sizes), axis=None)
        planes = data.reshape(prod(data.shape[:2]), -1)[:, order]
        places = _row_major(self.positions, sizes).reshape(len(planes), -1)
        return widen(planes) if is_float(data) else planes, places

    def at(self, positions: Sequence[Any], sizes: tuple[int, ...] | None = None) -> Array:
        """Return the numbers of other cells, in planes of other sizes if they are given."""
        params = self.params if sizes is None else replace(self.params, sizes=sizes)
        return self.step.index_of([self.batch, self.channel, *positions], self.shape, params)

    def of(self, batch: Array, channel: Array, planes: tuple[int, int] | None = None) -> Array:
        """Return the numbers of the same cells in other planes."""
        places = [batch, channel, *self.positions]
        return self.step.index_of(places, planes or self.shape, self.params)


Number = Callable[[ChosenCells], Array]
"""The numbers of cells, of the shape of the output."""
Position = Atom[Callable[[ChosenCells], Sequence[Any]]]
"""What is numbered in place of the position of a cell: words, and positions per axis."""
Plane = Atom[Callable[[ChosenCells], tuple[int, ...]]]
"""What cells are numbered in, in place of the input: words, and sizes per axis."""


def _of_axes(words: str, change: Callable[[Along], Any]) -> Position:
    return Position(words, lambda cells: [change(along) for along in cells.axes])


def _exchanged(numbers: list[Any]) -> list[Any]:
    """Return numbers per axis with those of the last two exchanged."""
    return [*numbers[:-2], *numbers[:-3:-1]]


def _with_pads(words: str, begin: int, end: int) -> Plane:
    """Return sizes with so many times the begin and the end pad."""

    def of(cells: ChosenCells) -> tuple[int, ...]:
        axes = zip(steps.resolve_pads(cells.params), cells.params.sizes, strict=True)
        return tuple(d + begin * first + end * last for (first, last), d in axes)

    return Plane(words, of, (has_any("pads", "pads_begin"),))


def _channels_last(cells: ChosenCells, batch: Array) -> Array:
    """Return the numbers of cells in memory where channels come last."""
    sizes = (*cells.shape[:1], *cells.params.sizes, cells.shape[1])
    return _row_major([batch, *cells.positions, cells.channel], sizes)


def _row_major(places: list[Array], sizes: tuple[int, ...]) -> Array:
    """Return the numbers of places in arrays of some sizes."""
    numbers: Array = np.zeros((), np.int64)
    for place, d in zip(places, sizes, strict=True):
        numbers = numbers * d + place
    return numbers


def _windows_apart(words: str, distance: Callable[[Params], tuple[int, ...]]) -> Position:
    """Take windows for `distance(params)` apart per axis, instead of a stride."""

    def of(cells: ChosenCells) -> list[Any]:
        params = cells.params
        axes = zip(cells.axes, params.strides, distance(params), strict=True)
        return [along.p + along.window * (wrong - s) for along, s, wrong in axes]

    said = f"the position as if every stride were {words}"
    return Position(said, of, (has("strides"),))


def _first_in_plane(cells: ChosenCells) -> Array:
    """Search the whole plane for the value of each chosen cell."""
    planes, chosen = cells.planes
    first: npt.NDArray[np.int64] = np.empty_like(chosen)
    for plane, wanted, found in zip(planes, chosen, first, strict=True):
        _, firsts, values = np.unique(plane, return_index=True, return_inverse=True)
        found[:] = firsts[values.reshape(-1)[wanted]]
    return cells.at(positions_of(first.reshape(cells.shape), cells.params.sizes))


def _by_output_sizes(cells: ChosenCells) -> Array:
    """Take the number of a cell in its window apart by the sizes of the output, in one plane.

    Windows lie as many cells on as their number says, less the pad that is given to explicit ones.
    """
    params = cells.params
    number = _row_major(cells.taps, params.kernel or params.sizes)
    taps: list[Array] = []
    for size in cells.shape[:2:-1]:
        taps.insert(0, number % size)
        number = number // size
    taps.insert(0, number)
    begins = params.pads_begin if params.auto_pad == "explicit" else ()
    axes = zip(cells.axes, begins or (0,) * len(taps), taps, strict=True)
    return _row_major([along.window - begin + tap for along, begin, tap in axes], params.sizes)


def _undilated(a: Along) -> Any:
    """Count the cells of a window in the input from its first one on, as if they lay together."""
    first = a.start + a.n * np.maximum(0, -(a.start // a.n))
    return first + (a.p - first) // a.n


def _last_two_exchanged(cells: ChosenCells) -> Array:
    """Exchange the last two axes alone where all are to be in reverse order."""
    if cells.params.storage_order != "column-major":
        return cells.at(cells.positions)
    sizes = tuple(_exchanged([*cells.params.sizes]))
    params = replace(cells.params, sizes=sizes, storage_order="row-major")
    places = [cells.batch, cells.channel, *_exchanged(cells.positions)]
    return cells.step.index_of(places, cells.shape, params)


def _in_padded_plane(cells: ChosenCells) -> Array:
    """Return numbers in the padded plane, added to those of all cells of the planes before."""
    params = replace(cells.params, sizes=_PADDED_INPUT.of(cells))
    padded = (along.p + along.begin for along in cells.axes)
    places = [0 * cells.batch, 0 * cells.channel, *padded]
    before = cells.at([0 * position for position in cells.positions])
    return before + cells.step.index_of(places, cells.shape, params)


_POSITION = _of_axes("the position", lambda a: a.p)
_POSITIONS: tuple[Position, ...] = (
    _POSITION,
    _of_axes("the padded position", lambda a: a.p + a.begin),
    _of_axes("the position less the begin pad", lambda a: a.p - a.begin),
    _of_axes("the position in the window", lambda a: a.p - a.start),
    _of_axes(
        "the position in what the window holds of the input", lambda a: a.p - np.maximum(a.start, 0)
    ),
    _of_axes("the first position of the window", lambda a: np.maximum(a.start, 0) + 0 * a.p),
    _of_axes("the number of the window", lambda a: a.window + 0 * a.p),
    _of_axes("the position from the end", lambda a: a.d - 1 - a.p),
    _of_axes("the position and one", lambda a: a.p + 1),
    _of_axes("the position less one", lambda a: a.p - 1),
    Position("the position in reverse axis order", lambda cells: cells.positions[::-1]),
    Position(
        "the position with the last two axes exchanged", lambda cells: _exchanged(cells.positions)
    ),
    _of_axes("the number of the cell in its window", lambda a: a.tap),
    _of_axes("the position without dilations", lambda a: a.start + a.tap),
    _of_axes(
        "the position without dilations, counted from the first cell in the input", _undilated
    ),
    _of_axes(
        "the first cell in the input and the distance from the start of the window",
        lambda a: np.maximum(a.start, 0) + a.p - a.start,
    ),
    _windows_apart("1", lambda params: (1,) * len(params.strides)),
    _windows_apart("the kernel size", lambda params: params.kernel),
)
_INPUT = Plane("the input", lambda cells: cells.params.sizes)
_PADDED_INPUT = _with_pads("the padded input", 1, 1)
_PLANES: tuple[Plane, ...] = (
    _INPUT,
    _PADDED_INPUT,
    _with_pads("the input and its begin pads", 1, 0),
    _with_pads("the input and its end pads", 0, 1),
    Plane("the output", lambda cells: cells.shape[2:]),
    Plane("the kernel", lambda cells: cells.params.kernel or cells.params.sizes),
    Plane("the input in reverse axis order", lambda cells: cells.params.sizes[::-1]),
    Plane(
        "the input with the last two axes exchanged",
        lambda cells: tuple(_exchanged([*cells.params.sizes])),
    ),
    Plane(
        "the input with the size of the first axis for all",
        lambda cells: cells.params.sizes[:1] * len(cells.params.sizes),
    ),
    Plane(
        "the input with the size of the last axis for all",
        lambda cells: cells.params.sizes[-1:] * len(cells.params.sizes),
    ),
    Plane("1 cell", lambda cells: (1,) * len(cells.params.sizes)),
)
_NUMBERED: tuple[Atom[Number], ...] = (
    Atom("without the batch", lambda c: c.of(0 * c.batch, c.channel)),
    Atom("without the channel", lambda c: c.of(c.batch, 0 * c.channel)),
    Atom("of the next batch", lambda c: c.of(c.batch + 1, c.channel)),
    Atom("of the next channel", lambda c: c.of(c.batch, c.channel + 1)),
    Atom(
        "with batch and channel exchanged",
        lambda c: c.of(c.channel, c.batch, (c.shape[1], c.shape[0])),
    ),
    Atom("channels come last", lambda c: _channels_last(c, c.batch)),
    Atom("in its window alone", lambda c: _row_major(c.taps, c.params.kernel or c.params.sizes)),
    Atom("with the last two axes alone exchanged in column-major order", _last_two_exchanged),
    Atom("along the first axis alone", lambda cells: cells.positions[0]),
    Atom("of the first cell of the plane that holds the value", _first_in_plane),
    Atom("channels come last, without the batch", lambda c: _channels_last(c, 0 * c.batch)),
    Atom(
        "in the padded input, after planes as large as the input",
        _in_padded_plane,
        _PADDED_INPUT.needs,
    ),
    Atom("in its window, taken apart by output sizes, without batch and channel", _by_output_sizes),
)


# Attributes of indices ---------------------------------------------------------------------------

Attribute = Atom[Callable[[Params], Params]]
"""Another meaning of attributes, and words that follow "indices were"."""


def _counted_from(words: str, of: Callable[[int], int]) -> Attribute:
    """Count from another dimension of the data than the one asked for."""
    return Attribute(
        f"counted from {words}", lambda params: replace(params, index_axis=of(params.index_axis))
    )


def _always(words: str, role: str, values: Sequence[Any]) -> Iterator[Attribute]:
    """Yield each value of a role, whatever is asked for."""
    return family(words, values, lambda value: lambda params: replace(params, **{role: value}))


_ATTRIBUTES: tuple[Attribute, ...] = (
    *_always("counted from dimension {}", "index_axis", (0, 1, 2, -1)),
    _counted_from("the absolute value of axis", abs),
    _counted_from("the dimension before, if axis is negative", lambda axis: axis - (axis < 0)),
    _counted_from("dimension 0, if axis is negative", lambda axis: max(axis, 0)),
    _counted_from("the first spatial axis", lambda axis: axis + 2 if axis >= 0 else axis),
    Attribute(
        "counted from the remainder of axis by the number of spatial axes, if axis is negative",
        lambda p: replace(
            p, index_axis=p.index_axis % len(p.sizes) if p.index_axis < 0 else p.index_axis
        ),
    ),
    _counted_from("the dimension after", lambda axis: axis + 1),
    _counted_from("the dimension before", lambda axis: axis - 1),
    *_always("in {} order", "storage_order", ("row-major", "column-major")),
    *_always("returned as {}", "index_type", ("int32", "int64")),
)


# Ways to replace the step `further` --------------------------------------------------------------


def numbered(number: Number) -> StepWrap:
    """Return `number(cells)` instead of the numbers of the chosen cells."""

    def further(
        right: Callable[..., Any], gathered: Gathered, divisor: Divisor, first: Array
    ) -> tuple[Array, ...]:
        params = gathered.params
        in_tensor = replace(params, index_axis=0, storage_order="row-major", index_type="int64")
        (flat,) = right(replace(gathered, params=in_tensor), divisor, first)
        places = positions_of(np.maximum(flat, 0), (*first.shape[:2], *params.sizes))
        batch, channel, *positions = places
        step = right if isinstance(right, ChosenIndex) else ChosenIndex()
        cells = ChosenCells(gathered, first.shape, batch, channel, positions, step)
        numbers = np.where(flat == NOWHERE, NOWHERE, number(cells))
        return (numbers.astype(dtype_of(params.index_type)),)

    return instead(further)


def _where(index: int, holds: Callable[[Array], Any], right: Any, *given: Any) -> tuple[Array, ...]:
    """Return an index for the maxima of some kind."""
    (indices,), first = right, given[-1]
    return (np.where(holds(first), indices.dtype.type(index), indices),)


def chosen_by(change: Change) -> StepWrap:
    """Choose the cells by changed data; the values stay right."""
    return before(_chosen_by, change)


def _chosen_by(
    change: Change, gathered: Gathered, divisor: Divisor, first: Array
) -> tuple[Any, ...]:
    data = change(gathered.data)
    if not _is_nan(first).any():  # by what is read, a NaN is no maximum
        data = of_floats(MINUS_INFINITY_IF_NAN.of)(data)
    gathered = replace(gathered, data=data)
    return gathered, divisor, maximum_of_cells(gathered, divisor)


def _is_lowest(first: Array) -> Any:
    return first == lowest(first.dtype)


def _is_nan(first: Array) -> Any:
    return np.isnan(widen(first)) if is_float(first) else np.zeros(first.shape, np.bool_)


_KINDS: tuple[Atom[Callable[[Array], Any]], ...] = (
    Atom("minus infinity or the lowest integer", _is_lowest),
    Atom("the lowest integer", lambda first: _is_lowest(first) & (not is_float(first))),
    Atom("NaN", _is_nan),
)


# Faults ------------------------------------------------------------------------------------------


def _of_planes() -> Iterator[Atom[Number]]:
    for position, plane in product(_POSITIONS, _PLANES):
        if (position, plane) != (_POSITION, _INPUT):
            words = f"{position.words}, for planes as large as {plane.words}"
            yield Atom(words, _at(position, plane), (*position.needs, *plane.needs))


def _at(position: Position, plane: Plane) -> Number:
    return lambda cells: cells.at(position.of(cells), plane.of(cells))


def every() -> Iterator[Fault]:
    """Yield how the cells of maxima are numbered, and what becomes of the numbers."""
    yield from faults("indices made from {}", INDEXED, "further", numbered, _of_planes())
    said = "indices made from the position {}"
    yield from faults(said, INDEXED, "further", numbered, _NUMBERED)
    yield from faults("indices are {}", INDEXED, "further", gathering, _ATTRIBUTES)
    others = chain(other_layouts("the indices"), other_entries("the indices", "returned"))
    yield from faults("{}", INDEXED, "further", on_further, others)
    ones = (Atom[Change]("one less", lambda a: a - 1), Atom[Change]("one more", lambda a: a + 1))
    yield from faults("indices are {}", INDEXED, "further", on_further, ones)
    for index in (-1, 0):
        said = f"the index {index} where the maximum is {{}}"
        yield from faults(said, INDEXED, "further", partial(after, _where, index), _KINDS)
    said = "cells are {} where their index is chosen"
    yield from faults(said, INDEXED, "further", lambda of: chosen_by(of_floats(of)), NUMBERS)
    kinds = ("int8", "uint8", "int16", "uint16", "int32")
    floats = ("float16", "bfloat16", "float32", "float64")
    changes = family(
        "kept in {}",
        (*kinds, *floats),
        lambda kind: lambda indices: indices.astype(dtype_of(kind)).astype(indices.dtype),
    )
    yield from faults("indices are {}", INDEXED, "further", on_further, changes)
