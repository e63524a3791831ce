"""Slips in values: of cells, of running sums, of sums, of divisors and of results.

The same few changes of numbers are tried in each of these places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from conformance.diagnosis.slips.slip import Slip, on_outputs
from conformance.dtypes import name_of
from conformance.faults.atoms import norms
from conformance.faults.atoms.numbers import (
    INTEGER_CHANGES,
    NUMBERS,
    ROUNDINGS,
    Number,
    at_least,
    at_most,
    cut_off,
    cut_off_to,
    of_floats,
    of_integers,
    on_cells,
    on_running_sums,
    on_sums,
    rounded_to_bits,
    where,
)
from conformance.faults.atoms.reductions import (
    COMPARISONS,
    DIFFERENCES,
    SLID,
    compared,
    compared_as,
    summed,
)
from conformance.faults.atoms.window_cells import Computed, Reduce, Taps, computed
from conformance.faults.behaviour import AVERAGES, MAXIMUM, NORMS
from conformance.faults.behaviour import INTEGERS as TAKING_INTEGERS
from conformance.faults.wraps import instead
from conformance.operators.clause import StepWrap
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

# Places of numbers -------------------------------------------------------------------------------


def of_numbers() -> Iterator[Slip]:
    """Yield slips in which numbers are changed where they are read, added, divided or returned."""
    yield from _changed(NUMBERS)
    for integer in INTEGER_CHANGES:
        changed = of_integers(integer)
        said = f"integers were {integer.words} before they are compared"
        yield Slip(said, "reduce", on_cells(changed), TAKING_INTEGERS)
        said = f"results that are integers were {integer.words}"
        yield Slip(said, "reduce", on_outputs(changed), TAKING_INTEGERS)
    said = "results were cut off, not rounded"
    yield Slip(said, "reduce", computed(_cut_off_results), AVERAGES)
    yield from _of_averages(ROUNDINGS)


def other_numbers(what: str) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Yield words and a change for each way to take other numbers for floating-point ones."""
    for number in NUMBERS:
        yield f"{what} were {number.words}", of_floats(number)


def of_bits(value: float, _words: str) -> Iterator[Slip]:
    """Yield slips in which numbers have so many significant bits."""
    changes = (rounded_to_bits(int(value)), cut_off_to(int(value)))
    yield from _changed(changes)
    yield from _of_averages(changes)


def of_number(value: float, words: str) -> Iterator[Slip]:
    """Yield slips in which a given number takes the place of others."""
    yield from _changed(
        (
            at_least(value, words),
            at_most(value, words),
            where(f"{words} where they are NaN", np.isnan, value),
            where(f"{words} where they are minus infinity", np.isneginf, value),
            where(f"{words} where they are infinite", np.isinf, value),
            where(f"{words} where they are 0", lambda v: v == 0, value),
        )
    )


