"""Numbers that are changed: cells before they are reduced, sums on the way, and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS8, INTEGERS, FloatFormat, float_format, name_of
from conformance.faults.atoms.atom import Atom, Of, Place, family, faults
from conformance.faults.atoms.window_cells import Taps, computed
from conformance.faults.concerns import EVERY, INDEXED
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnOutputs
from conformance.operators.needs import AVERAGES
from conformance.operators.needs import INTEGERS as TAKING_INTEGERS
from conformance.operators.wraps import StepWrap, before
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Change = Callable[[Array], Array]


_Of = Callable[[Doubles, FloatFormat], Any]
"""What becomes of doubles, given the format of numbers to which that is rounded."""
Number = Atom[_Of]
"""Other floating-point numbers, and words that follow "were"."""
Integer = Atom[Change]
"""Other integers, and words that follow "were"."""


def is_float(data: Array) -> bool:
    """Say whether data are floating-point."""
    return data.dtype.kind not in "iu"


def of_floats(change: _Of) -> Change:
    """Change floating-point numbers, rounded afterwards; leave integers as they are."""

    def changed(array: Array) -> Array:
        if not is_float(array):
            return array
        fmt = float_format(name_of(array.dtype))
        return narrow(np.asarray(change(widen(array), fmt)), fmt.name)

    return changed


def in_doubles(change: Callable[[Doubles], Doubles]) -> Change:
    """Change floating-point numbers as doubles, rounded afterwards."""
    return of_floats(lambda doubles, _: change(doubles))


def _of_integers(change: Change) -> Change:
    return lambda data: data if is_float(data) else change(data)


# Floating-point numbers --------------------------------------------------------------------------


def where(words: str, holds: Callable[[Doubles], Any], value: float) -> Number:
    """Take numbers of some kind as one number."""
    return Number(words, lambda v, _: np.where(holds(v), value, v))


def at_least(value: float, words: str = "") -> Number:
    """Raise numbers to another one; unlike a maximum, this keeps the sign of zeros."""
    return where(f"at least {words or f'{value:g}'}", lambda v: v < value, value)


def at_most(value: float, words: str = "") -> Number:
    """Lower numbers to another one."""
    return where(f"at most {words or f'{value:g}'}", lambda v: v > value, value)


def range_of(kind: str) -> tuple[float, float]:
    """Return the least and the largest finite number of a type."""
    if kind in INTEGERS:
        return int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return -float_format(kind).largest, float_format(kind).largest


def rounded_to(kind: str) -> Number:
    """Round numbers to another type."""
    return Number(f"rounded to {kind}", lambda v, _: widen(narrow(v, kind)))


def _rounded_to_bits(bits: int) -> Number:
    """Round significands to so many bits."""
    return Number(f"rounded to {bits} bits", lambda v, _: to_bits(v, bits, np.rint))


def cut_off_to(bits: int) -> Number:
    """Cut significands off to so many bits."""
    return Number(f"cut off to {bits} bits", lambda v, _: to_bits(v, bits, np.trunc))


def to_bits(values: Doubles, bits: int, whole: Callable[[Doubles], Doubles]) -> Doubles:
    """Make significands of so many bits, which are then `whole` numbers."""
    significand, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    made: Doubles = np.ldexp(whole(np.ldexp(significand, bits)), exponent - bits)
    return np.where(np.isfinite(values), made, values)


MINUS_INFINITY_IF_NAN = where("minus infinity where they are NaN", np.isnan, -np.inf)
LOWEST_IF_MINUS_INFINITY = Number(
    "the lowest number where they are minus infinity", lambda v, f: np.maximum(v, -f.largest)
)
_NARROW = ("float32", "float16", "bfloat16")
_ROUNDINGS = (
    *map(rounded_to, _NARROW),
    *(cut_off_to(float_format(kind).precision) for kind in _NARROW),
)
NUMBERS: tuple[Number, ...] = (
    Number("without their sign", lambda v, _: np.abs(v)),
    Number("negated", lambda v, _: -v),
    where("0 where they are negative", lambda v: v < 0, 0.0),
    where("0 where they are NaN", np.isnan, 0.0),
    where("infinity where they are NaN", np.isnan, np.inf),
    MINUS_INFINITY_IF_NAN,
    where("0 where they are infinite", np.isinf, 0.0),
    where("NaN where they are infinite", np.isinf, np.nan),
    where("0 where they are NaN or infinite", lambda v: ~np.isfinite(v), 0.0),
    where("NaN where they are minus infinity", np.isneginf, np.nan),
    where("0 where they are minus infinity", np.isneginf, 0.0),
    Number(
        "the largest number where they are infinite", lambda v, f: np.clip(v, -f.largest, f.largest)
    ),
    Number("the largest number where they are infinity", lambda v, f: np.minimum(v, f.largest)),
    LOWEST_IF_MINUS_INFINITY,
    Number(
        "minus infinity where they are the lowest number",
        lambda v, f: np.where(v == -f.largest, -np.inf, v),
    ),
    Number(
        "0 where they are subnormal", lambda v, f: np.where(np.abs(v) < f.smallest_normal, 0.0, v)
    ),
    *_ROUNDINGS,
    *map(rounded_to, FLOATS8),
    Number("rounded to integers", lambda v, _: np.rint(v)),
    Number("cut off to integers", lambda v, _: np.trunc(v)),
    Number("rounded down to integers", lambda v, _: np.floor(v)),
    Number("rounded up to integers", lambda v, _: np.ceil(v)),
    Number("rounded to integers, halves up", lambda v, _: np.floor(v + 0.5)),
    *family(
        "kept in the range of {}",
        ("float16", "float32", "int8", "uint8", "int16", "int32"),
        lambda kind: lambda v, _: np.clip(v, *range_of(kind)),
    ),
    *map(at_least, (1e-6, -1.0, -128.0, -10000.0, -1e20, -1e30)),
    *family(
        "0 where their magnitude is below {:g}",
        (1e-3, 1e-6),
        lambda limit: lambda v, _: np.where(np.abs(v) < limit, 0.0, v),
    ),
    Number(
        "rounded to multiples of 2**-8",
        lambda v, _: np.where(np.isfinite(v), np.rint(v * 256.0) / 256.0, v),
    ),
    Number("kept from -1 to 1", lambda v, _: np.clip(v, -1.0, 1.0)),
    *(
        at_least(-float_format(kind).largest, f"the lowest number of {kind}")
        for kind in ("float16", "float32")
    ),
    at_least(float_format("float32").smallest_normal, "the smallest normal number of float32"),
)


# Integers ----------------------------------------------------------------------------------------


def _through_clamped_float32(array: Array) -> Array:
    """Convert to float32, to its largest number in the range at most, and back."""
    most = np.array(np.iinfo(array.dtype).max, np.float32)
    if int(most) > np.iinfo(array.dtype).max:
        most = np.nextafter(most, np.float32(0))
    clamped: Array = np.minimum(array.astype(np.float32), most).astype(array.dtype)
    return clamped


def _through_clipped(kind: str) -> Integer:
    """Convert to a floating-point type and back; what is then too large is the largest number."""

    def of(array: Array) -> Array:
        ends, other = np.iinfo(array.dtype), array.astype(kind)
        inside = np.where(other < ends.max, other, other.dtype.type(0)).astype(array.dtype)
        return np.where(other < ends.max, inside, array.dtype.type(ends.max))

    return Integer(f"converted to {kind} and back, the largest at most", of)


def _within(array: Array, least: float, most: float) -> Array:
    ends = np.iinfo(array.dtype)
    return np.clip(array, max(int(least), ends.min), min(int(most), ends.max))


# The widest first: where it explains all, a narrower one may do so, too, and is not what happens.
_INTEGERS: tuple[Integer, ...] = (
    *family(
        "converted to {} and back",
        (*INTEGERS[::-1], "float64", "float32", "float16"),
        lambda kind: lambda array: array.astype(kind).astype(array.dtype),
    ),
    *map(_through_clipped, ("float64", "float32")),
    Integer(
        "converted to float32, its largest that fits at most, and back", _through_clamped_float32
    ),
    # Those of a narrower type of the same sign wrap.
    *family(
        "kept in {} bits",
        (32, 16, 8),
        lambda n: lambda array: array.astype(f"{array.dtype.kind}{n // 8}").astype(array.dtype),
    ),
    *family(
        "kept in the range of {}",
        INTEGERS[:-2],
        lambda kind: lambda array: _within(array, *range_of(kind)),
    ),
    Integer("kept from -127 to 127", lambda array: _within(array, -127, 127)),
    Integer("0 where they are negative", lambda array: np.maximum(array, 0)),
    Integer("without their sign", np.abs),
)


# What is outside of a window ---------------------------------------------------------------------


class Span(NamedTuple):
    """A part of data (N, C, d1..dr) that is computed over at once: words, the first of its axes."""

    words: str
    first_axis: int

    def largest(self, data: Array) -> Array:
        """Return the largest finite magnitude of each part, 1 where there is none but zero."""
        wide = np.abs(widen(data))
        axes = tuple(range(self.first_axis, data.ndim))
        most = np.where(np.isfinite(wide), wide, 0.0).max(axes, keepdims=True, initial=0.0)
        return np.where(most > 0, most, 1.0)

    def in_fixed_point(self, data: Array) -> Array:
        """Round floating-point data to multiples of the last bit of the largest of its part."""
        if not is_float(data):
            return data
        bits = max(24, float_format(name_of(data.dtype)).precision)
        unit = 2.0 ** (np.ceil(np.log2(self.largest(data))) - bits)
        wide = widen(data)
        with np.errstate(all="ignore"):
            rounded = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
        return narrow(np.where(unit > 0, rounded, wide), name_of(data.dtype))


OF_TENSOR, OF_BATCH, OF_PLANE = (
    Span("the whole tensor", 0),
    Span("its batch", 1),
    Span("its plane", 2),
)


def in_fixed_point(what: str) -> Iterator[Atom[Change]]:
    """Yield a change for each part by which numbers are scaled."""
    for span in (OF_TENSOR, OF_BATCH, OF_PLANE):
        unit = f"the last bit of the largest number of {span.words}"
        yield Atom(f"{what} are rounded to multiples of {unit}", span.in_fixed_point)


# Places ------------------------------------------------------------------------------------------


def on_cells(change: Change) -> StepWrap:
    """Let a step have changed cells, of the same shape and type."""
    return before(lambda given, *others: (replace(given, data=change(given.data)), *others))


def _loaded(summary: str, change: Change) -> Fault:
    """Let values and indices be those of changed cells."""
    said, wrap = f"{summary}, for values and indices", on_cells(change)
    return Fault(said, INDEXED, {"reduce": wrap, "further": wrap})


def _sums(change: _Of, taps: Taps) -> Doubles:
    return taps.divided(change(taps.sums, taps.fmt))


def _running_sums(change: _Of, taps: Taps) -> Doubles:
    """Divide the last of running sums that are all changed."""
    return taps.divided(taps.windows.fold(np.zeros(()), lambda a, b: change(a + b, taps.fmt)))


def _averages(change: _Of, taps: Taps) -> Doubles:
    """Compute averages of changed cells, and change each number on the way."""
    of = taps.fmt
    sums = taps.windows.fold(np.zeros(()), lambda a, b: change(a + change(b, of), of))
    return np.asarray(change(taps.divided(sums), of))


def _times_reciprocals(change: _Of, taps: Taps) -> Doubles:
    """Multiply sums by changed reciprocals of divisors."""
    reciprocals = change(1.0 / np.maximum(taps.divisor, 1), taps.fmt)
    return np.where(taps.divisor > 0, taps.sums * reciprocals, np.nan)


def _over_more(more: float, taps: Taps) -> Doubles:
    return np.where(taps.divisor > 0, taps.sums / (taps.divisor + more), np.nan)


def _added_to_second(wide: Doubles, _fmt: FloatFormat) -> Doubles:
    added = wide.copy()
    added[..., 1:2] += wide[..., :1]
    return added


def _cut_off_results(taps: Taps) -> Doubles:
    return to_bits(taps.divided(taps.sums), taps.fmt.precision, np.trunc)


# Faults ------------------------------------------------------------------------------------------


def _on_the_way(summary: str, compute: Callable[[_Of, Taps], Doubles]) -> Place[_Of]:
    return Place(summary, AVERAGES, "reduce", partial(computed, compute))


_ANYWHERE: tuple[Place[_Of], ...] = (
    Place("results are {}", EVERY, "reduce", lambda of: OnOutputs(of_floats(of))),
    Place("cells are {}", EVERY, "reduce", lambda of: on_cells(of_floats(of))),
    _on_the_way("sums are {} before the division", _sums),
    _on_the_way("running sums are {}", _running_sums),
)
_IN_AVERAGES = (
    _on_the_way("cells, running sums and averages are {}", _averages),
    _on_the_way("sums are multiplied by reciprocals {}", _times_reciprocals),
)
_OF_INTEGERS: tuple[Place[Change], ...] = (
    Place(
        "integers are {} before they are compared",
        TAKING_INTEGERS,
        "reduce",
        lambda of: on_cells(_of_integers(of)),
    ),
    Place(
        "results that are integers are {}",
        TAKING_INTEGERS,
        "reduce",
        lambda of: OnOutputs(_of_integers(of)),
    ),
)


def _in_places(places: Sequence[Place[Of]], atoms: Iterable[Atom[Of]]) -> Iterator[Fault]:
    for atom, place in product(atoms, places):
        yield place.fault(atom)


def every() -> Iterator[Fault]:
    """Yield numbers that are changed where they are read, added, divided or returned."""
    yield from _in_places(_ANYWHERE, NUMBERS)
    yield from _in_places(_OF_INTEGERS, _INTEGERS)
    for number in NUMBERS:
        yield _loaded(f"cells are {number.words}", of_floats(number.of))
    for integer in _INTEGERS:
        said = f"integers are {integer.words} before they are compared"
        yield _loaded(said, _of_integers(integer.of))
    yield from faults("{}", EVERY, "reduce", on_cells, in_fixed_point("cells"))
    said = "added to the second of a row if they are its first"
    yield _ANYWHERE[0].fault(Number(said, _added_to_second))
    for more in (1e-5, 1e-6):
        yield from of_divisor_shift(more, f"{more:g}")
    said = "results are cut off, not rounded"
    yield Fault(said, AVERAGES, {"reduce": computed(_cut_off_results)})
    yield from _in_places(_IN_AVERAGES, (*_ROUNDINGS, cut_off_to(20)))


# Of numbers that are known -----------------------------------------------------------------------


def of_bits(value: float, _words: str) -> Iterator[Fault]:
    """Yield numbers of so many significant bits."""
    numbers = (_rounded_to_bits(int(value)), cut_off_to(int(value)))
    yield from _in_places((*_ANYWHERE, *_IN_AVERAGES), numbers)


def of_number(value: float, words: str) -> Iterator[Fault]:
    """Yield a given number in place of others."""
    numbers = (
        at_least(value, words),
        at_most(value, words),
        where(f"{words} where they are NaN", np.isnan, value),
        where(f"{words} where they are minus infinity", np.isneginf, value),
        where(f"{words} where they are infinite", np.isinf, value),
        where(f"{words} where they are 0", lambda v: v == 0, value),
    )
    yield from _in_places(_ANYWHERE, numbers)
    for number in numbers:
        yield _loaded(f"cells are {number.words}", of_floats(number.of))


def of_factor(value: float, words: str) -> Iterator[Fault]:
    """Yield results that are so many times as large."""
    yield _ANYWHERE[0].fault(Number(f"{words} times as large", lambda v, _: v * value))


def of_shift(value: float, words: str) -> Iterator[Fault]:
    """Yield results that are so much more."""
    yield _ANYWHERE[0].fault(Number(f"{words} more", lambda v, _: v + value))


def of_divisor_shift(value: float, words: str) -> Iterator[Fault]:
    """Yield divisors that are so much more."""
    said = f"divisors are {words} more"
    yield Fault(said, AVERAGES, {"reduce": computed(_over_more, value)})
