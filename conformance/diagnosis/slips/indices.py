"""Slips of the indices of maxima: which position is numbered, in planes of which sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from conformance.diagnosis.slips.cells import other_layouts
from conformance.diagnosis.slips.slip import Slip
from conformance.faults.behaviour import INDEXED
from conformance.faults.catalogue.indices import ChosenCells, numbering
from conformance.faults.wraps import after, before, instead
from conformance.operators import pipeline as steps
from conformance.operators.clause import StepWrap
from conformance.operators.pipeline import Gathered
from conformance.vector import Array

Positions = Callable[[ChosenCells], list[Any]]
Sizes = Callable[[ChosenCells], tuple[int, ...]]


def _of_axes(change: Callable[..., Any]) -> Positions:
    """Return `change(position, begin pad, start of the window, its number, size)` per axis."""

    def of(cells: ChosenCells) -> list[Any]:
        sizes = cells.params.sizes
        axes = zip(cells.positions, cells.begins, cells.starts, cells.windows, sizes, strict=True)
        return [change(*axis) for axis in axes]

    return of


def _exchanged(numbers: list[Any]) -> list[Any]:
    """Return numbers per axis with those of the last two exchanged."""
    return [*numbers[:-2], *numbers[:-3:-1]]


def _with_pads(begin: int, end: int) -> Sizes:
    """Return sizes with so many times the begin and the end pad."""

    def of(cells: ChosenCells) -> tuple[int, ...]:
        axes = zip(steps.resolve_pads(cells.params), cells.params.sizes, strict=True)
        return tuple(d + begin * first + end * last for (first, last), d in axes)

    return of


_POSITIONS: tuple[tuple[str, Positions], ...] = (
    ("the position", _of_axes(lambda p, *_: p)),
    ("the padded position", _of_axes(lambda p, begin, *_: p + begin)),
    ("the position less the begin pad", _of_axes(lambda p, begin, *_: p - begin)),
    ("the position in the window", _of_axes(lambda p, _b, start, *_: p - start)),
    (
        "the position in what the window holds of the input",
        _of_axes(lambda p, _b, start, *_: p - np.maximum(start, 0)),
    ),
    ("the first position of the window", _of_axes(lambda p, _b, s, *_: np.maximum(s, 0) + 0 * p)),
    ("the number of the window", _of_axes(lambda p, _b, _s, window, _d: window + 0 * p)),
    ("the position from the end", _of_axes(lambda p, _b, _s, _w, d: d - 1 - p)),
    ("the position and one", _of_axes(lambda p, *_: p + 1)),
    ("the position less one", _of_axes(lambda p, *_: p - 1)),
    ("the position in reverse axis order", lambda cells: cells.positions[::-1]),
    ("the position with the last two axes exchanged", lambda cells: _exchanged(cells.positions)),
)
_SIZES: tuple[tuple[str, Sizes], ...] = (
    ("the input", lambda cells: cells.params.sizes),
    ("the padded input", _with_pads(1, 1)),
    ("the input and its begin pads", _with_pads(1, 0)),
    ("the input and its end pads", _with_pads(0, 1)),
    ("the output", lambda cells: cells.shape[2:]),
    ("the kernel", lambda cells: cells.params.kernel or cells.params.sizes),
    ("the input in reverse axis order", lambda cells: cells.params.sizes[::-1]),
    (
        "the input with the last two axes exchanged",
        lambda cells: (*_exchanged([*cells.params.sizes]),),
    ),
    ("1 cell", lambda cells: (1,) * len(cells.params.sizes)),
)
_PLACES: tuple[tuple[str, Callable[[ChosenCells], Array]], ...] = (
    ("without the batch", lambda c: c.of(0 * c.batch, c.channel)),
    ("without the channel", lambda c: c.of(c.batch, 0 * c.channel)),
    ("of the next batch", lambda c: c.of(c.batch + 1, c.channel)),
    ("of the next channel", lambda c: c.of(c.batch, c.channel + 1)),
    (
        "with batch and channel exchanged",
        lambda c: c.of(c.channel, c.batch, (c.shape[1], c.shape[0])),
    ),
    ("as if channels came last", lambda c: _channels_last(c, c.batch)),
    ("as if channels came last, without the batch", lambda c: _channels_last(c, 0 * c.batch)),
)
_FIELDS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    *(
        (f"counted from dimension {axis}", "index_axis", lambda _, axis=axis: axis)
        for axis in (0, 1, 2, -1)
    ),
    ("counted from the dimension after", "index_axis", lambda axis: axis + 1),
    ("counted from the dimension before", "index_axis", lambda axis: axis - 1),
    ("in row-major order", "storage_order", lambda _: "row-major"),
    ("in column-major order", "storage_order", lambda _: "column-major"),
    *(
        (f"returned as {name}", "index_type", lambda _, name=name: name)
        for name in ("int32", "int64")
    ),
)
_KEPT_IN = ("int8", "uint8", "int16", "uint16", "int32", "float16", "float32", "float64")


def of_indices() -> Iterator[Slip]:
    """Yield slips of how the cells of maxima are numbered, and of what becomes of the numbers."""
    for (where, positions), (plane, sizes) in product(_POSITIONS, _SIZES):
        if (where, plane) != (_POSITIONS[0][0], _SIZES[0][0]):
            yield _numbered(f"{where}, for planes as large as {plane}", _cells(positions, sizes))
    for words, number in _PLACES:
        yield _numbered(f"the position {words}", number)
    for words, field, change in _FIELDS:
        yield Slip(f"indices were {words}", "further", _changed(field, change), INDEXED)
    for words, other in other_layouts("the indices"):
        yield Slip(words, "further", after(partial(_each, other)), INDEXED)
    for kind in _KEPT_IN:
        kept = after(partial(_each, partial(_kept_in, kind)))
        yield Slip(f"indices were kept in {kind}", "further", kept, INDEXED)


def _numbered(words: str, number: Callable[[ChosenCells], Array]) -> Slip:
    compute = numbering(number)
    return Slip(f"indices were made from {words}", "further", instead(compute), INDEXED)


def _cells(positions: Positions, sizes: Sizes) -> Callable[[ChosenCells], Array]:
    return lambda cells: cells.at(positions(cells), sizes(cells))


def _channels_last(cells: ChosenCells, batch: Array) -> Array:
    places = (batch, *cells.positions, cells.channel)
    sizes = (cells.shape[0], *cells.params.sizes, cells.shape[1])
    number = np.zeros_like(cells.batch)
    for place, size in zip(places, sizes, strict=True):
        number = number * size + place
    return number


def _changed(field: str, change: Callable[[Any], Any]) -> StepWrap:
    """Let an attribute mean something else."""

    def other(gathered: Gathered, *given: Any) -> tuple[Any, ...]:
        params = gathered.params
        changed = replace(params, **{field: change(getattr(params, field))})
        return replace(gathered, params=changed), *given

    return before(other)


def _kept_in(kind: str, array: Array) -> Array:
    return array.astype(kind).astype(array.dtype)


def _each(change: Callable[[Array], Array], right: tuple[Array, ...], *_: Any) -> tuple[Array, ...]:
    return tuple(np.array(change(each), order="C") for each in right)
