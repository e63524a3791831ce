"""Arrays that a small one stands for: along each axis, a run of cells comes any number of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.vector import Array

Ints = npt.NDArray[np.int64]
BLOCK = 1 << 20
"""Elements that are made or compared at once, about."""


@dataclass(frozen=True, slots=True)
class Run:
    """Cells start:stop of an axis of a small array, which the large one has `times`.

    Of data, `outputs` of the axis of the output, from `first` on, come with each repeat.
    """

    start: int = 0
    stop: int = 0
    times: int = 1
    first: int = 0
    outputs: int = 0

    @property
    def length(self) -> int:
        """Cells of one repeat."""
        return self.stop - self.start

    @property
    def added(self) -> int:
        """Cells that the large data has more than the small data."""
        return (self.times - 1) * self.length

    @property
    def of_output(self) -> Run:
        """The run of outputs, as a run of the output's axis; none if windows swallow it."""
        times = self.times if self.outputs else 1
        return Run(self.first, self.first + self.outputs, times)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Blocks of a large array with equal content.

    `cells` are per axis the places in the small array that a block consists of. `places` are per
    axis where blocks begin: there is a block at each combination of them.
    """

    cells: tuple[Ints, ...]
    places: tuple[range, ...]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return product(*self.places)

    def at(self, place: Sequence[int]) -> tuple[slice, ...]:
        """Return the part of the large array that is the block at a place."""
        return tuple(
            slice(at, at + len(cells)) for at, cells in zip(place, self.cells, strict=True)
        )

    def of(self, small: Array) -> Array:
        """Return the content of a block."""
        block: Array = small[np.ix_(*self.cells)]
        return block


def groups(shape: Sequence[int], runs: Sequence[Run], block: int = BLOCK) -> Iterator[Group]:
    """Yield the blocks of a large array, of about `block` elements each, that are all of it.

    `shape` is that of the small array.
    """
    pieces: list[list[tuple[Ints, range]]] = []
    for size, run in zip(reversed(shape), reversed(runs), strict=True):
        of_axis = list(_pieces(size, run, max(1, block)))
        block //= max(len(cells) for cells, _ in of_axis)
        pieces.insert(0, of_axis)
    for chosen in product(*pieces):
        yield Group(tuple(cells for cells, _ in chosen), tuple(places for _, places in chosen))


def _pieces(size: int, run: Run, most: int) -> Iterator[tuple[Ints, range]]:
    """Yield the cells of parts of a large axis, and where these are.

    A part has at most `most` cells, or one repeat.
    """
    every = np.arange(size)
    together = min(run.times, max(1, most // max(1, run.length)))
    whole, rest = divmod(run.times, together)
    repeated = every[run.start : run.stop]
    at = run.start + whole * together * run.length
    end = at + rest * run.length
    for cells, places in (
        (every[: run.start], range(1)),
        (np.tile(repeated, together), range(run.start, at, max(1, together * run.length))),
        (np.tile(repeated, rest), range(at, at + 1)),
        (every[run.stop :], range(end, end + 1)),
    ):
        if len(cells):
            yield cells, places


def large_shape(shape: Sequence[int], runs: Sequence[Run]) -> tuple[int, ...]:
    """Return the shape of a large array whose small one has a shape."""
    return tuple(size + run.added for size, run in zip(shape, runs, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """A large array that is not made until it is copied, and travels as the small one.

    `runs` are those of each axis of `small`.
    """

    small: Array
    runs: tuple[Run, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of both arrays."""
        return self.small.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the large array."""
        return large_shape(self.small.shape, self.runs)

    @property
    def size(self) -> int:
        """Number of elements of the large array."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes of both arrays."""
        return self.small.ndim

    def copy(self) -> Array:
        """Return the large array; MemoryError where it does not fit."""
        large = np.empty(self.shape, self.dtype)
        for group in groups(self.small.shape, self.runs):
            block = group.of(self.small)
            for place in group:
                large[group.at(place)] = block
        return large
