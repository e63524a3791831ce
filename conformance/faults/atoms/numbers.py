"""Numbers that are changed: cells before they are reduced, sums on the way, and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import INTEGERS, FloatFormat, float_format, name_of
from conformance.faults.atoms.window_cells import Taps, computed
from conformance.faults.behaviour import Behaviour
from conformance.faults.wraps import after, before
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Change = Callable[[Array], Array]


class Number(NamedTuple):
    """Other floating-point numbers: words that follow "were", and what doubles become.

    `of(doubles, format)` gets the format of the numbers, to which its result is rounded.
    """

    words: str
    of: Callable[[Doubles, FloatFormat], Any]


class Integer(NamedTuple):
    """Other integers in place of some: words that follow "were", and what they become."""

    words: str
    of: Change


def is_float(data: Array) -> bool:
    """Say whether data are floating-point."""
    return data.dtype.kind not in "iu"


def of_floats(number: Number) -> Change:
    """Change floating-point numbers, rounded afterwards; leave integers as they are."""

    def changed(array: Array) -> Array:
        if not is_float(array):
            return array
        fmt = float_format(name_of(array.dtype))
        return narrow(np.asarray(number.of(widen(array), fmt)), fmt.name)

    return changed


def in_doubles(change: Callable[[Doubles], Doubles]) -> Change:
    """Change floating-point numbers as doubles, rounded afterwards."""
    return of_floats(Number("", lambda doubles, _: change(doubles)))


def of_integers(integer: Integer) -> Change:
    """Change integers alone."""
    return lambda data: data if is_float(data) else integer.of(data)


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


def within(kind: str) -> Number:
    """Clamp numbers to the range of a type."""
    return Number(f"kept in the range of {kind}", lambda v, _: np.clip(v, *range_of(kind)))


def range_of(kind: str) -> tuple[float, float]:
    """Return the least and the largest finite number of a type."""
    if kind in INTEGERS:
        return int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return -float_format(kind).largest, float_format(kind).largest


def rounded_to(kind: str) -> Number:
    """Round numbers to another type."""
    return Number(f"rounded to {kind}", lambda v, _: widen(narrow(v, kind)))


def rounded_to_bits(bits: int) -> Number:
    """Round significands to so many bits."""
    return Number(f"rounded to {bits} bits", lambda v, _: _to_bits(v, bits, np.rint))


def cut_off_to(bits: int) -> Number:
    """Cut significands off to so many bits."""
    return Number(f"cut off to {bits} bits", lambda v, _: cut_off(v, bits))


def cut_off(values: Doubles, bits: int) -> Doubles:
    """Cut the significands of doubles off to so many bits."""
    return _to_bits(values, bits, np.trunc)


def _to_bits(values: Doubles, bits: int, whole: Callable[[Doubles], Doubles]) -> Doubles:
    """Make significands of so many bits, which are then `whole` numbers."""
    significand, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    made: Doubles = np.ldexp(whole(np.ldexp(significand, bits)), exponent - bits)
    return np.where(np.isfinite(values), made, values)


MAGNITUDES = Number("without their sign", lambda v, _: np.abs(v))
ZERO_IF_NEGATIVE = where("0 where they are negative", lambda v: v < 0, 0.0)
ZERO_IF_NAN = where("0 where they are NaN", np.isnan, 0.0)
INFINITY_IF_NAN = where("infinity where they are NaN", np.isnan, np.inf)
MINUS_INFINITY_IF_NAN = where("minus infinity where they are NaN", np.isnan, -np.inf)
NAN_IF_MINUS_INFINITY = where("NaN where they are minus infinity", np.isneginf, np.nan)
ZERO_IF_MINUS_INFINITY = where("0 where they are minus infinity", np.isneginf, 0.0)
LARGEST_IF_INFINITE = Number(
    "the largest number where they are infinite", lambda v, f: np.clip(v, -f.largest, f.largest)
)
LARGEST_IF_INFINITY = Number(
    "the largest number where they are infinity", lambda v, f: np.minimum(v, f.largest)
)
LOWEST_IF_MINUS_INFINITY = Number(
    "the lowest number where they are minus infinity", lambda v, f: np.maximum(v, -f.largest)
)
MINUS_INFINITY_IF_LOWEST = Number(
    "minus infinity where they are the lowest number",
    lambda v, f: np.where(v == -f.largest, -np.inf, v),
)
ZERO_IF_SUBNORMAL = Number(
    "0 where they are subnormal", lambda v, f: np.where(np.abs(v) < f.smallest_normal, 0.0, v)
)
ROUNDED_TO_INTEGERS = Number("rounded to integers", lambda v, _: np.rint(v))
CUT_OFF_TO_INTEGERS = Number("cut off to integers", lambda v, _: np.trunc(v))
ROUNDED_DOWN = Number("rounded down to integers", lambda v, _: np.floor(v))
AT_LEAST_LOWEST_OF_FLOAT16, AT_LEAST_LOWEST_OF_FLOAT32 = (
    at_least(-float_format(kind).largest, f"the lowest number of {kind}")
    for kind in ("float16", "float32")
)
AT_LEAST_SMALLEST_NORMAL = at_least(
    float_format("float32").smallest_normal, "the smallest normal number of float32"
)
_NARROW = ("float32", "float16", "bfloat16")
ROUNDINGS = (
    *map(rounded_to, _NARROW),
    *(cut_off_to(float_format(kind).precision) for kind in _NARROW),
)
NUMBERS = (
    MAGNITUDES,
    Number("negated", lambda v, _: -v),
    ZERO_IF_NEGATIVE,
    ZERO_IF_NAN,
    INFINITY_IF_NAN,
    MINUS_INFINITY_IF_NAN,
    where("0 where they are infinite", np.isinf, 0.0),
    where("NaN where they are infinite", np.isinf, np.nan),
    where("0 where they are NaN or infinite", lambda v: ~np.isfinite(v), 0.0),
    NAN_IF_MINUS_INFINITY,
    ZERO_IF_MINUS_INFINITY,
    LARGEST_IF_INFINITE,
    LARGEST_IF_INFINITY,
    LOWEST_IF_MINUS_INFINITY,
    MINUS_INFINITY_IF_LOWEST,
    ZERO_IF_SUBNORMAL,
    *ROUNDINGS,
    ROUNDED_TO_INTEGERS,
    CUT_OFF_TO_INTEGERS,
    ROUNDED_DOWN,
    Number("rounded up to integers", lambda v, _: np.ceil(v)),
    Number("rounded to integers, halves up", lambda v, _: np.floor(v + 0.5)),
    *map(within, ("float16", "float32", "int8", "uint8", "int16", "int32")),
    *map(at_least, (-1.0, -128.0)),
    AT_LEAST_LOWEST_OF_FLOAT16,
    AT_LEAST_LOWEST_OF_FLOAT32,
    AT_LEAST_SMALLEST_NORMAL,
)


# Integers ----------------------------------------------------------------------------------------


def through(kind: str) -> Integer:
    """Convert integers to another type and back."""
    return Integer(
        f"converted to {kind} and back", lambda array: array.astype(kind).astype(array.dtype)
    )


def through_clamped(kind: str) -> Integer:
    """Convert to a floating-point type, to its largest number in the range at most, and back."""

    def of(array: Array) -> Array:
        most = np.array(np.iinfo(array.dtype).max, kind)
        if int(most) > np.iinfo(array.dtype).max:
            most = np.nextafter(most, np.zeros((), kind))
        clamped: Array = np.minimum(array.astype(kind), most).astype(array.dtype)
        return clamped

    return Integer(f"converted to {kind}, its largest that fits at most, and back", of)


def _through_clipped(kind: str) -> Integer:
    """Convert to a floating-point type and back; what is then too large is the largest number."""

    def of(array: Array) -> Array:
        ends, other = np.iinfo(array.dtype), array.astype(kind)
        inside = np.where(other < ends.max, other, other.dtype.type(0)).astype(array.dtype)
        return np.where(other < ends.max, inside, array.dtype.type(ends.max))

    return Integer(f"converted to {kind} and back, the largest at most", of)


def _kept(words: str, least: float, most: float) -> Integer:
    def of(array: Array) -> Array:
        ends = np.iinfo(array.dtype)
        return np.clip(array, max(int(least), ends.min), min(int(most), ends.max))

    return Integer(words, of)


KEPT_FROM_MINUS_127 = _kept("kept from -127 to 127", -127, 127)
# The widest first: where it explains all, a narrower one may do so, too, and is not what happens.
INTEGER_CHANGES = (
    *map(through, (*INTEGERS[::-1], "float64", "float32", "float16")),
    *map(_through_clipped, ("float64", "float32")),
    through_clamped("float32"),
    *(_kept(f"kept in the range of {kind}", *range_of(kind)) for kind in INTEGERS[:-2]),
    KEPT_FROM_MINUS_127,
    Integer("0 where they are negative", lambda array: np.maximum(array, 0)),
    Integer("without their sign", np.abs),
)


# Places ------------------------------------------------------------------------------------------


def on_cells(change: Change) -> StepWrap:
    """Let the step `reduce` have changed cells, of the same shape and type."""
    return before(
        lambda gathered, divisor: (replace(gathered, data=change(gathered.data)), divisor)
    )


def on_results(change: Change) -> StepWrap:
    """Change the first output."""
    return after(lambda right, *_: change(right))


def on_sums(number: Number) -> StepWrap:
    """Divide changed sums."""
    return computed(lambda taps: taps.divided(number.of(taps.sums, taps.fmt)))


def on_running_sums(number: Number) -> StepWrap:
    """Divide the last of running sums that are all changed."""

    def compute(taps: Taps) -> Doubles:
        added = taps.windows.fold(np.zeros(()), lambda a, b: number.of(a + b, taps.fmt))
        return taps.divided(added)

    return computed(compute)


# Wrong behaviours --------------------------------------------------------------------------------


def cells(number: Number | Integer, needs: Needs) -> Behaviour:
    """Reduce changed cells."""
    return _changed("cells", number, needs, on_cells)


def results(number: Number | Integer, needs: Needs) -> Behaviour:
    """Return changed results."""
    return _changed("results", number, needs, on_results)


def _changed(
    what: str, number: Number | Integer, needs: Needs, on: Callable[[Change], StepWrap]
) -> Behaviour:
    if isinstance(number, Integer):
        said, change = f"{what} that are integers", of_integers(number)
    else:
        said, change = what, of_floats(number)
    return Behaviour(f"as if {said} were {number.words}", needs, {"reduce": on(change)})
