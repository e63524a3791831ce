"""Where windows lie: how their ends, or those of blocks, may be moved, and in which step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms.conditions import ALWAYS, Condition
from conformance.faults.behaviour import ADAPTIVE, AVERAGES, EVERY, WINDOWED, Behaviour
from conformance.faults.wraps import after, before
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Gathered, Pads, Windows
from conformance.vector import Array

Ends = tuple[axis.Positions, axis.Positions]
"""Start and stop of each window along an axis."""


class Along(NamedTuple):
    """The right windows along an axis of d cells: their ends, dilation n and length k, its pads."""

    start: axis.Positions
    stop: axis.Positions
    d: int
    n: int = 1
    k: int = 0
    begin: int = 0
    end: int = 0


class Move(NamedTuple):
    """Other ends of windows along an axis, and words that follow "windows"."""

    words: str
    of: Callable[[Along], Ends]


class Axes(NamedTuple):
    """Some axes, and words for them."""

    words: str
    chosen: slice


# Moves -------------------------------------------------------------------------------------------


def _into_begin(w: Along) -> Ends:
    moved = np.maximum(w.start, 0)
    return moved, moved + w.stop - w.start


def _into_end(w: Along) -> Ends:
    moved = np.minimum(w.stop, w.d)
    return moved - (w.stop - w.start), moved


def _into_both(w: Along) -> Ends:
    start, stop = _into_end(w)
    return _into_begin(w._replace(start=start, stop=stop))


def _back_into_input(w: Along) -> Ends:
    start = np.minimum(w.start, max(-w.begin, w.d + w.end - w.k))
    return start, start + w.k


def _without_first_cell(w: Along) -> Ends:
    first = np.arange(len(w.start)) == 0
    return np.where(first & (w.d > 1), np.maximum(w.start, 1), w.start), w.stop


def _without_last_cell(w: Along) -> Ends:
    last = np.arange(len(w.stop)) == len(w.stop) - 1
    return w.start, np.where(last & (w.d > 1), np.minimum(w.stop, w.d - 1), w.stop)


EVERY_AXIS = Axes("", slice(None))
FIRST_AXIS = Axes(" along the first axis", slice(0, 1))
LAST_AXIS = Axes(" along the last axis", slice(-1, None))
ALL_BUT_FIRST = Axes(" along every axis but the first", slice(1, None))
ALL_BUT_LAST = Axes(" along every axis but the last", slice(0, -1))
EARLIER = Move("lay one cell earlier", lambda w: (w.start - 1, w.stop - 1))
LATER = Move("lay one cell later", lambda w: (w.start + 1, w.stop + 1))
LATE_STARTS_BACK = Move(
    "that begin after the input began at its last cell",
    lambda w: (np.minimum(w.start, w.d - 1), w.stop),
)
STARTS_IN_INPUT = Move(
    "that begin in the padding began with the input", lambda w: (np.maximum(w.start, 0), w.stop)
)
LAST_WITHOUT_LAST_CELL = Move(
    "that come last ended before the last cell of the input", _without_last_cell
)
FIRST_WITHOUT_FIRST_CELL = Move(
    "that come first began after the first cell of the input", _without_first_cell
)
BACK_INTO_PADDED_INPUT = Move(
    "that overhang the padded input were moved back into it", _back_into_input
)
MOVES = (
    Move("began one cell earlier", lambda w: (w.start - 1, w.stop)),
    Move("began one cell later", lambda w: (np.minimum(w.start + 1, w.stop), w.stop)),
    Move(
        "of several cells began one cell later",
        lambda w: (np.clip(w.stop - 1, w.start, w.start + 1), w.stop),
    ),
    Move("ended one cell earlier", lambda w: (w.start, np.maximum(w.stop - 1, w.start))),
    Move(
        "of several cells ended one cell earlier",
        lambda w: (w.start, np.clip(w.start + 1, w.stop - 1, w.stop)),
    ),
    Move("ended one cell later", lambda w: (w.start, w.stop + 1)),
    Move(
        "began after the first cell of the input",
        lambda w: (np.clip(1, w.start, w.stop), w.stop),
    ),
    Move(
        "ended before the last cell of the input",
        lambda w: (w.start, np.clip(w.d - 1, w.start, w.stop)),
    ),
    FIRST_WITHOUT_FIRST_CELL,
    LAST_WITHOUT_LAST_CELL,
    BACK_INTO_PADDED_INPUT,
    EARLIER,
    LATER,
    Move("that begin in the padding lay where the input begins", _into_begin),
    Move("that end in the padding lay where the input ends", _into_end),
    Move("that reach into the padding lay inside the input", _into_both),
    Move(
        "began inside the input, at its nearest cell",
        lambda w: (np.clip(w.start, 0, w.d - 1), w.stop),
    ),
    LATE_STARTS_BACK,
    STARTS_IN_INPUT,
    Move(
        "that end in the padding ended with the input",
        lambda w: (w.start, np.minimum(w.stop, w.d)),
    ),
    *(
        Move(
            f"had at most {most} cells",
            lambda w, most=most: (w.start, np.minimum(w.stop, w.start + most)),  # type: ignore[misc]
        )
        for most in (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 64, 128, 255, 256)
    ),
    *(
        Move(
            f"of more than {group} cells ended with their last whole group of {group}",
            lambda w, n=group: (  # type: ignore[misc]
                w.start,
                np.where(w.stop - w.start > n, w.start + (w.stop - w.start) // n * n, w.stop),
            ),
        )
        for group in (2, 4, 8, 16)
    ),
)

Moved = Callable[[Windows, Params, Pads], Windows]


def moving(move: Move, axes: Axes = EVERY_AXIS) -> Moved:
    """Move windows along some axes."""

    def moved(windows: Windows, params: Params, pads: Pads) -> Windows:
        start, stop = list(windows.start), list(windows.stop)
        spans = params.spans or (0,) * len(start)
        for i in range(len(start))[axes.chosen]:
            n = windows.axes[i][2]
            along = Along(start[i], stop[i], params.sizes[i], n, spans[i], *pads[i])
            start[i], stop[i] = move.of(along)
        return replace(windows, start=tuple(start), stop=tuple(stop))

    return moved


# Places ------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A step in which windows may be moved: words for it, its replacement, and who has it."""

    words: str
    step: str
    wrap: Callable[[Moved], StepWrap]
    needs: Needs


