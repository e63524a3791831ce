"""What faults of `reduce` share: changes of cells and of results, masks, the cells of windows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import float_format, name_of
from conformance.faults.atoms.entries import Numbers, Unit
from conformance.faults.atoms.numbers import Change, is_float, on_cells, on_results
from conformance.faults.behaviour import Replaces
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Mask = Callable[[tuple[int, ...]], Any]
"""From the shape (N, C, o1..or) of an output, a mask that broadcasts to it."""
Chosen = Callable[[Numbers, int], Any]
"""From the numbers 0..count-1 of units and their count: a mask of some of them."""


def floats_alone(change: Change) -> Change:
    """Change floating-point data alone."""
    return lambda data: change(data) if is_float(data) else data


def reducing(change: Change) -> Replaces:
    """Reduce changed cells, of the same shape and type."""
    return {"reduce": on_cells(change)}


def returning(change: Change) -> Replaces:
    """Change the first output."""
    return {"reduce": on_results(change)}


def first_of_planes(data: Array) -> Array:
    """Return the first entry of each plane of (N, C, d1..dr), in shape (N, C, 1..1)."""
    return data.reshape(*data.shape[:2], -1)[:, :, 0].reshape(
        *data.shape[:2], *[1] * (data.ndim - 2)
    )


# What is outside of a window --------------------------------------------------------------------


class Span(NamedTuple):
    """A part of data (N, C, d1..dr) that is computed over at once: the first of its axes."""

    name: str
    words: str
    first_axis: int

    def largest(self, data: Array) -> Array:
        """Return the largest finite magnitude of each part, 1 where there is none but zero."""
        wide = np.abs(widen(data))
        axes = tuple(range(self.first_axis, data.ndim))
        most = np.where(np.isfinite(wide), wide, 0.0).max(axes, keepdims=True, initial=0.0)
        return np.where(most > 0, most, 1.0)


SPANS = (
    Span("tensor", "the whole tensor", 0),
    Span("batch", "its batch", 1),
    Span("plane", "its plane", 2),
)


def in_fixed_point_of(span: Span) -> Change:
    """Round data to multiples of the last bit of the largest magnitude of a part."""

    def change(data: Array) -> Array:
        bits = max(24, float_format(name_of(data.dtype)).precision)
        unit = 2.0 ** (np.ceil(np.log2(span.largest(data))) - bits)
        wide = widen(data)
        with np.errstate(all="ignore"):
            rounded = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
        return narrow(np.where(unit > 0, rounded, wide), name_of(data.dtype))

    return floats_alone(change)


# Masks -------------------------------------------------------------------------------------------


def entries(unit: Unit, are_in: Chosen) -> Mask:
    """Return a mask of some units of an output: `are_in(numbers 0..count-1, count)`."""

    def mask(shape: tuple[int, ...]) -> Array:
        axes, count = unit.axes(range(len(shape))), prod(unit.lengths(shape))
        chosen: Array = are_in(np.arange(count), count)
        return chosen.reshape([length if axis in axes else 1 for axis, length in enumerate(shape)])

    return mask


def beyond_groups(lanes: int) -> Chosen:
    """Choose what a loop over whole groups of `lanes` leaves over."""
    return lambda number, count: number >= count // lanes * lanes
