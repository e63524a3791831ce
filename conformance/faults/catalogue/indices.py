"""Faults of the indices of maxima: which cell is numbered, and how cells are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.faults.atoms import entries
from conformance.faults.atoms.indices import (
    CHANNELS_LAST,
    FROM_CLIPPED_START,
    FROM_NEXT_DIMENSION,
    LAST_TWO_EXCHANGED,
    LESS_BEGIN_PAD,
    OF_NEXT_CHANNEL,
    OUTPUT,
    PADDED_INPUT,
    PADDED_POSITION,
    PLANES_EXCHANGED,
    SIZES_EXCHANGED,
    WINDOW,
    WINDOW_START,
    WITHOUT_BATCH,
    WITHOUT_CHANNEL,
    ChosenCells,
    Field,
    changed,
    channels_last,
    from_dimension,
    in_order,
    kept_in,
    mean,
    number,
    number_as,
    numbered,
    returned_as,
    row_major,
)
from conformance.faults.atoms.lists import MIX_UPS, Atom
from conformance.faults.atoms.numbers import (
    LOWEST_IF_MINUS_INFINITY,
    MAGNITUDES,
    MINUS_INFINITY_IF_NAN,
    Change,
    is_float,
    of_floats,
    on_results,
    range_of,
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
)
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import lowest, maximum_of_cells
from conformance.reference.position import numbers_of
from conformance.reference.rounding import widen
from conformance.vector import Array

_WINDOWS = INDEXED & WINDOWED
_SAYS_AXIS = INDEXED & Needs(roles=("index_axis",))
_SAYS_ORDER = INDEXED & Needs(roles=("storage_order",))
_SAYS_TYPE = INDEXED & Needs(roles=("index_type",))


# How cells are counted ---------------------------------------------------------------------------


def _other_order(order: str) -> str:
    return "row-major" if order == "column-major" else "column-major"


def _axis(words: str, of: Callable[[int], int], needs: Needs = _SAYS_AXIS) -> Behaviour:
    """Count cells from another dimension of the data."""
    return mean(Field(f"counted from {words}", "index_axis", of), needs=needs)


def _numbered(
    summary: str, number: Callable[[ChosenCells], Array], bug: str = "", *, needs: Needs = INDEXED
) -> Behaviour:
    """Return `number(cells)` instead of the numbers of the chosen cells."""
    return Behaviour(summary, needs, {"further": numbered(number)}, bug)


def _taps(cells: ChosenCells) -> list[Array]:
    """Return the numbers of the cells within their windows per axis."""
    axes = zip(cells.positions, cells.starts, cells.gathered.windows.axes, strict=True)
    return [(p - start) // n for p, start, (_, _, n) in axes]


def _in_kernel(cells: ChosenCells) -> Array:
    return row_major(_taps(cells), cells.params.kernel)


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


def _of_sizes(atom: Atom) -> Callable[[ChosenCells], Array]:
    return lambda cells: cells.at(cells.positions, atom.of({"": cells.params.sizes}, ""))


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


def _changed(summary: str, change: Change) -> Behaviour:
    return Behaviour(summary, INDEXED, {"further": changed(change)})


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


def _planes(cells: ChosenCells) -> tuple[Array, Array]:
    """Return the cells of each plane in order, and the place of each chosen one in its plane."""
    sizes, data = cells.params.sizes, cells.gathered.data
    order = np.argsort(numbers_of(cells.gathered.positions, sizes), axis=None)
    planes = data.reshape(prod(data.shape[:2]), -1)[:, order]
    planes = planes if not is_float(data) else widen(planes)
    return planes, row_major(cells.positions, sizes).reshape(len(planes), -1)


def _first_unless_above_lowest(cells: ChosenCells) -> Array:
    """Return numbers: the first cell of the plane where no cell is above the lowest number."""
    planes, chosen = _planes(cells)
    values = np.take_along_axis(planes, chosen, 1).reshape(cells.shape)
    least, _ = range_of(name_of(cells.gathered.data.dtype))
    above = values > least
    return cells.at([np.where(above, position, 0) for position in cells.positions])


def _first_in_plane(cells: ChosenCells) -> Array:
    """Search the whole plane for the value of each chosen cell."""
    params = cells.params
    planes, chosen = _planes(cells)
    first: npt.NDArray[np.int64] = np.empty_like(chosen)
    for plane, wanted, found in zip(planes, chosen, first, strict=True):
        _, firsts, values = np.unique(plane, return_index=True, return_inverse=True)
        found[:] = firsts[values.reshape(-1)[wanted]]
    places = np.unravel_index(first.reshape(cells.shape), params.sizes)
    return cells.at(list(places))


FAULTS: Faults = {
    "index-axis-ignored": mean(from_dimension(0), needs=_SAYS_AXIS),
    "index-axis-absolute": _axis("the absolute value of axis", abs),
    "index-axis-negative-one-less": _axis(
        "the dimension before, if axis is negative", lambda axis: axis - (axis < 0)
    ),
    "index-axis-negative-as-zero": _axis(
        "dimension 0, if axis is negative", lambda axis: max(axis, 0)
    ),
    "index-axis-one-more": mean(FROM_NEXT_DIMENSION, needs=_SAYS_AXIS),
    "index-axis-of-space": _axis(
        "the first spatial axis", lambda axis: axis + 2 if axis >= 0 else axis
    ),
    "index-in-plane": mean(from_dimension(2), needs=_WINDOWS & Needs(beyond_planes=True))._replace(
        summary="indices into the plane of a channel, whatever is asked for", bug="index_in_plane"
    ),
    "index-in-batch": mean(from_dimension(1), needs=_WINDOWS),
    "index-in-row": mean(from_dimension(-1)),
    "index-in-tensor": mean(from_dimension(0), needs=INDEXED & ADAPTIVE),
    "index-column-major": mean(in_order("column-major")),
    "storage-order-ignored": mean(in_order("row-major"), needs=_SAYS_ORDER)._replace(
        summary="storage_order ignored", bug="storage_order_ignored"
    ),
    "storage-order-swapped": mean(
        Field("in the other order", "storage_order", _other_order), needs=_SAYS_ORDER
    ),
    "index-type-ignored": mean(returned_as("int64"), needs=_SAYS_TYPE),
    "index-type-int32": mean(returned_as("int32")),
    "index-type-swapped": mean(
        Field(
            "returned as int32 for int64 and the reverse",
            "index_type",
            lambda kind: "int32" if kind == "int64" else "int64",
        ),
        needs=_SAYS_TYPE,
    ),
    "index-in-padded-plane": number(PADDED_POSITION, PADDED_INPUT, needs=INDEXED & BORDERED),
    "index-of-padded-position": number(PADDED_POSITION, needs=INDEXED & BORDERED),
    "index-pads-subtracted-twice": number(LESS_BEGIN_PAD, needs=INDEXED & BORDERED),
    "index-in-kernel": _numbered("indices into the window", _in_kernel, needs=_WINDOWS),
    "index-from-window-start": number(FROM_CLIPPED_START),
    "index-of-window-start": number(WINDOW_START),
    "index-of-output": number(WINDOW, OUTPUT),
    "index-strides-of-output": number(plane=OUTPUT),
    **{
        f"index-sizes-{name}": _numbered(
            f"every input size taken as {atom.words}, for indices alone", _of_sizes(atom)
        )
        for name, atom in MIX_UPS.items()
    },
    "index-channel-forgotten": number_as(WITHOUT_CHANNEL, needs=_WINDOWS),
    "index-batch-forgotten": number_as(WITHOUT_BATCH, needs=_WINDOWS),
    "index-of-next-channel": number_as(OF_NEXT_CHANNEL, needs=_WINDOWS),
    "index-batch-and-channel-swapped": number_as(PLANES_EXCHANGED, needs=_WINDOWS),
    "index-channels-last": number_as(CHANNELS_LAST, needs=_WINDOWS),
    "index-channels-last-in-batch": _numbered(
        "indices into one batch, counted as if channels came last",
        lambda cells: channels_last(cells, cells.batch * 0),
        "index_channels_last",
        needs=_WINDOWS,
    ),
    "index-last-axes-swapped": number(LAST_TWO_EXCHANGED, SIZES_EXCHANGED),
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
    "maximum-above-lowest-alone": Behaviour(
        "a maximum that starts as the lowest finite number, in the first cell of the plane, and "
        "that larger cells alone replace",
        INDEXED,
        {
            "reduce": on_results(of_floats(LOWEST_IF_MINUS_INFINITY)),
            "further": numbered(_first_unless_above_lowest),
        },
    ),
    "index-one-less": _returned("indices one too small", lambda right, *_: right - 1),
    "index-in-bytes": _returned(
        "indices in bytes", lambda right, gathered, _: right * gathered.data.itemsize
    ),
    **{
        f"index-in-{kind}": _changed(f"indices kept in {kind}", kept_in(kind))
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
    "indices-last-axes-swapped": _changed(
        "the last two axes of the indices swapped", entries.LAST_TWO.of
    ),
    "indices-channels-last": _changed(
        "the indices returned with channels last", entries.CHANNELS_LAST.of
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
