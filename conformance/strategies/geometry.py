"""Numbers of kernels, strides, pads and sizes: every relation, within limits, smallest first.

All draws are independent of each other, and what must hold between numbers is made to hold
afterwards: nothing is thrown away, and a number that shrinks leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import prod
from typing import Any, TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")

LARGEST = 40
"""Kernels, strides, and sizes beyond the smallest possible go up to this, but for a `Stretch`."""


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
    (range(4, 8), 1),
    ((8, 8, 9, 11, 12, 15, 16, 16, 17, 24, 31, 32, 32, 33, 40, 48), 1),  # layouts in blocks
    ((64, 65, 128, 255, 256, 257, 264), 1),
)
# What axes share with the last one: kernels have fast ways for square windows.
_SHARED = ((), (), (), ("kernel", "stride"), ("kernel", "stride", "begin", "end", "extra"))
_BATCHES = _ladder((range(1, 2), 10), (range(2, 4), 3), ((4, 5, 16, 17, 33), 1))
# From where ladders end to where narrow integers and loops over blocks do.
_FAR = (LARGEST + 1, *(2**n + more for n in (6, 7, 8, 10, 15, 16) for more in (-1, 0, 1)))
_RARELY = 40
_LARGEST_KERNEL = 1 << 16  # as far as faults are tried


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is longer than any ladder goes, "" for nothing; `place` counts axes from the last."""

    what: str
    length: int
    place: int

    def of(self, *whats: str) -> int:
        """Return the length if it is that of one of these, else 0."""
        return self.length if self.what in whats else 0


def stretches(whats: Sequence[str], room: int) -> st.SearchStrategy[Stretch]:
    """Return a strategy for at most one long thing: seldom any, but where there is much room."""
    lengths = [n for n in _FAR if n <= room] or [1]
    whats = ("",) * (_RARELY if room < _FAR[-1] else 1) + (*whats, "batch", "channels")
    return st.builds(
        Stretch, st.sampled_from(whats), st.sampled_from(lengths), st.sampled_from(range(3))
    )


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


def axes_of(fewest: int, most: int, roles: Collection[str]) -> st.SearchStrategy[list[Axis]]:
    """Return a strategy for axes of any kernel, stride, pads and size, alike now and then.

    Strides are one and pads none where these are not among the roles of an operator.
    """
    numbers = (
        _LENGTHS,
        _STRIDES if "strides" in roles else (1,),
        _PADS if "pads_begin" in roles else (0,),
        _PADS if "pads_end" in roles else (0,),
        (0, *_LENGTHS),
    )
    one = st.tuples(*map(st.sampled_from, numbers)).map(lambda drawn: Axis(*drawn))
    return st.builds(_sharing, _last_of(one, fewest, most), st.sampled_from(_SHARED))


def _sharing(axes: Sequence[Axis], names: Iterable[str]) -> list[Axis]:
    """Return axes that have some numbers of the last one."""
    shared = {name: getattr(axes[-1], name) for name in names}
    return [replace(axis, **shared) for axis in axes]


def axes_within(axes: Sequence[Axis], stretch: Stretch, room: int) -> list[Axis]:
    """Return axes of which the windows have `room` cells, one of them stretched perhaps."""
    length = stretch.of("kernel", "size")
    side = _side(room // max(1, length), len(axes) - bool(length))
    found = [axis.within(side, max(1, side // 2)) for axis in axes]
    if length:
        place = -1 - stretch.place % len(axes)
        kernel = min(length, _LARGEST_KERNEL)
        long = {"kernel": kernel} if stretch.of("kernel") else {"extra": length - 1}
        found[place] = replace(found[place], **long)
    return found


def _side(room: int, axes: int) -> int:
    """Return the largest side, of at most LARGEST, of a cube of no more than `room` cells."""
    return max(side for side in range(1, LARGEST + 1) if side == 1 or side**axes <= room)


def pairs_of(fewest: int, most: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Return a strategy for axes of input and output sizes."""
    one = st.tuples(st.sampled_from(_LENGTHS), st.sampled_from(_LENGTHS))
    return _last_of(one, fewest, most)


def pairs_within(
    pairs: Sequence[tuple[int, int]], stretch: Stretch, room: int
) -> list[tuple[int, int]]:
    """Return axes with `room` cells of input and of output, one of them stretched perhaps."""
    length = stretch.of("size", "output", "both")
    side = _side(room // max(1, length), len(pairs) - bool(length))
    found = [(min(d, side), min(o, side)) for d, o in pairs]
    if length:
        place = -1 - stretch.place % len(pairs)
        d, o = found[place]
        # Both are no multiples of each other, as a rule.
        found[place] = {
            "size": (length, o),
            "output": (d, length),
            "both": (length, length // 2 + o),
        }[stretch.what]
    return found


def _last_of(one: st.SearchStrategy[_T], fewest: int, most: int) -> st.SearchStrategy[list[_T]]:
    """Return a strategy for the last few of `most` draws.

    Hypothesis moves what is complex behind what is plain, and then finds that fewer will do; from
    a list it would have to delete as many draws as an axis takes at once, which it does not try.
    """
    counts = [n for n in _AXES if fewest <= n <= most] or [fewest]
    return st.tuples(st.sampled_from(counts), st.tuples(*[one] * most)).map(
        lambda drawn: list(drawn[1][-drawn[0] :])
    )


def extents_of(fewest: int, most: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy for sizes of axes that are pooled whole."""
    return _last_of(st.sampled_from(_LENGTHS), fewest, most)


def extents_within(sizes: Sequence[int], stretch: Stretch, room: int) -> list[int]:
    """Return sizes of `room` cells, one of them stretched perhaps."""
    return [d for d, _ in pairs_within([(size, 1) for size in sizes], stretch, room)]


def sizes_of(axes: Sequence[Axis], auto_pad: str, room: int) -> list[int]:
    """Return the size of each axis, of at most `room` cells together."""
    least = [axis.least(auto_pad) for axis in axes]
    sizes = [low + axis.extra for low, axis in zip(least, axes, strict=True)]
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        if prod(sizes) > room:
            sizes[i] = max(least[i], room // prod(sizes[:i] + sizes[i + 1 :]))
    return sizes


def planes() -> st.SearchStrategy[tuple[int, int]]:
    """Return a strategy for batches and channels."""
    return st.tuples(st.sampled_from(_BATCHES), st.sampled_from(_CHANNELS))


def planes_within(planes: tuple[int, int], stretch: Stretch, room: int) -> tuple[int, int]:
    """Return batches and channels, of at most `room` planes; one of both stretched perhaps."""
    batch, channels = stretch.of("batch") or planes[0], stretch.of("channels") or planes[1]
    more = max(1, min(room, max(batch, channels)))
    fewer = max(1, min(room // more, batch, channels))
    return (more, fewer) if batch > channels else (fewer, more)


def listed(axes: Sequence[Axis]) -> dict[str, list[int]]:
    """Return kernels, strides and pads as lists, by role."""
    columns: dict[str, Any] = {
        "kernel": "kernel",
        "strides": "stride",
        "pads_begin": "begin",
        "pads_end": "end",
    }
    return {key: [getattr(axis, name) for axis in axes] for key, name in columns.items()}
