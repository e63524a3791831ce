"""Slips in where windows lie, which cells of them are read, and by what a sum is divided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from conformance.diagnosis.slips.slip import Slip
from conformance.faults.behaviour import ADAPTIVE, AVERAGES, EVERY
from conformance.faults.wraps import after, before
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

Ends = tuple[axis.Positions, axis.Positions]
"""Start and stop of each window along an axis."""
Move = Callable[[axis.Positions, axis.Positions, int], Ends]
"""Other ends of windows along an axis of so many cells."""
Count = Callable[[axis.Positions, axis.Positions, int, int, tuple[int, int]], axis.Positions]
"""Cells of each window along an axis, from its ends, dilation, the input size and the pads."""

_AXES: tuple[tuple[str, slice], ...] = (
    ("", slice(None)),
    (" along the first axis", slice(0, 1)),
    (" along the last axis", slice(-1, None)),
)
_ALL_AXES_BUT_ONE: tuple[tuple[str, slice], ...] = (
    (" along every axis but the first", slice(1, None)),
    (" along every axis but the last", slice(0, -1)),
)
_GROUPS = (2, 4, 8, 16)
_MOST = (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 64, 128, 255, 256)


def of_windows() -> Iterator[Slip]:
    """Yield slips in the ends of windows, for every step or for one alone."""
    for (moved, move), (along, chosen) in product(_moves(), _AXES):
        for place, step, wrap, needs in _PLACES:
            yield Slip(f"windows {moved}{along}{place}", step, wrap(_on(chosen, move)), needs)
    for (begin, start), (end, stop) in product(_BLOCK_STARTS, _BLOCK_STOPS):
        words = f"block i began at {begin} and ended at {end}"
        yield Slip(words, "windows", after(_blocks(start, stop)), ADAPTIVE)
    for end, stop in _BLOCK_STOPS:
        words = f"block i ended at {end}, for the cells that are read alone"
        yield Slip(words, "gather", _read(_ended(stop)), ADAPTIVE)


def _moves() -> Iterator[tuple[str, Move]]:
    yield "began one cell earlier", lambda a, b, _: (a - 1, b)
    yield "began one cell later", lambda a, b, _: (np.minimum(a + 1, b), b)
    yield "of several cells began one cell later", lambda a, b, _: (np.clip(b - 1, a, a + 1), b)
    yield "ended one cell earlier", lambda a, b, _: (a, np.maximum(b - 1, a))
    yield "of several cells ended one cell earlier", lambda a, b, _: (a, np.clip(a + 1, b - 1, b))
    yield "ended one cell later", lambda a, b, _: (a, b + 1)
    yield "began after the first cell of the input", lambda a, b, _: (np.clip(1, a, b), b)
    yield "ended before the last cell of the input", lambda a, b, d: (a, np.clip(d - 1, a, b))
    yield "lay one cell earlier", lambda a, b, _: (a - 1, b - 1)
    yield "lay one cell later", lambda a, b, _: (a + 1, b + 1)
    yield "that begin in the padding lay where the input begins", _into_begin
    yield "that end in the padding lay where the input ends", _into_end
    yield (
        "that reach into the padding lay inside the input",
        lambda a, b, d: _into_begin(*_into_end(a, b, d), d),
    )
    yield "began inside the input, at its nearest cell", lambda a, b, d: (np.clip(a, 0, d - 1), b)
    yield (
        "that begin after the input began at its last cell",
        lambda a, b, d: (
            np.minimum(a, d - 1),
            b,
        ),
    )
    yield "that begin in the padding began with the input", lambda a, b, _: (np.maximum(a, 0), b)
    yield "that end in the padding ended with the input", lambda a, b, d: (a, np.minimum(b, d))
    for most in _MOST:
        yield f"had at most {most} cells", lambda a, b, _, n=most: (a, np.minimum(b, a + n))  # type: ignore[misc]
    for group in _GROUPS:
        words = f"of more than {group} cells ended with their last whole group of {group}"
        yield words, lambda a, b, _, n=group: (a, np.where(b - a > n, a + (b - a) // n * n, b))  # type: ignore[misc]


def _into_begin(start: axis.Positions, stop: axis.Positions, _size: int) -> Ends:
    moved = np.maximum(start, 0)
    return moved, moved + stop - start


def _into_end(start: axis.Positions, stop: axis.Positions, size: int) -> Ends:
    moved = np.minimum(stop, size)
    return moved - (stop - start), moved


def _on(chosen: slice, move: Move) -> Callable[[Windows, Params], Windows]:
    """Move windows along some axes."""

    def moved(windows: Windows, params: Params) -> Windows:
        ends = [*zip(windows.start, windows.stop, strict=True)]
        for i in range(len(ends))[chosen]:
            ends[i] = move(*ends[i], params.sizes[i])
        start, stop = zip(*ends, strict=True)
        return replace(windows, start=start, stop=stop)

    return moved


Moved = Callable[[Windows, Params], Windows]


def _everywhere(moved: Moved) -> StepWrap:
    return after(lambda windows, params, *_: moved(windows, params))


def _read(moved: Moved) -> StepWrap:
    """Move the ends of those cells of windows that lie inside the input."""

    def change(gathered: Gathered, _data: Array, params: Params, _windows: Windows) -> Gathered:
        if max(params.dilations, default=1) > 1:
            return gathered  # its cells lie in another order
        other = moved(
            replace(gathered.windows, start=tuple(gathered.lo), stop=tuple(gathered.hi)), params
        )
        lo, hi = other.ranges(gathered.data.shape[2:])
        return replace(gathered, lo=lo, hi=hi)

    return after(change)


def _divided(moved: Moved) -> StepWrap:
    return before(lambda params, pads, windows: (params, pads, moved(windows, params)))


_PLACES: tuple[tuple[str, str, Callable[[Moved], StepWrap], Needs], ...] = (
    ("", "windows", _everywhere, EVERY),
    (", for the cells that are read alone", "gather", _read, EVERY),
    (", for the divisor alone", "divide", _divided, AVERAGES),
)


# Blocks of adaptive operators --------------------------------------------------------------------

BlockEnd = Callable[[Any, int, int, axis.Positions], Any]
"""One end of the blocks, from i = 0..o-1, the input size d, the output size o and the starts."""

_BLOCK_STARTS: tuple[tuple[str, BlockEnd], ...] = (
    ("i d / o rounded down", lambda i, d, o, _: i * d // o),
    ("i d / o rounded up", lambda i, d, o, _: -(-i * d // o)),
    ("i d / o rounded to nearest", lambda i, d, o, _: (2 * i * d + o) // (2 * o)),
    ("i times (d / o rounded down)", lambda i, d, o, _: i * (d // o)),
    ("i times (d / o rounded up)", lambda i, d, o, _: i * -(-d // o)),
    ("i times o", lambda i, _d, o, _: i * o),
    ("i o / d rounded down", lambda i, d, o, _: i * o // d),
    ("the first cell", lambda i, _d, _o, _: i * 0),
    ("i d / o in float32 rounded down", lambda i, d, o, _: _in_float32(i, d, o, np.floor)),
    ("i times (d / o in float32), rounded down", lambda i, d, o, _: _scaled(i, d, o, np.floor)),
)
_BLOCK_STOPS: tuple[tuple[str, BlockEnd], ...] = (
    ("(i + 1) d / o rounded up", lambda i, d, o, _: -(-(i + 1) * d // o)),
    ("(i + 1) d / o rounded down", lambda i, d, o, _: (i + 1) * d // o),
    ("(i + 1) d / o rounded to nearest", lambda i, d, o, _: (2 * (i + 1) * d + o) // (2 * o)),
    ("(i + 1) d / o rounded down plus 1", lambda i, d, o, _: (i + 1) * d // o + 1),
    ("its begin plus (d / o rounded down)", lambda _, d, o, start: start + d // o),
    ("its begin plus (d / o rounded up)", lambda _, d, o, start: start - (-d // o)),
    ("its begin plus o", lambda _, _d, o, start: start + o),
    ("its begin plus 1", lambda _, _d, _o, start: start + 1),
    ("the last cell", lambda i, d, _o, _: i * 0 + d),
    ("(i + 1) o / d rounded up", lambda i, d, o, _: -(-(i + 1) * o // d)),
    (
        "its begin plus d less (o - 1) times (d / o rounded down)",
        lambda _, d, o, start: start + d - (o - 1) * (d // o),
    ),
    ("(i + 1) d / o in float32 rounded up", lambda i, d, o, _: _in_float32(i + 1, d, o, np.ceil)),
    (
        "(i + 1) times (d / o in float32), rounded up",
        lambda i, d, o, _: _scaled(i + 1, d, o, np.ceil),
    ),
)


def _in_float32(i: Any, d: int, o: int, rounded: Callable[[Any], Any]) -> Any:
    return rounded((i * d).astype(np.float32) / np.float32(o)).astype(np.int64)


def _scaled(i: Any, d: int, o: int, rounded: Callable[[Any], Any]) -> Any:
    return rounded(i.astype(np.float32) * (np.float32(d) / np.float32(o))).astype(np.int64)


def _blocks(start: BlockEnd, stop: BlockEnd) -> Callable[..., Windows]:
    def blocks(_right: Windows, params: Params, _pads: Pads, extent: steps.Extent) -> Windows:
        ends = []
        for d, o in zip(params.sizes, extent, strict=True):
            i = np.arange(o, dtype=np.int64)
            begins = start(i, d, o, i)
            ends.append((begins, np.maximum(stop(i, d, o, begins), begins)))
        return Windows(tuple(a for a, _ in ends), tuple(b for _, b in ends))

    return blocks


def _ended(stop: BlockEnd) -> Moved:
    def ended(windows: Windows, params: Params) -> Windows:
        stops = (
            stop(np.arange(len(start), dtype=np.int64), d, len(start), start)
            for start, d in zip(windows.start, params.sizes, strict=True)
        )
        return replace(windows, stop=tuple(map(np.maximum, stops, windows.start)))

    return ended


# Divisors ----------------------------------------------------------------------------------------

_FAR = 1 << 40


def _between(
    low: Callable[[int, int], int], high: Callable[[int, int], int], *, dilated: bool = True
) -> Count:
    """Count the cells from `low` to `high`, each of the input size and the pad before or after.

    Unless it is `dilated`, a window has the cells between those of a dilated one, too.
    """
    return lambda a, b, n, d, pads: axis.cells_within(
        a, b, low(d, pads[0]), high(d, pads[1]), n if dilated else 1
    )


_COUNTS: tuple[tuple[str, Count], ...] = (
    ("all its cells", _between(lambda _d, _p: -_FAR, lambda _d, _p: _FAR)),
    ("its cells in the input", _between(lambda _d, _p: 0, lambda d, _p: d)),
    ("its cells in the padded input", _between(lambda _d, p: -p, lambda d, p: d + p)),
    ("its cells in the input and its end padding", _between(lambda _d, _p: 0, lambda d, p: d + p)),
    ("its cells in the input and its begin padding", _between(lambda _d, p: -p, lambda d, _p: d)),
    ("its cells but those before the input", _between(lambda _d, _p: 0, lambda _d, _p: _FAR)),
    ("its cells but those after the input", _between(lambda _d, _p: -_FAR, lambda d, _p: d)),
    ("the cells that it spans", _between(lambda _d, _p: -_FAR, lambda _d, _p: _FAR, dilated=False)),
    (
        "the cells that it spans in the input",
        _between(lambda _d, _p: 0, lambda d, _p: d, dilated=False),
    ),
    (
        "the cells that it spans but those before the input",
        _between(lambda _d, _p: 0, lambda _d, _p: _FAR, dilated=False),
    ),
    (
        "the cells that it spans but those after the input",
        _between(lambda _d, _p: -_FAR, lambda d, _p: d, dilated=False),
    ),
    ("the cells of the input", lambda a, _b, _n, d, _pads: np.full_like(a, d)),
    ("1", lambda a, _b, _n, _d, _pads: np.ones_like(a)),
)


def of_divisors() -> Iterator[Slip]:
    """Yield slips in which cells count, and in the divisor that counts make."""
    for (words, count), (along, chosen) in product(_COUNTS, (*_AXES, *_ALL_AXES_BUT_ONE)):
        said = f"the divisor of a window were made from {words}{along}"
        yield Slip(said, "divide", _counted(count, chosen, steps.outer), AVERAGES)
    for words, count in _COUNTS[:3]:
        said = f"the divisor of a window were the sum of {words} along each axis"
        yield Slip(said, "divide", _counted(count, slice(None), _sum), AVERAGES)
    for words, change in _OF_DIVISORS:
        yield Slip(f"divisors were {words}", "divide", after(_at_least_one(change)), AVERAGES)


def _counted(
    count: Count, chosen: slice, combined: Callable[[list[axis.Positions]], Divisor]
) -> StepWrap:
    """Combine other counts along some axes, and the right ones along the others."""

    def other(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
        windows_on = zip(windows.axes, params.sizes, pads, strict=True)
        axes = [(*of_axis, d, pad) for of_axis, d, pad in windows_on]
        frame = 2 if params.include_pad else 1
        counts = [_COUNTS[frame][1](*each) for each in axes]
        for i in range(len(axes))[chosen]:
            counts[i] = count(*axes[i])
        return np.where(right > 0, np.maximum(combined(counts), 1), 0)

    return after(other)


def _sum(counts: list[axis.Positions]) -> Divisor:
    total: Divisor = np.zeros((), np.int64)
    for count in counts:
        total = total[..., np.newaxis] + count
    return total


def _at_least_one(change: Callable[[Divisor], Any]) -> Callable[..., Divisor]:
    return lambda right, *_: np.where(right > 0, np.maximum(change(right), 1), 0)


def _power_of_two(rounded: Callable[[Any], Any]) -> Callable[[Divisor], Divisor]:
    return lambda n: (2 ** rounded(np.log2(np.maximum(n, 1)))).astype(np.int64)


def _in_bits(dtype: Any) -> Callable[[Divisor], Divisor]:
    return lambda n: n.astype(dtype).astype(np.int64)


_OF_DIVISORS: tuple[tuple[str, Callable[[Divisor], Any]], ...] = (
    ("that of the first window", lambda n: n.flat[0]),
    ("that of the last window", lambda n: n.flat[-1]),
    ("that of the central window", lambda n: n[tuple(o // 2 for o in n.shape)]),
    ("that of the first window of a row", lambda n: n[..., :1]),
    ("that of the last window of a row", lambda n: n[..., -1:]),
    ("that of the first window of a column", lambda n: n[:1]),
    ("that of the window before", lambda n: np.concatenate([n[..., :1], n[..., :-1]], -1)),
    ("the largest of all", lambda n: n.max(initial=1)),
    ("the smallest of all", lambda n: n.min(initial=1 << 62)),
    ("1", np.ones_like),
    ("one more", lambda n: n + 1),
    ("one less", lambda n: n - 1),
    ("twice as large", lambda n: 2 * n),
    ("half as large", lambda n: n // 2),
    ("squared", lambda n: n * n),
    ("rounded up to a power of two", _power_of_two(np.ceil)),
    ("rounded down to a power of two", _power_of_two(np.floor)),
    ("rounded up to an even number", lambda n: n + n % 2),
    *((f"kept in {t}", _in_bits(t)) for t in ("int8", "uint8", "int16", "uint16", "float16")),
    *((f"at most {most}", lambda n, most=most: np.minimum(n, most)) for most in (127, 255, 256)),
)
