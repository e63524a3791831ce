"""The cells that windows read: others may be read in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import float_format
from conformance.faults.atoms.atom import Atom, Of, family, faults
from conformance.faults.concerns import DILATED, EVERY, PADDED, ROUNDED, STRIDED, WINDOWED
from conformance.faults.fault import Fault
from conformance.operators.needs import AVERAGES
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows, clip, resolve_pads
from conformance.operators.wraps import StepWrap, after, instead
from conformance.reference.position import numbers_of
from conformance.vector import Array

_MOST_CELLS = 1 << 20
"""Cells of padded data, at most: what reaches further beyond the input is left as it is."""


@lru_cache(maxsize=16)  # many faults ask for those of one right plan
def _cells_of(windows: Windows, sizes: Sequence[int] | None) -> list[list[list[int]]]:
    """Return the positions of the cells of each window, per axis; those of an input if of sizes."""
    return [
        [
            [cell for cell in range(a, b, n) if sizes is None or 0 <= cell < sizes[j]]
            for a, b in zip(start.tolist(), stop.tolist(), strict=True)
        ]
        for j, (start, stop, n) in enumerate(windows.axes)
    ]


Choose = Callable[[list[int], int, Params, int], list[int]]
"""Which cells a window reads along an axis; see reading_other_cells."""


def reading_other_cells(choose: Choose, *, unclipped: bool = False) -> StepWrap:
    """Replace the step `gather`: along each axis, a window reads other cells.

    These are `choose(cells, d, params, axis)`: `cells` are the positions that the window should
    read of the d cells of the axis; with `unclipped`, positions in the padding too. Position d, one
    beyond the input, holds zero.
    """

    def other(right: Gathered, data: Array, params: Params, windows: Windows) -> Gathered:
        right_cells = _cells_of(windows, params.sizes)
        unchanged = _cells_of(windows, None) if unclipped else right_cells
        indices = [
            [choose(cells, d, params, axis) for cells in unchanged[axis]]
            for axis, d in enumerate(params.sizes)
        ]
        return right if indices == right_cells else _gathered_from(right, data, indices)

    return after(other)


def _gathered_from(right: Gathered, data: Array, indices: list[list[list[int]]]) -> Gathered:
    """Gather any cells: window i reads, per axis, the cells `indices[axis][i]` of the data."""
    data = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * (data.ndim - 2)])
    lo, hi, positions = [], [], []
    for axis, windows in enumerate(indices, start=2):
        lengths = np.array([len(cells) for cells in windows], np.int64)
        flat = np.array([cell for cells in windows for cell in cells], np.int64)
        data = np.take(data, flat, axis=axis)
        positions.append(flat)
        hi.append(np.cumsum(lengths))
        lo.append(hi[-1] - lengths)
    return replace(right, data=data, lo=tuple(lo), hi=tuple(hi), positions=tuple(positions))


# Padding -----------------------------------------------------------------------------------------

Fill = Callable[[Array, list[tuple[int, int]]], Array]
"""Data with so many cells more before and after each spatial axis."""
Reach = Callable[[tuple[int, int], Params, int], tuple[int, int]]
"""How much of what lies beyond both ends of an axis is filled, from that and the axis."""


def _filled(fill: Fill, reach: Reach) -> StepWrap:
    """Read what fills the padding, and what windows overhang, as far as it is reached."""

    def gather(right: Any, data: Array, params: Params, windows: Windows) -> Gathered:
        axes = enumerate(zip(windows.start, windows.stop, data.shape[2:], strict=True))
        beyond = [
            reach((max(0, -int(a.min(initial=0))), max(0, int(b.max(initial=0)) - d)), params, j)
            for j, (a, b, d) in axes
        ]
        sizes = [d + sum(more) for d, more in zip(data.shape[2:], beyond, strict=True)]
        if not any(map(any, beyond)) or prod(data.shape[:2]) * prod(sizes) > _MOST_CELLS:
            gathered: Gathered = right(data, params, windows)
            return gathered
        begins = [begin for begin, _ in beyond]
        start, stop = (
            tuple(end + begin for end, begin in zip(ends, begins, strict=True))
            for ends in (windows.start, windows.stop)
        )
        longer = replace(params, sizes=tuple(sizes))
        padded = clip(fill(data, beyond), longer, replace(windows, start=start, stop=stop))
        places = zip(padded.positions, begins, strict=True)
        positions = tuple(place - begin for place, begin in places)
        return replace(padded, positions=positions, params=params, windows=windows)

    return instead(gather)


def _constant(number: float, data: Array, beyond: list[tuple[int, int]]) -> Array:
    """Fill with a number, or the one of the type that is nearest to it."""
    if data.dtype.kind in "iu":
        info = np.iinfo(data.dtype)
        number = 0 if np.isnan(number) else int(np.clip(number, info.min, info.max))
    held = np.array(number).astype(data.dtype)
    return np.pad(data, [(0, 0), (0, 0), *beyond], constant_values=held)


def _in_memory(data: Array, beyond: list[tuple[int, int]]) -> Array:
    """Compute addresses of cells beyond an axis as those of cells inside it."""
    axes = zip(data.shape, [(0, 0), (0, 0), *beyond], strict=True)
    places = [np.arange(-begin, size + end) for size, (begin, end) in axes]
    lying: Array = data.reshape(-1)[numbers_of(places, data.shape) % data.size]
    return lying


def _mirrored(p: int, d: int) -> int:
    """Return the position that p is a mirror image of, the cells at both ends being the mirrors."""
    if d == 1:
        return 0
    p %= 2 * (d - 1)
    return min(p, 2 * (d - 1) - p)


def _read_beyond(position: Callable[[int, int], int], reach: Reach) -> StepWrap:
    """Read other cells of the input, at `position(one beyond the input, size)`."""

    def choose(cells: list[int], d: int, params: Params, axis: int) -> list[int]:
        begins, ends = reach((1, 1), params, axis)
        cells = [p for p in cells if (p >= 0 or begins) and (p < d or ends)]
        return [p if 0 <= p < d else position(p, d) for p in cells]

    return reading_other_cells(choose, unclipped=True)


_FILLS: tuple[Atom[Fill], ...] = (
    Atom("NaN", partial(_constant, np.nan)),
    Atom("what lies there in memory", _in_memory),
    *(
        Atom[Fill](f"the lowest number of {kind}", partial(_constant, -float_format(kind).largest))
        for kind in ("float16", "float32")
    ),
)
_POSITIONS: tuple[Atom[Callable[[int, int], int]], ...] = (
    Atom("zeros", lambda _, d: d),
    Atom("the nearest cell of the input", lambda p, d: 0 if p < 0 else d - 1),
    Atom("the input mirrored at its first and last cell", _mirrored),
    Atom(
        "the input mirrored at its borders", lambda p, d: min(p % (2 * d), 2 * d - 1 - p % (2 * d))
    ),
    Atom("the other end of the input", lambda p, d: p % d),
)
_SIDES: tuple[Atom[Reach], ...] = (
    Atom("padding holds {}", lambda reach, *_: reach),
    Atom("padding before the input holds {}", lambda reach, *_: (reach[0], 0)),
    Atom("padding after the input holds {}", lambda reach, *_: (0, reach[1])),
)
_BUT_OVERHANG: Atom[Reach] = Atom(
    "padding holds {}, but not what windows overhang",
    lambda reach, params, axis: (reach[0], min(reach[1], resolve_pads(params)[axis][1])),
    (*WINDOWED, *ROUNDED),
)

# Cells of windows --------------------------------------------------------------------------------

Step = Callable[[Params, int], int]


def _apart(step: Step) -> StepWrap:
    """Read cells that lie `step(params, axis)` apart."""

    def choose(cells: list[int], d: int, params: Params, axis: int) -> list[int]:
        n = step(params, axis)
        return [p for p in range(cells[0], cells[0] + len(cells) * n, n) if 0 <= p < d]

    return reading_other_cells(choose, unclipped=True)


_STEPS: tuple[Atom[Step], ...] = (
    Atom("2 cells", lambda _params, _axis: 2),
    Atom("3 cells", lambda _params, _axis: 3),
    Atom("as many cells as the stride", lambda params, axis: params.strides[axis], STRIDED),
)


def _without_begin_shift(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    shift = params.pads_begin[j] if params.auto_pad == "explicit" else 0
    return [min(p + shift, d - 1) for p in cells]


def _counted_from_input(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    """Count the cells of a window that begins in the padding from the first of the input on."""
    if not cells or cells[0] >= 0:
        return [p for p in cells if p < d]
    return [*range(0, min(cells[-1] + 1, d), params.dilations[j])]


_CHOSEN: tuple[Atom[Choose], ...] = (
    Atom(
        "the first cell of every window skipped",
        lambda cells, *_: cells[1:] if len(cells) > 1 else cells,
    ),
    Atom(
        "the last cell of every window skipped",
        lambda cells, *_: cells[:-1] if len(cells) > 1 else cells,
    ),
    Atom(
        "the first cell of every window read twice", lambda cells, *_: cells[:1] + cells, AVERAGES
    ),
    Atom(
        "cells that two neighbouring windows share read in the first of them only",
        lambda cells, _d, p, j: cells[-p.strides[j] :] if cells and cells[0] > 0 else cells,
        STRIDED,
    ),
    Atom(
        "the last cell of the input never read",
        lambda cells, d, *_: [p for p in cells if p < d - 1 or d == 1],
    ),
    Atom(
        "the first cell of the input never read",
        lambda cells, d, *_: [p for p in cells if p or d == 1],
    ),
    Atom("cells addressed without the begin pads", _without_begin_shift, PADDED),
    *family(
        "cells of a window beyond groups of {} skipped",
        (2, 4, 8),
        lambda n: lambda cells, *_: cells[: len(cells) // n * n] if len(cells) > n else cells,
    ),
    *family(
        "cells of a window beyond {} skipped", (7, 16, 255), lambda n: lambda cells, *_: cells[:n]
    ),
    *family(
        "positions kept in {} bits",
        (8, 15, 16),
        lambda bits: lambda cells, *_: [p % (1 << bits) for p in cells],
    ),
)


def _along_last_axis(choose: Choose) -> StepWrap:
    return reading_other_cells(
        lambda cells, d, p, j: choose(cells, d, p, j) if j == len(p.sizes) - 1 else cells
    )


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield cells of a window that lie apart, and what is read beyond the input."""
    yield from faults("cells of a window lie {} apart", WINDOWED, "gather", _apart, _STEPS)
    yield from faults("{}", EVERY, "gather", reading_other_cells, _CHOSEN)
    yield from faults("{} along the last axis", EVERY, "gather", _along_last_axis, _CHOSEN)
    said = "cells of windows that begin in the padding lie dilations from the first of the input"
    counted = reading_other_cells(_counted_from_input, unclipped=True)
    yield Fault(said, DILATED, {"gather": counted})
    yield from _held(_read_beyond, product(_POSITIONS, _SIDES))
    yield from _held(_filled, product(_FILLS, (*_SIDES, _BUT_OVERHANG)))
    yield from _held(_filled, [(Atom("zeros", partial(_constant, 0.0)), _BUT_OVERHANG)])


def of_number(value: float, words: str) -> Iterator[Fault]:
    """Yield a given value that is read beyond the input."""
    yield from _held(
        _filled, product([Atom(words, partial(_constant, value))], (*_SIDES, _BUT_OVERHANG))
    )


def _held(
    wrap: Callable[[Of, Reach], StepWrap], what: Iterable[tuple[Atom[Of], Atom[Reach]]]
) -> Iterator[Fault]:
    for held, side in what:
        yield Fault(side.words.format(held.words), side.needs, {"gather": wrap(held.of, side.of)})
