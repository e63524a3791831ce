"""The position of the cell that a maximum chooses: always exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.reference.fold import Ranges, fold
from conformance.reference.rounding import widen
from conformance.vector import Array

Positions = npt.NDArray[np.int64]

NOWHERE = -1
"""The position of the maximum of a box without cells."""


def position_of_maximum(
    data: Array,
    maxima: Array,
    lo: Ranges,
    hi: Ranges,
    numbers: Positions,
    *,
    last: bool = False,
    last_nan: bool = False,
) -> Positions:
    """Return the number of the cell that is each box's maximum, NOWHERE for a box without cells.

    `data` has shape (N, C, d1..dr), `maxima` and the result (N, C, o1..or). `numbers` (d1..dr) are
    those of the cells of a plane, from 0 and below the number of cells. Of equal cells, the one of
    the least number is chosen or, with `last`, of the largest; so it is of NaNs, by `last_nan`. A
    NaN is the maximum where `maxima` say so, and else no candidate. The result is not to be
    written to.
    """
    ways = last, last_nan
    if data.nbytes > _REMEMBERED:
        return _position(data, maxima, lo, hi, numbers, *ways)
    return _remembered(*ways, *map(_Frozen.of, (data, maxima, numbers, *lo, *hi)))


_REMEMBERED = 1 << 14
"""Bytes of data of which positions are remembered, at most."""


class _Frozen(NamedTuple):
    """An array as a value."""

    content: bytes
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: Array) -> _Frozen:
        return cls(array.tobytes(), array.dtype, array.shape)

    @property
    def array(self) -> Array:
        return np.frombuffer(self.content, self.dtype).reshape(self.shape)


@lru_cache(maxsize=64)  # readings and faults ask for the same again and again
def _remembered(last: bool, last_nan: bool, *arrays: _Frozen) -> Positions:  # noqa: FBT001
    data, maxima, numbers, *ranges = (each.array for each in arrays)
    axes = len(ranges) // 2
    found = _position(data, maxima, ranges[:axes], ranges[axes:], numbers, last, last_nan)
    found.setflags(write=False)
    return found


def _position(
    data: Array,
    maxima: Array,
    lo: Ranges,
    hi: Ranges,
    numbers: Positions,
    last: bool,  # noqa: FBT001
    last_nan: bool,  # noqa: FBT001
) -> Positions:
    planes = _comparable(data).reshape(data.shape[0] * data.shape[1], *data.shape[2:])
    count = prod(data.shape[2:])
    # A cell's key is its rank among all values, then its number: the largest key is chosen.
    _, ranks = np.unique(planes, return_inverse=True)  # all NaNs are one, above all numbers
    is_nan = planes != planes  # noqa: PLR0124 - of integers, too
    within = np.where(np.where(is_nan, last_nan, last), numbers, count - 1 - numbers)
    keys = ranks.reshape(planes.shape).astype(np.int64) * count + within
    chosen = fold(keys, lo, hi, np.maximum, NOWHERE).reshape(maxima.shape)
    chose_nan = np.zeros(maxima.shape, np.bool_)
    if is_nan.any():
        chose_nan = np.isnan(_comparable(maxima))
        of_numbers = fold(np.where(is_nan, NOWHERE, keys), lo, hi, np.maximum, NOWHERE)
        chosen = np.where(chose_nan, chosen, of_numbers.reshape(maxima.shape))
    number = np.where(
        np.where(chose_nan, last_nan, last), chosen % count, count - 1 - chosen % count
    )
    result: Positions = np.where(chosen < 0, NOWHERE, number)
    return result


def _comparable(data: Array) -> Array:
    return data if data.dtype.kind in "iu" else widen(data)


def positions_of(
    numbers: Positions, sizes: Sequence[int], order: Literal["C", "F"] = "C"
) -> list[Positions]:
    """Return the position on each axis of the cells of a grid, from their numbers."""
    # Flat: of more than 8,192 numbers whose last axis is 1, numpy 2.4.6 returns wrong positions.
    flat = np.unravel_index(numbers.ravel(), sizes, order=order)
    return [along.reshape(numbers.shape) for along in flat]


def numbers_of(positions: Sequence[Positions], sizes: Sequence[int]) -> Positions:
    """Return the row-major number of each cell of a grid, from its positions on each axis."""
    numbers: Positions = np.zeros((), np.int64)
    for along, d in zip(positions, sizes, strict=True):
        numbers = numbers[..., np.newaxis] * d + along
    return numbers
