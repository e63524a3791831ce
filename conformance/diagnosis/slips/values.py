"""Slips in values: of cells, of running sums, of sums, of divisors and of results.

The same few changes of numbers are tried in each of these places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conformance.diagnosis.slips.slip import Slip, on_outputs
from conformance.dtypes import INTEGERS, FloatFormat, dtype_of, float_format, name_of
from conformance.faults.behaviour import AVERAGES, MAXIMUM
from conformance.faults.behaviour import INTEGERS as TAKING_INTEGERS
from conformance.faults.catalogue.values import WindowCells, window_cells
from conformance.faults.wraps import instead
from conformance.operators.clause import StepWrap
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Change = Callable[[Doubles, FloatFormat], Any]
"""Other numbers in place of some, which are of a format."""
Reduce = Callable[[Gathered, Divisor], Array]

_MOST_CELLS = 1 << 20
"""Cells of all windows, at most: where there are more, windows are left as they are."""
_NARROW = ("float32", "float16", "bfloat16")
_RANGES = ("float16", "float32", "int8", "uint8", "int16", "int32")


# Changes of numbers ------------------------------------------------------------------------------


def _to_bits(values: Doubles, bits: int, whole: Callable[[Doubles], Doubles]) -> Doubles:
    """Make significands of so many bits, which are then `whole` numbers."""
    significand, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    made: Doubles = np.ldexp(whole(np.ldexp(significand, bits)), exponent - bits)
    return np.where(np.isfinite(values), made, values)


def _cut_off(values: Doubles, bits: int) -> Doubles:
    return _to_bits(values, bits, np.trunc)


def _where(holds: Callable[[Doubles], Any], value: float) -> Change:
    return lambda v, _: np.where(holds(v), value, v)


def _at_least(value: float) -> Change:
    return lambda v, _: np.where(v < value, value, v)


def _at_most(value: float) -> Change:
    return lambda v, _: np.where(v > value, value, v)


def _within(least: float, most: float) -> Change:
    return lambda v, _: np.clip(v, least, most)


def _range(name: str) -> tuple[float, float]:
    """Return the least and the largest finite number of a type."""
    if name in INTEGERS:
        return int(np.iinfo(name).min), int(np.iinfo(name).max)
    return -float_format(name).largest, float_format(name).largest


def _roundings() -> Iterator[tuple[str, Change]]:
    for name in _NARROW:
        yield f"rounded to {name}", lambda v, _, name=name: widen(narrow(v, name))  # type: ignore[misc]
    for name in _NARROW:
        bits = float_format(name).precision
        yield f"cut off to {bits} bits", lambda v, _, bits=bits: _cut_off(v, bits)  # type: ignore[misc]


_ROUNDINGS = tuple(_roundings())
_CHANGES: tuple[tuple[str, Change], ...] = (
    ("without their sign", lambda v, _: np.abs(v)),
    ("negated", lambda v, _: -v),
    ("0 where they are negative", _where(lambda v: v < 0, 0.0)),
    ("0 where they are NaN", _where(np.isnan, 0.0)),
    ("infinity where they are NaN", _where(np.isnan, np.inf)),
    ("minus infinity where they are NaN", _where(np.isnan, -np.inf)),
    ("0 where they are infinite", _where(np.isinf, 0.0)),
    ("NaN where they are infinite", _where(np.isinf, np.nan)),
    ("0 where they are NaN or infinite", _where(lambda v: ~np.isfinite(v), 0.0)),
    ("NaN where they are minus infinity", _where(np.isneginf, np.nan)),
    ("0 where they are minus infinity", _where(np.isneginf, 0.0)),
    ("the largest number where they are infinite", lambda v, f: np.clip(v, -f.largest, f.largest)),
    ("the largest number where they are infinity", lambda v, f: np.minimum(v, f.largest)),
    ("the lowest number where they are minus infinity", lambda v, f: np.maximum(v, -f.largest)),
    (
        "minus infinity where they are the lowest number",
        lambda v, f: np.where(v == -f.largest, -np.inf, v),
    ),
    ("0 where they are subnormal", lambda v, f: np.where(np.abs(v) < f.smallest_normal, 0.0, v)),
    *_ROUNDINGS,
    ("rounded to integers", lambda v, _: np.rint(v)),
    ("cut off to integers", lambda v, _: np.trunc(v)),
    ("rounded down to integers", lambda v, _: np.floor(v)),
    ("rounded up to integers", lambda v, _: np.ceil(v)),
    ("rounded to integers, halves up", lambda v, _: np.floor(v + 0.5)),
    *((f"kept in the range of {name}", _within(*_range(name))) for name in _RANGES),
    *((f"at least {value:g}", _at_least(value)) for value in (-1.0, -128.0)),
    *(
        (f"at least the lowest number of {name}", _at_least(-float_format(name).largest))
        for name in ("float16", "float32")
    ),
    (
        "at least the smallest normal number of float32",
        _at_least(float_format("float32").smallest_normal),
    ),
)


def _of_floats(change: Change) -> Callable[[Array], Array]:
    """Change floating-point numbers, rounded afterwards; leave integers as they are."""

    def changed(array: Array) -> Array:
        if array.dtype.kind in "iu":
            return array
        fmt = float_format(name_of(array.dtype))
        return narrow(np.asarray(change(widen(array), fmt)), fmt.name)

    return changed


def _through(name: str) -> Callable[[Array], Array]:
    return lambda array: array.astype(name).astype(array.dtype)


def _through_clipped(name: str) -> Callable[[Array], Array]:
    """Convert to a floating-point type and back; what is then too large is the largest number."""

    def through(array: Array) -> Array:
        ends, other = np.iinfo(array.dtype), array.astype(name)
        inside = np.where(other < ends.max, other, other.dtype.type(0)).astype(array.dtype)
        return np.where(other < ends.max, inside, array.dtype.type(ends.max))

    return through


def _between(least: float, most: float) -> Callable[[Array], Array]:
    def clipped(array: Array) -> Array:
        ends = np.iinfo(array.dtype)
        return np.clip(array, max(int(least), ends.min), min(int(most), ends.max))

    return clipped


_CHANGES_OF_INTEGERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    *(
        (f"converted to {name} and back", _through(name))
        for name in (*INTEGERS, "float16", "float32", "float64")
    ),
    *(
        (f"converted to {name} and back, the largest at most", _through_clipped(name))
        for name in ("float32", "float64")
    ),
    *((f"kept in the range of {name}", _between(*_range(name))) for name in INTEGERS[:-2]),
    ("kept from -127 to 127", _between(-127, 127)),
    ("0 where they are negative", lambda array: np.maximum(array, 0)),
    ("without their sign", np.abs),
)


def _of_integers(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda array: change(array) if array.dtype.kind in "iu" else array


# Places of numbers -------------------------------------------------------------------------------


def of_numbers() -> Iterator[Slip]:
    """Yield slips in which numbers are changed where they are read, added, divided or returned."""
    yield from _changed(_CHANGES)
    for words, of_integers in _CHANGES_OF_INTEGERS:
        changed = _of_integers(of_integers)
        said = f"integers were {words} before they are compared"
        yield Slip(said, "reduce", of_cells(changed), TAKING_INTEGERS)
        said = f"results that are integers were {words}"
        yield Slip(said, "reduce", on_outputs(changed), TAKING_INTEGERS)
    said = "results were cut off, not rounded"
    yield Slip(said, "reduce", computed(_cut_off_results), AVERAGES)
    yield from _of_averages(_ROUNDINGS)


def other_numbers(what: str) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Yield words and a change for each way to take other numbers for floating-point ones."""
    for words, change in _CHANGES:
        yield f"{what} were {words}", _of_floats(change)


