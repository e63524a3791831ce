"""Slips in where windows lie, which cells of them are read, and by what a sum is divided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from conformance.diagnosis.slips.slip import Slip
from conformance.faults.atoms import divisors
from conformance.faults.atoms.windows import (
    ALL_BUT_FIRST,
    ALL_BUT_LAST,
    BLOCK_BEGINS,
    BLOCK_ENDS,
    BLOCKS_IN_FLOAT,
    CELLS_READ,
    EVERY_AXIS,
    FIRST_AXIS,
    LAST_AXIS,
    MOVES,
    PLACES,
    ended,
    laid_out,
    moving,
)
from conformance.faults.behaviour import ADAPTIVE, AVERAGES

_AXES = (EVERY_AXIS, FIRST_AXIS, LAST_AXIS)


def of_windows() -> Iterator[Slip]:
    """Yield slips in the ends of windows, for every step or for one alone."""
    for move, axes, place in product(MOVES, _AXES, PLACES):
        words = f"windows {move.words}{axes.words}{place.words}"
        yield Slip(words, place.step, place.wrap(moving(move, axes)), place.needs)
    for begin, end in (*product(BLOCK_BEGINS, BLOCK_ENDS), *BLOCKS_IN_FLOAT):
        words = f"block i began at {begin.words} and ended at {end.words}"
        yield Slip(words, "windows", laid_out(begin, end), ADAPTIVE)
    for end in BLOCK_ENDS:
        words = f"block i ended at {end.words}{CELLS_READ.words}"
        yield Slip(words, CELLS_READ.step, CELLS_READ.wrap(ended(end)), ADAPTIVE)


def of_divisors() -> Iterator[Slip]:
    """Yield slips in which cells count, and in the divisor that counts make."""
    for count, axes in product(divisors.COUNTS, (*_AXES, ALL_BUT_FIRST, ALL_BUT_LAST)):
        said = f"the divisor of a window were made from {count.words}{axes.words}"
        yield Slip(said, "divide", divisors.counting(count, axes), AVERAGES)
    for count in divisors.COUNTS[:3]:
        said = f"the divisor of a window were the sum of {count.words} along each axis"
        wrap = divisors.counting(count, EVERY_AXIS, divisors.ADDED)
        yield Slip(said, "divide", wrap, AVERAGES)
    for change in divisors.CHANGES:
        yield Slip(f"divisors were {change.words}", "divide", divisors.changing(change), AVERAGES)