def _everywhere(moved: Moved) -> StepWrap:
    return after(lambda windows, params, pads, _extent: moved(windows, params, pads))


def _read(moved: Moved) -> StepWrap:
    """Move the ends of those cells of windows that lie inside the input."""

    def change(gathered: Gathered, _data: Array, params: Params, _windows: Windows) -> Gathered:
        if max(params.dilations, default=1) > 1:
            return gathered  # its cells lie in another order
        inside = replace(gathered.windows, start=tuple(gathered.lo), stop=tuple(gathered.hi))
        none = ((0, 0),) * len(params.sizes)
        lo, hi = moved(inside, params, none).ranges(gathered.data.shape[2:])
        return replace(gathered, lo=lo, hi=hi)

    return after(change)


def _divided(moved: Moved) -> StepWrap:
    return before(lambda params, pads, windows: (params, pads, moved(windows, params, pads)))


EVERYWHERE = Place("", "windows", _everywhere, EVERY)
CELLS_READ = Place(", for the cells that are read alone", "gather", _read, EVERY)
PLACES = (
    EVERYWHERE,
    CELLS_READ,
    Place(", for the divisor alone", "divide", _divided, AVERAGES),
)


# Blocks of adaptive operators --------------------------------------------------------------------


class BlockEnd(NamedTuple):
    """One end of blocks: words, and positions from i = 0..o-1, sizes d and o, and the starts."""

    words: str
    of: Callable[[Any, int, int, axis.Positions], Any]


class Blocks(NamedTuple):
    """The begins and the ends of blocks."""

    begin: BlockEnd
    end: BlockEnd


def in_float(name: str, *, product: bool = False) -> Blocks:
    """Compute i d / o in a floating-point type: as (i d) / o, or as i times (d / o)."""
    kind = dtype_of(name).type

    def at(i: Any, d: int, o: int) -> Any:
        if product:
            return (i * d).astype(kind) / kind(o)
        return i.astype(kind) * (kind(d) / kind(o))

    how = f"d / o in {name}" if product else f"times (d / o in {name}),"
    return Blocks(
        BlockEnd(f"i {how} rounded down", lambda i, d, o, _: _whole(np.floor(at(i, d, o)))),
        BlockEnd(f"(i + 1) {how} rounded up", lambda i, d, o, _: _whole(np.ceil(at(i + 1, d, o)))),
    )


def _whole(numbers: Any) -> axis.Positions:
    whole: axis.Positions = numbers.astype(np.int64)
    return whole


