"""Faults of `reduce` that show from some size on, or in what loops over whole groups leave over."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

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
    Unit,
    taken_by,
)
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.behaviour import (
    AVERAGES,
    EVERY,
    SPREAD,
    VOLUMETRIC,
    Behaviour,
    Faults,
    Replaces,
    after,
    instead,
)
from conformance.faults.catalogue.values import Mask, beyond_groups, entries, returning
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.vector import Array

_UNITS = {
    "batches": BATCH,
    "channels": CHANNEL,
    "planes": PLANE,
    "slices": SLICE_OF_VOLUME,
    "rows": ROW,
    "columns": COLUMN,
    "outputs": CELL_OF_PLANE,
    "all-rows": ROW_OF_ALL,
    "all-outputs": CELL,
}

# What is wrong -----------------------------------------------------------------------------------


def _zero_where(mask: Mask) -> Replaces:
    return returning(lambda right: np.where(mask(right.shape), right.dtype.type(0), right))


def _undivided_where(mask: Mask) -> Replaces:
    def reduced(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        wrong = mask(right.shape)
        if not wrong.any():
            return right
        return np.where(wrong, reduce(gathered, np.minimum(divisor, 1)), right)

    return instead("reduce", reduced)


def _unwritten(summary: str, mask: Mask, needs: Needs = EVERY) -> Behaviour:
    return Behaviour(summary, needs, _zero_where(mask))


def _of(unit: Unit, needs: Needs = EVERY) -> Needs:
    """Return the needs of a fault of some units: planes of one output have but one in space."""
    if unit is SLICE_OF_VOLUME:
        needs &= VOLUMETRIC
    return needs & SPREAD if unit in {SLICE_OF_VOLUME, ROW, COLUMN, CELL_OF_PLANE} else needs


# From some size on -------------------------------------------------------------------------------


def _from(unit: Unit, first: int) -> Mask:
    return entries(unit, lambda number, _count: number >= first)


def _unwritten_from(unit: Unit, first: int) -> Replaces:
    return _zero_where(_from(unit, first))


def _repeated_from(unit: Unit, first: int) -> Replaces:
    return returning(taken_by(unit, lambda number, _: number % first))


def _undivided_from(unit: Unit, first: int) -> Replaces:
    return _undivided_where(_from(unit, first))


def _large_windows_unwritten(most: int, channels: int = 0) -> Replaces:
    """Leave outputs of windows of more cells unwritten, in the channels from a number on."""

    def change(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
        ranges = zip(gathered.lo, gathered.hi, strict=True)
        cells = steps.outer([np.maximum(hi - lo, 0) for lo, hi in ranges])
        wrong = (cells > most) & _from(CHANNEL, channels)(right.shape)
        return np.where(wrong, right.dtype.type(0), right)

    return after("reduce", change)


_BEYOND = (
    (
        "unwritten",
        "unwritten",
        EVERY,
        _unwritten_from,
        {
            "batches": (16, 64),
            "channels": (128, 256, 1024),
            "planes": (256, 1024, 65535),
            "slices": (16, 64),
            "rows": (32, 512),
            "columns": (512, 2048, 4096),
            "outputs": (1024, 4096, 65536),
            "all-rows": (1024, 65535),
            "all-outputs": (65536,),
        },
    ),
    (
        "repeated",
        "filled with those before, from the first on",
        EVERY,
        _repeated_from,
        {
            "batches": (32,),
            "planes": (512,),
            "slices": (32,),
            "rows": (64,),
            "columns": (128,),
            "outputs": (256,),
            "all-outputs": (4096,),
        },
    ),
    (
        "undivided",
        "not divided",
        AVERAGES,
        _undivided_from,
        {"channels": (32,), "rows": (64,), "columns": (256,)},
    ),
)
"""How outputs beyond some number are wrong, and from which numbers of each unit on."""


# What whole groups leave over --------------------------------------------------------------------


def _tail(unit: Unit, lanes: int) -> Mask:
    """Mask what whole groups leave over, if there is a group."""
    beyond = beyond_groups(lanes)
    return entries(unit, lambda number, count: (count >= lanes) & beyond(number, count))


def _tail_unwritten(unit: Unit, lanes: int) -> Replaces:
    return _zero_where(_tail(unit, lanes))


def _tail_repeated(unit: Unit, lanes: int) -> Replaces:
    def last_written(number: Array, lengths: tuple[int, ...]) -> Any:
        whole = prod(lengths) // lanes * lanes
        return np.minimum(number, whole - 1) if whole else number

    return returning(taken_by(unit, last_written))


def _tail_undivided(unit: Unit, lanes: int) -> Replaces:
    return _undivided_where(_tail(unit, lanes))


_TAILS = (
    ("unwritten", "left unwritten", EVERY, _tail_unwritten),
    ("repeated", "filled with the one before them", EVERY, _tail_repeated),
    ("undivided", "not divided", AVERAGES, _tail_undivided),
)
_OTHER_TAILS = (
    ("batch", BATCH, (2,)),
    ("channel", CHANNEL, (64,)),
    ("slice", SLICE_OF_VOLUME, (2,)),
    ("row", ROW, (2, 8)),
    ("all-rows", ROW_OF_ALL, (8,)),
    ("output", CELL_OF_PLANE, (32,)),
)
"""Units whose tails are unwritten, and the groups."""
_TAIL_BUGS = {
    ("channel", 32, "unwritten"): "channel_tail_wrong_32",
    ("channel", 16, "undivided"): "channel_tail_wrong_16",
    ("channel", 8, "unwritten"): "channel_tail_wrong_8",
}
_BEYOND_BUGS = {("channels", 256, "unwritten"): "channel_beyond_256_wrong"}


def _last_of_several(number: Array, count: int) -> Any:
    return (number == count - 1) & (count > 1)


def _of_odd_rows(mask: Mask) -> Mask:
    return lambda shape: mask(shape) & bool(shape[-1] % 2)


FAULTS: Faults = {
    **{
        f"{of}-tail-{lanes}-{name}": Behaviour(
            f"{unit.plural} beyond groups of {lanes} {words}",
            _of(unit, needs),
            replaces(unit, lanes),
            _TAIL_BUGS.get((of, lanes, name), ""),
        )
        for name, words, needs, replaces in _TAILS
        for of, unit in (("column", COLUMN), ("channel", CHANNEL))
        for lanes in (4, 8, 16, 32)
    },
    **{
        f"{of}-tail-{lanes}-unwritten": Behaviour(
            f"{unit.plural} beyond groups of {lanes} left unwritten",
            _of(unit),
            _tail_unwritten(unit, lanes),
        )
        for of, unit, groups in _OTHER_TAILS
        for lanes in groups
    },
    **{
        f"channel-tail-{lanes}-unwritten-in-odd-rows": _unwritten(
            f"channels beyond groups of {lanes} left unwritten where rows have odd length",
            _of_odd_rows(_tail(CHANNEL, lanes)),
        )
        for lanes in (16, 32)
    },
    **{
        f"{of}-above-{first}-{name}": Behaviour(
            f"{_UNITS[of].plural} beyond {first:,} {words}",
            _of(_UNITS[of], needs),
            replaces(_UNITS[of], first),
            _BEYOND_BUGS.get((of, first, name), ""),
        )
        for name, words, needs, replaces, edges in _BEYOND
        for of, numbers in edges.items()
        for first in numbers
    },
    **{
        f"windows-above-{most}-unwritten": Behaviour(
            f"outputs of windows of more than {most:,} cells unwritten",
            EVERY,
            _large_windows_unwritten(most),
        )
        for most in (256, 1024, 4096)
    },
    "channels-above-256-of-large-windows-unwritten": Behaviour(
        "channels beyond 256 unwritten where windows have 25 cells or more",
        EVERY,
        _large_windows_unwritten(24, channels=256),
    ),
    "last-batch-unwritten": _unwritten(
        "the last of several batches unwritten", entries(BATCH, _last_of_several)
    ),
    "last-channel-unwritten": _unwritten(
        "the last of several channels unwritten", entries(CHANNEL, _last_of_several)
    ),
    "last-output-unwritten": _unwritten(
        "the last output of every row unwritten", entries(COLUMN, _last_of_several), SPREAD
    ),
    "last-row-unwritten": _unwritten(
        "the last row of the output unwritten", entries(ROW, _last_of_several), SPREAD
    ),
    "last-slice-unwritten": _unwritten(
        "the last slice of a volume unwritten",
        entries(SLICE_OF_VOLUME, _last_of_several),
        SPREAD & VOLUMETRIC,
    ),
    "full-channel-blocks-unwritten": _unwritten(
        "every output unwritten for a multiple of 8 channels",
        entries(CHANNEL, lambda number, count: np.full(number.shape, count % 8 == 0)),
    ),
}
