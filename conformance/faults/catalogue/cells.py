"""Faults of `gather`: windows lie right, but other cells are read than those they hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AVERAGES,
    AXIS_SLIPS,
    BORDERED,
    INCLUDING,
    MAXIMUM,
    PADDED,
    STRIDED,
    WINDOWED,
    reading_other_cells,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows
from conformance.vector import Array

Choose = Callable[[list[int], int, Params, int], list[int]]


def _of_data(change: Callable[[Array], Array]) -> StepWrap:
    """Wrap `gather`: the right cells are read of changed data of the same shape."""
    return lambda gather: lambda data, params, windows: gather(change(data), params, windows)


# Padding that holds something -------------------------------------------------------------------


def _mirrored(p: int, d: int) -> int:
    if d == 1:
        return 0
    p %= 2 * (d - 1)
    return min(p, 2 * (d - 1) - p)


def _shifted_by_begin(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    shift = params.pads_begin[j] if params.auto_pad == "explicit" else 0
    return [min(p + shift, d - 1) for p in cells]


def _padding(of: Callable[[int, int], int]) -> StepWrap:
    """Give cells of the padding the value of another cell; d stands for zero."""
    return reading_other_cells(
        lambda cells, d, _params, _j: [p if 0 <= p < d else of(p, d) for p in cells],
        unclipped=True,
    )


# Cells of a window ------------------------------------------------------------------------------


def _dilated(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    step = params.strides[j]
    return [p for p in (cells[0] + i * step for i in range(len(cells))) if 0 <= p < d]


def _by(step: int) -> Choose:
    return lambda cells, d, *_: [
        p for p in (cells[0] + i * step for i in range(len(cells))) if 0 <= p < d
    ]


def _unrolled_by(lanes: int) -> Choose:
    """Read whole groups of a window only, as a loop without its remainder does."""
    return lambda cells, *_: cells[: len(cells) // lanes * lanes] if len(cells) > lanes else cells


def _at_most(most: int) -> Choose:
    return lambda cells, *_: cells[:most]


def _wrapping(most: int) -> Choose:
    return lambda cells, *_: [p % most for p in cells]


def _last_axis(choose: Choose) -> Choose:
    return lambda cells, d, params, j: (
        choose(cells, d, params, j) if j == len(params.sizes) - 1 else cells
    )


# Planes and addresses ---------------------------------------------------------------------------


def _flat_index(most: int) -> Callable[[Array], Array]:
    """Address the cells of a plane by a number that wraps."""

    def change(data: Array) -> Array:
        planes = data.reshape(*data.shape[:2], -1)
        return planes[:, :, np.arange(planes.shape[2]) % most].reshape(data.shape)

    return change


def _tensor_index(most: int) -> Callable[[Array], Array]:
    """Address the cells of the whole tensor by a number that wraps."""
    return lambda data: data.ravel()[np.arange(data.size) % most].reshape(data.shape)


def _channels_last(data: Array) -> Array:
    n, c, *sizes = data.shape
    return np.moveaxis(data.reshape(n, *sizes, c), -1, 1)


def _bounds_of(slip: Callable[[tuple[int, ...]], tuple[int, ...]]) -> StepWrap:
    """Clip windows to the sizes of other axes."""

    def wrap(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
        def other(data: Array, params: Params, windows: Windows) -> Gathered:
            right = gather(data, params, windows)
            ends = slip(params.sizes)
            hi = tuple(
                np.maximum(np.minimum(b, end), a)
                for a, b, end in zip(right.lo, right.hi, ends, strict=True)
            )
            return Gathered(right.data, right.lo, hi)

        return other

    return wrap


def _into_next_row(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
    """Let windows run on into the next row where they overhang the end of one."""

    def running(data: Array, params: Params, windows: Windows) -> Gathered:
        right = gather(data, params, windows)
        width = params.sizes[-1]
        more = max(0, int(windows.stop[-1].max(initial=0)) - width)
        flat = data.reshape(*data.shape[:2], -1)
        rows = np.arange(flat.shape[2]).reshape(-1, width)
        index = rows[:, :1] + np.arange(width + more)
        longer = flat[:, :, index % flat.shape[2]].reshape(*data.shape[:-1], width + more)
        hi = (*right.hi[:-1], np.maximum(windows.stop[-1], right.lo[-1]))
        return Gathered(longer, right.lo, hi)

    return running


def _first(data: Array, axis: int) -> Array:
    return np.repeat(data.take([0], axis), data.shape[axis], axis)


def _modulo(most: int, axis: int = 1) -> Callable[[Array], Array]:
    return lambda data: data.take(np.arange(data.shape[axis]) % most, axis)


def _swapped_planes(data: Array) -> Array:
    n, c, *sizes = data.shape
    return np.swapaxes(data.reshape(c, n, *sizes), 0, 1)


def _read_transposed(data: Array) -> Array:
    *planes, h, w = data.shape
    return np.swapaxes(data.reshape(*planes, w, h), -1, -2) if data.ndim > 3 else data


def _transposed_if_square(data: Array) -> Array:
    square = data.ndim > 3 and data.shape[-1] == data.shape[-2]
    return np.swapaxes(data, -1, -2) if square else data


FAULTS: tuple[Fault, ...] = (
    Fault(
        "padding-zero",
        "padding taken as zeros, which win over negative cells",
        needs=MAXIMUM & PADDED,
        replaces={"gather": _padding(lambda _p, d: d)},
        bugs=("max_pad_zero",),
    ),
    Fault(
        "padding-zero-at-begin",
        "begin padding taken as zeros, which win over negative cells",
        needs=MAXIMUM & PADDED,
        replaces={
            "gather": reading_other_cells(
                lambda cells, d, *_: [max(-1, p) % (d + 1) for p in cells if p < d], unclipped=True
            )
        },
    ),
    Fault(
        "padding-zero-at-end",
        "end padding taken as zeros, which win over negative cells",
        needs=MAXIMUM & PADDED,
        replaces={
            "gather": reading_other_cells(
                lambda cells, d, *_: [min(p, d) for p in cells if p >= 0], unclipped=True
            )
        },
    ),
    Fault(
        "padding-repeats-border",
        "padding holds the cell at the border",
        needs=INCLUDING,
        replaces={"gather": _padding(lambda p, d: 0 if p < 0 else d - 1)},
    ),
    Fault(
        "padding-mirrors",
        "padding holds the mirrored input",
        needs=BORDERED,
        replaces={"gather": _padding(_mirrored)},
    ),
    Fault(
        "padding-wraps",
        "padding holds the other end of the input",
        needs=BORDERED,
        replaces={"gather": _padding(lambda p, d: p % d)},
    ),
    Fault(
        "cells-not-shifted-by-pads",
        "cells addressed without subtracting the begin pads",
        needs=PADDED,
        replaces={"gather": reading_other_cells(_shifted_by_begin)},
        bugs=("tap_address_not_shifted_by_begin_pad",),
    ),
    Fault(
        "dilation-two",
        "every second cell read, as with a dilation of 2",
        needs=WINDOWED,
        replaces={"gather": reading_other_cells(_by(2), unclipped=True)},
    ),
    Fault(
        "dilation-of-strides",
        "the strides used as a dilation",
        needs=STRIDED,
        replaces={"gather": reading_other_cells(_dilated, unclipped=True)},
    ),
    Fault(
        "first-cell-skipped",
        "the first cell of every window skipped",
        replaces={
            "gather": reading_other_cells(
                _last_axis(lambda cells, *_: cells[1:] if len(cells) > 1 else cells)
            )
        },
    ),
    Fault(
        "last-cell-skipped",
        "the last cell of every window skipped",
        replaces={
            "gather": reading_other_cells(
                _last_axis(lambda cells, *_: cells[:-1] if len(cells) > 1 else cells)
            )
        },
    ),
    Fault(
        "first-cell-twice",
        "the first cell of every window added twice",
        needs=AVERAGES,
        replaces={"gather": reading_other_cells(_last_axis(lambda cells, *_: cells[:1] + cells))},
    ),
    Fault(
        "overlap-not-counted-again",
        "cells at the begin of a window that the one before it read not read again",
        needs=STRIDED,
        replaces={
            "gather": reading_other_cells(
                _last_axis(
                    lambda cells, _d, p, j: (
                        cells[-p.strides[j] :] if cells and cells[0] > 0 else cells
                    )
                )
            )
        },
    ),
    Fault(
        "last-input-cell-never-read",
        "the last cell of the last axis never read",
        replaces={
            "gather": reading_other_cells(
                _last_axis(lambda cells, d, *_: [p for p in cells if p < d - 1 or d == 1])
            )
        },
    ),
    Fault(
        "first-input-cell-never-read",
        "the first cell of the last axis never read",
        replaces={
            "gather": reading_other_cells(
                _last_axis(lambda cells, d, *_: [p for p in cells if p or d == 1])
            )
        },
    ),
    *(
        Fault(
            f"window-unrolled-by-{lanes}",
            f"the rest of a window beyond groups of {lanes} cells skipped",
            replaces={"gather": reading_other_cells(_last_axis(_unrolled_by(lanes)))},
        )
        for lanes in (2, 4, 8)
    ),
    *(
        Fault(
            f"window-of-{most}-at-most",
            f"only {most} cells of a window read along an axis",
            replaces={"gather": reading_other_cells(_at_most(most))},
        )
        for most in (7, 16, 255)
    ),
    *(
        Fault(
            f"index-{name}",
            f"positions along an axis kept in {bits} bits",
            replaces={"gather": reading_other_cells(_wrapping(most))},
        )
        for name, bits, most in (
            ("uint8", 8, 1 << 8),
            ("int16", 15, 1 << 15),
            ("uint16", 16, 1 << 16),
        )
    ),
    Fault(
        "batch-first-for-all",
        "the first batch pooled for every batch",
        replaces={"gather": _of_data(lambda x: _first(x, 0))},
    ),
    Fault(
        "batch-reversed",
        "the batches in reverse order",
        replaces={"gather": _of_data(lambda x: x[::-1])},
    ),
    Fault(
        "channel-first-for-all",
        "the first channel pooled for every channel",
        replaces={"gather": _of_data(lambda x: _first(x, 1))},
    ),
    Fault(
        "channels-reversed",
        "the channels in reverse order",
        replaces={"gather": _of_data(lambda x: x[:, ::-1])},
    ),
    Fault(
        "batch-and-channels-swapped",
        "batch and channels swapped in memory",
        replaces={"gather": _of_data(_swapped_planes)},
    ),
    Fault(
        "channels-last",
        "memory read as if channels came last",
        replaces={"gather": _of_data(_channels_last)},
    ),
    Fault(
        "rows-and-columns-swapped",
        "the last two axes swapped in memory",
        replaces={"gather": _of_data(_read_transposed)},
    ),
    Fault(
        "square-input-transposed",
        "square inputs transposed",
        replaces={"gather": _of_data(_transposed_if_square)},
    ),
    Fault(
        "input-mirrored",
        "the last axis read backwards",
        replaces={"gather": _of_data(lambda x: x[..., ::-1])},
    ),
    Fault(
        "plane-index-uint8",
        "cells of a plane numbered in 8 bits",
        replaces={"gather": _of_data(_flat_index(1 << 8))},
    ),
    Fault(
        "plane-index-uint16",
        "cells of a plane numbered in 16 bits",
        replaces={"gather": _of_data(_flat_index(1 << 16))},
    ),
    Fault(
        "tensor-index-int16",
        "cells of the input numbered in 15 bits",
        replaces={"gather": _of_data(_tensor_index(1 << 15))},
    ),
    Fault(
        "tensor-index-uint16",
        "cells of the input numbered in 16 bits",
        replaces={"gather": _of_data(_tensor_index(1 << 16))},
    ),
    *(
        Fault(
            f"channel-modulo-{most}",
            f"channel c pooled from channel c modulo {most}",
            replaces={"gather": _of_data(_modulo(most))},
        )
        for most in (4, 8, 16, 32, 256)
    ),
    *(
        Fault(
            f"batch-modulo-{most}",
            f"batch n pooled from batch n modulo {most}",
            replaces={"gather": _of_data(_modulo(most, axis=0))},
        )
        for most in (2, 256)
    ),
    *(
        Fault(
            f"bounds-{slip.name}",
            f"the input size {slip.words} where windows are clipped",
            replaces={"gather": _bounds_of(slip.of)},
        )
        for slip in AXIS_SLIPS
    ),
    Fault(
        "runs-into-next-row",
        "windows that overhang the end of a row read on in the next",
        needs=BORDERED,
        replaces={"gather": _into_next_row},
    ),
)
