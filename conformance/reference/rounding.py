"""Round once: from an exact value, held in one or two doubles or as a ratio, to an element type.

Rounding a value to nearest double and then to a narrower type can be wrong at ties. Rounding to
*odd* first is always right: a value that is not a double becomes the one of its two neighbours
whose last bit is set. A double has at least two bits more than every narrower type here, so the
second rounding, to nearest even, sees on which side of a tie the value lies
(docs/development/proofs.md, "Rounding once").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from conformance.dtypes import OF_ML_DTYPES, dtype_of
from conformance.vector import Array

Doubles = npt.NDArray[np.float64]

_OF_ML_DTYPES = frozenset(map(dtype_of, OF_ML_DTYPES))


def widen(values: Array) -> Doubles:
    """Return values of any element type as doubles: exactly, but for integers beyond 2**53."""
    source = to_float32(values) if values.dtype in _OF_ML_DTYPES else values
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return source.astype(np.float64)


def equal_numbers(one: Array, other: Array) -> npt.NDArray[np.bool_]:
    """Say where numbers are equal, or both NaN."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def to_float32(values: Array) -> npt.NDArray[np.float32]:
    """Return values of a type of 16 or 8 bits as float32, exactly."""
    if values.dtype == dtype_of("bfloat16"):
        bits = np.ascontiguousarray(values).view(np.uint16).astype(np.uint32)
        return (bits << np.uint32(16)).view(np.float32)
    return values.astype(np.float32)


def narrow(values: Doubles, name: str) -> Array:
    """Round doubles to the element type `name`, to nearest, ties to even.

    What is too large for a type without infinities is NaN.
    """
    if name not in OF_ML_DTYPES:
        # Underflow and overflow are what rounding is expected to do here: no warnings.
        with np.errstate(under="ignore", over="ignore"):
            return values.astype(dtype_of(name))
    # numpy cannot convert directly: round to odd in float32, then to nearest even.
    with np.errstate(under="ignore", over="ignore"):
        nearest = values.astype(np.float32)
    bits = _to_odd(nearest.view(np.uint32), np.abs(nearest) > np.abs(values), nearest != values)
    if name != "bfloat16":
        with np.errstate(all="ignore"):
            return bits.view(np.float32).astype(dtype_of(name))
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


def round_ratios(numerators: Sequence[int], denominators: Sequence[int], name: str) -> Array:
    """Round exact quotients of integers to `name`, each once; denominators are above zero."""
    rounded = [_round_ratio(*ratio) for ratio in zip(numerators, denominators, strict=True)]
    nearest = np.array([double for double, _ in rounded], np.float64)
    if name == "float64":
        return nearest
    error = np.array([sign for _, sign in rounded], np.int8)
    away = error * np.sign(nearest) > 0
    odd = _to_odd(nearest.view(np.uint64), away, error != 0).view(np.float64)
    return narrow(odd, name)


def _round_ratio(numerator: int, denominator: int) -> tuple[float, int]:
    """Return the double nearest to a quotient, and the sign of its rounding error.

    An overflow gives an infinity without an error: it stays one in every type.
    """
    try:
        nearest = numerator / denominator  # of integers, correctly rounded by Python
    except OverflowError:
        return (math.inf if numerator > 0 else -math.inf), 0
    above, below = nearest.as_integer_ratio()
    difference = above * denominator - numerator * below
    return nearest, (difference > 0) - (difference < 0)


def two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """Return s = fl(a + b) and the rounding error a + b - s, exactly (Knuth's TwoSum)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """Return p = fl(a * b) and the rounding error a * b - p, exactly (Dekker's product)."""
    product = a * b
    (high, low), (head, tail) = _halves(a), _halves(b)
    return product, ((high * head - product) + high * tail + low * head) + low * tail


def _halves(a: Doubles) -> tuple[Doubles, Doubles]:
    """Return two numbers of 26 bits whose sum is a number (Veltkamp's split)."""
    split = a * (2.0**27 + 1.0)
    head = split - (split - a)
    return head, a - head


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