def of_bits(value: float, words: str) -> Iterator[Slip]:
    """Yield slips in which numbers have so many significant bits."""
    bits = int(value)
    changes: tuple[tuple[str, Change], ...] = (
        (f"rounded to {words} bits", lambda v, _: _to_bits(v, bits, np.rint)),
        (f"cut off to {words} bits", lambda v, _: _cut_off(v, bits)),
    )
    yield from _changed(changes)
    yield from _of_averages(changes)


def of_number(value: float, words: str) -> Iterator[Slip]:
    """Yield slips in which a given number takes the place of others."""
    yield from _changed(
        (
            (f"at least {words}", _at_least(value)),
            (f"at most {words}", _at_most(value)),
            (f"{words} where they are NaN", _where(np.isnan, value)),
            (f"{words} where they are minus infinity", _where(np.isneginf, value)),
            (f"{words} where they are infinite", _where(np.isinf, value)),
            (f"{words} where they are 0", _where(lambda v: v == 0, value)),
        )
    )


def of_factor(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which results are so many times as large."""
    change = _of_floats(lambda v, _: v * value)
    yield Slip(f"results were {words} times as large", "reduce", on_outputs(change))


def of_shift(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which results are so much more."""
    change = _of_floats(lambda v, _: v + value)
    yield Slip(f"results were {words} more", "reduce", on_outputs(change))


def of_divisor_shift(value: float, words: str) -> Iterator[Slip]:
    """Yield the slip in which divisors are so much more."""

    def compute(taps: Taps) -> Doubles:
        return np.where(taps.divisor > 0, taps.sums / (taps.divisor + value), np.nan)

    yield Slip(f"divisors were {words} more", "reduce", computed(compute), AVERAGES)


def _of_averages(changes: tuple[tuple[str, Change], ...]) -> Iterator[Slip]:
    for words, change in changes:
        said = f"cells, running sums and averages were {words}"
        yield Slip(said, "reduce", _averaged(change), AVERAGES)
        said = f"sums were multiplied by reciprocals {words}"
        yield Slip(said, "reduce", _reciprocal(change), AVERAGES)


def _changed(changes: tuple[tuple[str, Change], ...]) -> Iterator[Slip]:
    for words, change in changes:
        of_floats = _of_floats(change)
        yield Slip(f"results were {words}", "reduce", on_outputs(of_floats))
        yield Slip(f"cells were {words}", "reduce", of_cells(of_floats))
        yield Slip(f"sums were {words} before the division", "reduce", _summed(change), AVERAGES)
        yield Slip(f"running sums were {words}", "reduce", _summed(change, running=True), AVERAGES)


def of_cells(change: Callable[[Array], Array]) -> StepWrap:
    """Let the step `reduce` have changed cells."""
    return lambda right: (
        lambda gathered, divisor: right(replace(gathered, data=change(gathered.data)), divisor)
    )


Computed = Callable[["Taps"], Any]
"""Results as doubles, of the output's shape."""


class Taps(NamedTuple):
    """The cells of all windows as doubles, the divisors, and the format of the results."""

    windows: WindowCells
    divisor: Divisor
    fmt: FloatFormat

    @property
    def is_cell(self) -> Array:
        """Which taps are cells, in the shape of the cells."""
        return np.broadcast_to(self.windows.is_cell, self.windows.cells.shape)

    @property
    def sums(self) -> Doubles:
        """The sum of each window, in the output's shape."""
        return self.windows.fold(np.zeros(()), np.add)

    def shaped(self, values: Doubles) -> Doubles:
        """Return one value for each window in the output's shape."""
        return values.reshape(self.windows.shape)

    def divided(self, sums: Doubles, divisor: Any = None) -> Doubles:
        """Divide sums, given in the output's shape."""
        by = self.divisor if divisor is None else divisor
        return np.where(self.divisor > 0, sums / np.maximum(by, 1), np.nan)


def computed(compute: Computed) -> StepWrap:
    """Compute floating-point results from the cells of windows in doubles, rounded once."""

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        cells = np.prod(
            [
                len(lo) * int((hi - lo).max(initial=1))
                for lo, hi in zip(gathered.lo, gathered.hi, strict=True)
            ]
        ) * np.prod(gathered.data.shape[:2])
        if gathered.data.dtype.kind in "iu" or cells > _MOST_CELLS:
            return right(gathered, divisor)
        fmt = float_format(name_of(gathered.data.dtype))
        return narrow(compute(Taps(_window_cells(gathered), divisor, fmt)), fmt.name)

    return instead(other)


@lru_cache(maxsize=8)  # many slips are tried on one vector
def _window_cells(gathered: Gathered) -> WindowCells:
    return window_cells(replace(gathered, data=widen(gathered.data)))


def _summed(change: Change, *, running: bool = False) -> StepWrap:
    """Divide changed sums, or the last of running sums that are all changed."""

    def compute(taps: Taps) -> Doubles:
        if running:
            return taps.divided(
                taps.windows.fold(np.zeros(()), lambda a, b: change(a + b, taps.fmt))
            )
        return taps.divided(change(taps.sums, taps.fmt))

    return computed(compute)


def _averaged(change: Change) -> StepWrap:
    """Compute averages of changed cells, and change each number on the way."""

    def compute(taps: Taps) -> Doubles:
        of = taps.fmt
        sums = taps.windows.fold(np.zeros(()), lambda a, b: change(a + change(b, of), of))
        return np.asarray(change(taps.divided(sums), of))

    return computed(compute)


def _cut_off_results(taps: Taps) -> Doubles:
    return _cut_off(taps.divided(taps.sums), taps.fmt.precision)


def _reciprocal(change: Change) -> StepWrap:
    def compute(taps: Taps) -> Doubles:
        reciprocals = change(1.0 / np.maximum(taps.divisor, 1), taps.fmt)
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
    for words, combine in _COMPARISONS:
        yield Slip(words, "reduce", computed(_compared(combine)), MAXIMUM)
    for words, kinds in (
        ("floating-point numbers were compared as signed integers", {"f": "i"}),
        ("floating-point numbers were compared as unsigned integers", {"f": "u"}),
        ("signed and unsigned integers were compared as the others", {"i": "u", "u": "i"}),
    ):
        yield Slip(words, "reduce", instead(_as_bits(kinds)), MAXIMUM)
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
    for words, axes in _ALONG:
        for kind in ("its own type", "float32", "float64"):
            for way, running in (("differences of running sums", _differences), ("slid", _slid)):
                said = f"sums were {way}{words}, in {kind}"
                yield Slip(said, "reduce", instead(_by_running_sums(running, axes, kind)), AVERAGES)


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

_COMPARISONS: tuple[tuple[str, Callable[[Doubles, Doubles], Any]], ...] = (
    (
        "a cell took the place of the one before unless that is larger",
        lambda a, b: np.where(a > b, a, b),
    ),
    ("a cell took the place of the first only if it is larger", lambda a, b: np.where(b > a, b, a)),
    (
        "a cell took the place of another only if its magnitude is larger",
        lambda a, b: np.where(np.abs(b) > np.abs(a), b, a),
    ),
)


def _compared(combine: Callable[[Doubles, Doubles], Any]) -> Computed:
    def compute(taps: Taps) -> Doubles:
        first = taps.windows.cells[..., 0]
        nothing = np.where(taps.windows.is_cell.any(-1), first, -np.inf)
        return taps.windows.fold(nothing, combine)

    return compute


def _as_bits(kinds: dict[str, str]) -> Callable[[Reduce, Gathered, Divisor], Array]:
    """Compare data of some kinds by their bits as data of others."""

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        kind = kinds.get(data.dtype.kind if data.dtype.kind in "iu" else "f")
        if kind is None:
            return right(gathered, divisor)
        bits = np.ascontiguousarray(data).view(f"{kind}{data.dtype.itemsize}")
        return right(replace(gathered, data=bits), divisor).view(data.dtype)

    return other


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


Running = Callable[[Array, Array, Array], Array]
"""From cells along the first axis, and starts and stops of windows: the sum of each window."""


def _differences(cells: Array, lo: Array, hi: Array) -> Array:
    running = np.zeros((len(cells) + 1, *cells.shape[1:]), cells.dtype)
    np.cumsum(cells, axis=0, dtype=cells.dtype, out=running[1:])
    return running[np.maximum(hi, lo)] - running[lo]


def _slid(cells: Array, lo: Array, hi: Array) -> Array:
    """Add the cells that enter a window to the sum of the one before; subtract those that left."""
    sums = np.zeros((len(lo), *cells.shape[1:]), cells.dtype)
    running, entered, left = np.zeros(cells.shape[1:], cells.dtype), int(lo[0]), int(lo[0])
    for number, (begin, end) in enumerate(zip(lo.tolist(), hi.tolist(), strict=True)):
        for cell in cells[entered:end]:
            running = running + cell
        for cell in cells[left:begin]:
            running = running - cell
        entered, left = max(entered, end), max(left, begin)
        sums[number] = running
    return sums


def _added(cells: Array, lo: Array, hi: Array) -> Array:
    ends = zip(lo.tolist(), hi.tolist(), strict=True)
    return np.stack([cells[a:b].sum(0, dtype=cells.dtype) for a, b in ends])


def _by_running_sums(
    running: Running, axes: slice, kind: str
) -> Callable[[Reduce, Gathered, Divisor], Array]:
    """Take sums along some axes in an unsound way, along the others as they should be."""

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if gathered.data.dtype.kind in "iu":
            return right(gathered, divisor)
        name = name_of(gathered.data.dtype)
        sums = widen(gathered.data).astype(dtype_of(name if kind == "its own type" else kind))
        unsound = range(len(gathered.lo))[axes]
        for j in reversed(range(len(gathered.lo))):
            along = running if j in unsound else _added
            cells = np.moveaxis(sums, 2 + j, 0)
            sums = np.moveaxis(along(cells, gathered.lo[j], gathered.hi[j]), 0, 2 + j)
        counts = np.maximum(divisor, 1).astype(sums.dtype)
        return narrow(widen(np.where(divisor > 0, sums / counts, np.nan)), name)

    return other
