"""Round once: from an exact value, held in one or two doubles or as a ratio, to an element type.

Rounding a value to double and then to a narrower type can be wrong at ties. Rounding to *odd*
first cannot: when a value is not a double, take of its two neighbours the one whose last bit is
set. A double keeps at least two bits more than every narrower type here, so the second rounding,
to nearest even, sees on which side of a tie the value lies (docs/numerics.md, "Rounding once").
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.dtypes import dtype_of
from conformance.vector import Array

Doubles = npt.NDArray[np.float64]


def widen(values: Array) -> Doubles:
    """Return float values of any element type as doubles, exactly."""
    source = to_float32(values) if values.dtype == dtype_of("bfloat16") else values
    return source.astype(np.float64)


def to_float32(halves: Array) -> npt.NDArray[np.float32]:
    """Return float16 or bfloat16 values as float32, exactly."""
    if halves.dtype == dtype_of("bfloat16"):
        bits = np.ascontiguousarray(halves).view(np.uint16).astype(np.uint32)
        return (bits << np.uint32(16)).view(np.float32)
    return halves.astype(np.float32)


def narrow(values: Doubles, name: str) -> Array:
    """Round doubles to the element type `name`, to nearest, ties to even."""
    if name != "bfloat16":
        # A double below half the smallest subnormal rounds to zero: that is no surprise here.
        with np.errstate(under="ignore", over="ignore"):
            return values.astype(dtype_of(name))
    # There is no direct conversion: through float32, rounded to odd, then to nearest even.
    with np.errstate(under="ignore", over="ignore"):
        nearest = values.astype(np.float32)
    bits = _to_odd(nearest.view(np.uint32), np.abs(nearest) > np.abs(values), nearest != values)
    bits = bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
    halves = np.where(np.isnan(values), np.uint32(0x7FC0), bits >> np.uint32(16))
    return halves.astype(np.uint16).view(dtype_of("bfloat16"))


def round_pair(high: Doubles, low: Doubles, name: str) -> Array:
    """Round the exact sum `high + low` (|low| at most an ulp of high, both finite) to `name`."""
    nearest, rest = two_sum(high, low)
    if name == "float64":
        return nearest
    away = (rest != 0) & (np.signbit(rest) != np.signbit(nearest))
    odd = _to_odd(nearest.view(np.uint64), away, rest != 0).view(np.float64)
    return narrow(odd, name)


def round_ratio(numerator: int, denominator: int, name: str) -> Array:
    """Round the exact quotient of two integers to `name`; a 0-d array."""
    try:
        # int / int in Python is the correctly rounded double.
        nearest = np.array(numerator / denominator, np.float64)
    except OverflowError:
        return narrow(np.array(np.copysign(np.inf, 1 if numerator > 0 else -1)), name)
    if name == "float64":
        return nearest
    above, below = float(nearest).as_integer_ratio()
    difference = above * denominator - numerator * below
    away = (difference > 0) if numerator > 0 else (difference < 0)
    odd = _to_odd(nearest.view(np.uint64), np.array(away), np.array(difference != 0))
    return narrow(odd.view(np.float64), name)


def two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """Return s = fl(a + b) and the rounding error a + b - s, exactly (Knuth's TwoSum)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _to_odd(
    bits: npt.NDArray[np.unsignedinteger],
    away: npt.NDArray[np.bool_],
    inexact: npt.NDArray[np.bool_],
) -> npt.NDArray[np.unsignedinteger]:
    """Turn values rounded to nearest, given as bits, into the same values rounded to odd."""
    # Sign and magnitude: one less in the bits is one step towards zero.
    truncated = bits - (away & inexact).astype(bits.dtype)
    odd: npt.NDArray[np.unsignedinteger] = truncated | inexact.astype(bits.dtype)
    return odd
