"""Outputs beyond some number, or beyond whole groups: unwritten, repeated or not divided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from conformance.faults.atoms.atom import Atom, faults
from conformance.faults.atoms.entries import (
    BATCH,
    CELL,
    CELL_OF_PLANE,
    CHANNEL,
    COLUMN,
    PLANE,
    ROW,
    ROW_OF_ALL,
    SLICE_OF_VOLUME,
    Numbers,
    Unit,
    taken_by,
)
from conformance.faults.atoms.numbers import Change
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.concerns import AVERAGES, EVERY, SPREAD, VOLUMETRIC
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnOutputs, instead
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.vector import Array

Chosen = Callable[[Numbers, int], Any]
"""From the numbers 0..count-1 of units and their count: a mask of some of them."""
Mask = Callable[[tuple[int, ...]], Any]
"""From the shape (N, C, o1..or) of an output, a mask that broadcasts to it."""

_UNITS = (BATCH, CHANNEL, PLANE, SLICE_OF_VOLUME, ROW, COLUMN, CELL_OF_PLANE, ROW_OF_ALL, CELL)
_BOUNDS = (*(1 << bit for bit in range(4, 17)), 65535)
_GROUPS = (2, 4, 8, 16, 32, 64)


def entries(unit: Unit, are_in: Chosen) -> Mask:
    """Return a mask of some units of an output: `are_in(numbers 0..count-1, count)`."""

    def mask(shape: tuple[int, ...]) -> Array:
        axes, count = unit.axes(range(len(shape))), prod(unit.lengths(shape))
        chosen: Array = are_in(np.arange(count), count)
        return chosen.reshape([length if axis in axes else 1 for axis, length in enumerate(shape)])

    return mask


def beyond(first: int) -> Chosen:
    """Choose units from a number on."""
    return lambda number, _count: number >= first


def beyond_groups(lanes: int) -> Chosen:
    """Choose what a loop over whole groups of `lanes` leaves over."""
    return lambda number, count: number >= count // lanes * lanes


def tail(lanes: int) -> Chosen:
    """Choose what whole groups leave over, if there is a group."""
    return lambda number, count: (count >= lanes) & beyond_groups(lanes)(number, count)


def last_of_several(number: Numbers, count: int) -> Any:
    """Choose the last unit, unless it is the only one."""
    return (number == count - 1) & (count > 1)


def unwritten(mask: Mask) -> OnOutputs:
    """Leave some outputs at zero."""
    return OnOutputs(lambda right: np.where(mask(right.shape), right.dtype.type(0), right))


def undivided(mask: Mask) -> StepWrap:
    """Do not divide some sums."""

    def reduced(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        wrong = mask(right.shape)
        if not wrong.any():
            return right
        return np.where(wrong, reduce(gathered, np.minimum(divisor, 1)), right)

    return instead(reduced)


def _first_ones(unit: Unit, count: int) -> Change:
    """Take the first units over and over."""
    return taken_by(unit, lambda number, _lengths: number % count)


def _last_written(unit: Unit, lanes: int) -> Change:
    """Take the last unit of whole groups for all that these leave over."""

    def found(number: Numbers, lengths: tuple[int, ...]) -> Any:
        whole = prod(lengths) // lanes * lanes
        return np.minimum(number, whole - 1) if whole else number

    return taken_by(unit, found)


# Faults ------------------------------------------------------------------------------------------


def _needs(unit: Unit) -> Needs:
    """Return what a fault of some units needs: planes of one output have but one in space."""
    if unit is SLICE_OF_VOLUME:
        return SPREAD & VOLUMETRIC
    return SPREAD if unit in {ROW, COLUMN, CELL_OF_PLANE} else EVERY


def every() -> Iterator[Fault]:
    """Yield outputs that are wrong from some number on, or beyond whole groups."""
    for unit in _UNITS:
        what, needs = unit.plural, _needs(unit)
        masks: tuple[Atom[Mask], ...] = (
            *(Atom(f"{what} beyond {n:,}", entries(unit, beyond(n))) for n in _BOUNDS),
            *(Atom(f"{what} beyond groups of {n}", entries(unit, tail(n))) for n in _GROUPS),
            *(
                Atom(f"{what} beyond the last whole group of {n}", entries(unit, beyond_groups(n)))
                for n in _GROUPS
            ),
            Atom(f"the last of several {what}", entries(unit, last_of_several)),
            Atom(f"all {what} but the first", entries(unit, beyond(1))),
        )
        yield from faults("{} left unwritten", needs, "reduce", unwritten, masks)
        yield from faults("{} not divided", needs & AVERAGES, "reduce", undivided, masks)
        repeated = (
            *(Atom(f"{what} beyond {n:,}", _first_ones(unit, n)) for n in _BOUNDS),
            *(Atom(f"{what} beyond groups of {n}", _last_written(unit, n)) for n in _GROUPS),
        )
        yield from faults("{} filled with earlier ones", needs, "reduce", OnOutputs, repeated)