BEGIN = BlockEnd("i d / o rounded down", lambda i, d, o, _: i * d // o)
BEGIN_UP = BlockEnd("i d / o rounded up", lambda i, d, o, _: -(-i * d // o))
BEGIN_NEAREST = BlockEnd(
    "i d / o rounded to nearest", lambda i, d, o, _: (2 * i * d + o) // (2 * o)
)
BEGIN_FIXED_UP = BlockEnd("i times (d / o rounded up)", lambda i, d, o, _: i * -(-d // o))
BEGIN_OF_OUTPUT = BlockEnd("i times o", lambda i, _d, o, _: i * o)
BEGIN_FIRST = BlockEnd("the first cell", lambda i, _d, _o, _: i * 0)
END = BlockEnd("(i + 1) d / o rounded up", lambda i, d, o, _: -(-(i + 1) * d // o))
END_NEAREST = BlockEnd(
    "(i + 1) d / o rounded to nearest", lambda i, d, o, _: (2 * (i + 1) * d + o) // (2 * o)
)
END_DOWN_AND_ONE = BlockEnd(
    "(i + 1) d / o rounded down plus 1", lambda i, d, o, _: (i + 1) * d // o + 1
)
LENGTH_DOWN = BlockEnd(
    "its begin plus (d / o rounded down)", lambda _, d, o, start: start + max(1, d // o)
)
LENGTH_UP = BlockEnd("its begin plus (d / o rounded up)", lambda _, d, o, start: start - (-d // o))
LENGTH_OF_OUTPUT = BlockEnd("its begin plus o", lambda _, _d, o, start: start + o)
LENGTH_ONE = BlockEnd("its begin plus 1", lambda _, _d, _o, start: start + 1)
END_LAST = BlockEnd("the last cell", lambda i, d, _o, _: i * 0 + d)
_IN_FLOAT32 = (
    in_float("float32", product=True),
    in_float("float32"),
)
BLOCKS_IN_FLOAT = tuple(
    in_float(name, product=product)
    for name in ("float16", "bfloat16", "float64")
    for product in (False, True)
)
BLOCK_BEGINS = (
    BEGIN,
    BEGIN_UP,
    BEGIN_NEAREST,
    BlockEnd("i times (d / o rounded down)", lambda i, d, o, _: i * (d // o)),
    BEGIN_FIXED_UP,
    BEGIN_OF_OUTPUT,
    BlockEnd("i o / d rounded down", lambda i, d, o, _: i * o // d),
    BEGIN_FIRST,
    *(blocks.begin for blocks in _IN_FLOAT32),
)
BLOCK_ENDS = (
    END,
    BlockEnd("(i + 1) d / o rounded down", lambda i, d, o, _: (i + 1) * d // o),
    END_NEAREST,
    END_DOWN_AND_ONE,
    LENGTH_DOWN,
    LENGTH_UP,
    LENGTH_OF_OUTPUT,
    LENGTH_ONE,
    END_LAST,
    BlockEnd("(i + 1) o / d rounded up", lambda i, d, o, _: -(-(i + 1) * o // d)),
    BlockEnd(
        "its begin plus d less (o - 1) times (d / o rounded down)",
        lambda _, d, o, start: start + d - (o - 1) * (d // o),
    ),
    *(blocks.end for blocks in _IN_FLOAT32),
)


def laid_out(begin: BlockEnd, end: BlockEnd) -> StepWrap:
    """Lay out other blocks."""

    def blocks(_right: Windows, params: Params, _pads: Pads, extent: Extent) -> Windows:
        ends = []
        for d, o in zip(params.sizes, extent, strict=True):
            i = np.arange(o, dtype=np.int64)
            starts = begin.of(i, d, o, i)
            ends.append((starts, np.maximum(end.of(i, d, o, starts), starts)))
        return Windows(tuple(a for a, _ in ends), tuple(b for _, b in ends))

    return after(blocks)


def ended(end: BlockEnd) -> Moved:
    """Let blocks end elsewhere."""

    def moved(windows: Windows, params: Params, _pads: Pads) -> Windows:
        stops = (
            end.of(np.arange(len(start), dtype=np.int64), d, len(start), start)
            for start, d in zip(windows.start, params.sizes, strict=True)
        )
        return replace(windows, stop=tuple(map(np.maximum, stops, windows.start)))

    return moved


# Wrong behaviours --------------------------------------------------------------------------------


def moved(
    move: Move, axes: Axes = EVERY_AXIS, *, where: Condition = ALWAYS, needs: Needs = WINDOWED
) -> Behaviour:
    """Move windows, for every step."""
    return Behaviour(
        f"as if windows {move.words}{axes.words}{where.words}",
        needs & where.needs,
        {"windows": where.only(EVERYWHERE.wrap(moving(move, axes)))},
    )


def blocks(begin: BlockEnd = BEGIN, end: BlockEnd = END, *, needs: Needs = EVERY) -> Behaviour:
    """Lay out other blocks."""
    said = f"as if block i began at {begin.words} and ended at {end.words}"
    return Behaviour(said, ADAPTIVE & needs, {"windows": laid_out(begin, end)})