def of_factor(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which results are so many times as large."""
    number = Number(f"{words} times as large", lambda v, _: v * value)
    yield Slip(f"results were {number.words}", "reduce", on_outputs(of_floats(number)))


def of_shift(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which results are so much more."""
    number = Number(f"{words} more", lambda v, _: v + value)
    yield Slip(f"results were {number.words}", "reduce", on_outputs(of_floats(number)))


def of_divisor_shift(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which divisors are so much more."""

    def compute(taps: Taps) -> Doubles:
        return np.where(taps.divisor > 0, taps.sums / (taps.divisor + value), np.nan)

    yield Slip(f"divisors were {words} more", "reduce", computed(compute), AVERAGES)


def _of_averages(numbers: tuple[Number, ...]) -> Iterator[Slip]:
    for number in numbers:
        said = f"cells, running sums and averages were {number.words}"
        yield Slip(said, "reduce", _averaged(number), AVERAGES)
        said = f"sums were multiplied by reciprocals {number.words}"
        yield Slip(said, "reduce", _reciprocal(number), AVERAGES)


def _changed(numbers: tuple[Number, ...]) -> Iterator[Slip]:
    for number in numbers:
        words, change = number.words, of_floats(number)
        yield Slip(f"results were {words}", "reduce", on_outputs(change))
        yield Slip(f"cells were {words}", "reduce", on_cells(change))
        yield Slip(f"sums were {words} before the division", "reduce", on_sums(number), AVERAGES)
        yield Slip(f"running sums were {words}", "reduce", on_running_sums(number), AVERAGES)


def _averaged(number: Number) -> StepWrap:
    """Compute averages of changed cells, and change each number on the way."""

    def compute(taps: Taps) -> Doubles:
        change, of = number.of, taps.fmt
        sums = taps.windows.fold(np.zeros(()), lambda a, b: change(a + change(b, of), of))
        return np.asarray(change(taps.divided(sums), of))

    return computed(compute)


def _cut_off_results(taps: Taps) -> Doubles:
    return cut_off(taps.divided(taps.sums), taps.fmt.precision)


def _reciprocal(number: Number) -> StepWrap:
    def compute(taps: Taps) -> Doubles:
        reciprocals = number.of(1.0 / np.maximum(taps.divisor, 1), taps.fmt)
        return np.where(taps.divisor > 0, taps.sums * reciprocals, np.nan)

    return computed(compute)


# Cells that are left out, or counted twice -------------------------------------------------------

_KINDS: tuple[tuple[str, Callable[[Taps], Array]], ...] = (
    ("that are NaN", lambda t: np.isnan(t.windows.cells)),
    ("that are infinite", lambda t: np.isinf(t.windows.cells)),
    ("that are NaN or infinite", lambda t: ~np.isfinite(t.windows.cells)),
    ("that are 0", lambda t: t.windows.cells == 0),
    ("that are negative", lambda t: t.windows.cells < 0),
    ("that come first in their window", lambda t: _nth(t) == 1),
    ("that come last in their window", lambda t: _nth(t) == _nth(t).max(-1, keepdims=True)),
    ("that come second in their window", lambda t: _nth(t) == 2),
    *(
        (f"beyond the first {most} of their window", lambda t, most=most: _nth(t) > most)
        for most in (4, 8, 16, 32, 64, 128, 256)
    ),
)


def _nth(taps: Taps) -> Array:
    """Return for each tap which cell of its window it is, from 1 on; 0 for none."""
    counted: Array = np.cumsum(taps.is_cell, axis=-1)
    return counted * taps.is_cell


def of_kinds() -> Iterator[Slip]:
    """Yield slips in which some cells are left out or counted twice."""
    for words, kind in _KINDS:
        out = f"cells {words} were left out"
        yield Slip(out, "reduce", computed(_largest_but(kind)), MAXIMUM)
        yield Slip(f"{out} of sums", "reduce", computed(_weighed(kind, 0, None)), AVERAGES)
        yield Slip(
            f"{out} of sums and divisors", "reduce", computed(_weighed(kind, 0, 0)), AVERAGES
        )
        yield Slip(f"{out} of divisors", "reduce", computed(_weighed(kind, 1, 0)), AVERAGES)
        yield Slip(
            f"cells {words} were added twice", "reduce", computed(_weighed(kind, 2, None)), AVERAGES
        )


def _largest_but(kind: Callable[[Taps], Array]) -> Computed:
    return lambda taps: taps.shaped(
        np.where(taps.is_cell & ~kind(taps), taps.windows.cells, -np.inf).max(-1)
    )


def _weighed(kind: Callable[[Taps], Array], in_sum: int, in_divisor: int | None) -> Computed:
    """Count cells of a kind so many times in sums, and none of them in divisors if these are 0."""

    def compute(taps: Taps) -> Doubles:
        cells, chosen = taps.windows.cells, taps.is_cell & kind(taps)
        kept = np.where(chosen & (in_sum == 0), 0.0, cells)
        sums = kept.sum(-1) + (np.where(chosen, cells, 0.0).sum(-1) if in_sum == 2 else 0.0)
        divisor = None if in_divisor is None else taps.divisor - taps.shaped(chosen.sum(-1))
        return taps.divided(taps.shaped(sums), divisor)

    return compute


# Other reductions, and what they start from ------------------------------------------------------


def of_reductions() -> Iterator[Slip]:
    """Yield slips in which another value of a window is returned, or another start is taken."""
    for words, compute in _REDUCTIONS:
        yield Slip(f"the result were {words}", "reduce", computed(compute))
    for comparison in COMPARISONS:
        yield Slip(comparison.words, "reduce", compared(comparison), MAXIMUM)
    for words, kinds in (
        ("floating-point numbers were compared as signed integers", {"f": "i"}),
        ("floating-point numbers were compared as unsigned integers", {"f": "u"}),
        ("signed and unsigned integers were compared as the others", {"i": "u", "u": "i"}),
    ):
        yield Slip(words, "reduce", compared_as(kinds), MAXIMUM)
    for (words, first_axis), (of, needs, ufunc) in product(
        _CARRIED, (("sum", AVERAGES, np.add), ("maximum", MAXIMUM, np.maximum))
    ):
        said = f"a {of} started from that of the window before it {words}"
        yield Slip(said, "reduce", instead(_carried(ufunc, first_axis)), needs)
    yield Slip(
        "a maximum started from the first cell of its plane",
        "reduce",
        instead(_from_first),
        MAXIMUM,
    )
    kinds_of = [
        ("its own type", lambda name: name),
        *((kind, lambda _, kind=kind: kind) for kind in ("float32", "float64")),
    ]
    for (words, axes), (kind, kind_of), way in product(_ALONG, kinds_of, (DIFFERENCES, SLID)):
        said = f"sums were {way.words}{words}, in {kind}"
        yield Slip(said, "reduce", summed(way, axes, kind_of), AVERAGES)


def of_norms() -> Iterator[Slip]:
    """Yield slips in what norms add, and in what is made of the sum."""
    for power, of_sum in product(norms.POWERS, norms.ROOTS):
        if (power, of_sum) != (norms.MAGNITUDES, norms.ROOT):
            said = f"norms were {norms.in_words(power, of_sum)}"
            yield Slip(said, "reduce", norms.computed(power, of_sum), NORMS)


def _value_at(place: Callable[[Array], Array]) -> Computed:
    """Return the cell of each window that has a number from 1 on."""

    def compute(taps: Taps) -> Doubles:
        nth = _nth(taps)
        chosen = nth == place(nth.max(-1, keepdims=True))
        return taps.shaped(np.where(chosen, taps.windows.cells, 0.0).sum(-1))

    return compute


def _folded(ufunc: np.ufunc, empty: float) -> Computed:
    return lambda taps: taps.shaped(
        ufunc.reduce(np.where(taps.is_cell, taps.windows.cells, empty), axis=-1)
    )


def _average(of: Callable[[Doubles], Doubles]) -> Computed:
    """Return the average of numbers made of the cells inside the input."""

    def compute(taps: Taps) -> Doubles:
        sums = np.where(taps.is_cell, of(taps.windows.cells), 0.0).sum(-1)
        return taps.shaped(sums / np.maximum(taps.is_cell.sum(-1), 1))

    return compute


_REDUCTIONS: tuple[tuple[str, Computed], ...] = (
    ("the first cell of its window", _value_at(lambda _: np.ones((), np.int64))),
    ("the last cell of its window", _value_at(lambda last: last)),
    ("the middle cell of its window", _value_at(lambda last: (last + 1) // 2)),
    ("the sum of its window", _folded(np.add, 0.0)),
    ("the smallest cell of its window", _folded(np.minimum, np.inf)),
    ("the largest cell of its window", _folded(np.maximum, -np.inf)),
    ("the average of the cells of its window", _average(lambda v: v)),
    ("the average magnitude of the cells of its window", _average(np.abs)),
    ("the average square of the cells of its window", _average(np.square)),
    ("the root of the average square of its window", lambda t: np.sqrt(_average(np.square)(t))),
)

_CARRIED: tuple[tuple[str, int], ...] = (("in its row", -1), ("in its plane", 2), ("anywhere", 0))
_ALONG: tuple[tuple[str, slice], ...] = (
    (" along the last axis", slice(-1, None)),
    (" along the first axis", slice(0, 1)),
    (" along every axis", slice(None)),
)


def _carried(ufunc: np.ufunc, first_axis: int) -> Callable[[Reduce, Gathered, Divisor], Array]:
    """Start each window from the sum or maximum of the one before."""

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        results = right(gathered, divisor)
        if results.dtype.kind in "iu":
            return results
        by = np.maximum(divisor, 1) if ufunc is np.add else np.ones_like(divisor)
        wide = widen(results) * by
        flat = wide.reshape(*wide.shape[: first_axis % wide.ndim], -1)
        carried = ufunc.accumulate(flat, axis=-1).reshape(wide.shape)
        return narrow(carried / by, name_of(results.dtype))

    return other


def _from_first(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    data, results = gathered.data, right(gathered, divisor)
    first = data.reshape(*data.shape[:2], -1)[..., 0]
    return np.maximum(results, first.reshape(*first.shape, *[1] * (data.ndim - 2)))
