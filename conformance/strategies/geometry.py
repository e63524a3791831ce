"""Numbers of kernels, strides, pads and sizes: every relation, within limits, smallest first.

All draws are independent of each other, and what must hold between numbers is made to hold
afterwards: nothing is thrown away, and a number that shrinks leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import prod
from typing import Any, TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")

LARGEST = 40
"""Kernels, strides, and sizes beyond the smallest possible go up to this."""


def _ladder(*runs: tuple[Iterable[int], int]) -> tuple[int, ...]:
    """Return numbers, each so often: an index into them shrinks as the number itself would."""
    return tuple(chain.from_iterable(repeat(n, often) for run, often in runs for n in run))


# Few steps: Hypothesis takes each of them once for every number that it lowers.
_LONG = (13, 14, 15, 16, 17, 20, 25, 31, 32, 33, LARGEST)
_LENGTHS = _ladder((range(1, 4), 6), (range(4, 7), 4), (range(7, 13), 1), (_LONG, 1))
_STRIDES = _ladder((range(1, 4), 6), (range(4, 9), 1), ((9, 13, 16, 17, LARGEST), 1))
_PADS = _ladder((range(1), 14), (range(1, 4), 4), (range(4, 9), 1), ((11, 16, 20), 1))
_AXES = _ladder((range(1, 3), 3), (range(3, 4), 2), (range(4, 9), 1))
_CHANNELS = _ladder(
    (range(1, 4), 8),
    (range(4, 10), 1),
    ((11, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 64, 65, 128, 255, 256, 257, 264), 1),
)
_BATCHES = _ladder((range(1, 2), 10), (range(2, 4), 3), ((4, 5, 16, 17, 33), 1))


@dataclass(frozen=True, slots=True)
class Axis:
    """Kernel, stride and pads of an axis, and its size beyond the least one that fits."""

    kernel: int
    stride: int
    begin: int
    end: int
    extra: int

    def within(self, kernel: int, pad: int) -> Axis:
        """Return the axis with a kernel and pads no larger than these."""
        return replace(
            self,
            kernel=min(self.kernel, kernel),
            begin=min(self.begin, pad),
            end=min(self.end, pad),
        )

    def least(self, auto_pad: str) -> int:
        """Return the smallest size that leaves a window to read."""
        if auto_pad == "explicit":
            return max(1, self.kernel - self.begin - self.end)
        return self.kernel if auto_pad == "valid" else 1


def axes_of(fewest: int, most: int, room: int) -> st.SearchStrategy[list[Axis]]:
    """Return a strategy for axes of which each may have `room` ** (1 / axes) cells."""
    numbers = (_LENGTHS, _STRIDES, _PADS, _PADS, (0, *_LENGTHS))
    one = st.tuples(*map(st.sampled_from, numbers)).map(lambda drawn: Axis(*drawn))

    def within(axes: Sequence[Axis]) -> list[Axis]:
        side = _side(room, len(axes))
        return [axis.within(side, max(1, side // 2)) for axis in axes]

    return _last_of(one, fewest, most).map(within)


def _side(room: int, axes: int) -> int:
    """Return the largest side, of at most LARGEST, of a cube of no more than `room` cells."""
    return max(side for side in range(1, LARGEST + 1) if side == 1 or side**axes <= room)


def pairs_of(fewest: int, most: int, room: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Return a strategy for axes of input and output sizes, of at most `room` cells each."""
    one = st.tuples(st.sampled_from(_LENGTHS), st.sampled_from(_LENGTHS))

    def within(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        side = _side(room, len(pairs))
        return [(min(d, side), min(o, side)) for d, o in pairs]

    return _last_of(one, fewest, most).map(within)


def _last_of(one: st.SearchStrategy[_T], fewest: int, most: int) -> st.SearchStrategy[list[_T]]:
    """Return a strategy for the last few of `most` draws.

    Hypothesis moves what is complex behind what is plain, and then finds that fewer will do; from
    a list it would have to delete as many draws as an axis takes at once, which it does not try.
    """
    counts = [n for n in _AXES if fewest <= n <= most] or [fewest]
    return st.tuples(st.sampled_from(counts), st.tuples(*[one] * most)).map(
        lambda drawn: list(drawn[1][-drawn[0] :])
    )


def sizes_of(axes: Sequence[Axis], auto_pad: str, room: int) -> list[int]:
    """Return the size of each axis, of at most `room` cells together."""
    least = [axis.least(auto_pad) for axis in axes]
    sizes = [low + axis.extra for low, axis in zip(least, axes, strict=True)]
    for i, low in enumerate(least):
        if prod(sizes) > room:
            sizes[i] = max(low, room // prod(sizes[:i] + sizes[i + 1 :]))
    return sizes


def planes() -> st.SearchStrategy[tuple[int, int]]:
    """Return a strategy for batches and channels."""
    return st.tuples(st.sampled_from(_BATCHES), st.sampled_from(_CHANNELS))


def planes_within(planes: tuple[int, int], room: int) -> tuple[int, int]:
    """Return batches and channels, of at most `room` planes."""
    channels = max(1, min(planes[1], room))
    return max(1, min(planes[0], room // channels)), channels


def listed(axes: Sequence[Axis]) -> dict[str, list[int]]:
    """Return kernels, strides and pads as lists, by the names of AvgPool-1."""
    columns: dict[str, Any] = {
        "kernel": "kernel",
        "strides": "stride",
        "pads_begin": "begin",
        "pads_end": "end",
    }
    return {key: [getattr(axis, name) for axis in axes] for key, name in columns.items()}
