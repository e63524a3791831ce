"""Where windows lie: how their ends, or those of blocks, may be moved, and in which step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms.atom import Atom, Place, family, faults
from conformance.faults.concerns import ADAPTIVE, EVERY, WINDOWED
from conformance.faults.fault import Fault
from conformance.operators import windows as axis
from conformance.operators.needs import AVERAGES
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Gathered, Pads, Windows
from conformance.operators.wraps import StepWrap, after, before
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

    @property
    def length(self) -> axis.Positions:
        """From the start of each to its stop."""
        return self.stop - self.start


Move = Atom[Callable[[Along], Ends]]
"""Other ends of windows along an axis, and words that follow "windows"."""
Axes = Atom[slice]
"""Some axes, and words for them."""
EVERY_AXIS = Axes("", slice(None))
FIRST_AXIS = Axes(" along the first axis", slice(0, 1))
LAST_AXIS = Axes(" along the last axis", slice(-1, None))

# Moves -------------------------------------------------------------------------------------------


def _into_begin(w: Along) -> Ends:
    moved = np.maximum(w.start, 0)
    return moved, moved + w.length


def _into_end(w: Along) -> Ends:
    moved = np.minimum(w.stop, w.d)
    return moved - w.length, moved


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


def _last_short(w: Along) -> Ends:
    last = (np.arange(len(w.stop)) == len(w.stop) - 1) & (w.stop - w.n > w.start)
    return w.start, w.stop - w.n * last


def _cut_at(w: Along, next_first: axis.Positions) -> Ends:
    """End windows where the one begins that comes first in the next part, if there is one."""
    count = len(w.start)
    is_last = next_first >= count
    limit = w.start[np.minimum(next_first, count - 1)] if count else w.stop
    return w.start, np.where(is_last, w.stop, np.clip(limit, w.start, w.stop))


def _cut_at_half(w: Along, more: int) -> Ends:
    i, half = np.arange(len(w.start)), (len(w.start) + more) // 2
    return _cut_at(w, np.where(i < half, half, len(w.start)))


def _cut_at_groups(n: int) -> Callable[[Along], Ends]:
    return lambda w: _cut_at(w, (np.arange(len(w.start)) // n + 1) * n)


LATER = Move("lie one cell later", lambda w: (w.start + 1, w.stop + 1))
STARTS_IN_INPUT = Move(
    "that begin in the padding are cut to begin with the input",
    lambda w: (np.maximum(w.start, 0), w.stop),
)
_MOVES = (
    Move("begin one cell earlier", lambda w: (w.start - 1, w.stop)),
    Move("begin one cell later", lambda w: (np.minimum(w.start + 1, w.stop), w.stop)),
    Move(
        "of several cells begin one cell later",
        lambda w: (np.clip(w.stop - 1, w.start, w.start + 1), w.stop),
    ),
    Move("end one cell earlier", lambda w: (w.start, np.maximum(w.stop - 1, w.start))),
    Move(
        "of several cells end one cell earlier",
        lambda w: (w.start, np.clip(w.start + 1, w.stop - 1, w.stop)),
    ),
    Move("end one cell later", lambda w: (w.start, w.stop + 1)),
    Move(
        "begin after the first cell of the input", lambda w: (np.clip(1, w.start, w.stop), w.stop)
    ),
    Move(
        "end before the last cell of the input",
        lambda w: (w.start, np.clip(w.d - 1, w.start, w.stop)),
    ),
    Move("that come first begin after the first cell of the input", _without_first_cell),
    Move("that come last end before the last cell of the input", _without_last_cell),
    Move("that come last in their row end one cell earlier", _last_short),
    Move("that overhang the padded input are moved back into it", _back_into_input),
    Move("lie one cell earlier", lambda w: (w.start - 1, w.stop - 1)),
    LATER,
    Move("that begin in the padding are shifted into the input", _into_begin),
    Move("that end in the padding are shifted into the input", _into_end),
    Move("that reach into the padding are shifted into the input", _into_both),
    Move(
        "begin inside the input, at its nearest cell",
        lambda w: (np.clip(w.start, 0, w.d - 1), w.stop),
    ),
    Move(
        "that begin after the input start at its last cell",
        lambda w: (np.minimum(w.start, w.d - 1), w.stop),
    ),
    STARTS_IN_INPUT,
    Move(
        "that end in the padding are cut to end with the input",
        lambda w: (w.start, np.minimum(w.stop, w.d)),
    ),
    Move(
        "of the first half of all end where the other half begins",
        lambda w: _cut_at_half(w, more=0),
    ),
    Move(
        "of the larger half of all, the first, end where the other half begins",
        lambda w: _cut_at_half(w, more=1),
    ),
    *family("of a group of {} end where the next group begins", (2, 4, 8, 16), _cut_at_groups),
    *family(
        "have at most {} cells",
        (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 64, 128, 255, 256),
        lambda most: lambda w: (w.start, np.minimum(w.stop, w.start + most)),
    ),
    *family(
        "of more than {0} cells end with their last whole group of {0}",
        (2, 4, 8, 16),
        lambda n: lambda w: (w.start, np.where(w.length > n, w.start + w.length // n * n, w.stop)),
    ),
)

# Places ------------------------------------------------------------------------------------------

Moved = Callable[[Windows, Params, Pads], Windows]


def moving(of: Callable[[Along], Ends], axes: slice = EVERY_AXIS.of) -> Moved:
    """Move windows along some axes."""

    def moved(windows: Windows, params: Params, pads: Pads) -> Windows:
        start, stop = list(windows.start), list(windows.stop)
        spans = params.spans or (0,) * len(start)
        for i in range(len(start))[axes]:
            n = windows.axes[i][2]
            along = Along(start[i], stop[i], params.sizes[i], n, spans[i], *pads[i])
            start[i], stop[i] = of(along)
        return replace(windows, start=tuple(start), stop=tuple(stop))

    return moved


def everywhere(moved: Moved) -> StepWrap:
    """Lay out moved windows."""
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


_PLACES = (
    Place("windows {}", EVERY, "windows", everywhere),
    Place("windows {}, for the cells that are read alone", EVERY, "gather", _read),
    Place("windows {}, for the divisor alone", AVERAGES, "divide", _divided),
)


# Blocks of adaptive operators --------------------------------------------------------------------

BlockEnd = Atom[Callable[[Any, int, int, axis.Positions], Any]]
"""One end of blocks: words, and positions from i = 0..o-1, sizes d and o, and the starts."""


def block_ends(words: str, quotient: Callable[[Any, int, int], Any]) -> tuple[BlockEnd, BlockEnd]:
    """Begin blocks at a quotient, rounded down, and end them at the next one, rounded up.

    `quotient(i, d, o)` stands for i d / o, and `words` for it with {} in place of i.
    """
    return (
        BlockEnd(
            f"{words.format('i')} rounded down",
            lambda i, d, o, _: _whole(np.floor(quotient(i, d, o))),
        ),
        BlockEnd(
            f"{words.format('(i + 1)')} rounded up",
            lambda i, d, o, _: _whole(np.ceil(quotient(i + 1, d, o))),
        ),
    )


def _product_over(name: str) -> tuple[BlockEnd, BlockEnd]:
    """Compute i d / o in a floating-point type, as (i d) / o."""
    kind = dtype_of(name).type
    return block_ends(f"{{}} d / o in {name}", lambda i, d, o: (i * d).astype(kind) / kind(o))


def times_ratio_in(name: str) -> tuple[BlockEnd, BlockEnd]:
    """Compute i d / o in a floating-point type, as i times (d / o)."""
    kind = dtype_of(name).type
    words = f"{{}} times (d / o in {name}),"
    return block_ends(words, lambda i, d, o: i.astype(kind) * (kind(d) / kind(o)))


def _product_in(kind: str) -> tuple[BlockEnd, BlockEnd]:
    """Compute the product i d in a narrow integer type, where it wraps."""
    return block_ends(f"({{}} d in {kind}) / o", lambda i, d, o: _whole((i * d).astype(kind)) / o)


def _quotient(d: int, o: int) -> int:
    """Return d / o rounded down, at least 1: a stride or a length in cells."""
    return max(1, d // o)


def _whole(numbers: Any) -> axis.Positions:
    whole: axis.Positions = numbers.astype(np.int64)
    return whole


def _one_cell_at_least(i: Any, d: int, o: int, start: axis.Positions) -> axis.Positions:
    ends: axis.Positions = np.maximum((i + 1) * d // o, start + 1)
    return ends


_BEGIN = BlockEnd("i d / o rounded down", lambda i, d, o, _: i * d // o)
_END = BlockEnd("(i + 1) d / o rounded up", lambda i, d, o, _: -(-(i + 1) * d // o))
_IN_FLOAT32 = (_product_over("float32"), times_ratio_in("float32"))
_IN_OTHER_TYPES = (
    *(
        ends(name)
        for name in ("float16", "bfloat16", "float64")
        for ends in (times_ratio_in, _product_over)
    ),
    *map(_product_in, ("uint8", "int16", "uint16", "int32")),
)
_BEGINS: tuple[BlockEnd, ...] = (
    _BEGIN,
    BlockEnd("i d / o rounded up", lambda i, d, o, _: -(-i * d // o)),
    BlockEnd("i d / o rounded to nearest", lambda i, d, o, _: (2 * i * d + o) // (2 * o)),
    BlockEnd("i times (d / o rounded down)", lambda i, d, o, _: i * _quotient(d, o)),
    BlockEnd("i times (d / o rounded up)", lambda i, d, o, _: i * -(-d // o)),
    BlockEnd("i times o", lambda i, _d, o, _: i * o),
    BlockEnd("i o / d rounded down", lambda i, d, o, _: i * o // d),
    BlockEnd("the first cell", lambda i, _d, _o, _: i * 0),
    *(begin for begin, _ in _IN_FLOAT32),
)
_ENDS: tuple[BlockEnd, ...] = (
    _END,
    BlockEnd("(i + 1) d / o rounded down", lambda i, d, o, _: (i + 1) * d // o),
    BlockEnd(
        "(i + 1) d / o rounded to nearest", lambda i, d, o, _: (2 * (i + 1) * d + o) // (2 * o)
    ),
    BlockEnd("(i + 1) d / o rounded down plus 1", lambda i, d, o, _: (i + 1) * d // o + 1),
    BlockEnd("(i + 1) d / o rounded down, one cell after its begin at least", _one_cell_at_least),
    BlockEnd(
        "(i + 1) d / o rounded down, one cell after its begin at least, of more outputs than cells",
        lambda i, d, o, start: (_one_cell_at_least if o > d else _END.of)(i, d, o, start),
    ),
    BlockEnd("its begin plus (d / o rounded down)", lambda _, d, o, start: start + _quotient(d, o)),
    BlockEnd(
        "its begin plus (d / o rounded down), the last at the last cell",
        lambda i, d, o, start: np.where(i == o - 1, d, start + _quotient(d, o)),
    ),
    BlockEnd("its begin plus (d / o rounded up)", lambda _, d, o, start: start - (-d // o)),
    BlockEnd("its begin plus o", lambda _, _d, o, start: start + o),
    BlockEnd("its begin plus 1", lambda _, _d, _o, start: start + 1),
    BlockEnd("the last cell", lambda i, d, _o, _: i * 0 + d),
    BlockEnd("(i + 1) o / d rounded up", lambda i, d, o, _: -(-(i + 1) * o // d)),
    BlockEnd(
        "its begin plus d less (o - 1) times (d / o rounded down)",
        lambda _, d, o, start: start + max(1, d - (o - 1) * _quotient(d, o)),
    ),
    *(end for _, end in _IN_FLOAT32),
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


def _whole_if_alone(windows: Windows, params: Params, *_: Any) -> Windows:
    """Let windows that are alone in their plane hold all of its cells."""
    if any(len(start) != 1 for start in windows.start):
        return windows
    ends = [(np.zeros(1, np.int64), np.full(1, d, np.int64)) for d in params.sizes]
    return Windows(tuple(a for a, _ in ends), tuple(b for _, b in ends))


def _ended(end: Callable[..., Any], windows: Windows, params: Params, _pads: Pads) -> Windows:
    """Let blocks end elsewhere."""
    stops = (
        end(np.arange(len(start), dtype=np.int64), d, len(start), start)
        for start, d in zip(windows.start, params.sizes, strict=True)
    )
    return replace(windows, stop=tuple(map(np.maximum, stops, windows.start)))


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield windows whose ends are others, for every step or for one alone."""
    for move, axes, place in product(_MOVES, (EVERY_AXIS, FIRST_AXIS, LAST_AXIS), _PLACES):
        yield place.fault(Atom(f"{move.words}{axes.words}", moving(move.of, axes.of)))
    said = "windows that are alone in their plane hold all of its cells"
    yield Fault(said, WINDOWED, {"windows": after(_whole_if_alone)})
    for begin, end in (*product(_BEGINS, _ENDS), *_IN_OTHER_TYPES):
        if (begin, end) != (_BEGIN, _END):
            summary = f"block i begins at {begin.words} and ends at {end.words}"
            yield Fault(summary, ADAPTIVE, {"windows": laid_out(begin, end)})
    summary = "block i ends at {}, for the cells that are read alone"
    yield from faults(summary, ADAPTIVE, "gather", lambda end: _read(partial(_ended, end)), _ENDS)
