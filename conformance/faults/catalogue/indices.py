"""Faults of the indices of maxima: which cell is numbered, and how cells are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import dtype_of
from conformance.faults.atoms.lists import Atom
from conformance.faults.atoms.numbers import (
    MAGNITUDES,
    MINUS_INFINITY_IF_NAN,
    Change,
    is_float,
    of_floats,
    rounded_to,
)
from conformance.faults.behaviour import (
    ADAPTIVE,
    BORDERED,
    DILATED,
    INDEXED,
    INTEGERS,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    after,
    before,
    instead,
)
from conformance.faults.catalogue.building_blocks import OF_ANY_AXES, changed
from conformance.faults.catalogue.building_blocks import Change as ParamsChange
from conformance.operators import pipeline as steps
from conformance.operators.indices import ChosenIndex
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import lowest, maximum_of_cells
from conformance.operators.windows import Positions
from conformance.reference.position import NOWHERE, numbers_of
from conformance.reference.rounding import widen
from conformance.vector import Array

_WINDOWS = INDEXED & WINDOWED
_SAYS_AXIS = INDEXED & Needs(roles=("index_axis",))
_SAYS_ORDER = INDEXED & Needs(roles=("storage_order",))
_SAYS_TYPE = INDEXED & Needs(roles=("index_type",))
_AXIS, _ORDER, _TYPE = "index_axis", "storage_order", "index_type"


# How cells are counted ---------------------------------------------------------------------------


def _counted(summary: str, needs: Needs, change: ParamsChange, bug: str = "") -> Behaviour:
    """Count cells by changed parameters."""

    def otherwise(gathered: Gathered, *given: Any) -> tuple[Any, ...]:
        return replace(gathered, params=change(gathered.params)), *given

    return Behaviour(summary, needs, before("further", otherwise), bug)


def _other_order(order: str) -> str:
    return "row-major" if order == "column-major" else "column-major"


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


def _numbered(
    summary: str, number: Callable[[ChosenCells], Array], bug: str = "", *, needs: Needs = INDEXED
) -> Behaviour:
    """Return `number(cells)` instead of the numbers of the chosen cells."""
    return Behaviour(summary, needs, instead("further", numbering(number)), bug)


def numbering(number: Callable[[ChosenCells], Array]) -> Callable[..., tuple[Array, ...]]:
    """Return what computes `number(cells)` in place of the step `further`."""

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

    return further


def _in_padded_plane(cells: ChosenCells) -> Array:
    axes = zip(steps.resolve_pads(cells.params), cells.params.sizes, strict=True)
    padded = tuple(begin + d + end for (begin, end), d in axes)
    return cells.at(_shifted(cells, 1), padded)


def _shifted(cells: ChosenCells, times: int) -> list[Array]:
    """Return positions moved by the begin pads, so many times."""
    return [p + times * begin for p, begin in zip(cells.positions, cells.begins, strict=True)]


def _taps(cells: ChosenCells) -> list[Array]:
    """Return the numbers of the cells within their windows per axis."""
    axes = zip(cells.positions, cells.starts, cells.gathered.windows.axes, strict=True)
    return [(p - start) // n for p, start, (_, _, n) in axes]


def _in_kernel(cells: ChosenCells) -> Array:
    return _row_major(_taps(cells), cells.params.kernel)


def _row_major(places: list[Array], sizes: tuple[int, ...]) -> Array:
    numbers: Array = np.zeros((), np.int64)
    for place, d in zip(places, sizes, strict=True):
        numbers = numbers * d + place
    return numbers


def _from_clipped_start(cells: ChosenCells) -> Array:
    axes = zip(cells.positions, cells.starts, strict=True)
    return cells.at([p - np.maximum(start, 0) for p, start in axes])


def _of_window_start(cells: ChosenCells) -> Array:
    return cells.at([np.maximum(start, 0) for start in cells.starts])


def _undilated(cells: ChosenCells) -> Array:
    axes = zip(cells.starts, _taps(cells), strict=True)
    return cells.at([start + tap for start, tap in axes])


def _windows_apart(distance: Callable[[Params], tuple[int, ...]]) -> Callable[..., Array]:
    """Take windows for `distance(params)` apart per axis, instead of a stride."""

    def number(cells: ChosenCells) -> Array:
        axes = zip(
            cells.positions,
            cells.windows,
            cells.params.strides,
            distance(cells.params),
            strict=True,
        )
        return cells.at([p + i * (wrong - s) for p, i, s, wrong in axes])

    return number


def _channels_last(cells: ChosenCells, batch: Array) -> Array:
    sizes = (*cells.shape[:1], *cells.params.sizes, cells.shape[1])
    return _row_major([batch, *cells.positions, cells.channel], sizes)


def _of_sizes(atom: Atom) -> Callable[[ChosenCells], Array]:
    return lambda cells: cells.at(cells.positions, atom.of({"": cells.params.sizes}, ""))


def _last_axes_swapped(cells: ChosenCells) -> Array:
    if len(cells.positions) < 2:
        return cells.at(cells.positions)
    *front, row, column = cells.positions
    *sizes, rows, columns = cells.params.sizes
    return cells.at([*front, column, row], (*sizes, columns, rows))


# What is returned --------------------------------------------------------------------------------


def _returned(
    summary: str,
    change: Callable[..., Array],
    bug: str = "",
    *,
    needs: Needs = INDEXED,
) -> Behaviour:
    """Return `change(right indices, gathered, first output)`."""

    def other(right: Any, gathered: Gathered, _divisor: Divisor, first: Array) -> tuple[Any, ...]:
        (indices,) = right
        return (change(indices, gathered, first),)

    return Behaviour(summary, needs, after("further", other), bug)


def _kept_in(kind: str) -> Callable[..., Array]:
    return lambda right, *_: right.astype(dtype_of(kind)).astype(right.dtype)


def _where(holds: Callable[[Array], Any], index: int) -> Callable[..., Array]:
    """Return an index for the maxima of some kind."""

    def change(right: Array, _gathered: Gathered, first: Array) -> Array:
        return np.where(holds(first), right.dtype.type(index), right)

    return change


def _is_lowest(first: Array) -> Any:
    return first == lowest(first.dtype)


def _is_nan(first: Array) -> Any:
    return np.isnan(widen(first)) if is_float(first) else np.zeros(first.shape, np.bool_)


def _is_lowest_integer(first: Array) -> Any:
    return (
        np.zeros(first.shape, np.bool_) if is_float(first) else first == np.iinfo(first.dtype).min
    )


def _of_first(axis: int) -> Callable[..., Array]:
    """Return the indices of the first batch or channel for all."""
    return lambda right, *_: np.broadcast_to(right.take([0], axis), right.shape).copy()


def _swapped(right: Array, *_given: Any) -> Array:
    return np.swapaxes(right, -1, -2) if right.ndim > 3 else right


# Which cell is numbered --------------------------------------------------------------------------


def _chosen_by(summary: str, change: Change, needs: Needs = INDEXED) -> Behaviour:
    """Choose the cells by changed data; the values stay right."""

    def otherwise(gathered: Gathered, divisor: Divisor, first: Array) -> tuple[Any, ...]:
        data = change(gathered.data)
        if not _is_nan(first).any():  # by what is read, a NaN is no maximum
            data = of_floats(MINUS_INFINITY_IF_NAN)(data)
        gathered = replace(gathered, data=data)
        return gathered, divisor, maximum_of_cells(gathered, divisor)

    return Behaviour(summary, needs, before("further", otherwise))


def _reversed_order(data: Array) -> Array:
    reverse: Array = -data if is_float(data) else np.invert(data)
    return reverse


def _of_other_sign(data: Array) -> Array:
    if is_float(data):
        return data
    return data.view(f"{'iu'[data.dtype.kind == 'i']}{data.itemsize}")


def _first_in_plane(cells: ChosenCells) -> Array:
    """Search the whole plane for the value of each chosen cell."""
    params, data = cells.params, cells.gathered.data
    order = np.argsort(numbers_of(cells.gathered.positions, params.sizes), axis=None)
    planes = data.reshape(prod(data.shape[:2]), -1)[:, order]
    planes = planes if not is_float(data) else widen(planes)
    chosen = _row_major(cells.positions, params.sizes).reshape(len(planes), -1)
    first: npt.NDArray[np.int64] = np.empty_like(chosen)
    for plane, wanted, found in zip(planes, chosen, first, strict=True):
        _, firsts, values = np.unique(plane, return_index=True, return_inverse=True)
        found[:] = firsts[values.reshape(-1)[wanted]]
    places = np.unravel_index(first.reshape(cells.shape), params.sizes)
    return cells.at(list(places))


FAULTS: Faults = {
    "index-axis-ignored": _counted(
        "axis ignored: indices into the whole tensor", _SAYS_AXIS, changed(_AXIS, lambda _: 0)
    ),
    "index-axis-absolute": _counted(
        "a negative axis taken as its absolute value", _SAYS_AXIS, changed(_AXIS, abs)
    ),
    "index-axis-negative-one-less": _counted(
        "a negative axis taken as the axis before",
        _SAYS_AXIS,
        changed(_AXIS, lambda axis: axis - (axis < 0)),
    ),
    "index-axis-negative-as-zero": _counted(
        "a negative axis taken as 0", _SAYS_AXIS, changed(_AXIS, lambda axis: max(axis, 0))
    ),
    "index-axis-one-more": _counted(
        "axis taken as the axis after it", _SAYS_AXIS, changed(_AXIS, lambda axis: axis + 1)
    ),
    "index-axis-of-space": _counted(
        "axis counted from the first spatial axis",
        _SAYS_AXIS,
        changed(_AXIS, lambda axis: axis + 2 if axis >= 0 else axis),
    ),
    "index-in-plane": _counted(
        "indices into the plane of a channel, whatever is asked for",
        _WINDOWS,
        changed(_AXIS, lambda _: 2),
        "index_in_plane",
    ),
    "index-in-batch": _counted(
        "indices into one batch, whatever is asked for", _WINDOWS, changed(_AXIS, lambda _: 1)
    ),
    "index-in-row": _counted(
        "indices along the last axis alone", INDEXED, changed(_AXIS, lambda _: -1)
    ),
    "index-in-tensor": _counted(
        "indices into the whole tensor instead of a plane",
        INDEXED & ADAPTIVE,
        changed(_AXIS, lambda _: 0),
    ),
    "index-column-major": _counted(
        "cells counted in column-major order, whatever is asked for",
        INDEXED,
        changed(_ORDER, lambda _: "column-major"),
    ),
    "storage-order-ignored": _counted(
        "storage_order ignored",
        _SAYS_ORDER,
        changed(_ORDER, lambda _: "row-major"),
        "storage_order_ignored",
    ),
    "storage-order-swapped": _counted(
        "row-major and column-major order swapped", _SAYS_ORDER, changed(_ORDER, _other_order)
    ),
    "index-type-ignored": _counted(
        "indices always of type int64", _SAYS_TYPE, changed(_TYPE, lambda _: "int64")
    ),
    "index-type-int32": _counted(
        "indices always of type int32", INDEXED, changed(_TYPE, lambda _: "int32")
    ),
    "index-type-swapped": _counted(
        "int32 and int64 swapped as types of indices",
        _SAYS_TYPE,
        changed(_TYPE, lambda kind: "int32" if kind == "int64" else "int64"),
    ),
    "index-in-padded-plane": _numbered(
        "indices into the padded input", _in_padded_plane, needs=INDEXED & BORDERED
    ),
    "index-of-padded-position": _numbered(
        "begin pads not subtracted in indices",
        lambda cells: cells.at(_shifted(cells, 1)),
        needs=INDEXED & BORDERED,
    ),
    "index-pads-subtracted-twice": _numbered(
        "begin pads subtracted twice in indices",
        lambda cells: cells.at(_shifted(cells, -1)),
        needs=INDEXED & BORDERED,
    ),
    "index-in-kernel": _numbered("indices into the window", _in_kernel, needs=_WINDOWS),
    "index-from-window-start": _numbered(
        "indices counted from the first cell of the window", _from_clipped_start
    ),
    "index-of-window-start": _numbered("the index of the first cell of a window", _of_window_start),
    "index-of-output": _numbered(
        "the index of the output in place of that of the cell",
        lambda cells: cells.at(cells.windows, cells.shape[2:]),
    ),
    "index-strides-of-output": _numbered(
        "indices computed with the sizes of the output",
        lambda cells: cells.at(cells.positions, cells.shape[2:]),
    ),
    **{
        f"index-sizes-{name}": _numbered(
            f"every input size taken as {atom.words}, for indices alone", _of_sizes(atom)
        )
        for name, atom in OF_ANY_AXES.items()
    },
    "index-channel-forgotten": _numbered(
        "the channel forgotten in indices",
        lambda cells: cells.of(cells.batch, cells.channel * 0),
        needs=_WINDOWS,
    ),
    "index-batch-forgotten": _numbered(
        "the batch forgotten in indices",
        lambda cells: cells.of(cells.batch * 0, cells.channel),
        needs=_WINDOWS,
    ),
    "index-of-next-channel": _numbered(
        "indices one channel too far",
        lambda cells: cells.of(cells.batch, cells.channel + 1),
        needs=_WINDOWS,
    ),
    "index-batch-and-channel-swapped": _numbered(
        "batch and channel swapped in indices",
        lambda cells: cells.of(cells.channel, cells.batch, (cells.shape[1], cells.shape[0])),
        needs=_WINDOWS,
    ),
    "index-channels-last": _numbered(
        "indices counted as if channels came last",
        lambda cells: _channels_last(cells, cells.batch),
        needs=_WINDOWS,
    ),
    "index-channels-last-in-batch": _numbered(
        "indices into one batch, counted as if channels came last",
        lambda cells: _channels_last(cells, cells.batch * 0),
        "index_channels_last",
        needs=_WINDOWS,
    ),
    "index-last-axes-swapped": _numbered(
        "the last two axes swapped in indices", _last_axes_swapped
    ),
    "index-of-first-axis": _numbered(
        "the position along the first spatial axis as index", lambda cells: cells.positions[0]
    ),
    "index-undilated": _numbered(
        "dilations ignored in indices", _undilated, needs=INDEXED & DILATED
    ),
    "index-strides-ignored": _numbered(
        "strides ignored in indices",
        _windows_apart(lambda params: (1,) * len(params.strides)),
        needs=INDEXED & STRIDED,
    ),
    "index-kernel-apart": _numbered(
        "windows taken for a kernel apart in indices",
        _windows_apart(lambda params: params.kernel),
        needs=INDEXED & STRIDED,
    ),
    "index-of-value-in-plane": _numbered(
        "the index of the first cell of the plane with the value of the maximum", _first_in_plane
    ),
    "index-one-less": _returned("indices one too small", lambda right, *_: right - 1),
    "index-in-bytes": _returned(
        "indices in bytes", lambda right, gathered, _: right * gathered.data.itemsize
    ),
    **{
        f"index-in-{kind}": _returned(f"indices kept in {kind}", _kept_in(kind))
        for kind in ("int8", "uint8", "int16", "float16", "bfloat16")
    },
    "indices-of-type-of-data": _returned(
        "indices of the element type of the data",
        lambda right, _gathered, first: right.astype(first.dtype),
    ),
    "indices-of-first-channel": _returned(
        "the indices of the first channel for all channels", _of_first(1)
    ),
    "indices-of-first-batch": _returned(
        "the indices of the first batch for all batches", _of_first(0)
    ),
    "indices-mirrored": _returned(
        "the last axis of the indices reversed", lambda right, *_: right[..., ::-1]
    ),
    "indices-last-axes-swapped": _returned("the last two axes of the indices swapped", _swapped),
    "indices-channels-last": _returned(
        "the indices returned with channels last", lambda right, *_: np.moveaxis(right, 1, -1)
    ),
    "indices-with-another-axis": _returned(
        "the indices returned with one axis more",
        lambda right, *_: right[np.newaxis],
        "indices_of_other_shape",
    ),
    "index-of-minus-infinity-missing": _returned(
        "the index -1 where the maximum is minus infinity or the lowest integer",
        _where(_is_lowest, -1),
        "index_of_minus_infinity",
    ),
    "index-of-minus-infinity-zero": _returned(
        "the index 0 where the maximum is minus infinity or the lowest integer",
        _where(_is_lowest, 0),
        "index_of_minus_infinity",
    ),
    "index-of-nan-missing": _returned("the index -1 where the maximum is NaN", _where(_is_nan, -1)),
    "index-of-nan-zero": _returned("the index 0 where the maximum is NaN", _where(_is_nan, 0)),
    "index-of-lowest-integer-missing": _returned(
        "the index -1 where the maximum is the lowest integer",
        _where(_is_lowest_integer, -1),
        needs=INDEXED & INTEGERS,
    ),
    "index-of-largest-number": _chosen_by(
        "the index of the largest number where the maximum is NaN", of_floats(MINUS_INFINITY_IF_NAN)
    ),
    "index-of-minimum": _chosen_by("the index of the smallest cell", _reversed_order),
    "index-of-largest-magnitude": _chosen_by(
        "the index of the cell of the largest magnitude", of_floats(MAGNITUDES)
    ),
    "index-of-opposite-sign": _chosen_by(
        "the index chosen as if signed integers were unsigned, or the reverse",
        _of_other_sign,
        INDEXED & INTEGERS,
    ),
    **{
        f"index-chosen-in-{kind}": _chosen_by(
            f"cells compared in {kind} where their index is chosen", of_floats(rounded_to(kind))
        )
        for kind in ("float16", "bfloat16", "float32")
    },
}
