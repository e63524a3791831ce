"""Faults of `gather`: windows have the right positions, but other cells are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.entries import (
    BATCH,
    CELL,
    CELL_OF_PLANE,
    CHANNEL,
    COLUMN,
    FIRST,
    IN_REVERSE,
    modulo,
    on_data,
    read_as,
)
from conformance.faults.atoms.lists import CLIPPED, mixed_up
from conformance.faults.atoms.numbers import Change
from conformance.faults.behaviour import (
    AVERAGES,
    BORDERED,
    EVERY,
    INCLUDING,
    MAXIMUM,
    PADDED,
    SPREAD,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    after,
)
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows
from conformance.vector import Array

Choose = Callable[[list[int], int, Params, int], list[int]]
"""Which cells a window reads along an axis; see reading_other_cells."""


def _cells(
    summary: str, needs: Needs, choose: Choose, bug: str = "", *, unclipped: bool = False
) -> Behaviour:
    """Read other cells along every axis."""
    return Behaviour(
        summary, needs, {"gather": reading_other_cells(choose, unclipped=unclipped)}, bug
    )


def _in_rows(summary: str, choose: Choose, needs: Needs = EVERY) -> Behaviour:
    """Read other cells along the last axis."""

    def of_last_axis(cells: list[int], d: int, params: Params, j: int) -> list[int]:
        return choose(cells, d, params, j) if j == len(params.sizes) - 1 else cells

    return _cells(summary, needs, of_last_axis)


def _padding(
    summary: str, needs: Needs, position: Callable[[int, int], int], bug: str = ""
) -> Behaviour:
    """Read the cell `position(p, d)` for position p in the padding; position d holds zero."""

    def choose(cells: list[int], d: int, _params: Params, _axis: int) -> list[int]:
        return [p if 0 <= p < d else position(p, d) for p in cells]

    return _cells(summary, needs, choose, bug, unclipped=True)


def _data(summary: str, change: Change, *, needs: Needs = EVERY) -> Behaviour:
    """Read the right cells, but from changed data of the same shape."""
    return Behaviour(summary, needs, {"gather": on_data(change)})


def _mirrored(p: int, d: int) -> int:
    """Return the position that p is a mirror image of, the cells at both ends being the mirrors."""
    if d == 1:
        return 0
    p %= 2 * (d - 1)
    return min(p, 2 * (d - 1) - p)


def _without_begin_shift(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    shift = params.pads_begin[j] if params.auto_pad == "explicit" else 0
    return [min(p + shift, d - 1) for p in cells]


def _dilated(cells: list[int], d: int, dilation: int) -> list[int]:
    positions = (cells[0] + i * dilation for i in range(len(cells)))
    return [p for p in positions if 0 <= p < d]


def _whole_groups(lanes: int) -> Choose:
    """Read whole groups of `lanes` cells only, as an unrolled loop without its remainder does."""
    return lambda cells, *_: cells[: len(cells) // lanes * lanes] if len(cells) > lanes else cells


def _modulo(count: int) -> Choose:
    """Address the cells along an axis by their position modulo `count`."""
    return lambda cells, *_: [p % count for p in cells]


def _first_cells(most: int) -> Choose:
    return lambda cells, *_: cells[:most]


# Data in another order ---------------------------------------------------------------------------


def _read_channels_last(data: Array) -> Array:
    n, c, *sizes = data.shape
    return np.moveaxis(data.reshape(n, *sizes, c), -1, 1)


def _read_channels_first(data: Array) -> Array:
    n, c, *sizes = data.shape
    return np.swapaxes(data.reshape(c, n, *sizes), 0, 1)


def _read_transposed(data: Array) -> Array:
    *planes, h, w = data.shape
    return np.swapaxes(data.reshape(*planes, w, h), -1, -2) if data.ndim > 3 else data


def _transposed_if_square(data: Array) -> Array:
    square = data.ndim > 3 and data.shape[-1] == data.shape[-2]
    return np.swapaxes(data, -1, -2) if square else data


# Windows that end elsewhere ----------------------------------------------------------------------


def _into_next_row(_right: Gathered, data: Array, params: Params, windows: Windows) -> Gathered:
    """Read the begin of the next row where a window overhangs the end of a row."""
    width = params.sizes[-1]
    overhang = max(0, int(windows.stop[-1].max(initial=0)) - width)
    flat = data.reshape(*data.shape[:2], -1)
    rows = np.arange(flat.shape[2]).reshape(-1, width)
    index = rows[:, :1] + np.arange(width + overhang)
    longer = flat[:, :, index % flat.shape[2]].reshape(*data.shape[:-1], width + overhang)
    return steps.clip(longer, replace(params, sizes=longer.shape[2:]), windows)


FAULTS: Faults = {
    "padding-zero": _padding(
        "padding taken as zeros, which win over negative cells",
        MAXIMUM & PADDED,
        lambda _p, d: d,
        bug="max_pad_zero",
    ),
    "padding-zero-at-begin": _cells(
        "begin padding taken as zeros, which win over negative cells",
        MAXIMUM & PADDED,
        lambda cells, d, *_: [max(-1, p) % (d + 1) for p in cells if p < d],
        unclipped=True,
    ),
    "padding-zero-at-end": _cells(
        "end padding taken as zeros, which win over negative cells",
        MAXIMUM & PADDED,
        lambda cells, d, *_: [min(p, d) for p in cells if p >= 0],
        unclipped=True,
    ),
    "padding-repeats-border": _padding(
        "padding holds the cell at the border", INCLUDING, lambda p, d: 0 if p < 0 else d - 1
    ),
    "padding-mirrors": _padding("padding holds the mirrored input", BORDERED, _mirrored),
    "padding-wraps": _padding(
        "padding holds the other end of the input", BORDERED, lambda p, d: p % d
    ),
    "cells-not-shifted-by-pads": _cells(
        "cells addressed without subtracting the begin pads",
        PADDED,
        _without_begin_shift,
        bug="tap_address_not_shifted_by_begin_pad",
    ),
    "dilation-two": _cells(
        "every second cell read, as with a dilation of 2",
        WINDOWED,
        lambda cells, d, _params, _j: _dilated(cells, d, 2),
        unclipped=True,
    ),
    "dilation-of-strides": _cells(
        "the strides used as a dilation",
        STRIDED,
        lambda cells, d, params, j: _dilated(cells, d, params.strides[j]),
        unclipped=True,
    ),
    "first-cell-skipped": _in_rows(
        "the first cell of every window skipped",
        lambda cells, *_: cells[1:] if len(cells) > 1 else cells,
    ),
    "last-cell-skipped": _in_rows(
        "the last cell of every window skipped",
        lambda cells, *_: cells[:-1] if len(cells) > 1 else cells,
    ),
    "first-cell-twice": _in_rows(
        "the first cell of every window added twice",
        lambda cells, *_: cells[:1] + cells,
        needs=AVERAGES,
    ),
    "overlap-not-counted-again": _in_rows(
        "cells that two neighbouring windows share read in the first of them only",
        lambda cells, _d, p, j: cells[-p.strides[j] :] if cells and cells[0] > 0 else cells,
        needs=STRIDED,
    ),
    "last-input-cell-never-read": _in_rows(
        "the last cell of the last axis never read",
        lambda cells, d, *_: [p for p in cells if p < d - 1 or d == 1],
    ),
    "first-input-cell-never-read": _in_rows(
        "the first cell of the last axis never read",
        lambda cells, d, *_: [p for p in cells if p or d == 1],
    ),
    **{
        f"window-unrolled-by-{lanes}": _in_rows(
            f"the rest of a window beyond groups of {lanes} cells skipped", _whole_groups(lanes)
        )
        for lanes in (2, 4, 8)
    },
    **{
        f"window-of-{most}-at-most": _cells(
            f"only {most} cells of a window read along an axis", EVERY, _first_cells(most)
        )
        for most in (7, 16, 255)
    },
    **{
        f"index-{name}": _cells(
            f"positions along an axis kept in {bits} bits", EVERY, _modulo(count)
        )
        for name, bits, count in (
            ("uint8", 8, 1 << 8),
            ("int16", 15, 1 << 15),
            ("uint16", 16, 1 << 16),
        )
    },
    "batch-first-for-all": read_as(BATCH, FIRST),
    "batch-reversed": read_as(BATCH, IN_REVERSE),
    "channel-first-for-all": read_as(CHANNEL, FIRST),
    "channels-reversed": read_as(CHANNEL, IN_REVERSE),
    "batch-and-channels-swapped": _data(
        "batch and channels swapped in memory", _read_channels_first
    ),
    "channels-last": _data("memory read as if channels came last", _read_channels_last),
    "rows-and-columns-swapped": _data(
        "the last two axes swapped in memory", _read_transposed, needs=SPREAD
    ),
    "square-input-transposed": _data(
        "square inputs transposed", _transposed_if_square, needs=SPREAD
    ),
    "input-mirrored": read_as(COLUMN, IN_REVERSE, needs=SPREAD),
    "plane-index-uint8": read_as(CELL_OF_PLANE, modulo(1 << 8)),
    "plane-index-uint16": read_as(CELL_OF_PLANE, modulo(1 << 16)),
    "tensor-index-int16": read_as(CELL, modulo(1 << 15)),
    "tensor-index-uint16": read_as(CELL, modulo(1 << 16)),
    **{f"channel-modulo-{count}": read_as(CHANNEL, modulo(count)) for count in (4, 8, 16, 32, 256)},
    **{f"batch-modulo-{count}": read_as(BATCH, modulo(count)) for count in (2, 256)},
    **mixed_up("sizes", CLIPPED, "bounds"),
    "runs-into-next-row": Behaviour(
        "windows that overhang the end of a row read on in the next",
        BORDERED,
        after("gather", _into_next_row),
    ),
}
