"""Data patterns: what the inputs hold, each chosen so that some wrong behaviour shows.

Data are made of integers and powers of two from a raw bit stream, so that the same case has the
same data with every version of numpy and on every machine. Random words repeat with a prime period,
and planes with a period of seven: prime to every usual vector width, so that lanes and channels
are told apart, and short, so that files are small.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, DType, FloatFormat, dtype_of, float_format
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Doubles = npt.NDArray[np.float64]
_PLANES, _WORDS = 7, 251


@dataclass(frozen=True, slots=True)
class Canvas:
    """The array that a pattern fills: planes of one element type, for windows of one size."""

    shape: tuple[int, ...]  # (planes, d1..dr)
    window_cells: int
    fmt: FloatFormat
    bits: npt.NDArray[np.uint64]  # one random word per cell, in the shape of the planes

    def integers(self, low: int, high: int) -> Doubles:
        """Return integers low..high, evenly spread."""
        return (self.bits % np.uint64(high - low + 1)).astype(np.float64) + low

    def bells(self) -> Doubles:
        """Return numbers of a bell curve around 0, about as wide as 1, of full precision."""
        fields = [(self.bits >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)]
        total = sum(field.astype(np.float64) for field in fields) - 4 * 32767.5
        fine = ((self.bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(28)).astype(np.float64)
        return total * 2.0**-15 + fine * 2.0**-53

    def chosen(self, share: int) -> npt.NDArray[np.bool_]:
        """Mark about one cell in `share`, and the corners of every plane."""
        marked: npt.NDArray[np.bool_] = (self.bits >> np.uint64(20)) % np.uint64(max(1, share)) == 0
        corners = [np.array([0, d - 1]) for d in self.shape[1:]]
        ends = np.ix_(np.arange(self.shape[0]), *corners)
        marked[ends] = True
        return marked


SMALL = 8
"""Small integers are at most this in magnitude."""


def cancelling(fmt: FloatFormat) -> float:
    """Return a number so large that of a 1 added to it, about half of the bits are left."""
    return float(2.0 ** (fmt.precision // 2 + 1))


def above_one(steps: npt.NDArray[Any], fmt: FloatFormat) -> Doubles:
    """Return the numbers so many steps above 1, whose means lie halfway between two numbers."""
    numbers: Doubles = 1.0 + steps * 2.0 * fmt.unit
    return numbers


def impulses(c: Canvas) -> Doubles:
    """Few non-zero cells, so that bounds are a few ulp and any wrong divisor shows."""
    values = np.array([1.0, 2.0, 3.0, 5.0, -1.0, -3.0])[(c.bits % np.uint64(6)).astype(np.int64)]
    return np.where(c.chosen(c.window_cells), values, 0.0)


def ones(c: Canvas) -> Doubles:
    """All cells 1: the result is the share of counted cells in the divisor."""
    return np.ones(c.shape)


def index(c: Canvas) -> Doubles:
    """Every cell its own position, so that any other cell read shows."""
    most = min(2**c.fmt.precision, 2**16) - 5
    cells: Doubles = np.arange(prod(c.shape)).reshape(c.shape) % most + 1.0
    return cells


def integers(c: Canvas) -> Doubles:
    """Small integers of both signs: exact sums."""
    return c.integers(-SMALL, SMALL)


def normals(c: Canvas) -> Doubles:
    """Numbers of a bell curve with all their bits."""
    return c.bells()


def codes(c: Canvas) -> Doubles:
    """Every finite number of a type of 8 bits, in turn and in no order of size."""
    cells = np.arange(prod(c.shape), dtype=np.uint64).reshape(c.shape)
    # an odd step visits every code; a random start tells planes apart
    code = (cells * np.uint64(97) + c.bits.flat[0]).astype(np.uint8)
    numbers = widen(code.view(dtype_of(c.fmt.name)))
    return np.where(np.isfinite(numbers), numbers, 0.0)


def negative(c: Canvas) -> Doubles:
    """Negative numbers alone: a maximum or a sum that starts from 0 shows."""
    return -np.abs(c.bells()) - 0.5


def lowest(c: Canvas) -> Doubles:
    """Hold only numbers near the lowest finite one: a maximum that starts above them shows."""
    return c.fmt.largest * (c.integers(0, 7) / 32.0 - 1.0)


def large(c: Canvas) -> Doubles:
    """As large as sums of a window stay finite."""
    exponent = int(log2(c.fmt.largest)) - 3 - ceil(log2(c.window_cells + 1))
    return np.clip(c.bells(), -2, 2) * 2.0**exponent


def tiny(c: Canvas) -> Doubles:
    """Stay a little above the smallest normal number."""
    return c.bells() * c.fmt.smallest_normal * 2.0**4


def subnormals(c: Canvas) -> Doubles:
    """Subnormal numbers, and normal ones among them."""
    return c.integers(-40, 40) * c.fmt.smallest * np.where(c.chosen(5), 2.0**c.fmt.precision, 1.0)


def cancellation(c: Canvas) -> Doubles:
    """Large, minus large, small: what is left after cancellation is the answer."""
    large = cancelling(c.fmt)
    return np.array([large, -large, 1.0, large, -large, -0.25, 0.5])[
        (c.bits % np.uint64(7)).astype(np.int64)
    ]


def spikes(c: Canvas) -> Doubles:
    """Rare huge values before long runs of small ones: running sums never recover."""
    # Huge for sums kept in doubles too, where the type has such numbers.
    huge = 2.0 ** (60 if c.fmt.largest > 2.0**100 else 13)
    return np.where(c.chosen(29), huge, c.integers(1, 3) / 4.0)


def sign_changes(c: Canvas) -> Doubles:
    """Negative cells first and positive ones after, so that partial sums change sign."""
    ramp = np.arange(prod(c.shape[1:]), dtype=np.float64).reshape(c.shape[1:])
    return (ramp % 5 - 2.0) * 2.0 + c.integers(-1, 1)


def lossy(c: Canvas) -> Doubles:
    """Set the last bit: no number is representable one type down."""
    low = 2 ** (c.fmt.precision - 1)
    odd: Doubles = (low + 2 * c.integers(0, 2 ** min(c.fmt.precision - 3, 30)) + 1) / low
    return odd


def ties(c: Canvas) -> Doubles:
    """Neighbours of 1, so that means of two, four or eight lie halfway between two numbers."""
    return above_one(c.integers(0, 3), c.fmt)


def zeros(c: Canvas) -> Doubles:
    """Zeros of both signs."""
    return np.where(c.chosen(2), -0.0, 0.0)


def overflow(c: Canvas) -> Doubles:
    """Numbers whose sums overflow the element type though their means do not."""
    return c.fmt.largest * (0.5 + c.integers(0, 7) / 16.0)


def nan(c: Canvas) -> Doubles:
    """Put a few NaN at every place of a window; few windows hold two."""
    return np.where(_spread(c, 0), np.nan, c.integers(-8, 8))


def infinity(c: Canvas) -> Doubles:
    """Put in a few plus infinities."""
    return np.where(_spread(c, 1), np.inf, c.integers(-8, 8))


def minus_infinity(c: Canvas) -> Doubles:
    """Put in a few minus infinities."""
    return np.where(_spread(c, 2), -np.inf, c.integers(-8, 8))


def both_infinities(c: Canvas) -> Doubles:
    """Infinities of both signs: windows with both have no sum."""
    return np.where(c.chosen(3), np.where(c.bits & np.uint64(1), np.inf, -np.inf), 1.0)


def all_minus_infinity(c: Canvas) -> Doubles:
    """Nothing but minus infinity: the lowest finite value is no answer."""
    return np.full(c.shape, -np.inf)


def _spread(c: Canvas, turn: int) -> npt.NDArray[np.bool_]:
    step = max(2, 2 * c.window_cells + 1)
    cells = np.arange(prod(c.shape)).reshape(c.shape)
    marked: npt.NDArray[np.bool_] = (cells + turn) % step == step // 3
    return marked


def extremes(c: Canvas) -> Doubles:
    """Pick the ends of an integer type's range and their neighbours (see _whole_numbers)."""
    return c.integers(0, 5)


def names(c: Canvas) -> Doubles:
    """Every cell a number that no cell near it has, exact in every type: 251 of them take turns.

    The period is prime: cells whose distance is a multiple of 4, 1,024 or 65,536 differ.
    """
    cells = np.arange(prod(c.shape), dtype=np.float64).reshape(c.shape)
    named: Doubles = cells * 97 % _WORDS - _WORDS // 2
    return named


def edges(c: Canvas) -> Doubles:
    """Numbers near both ends and the middle of every axis alone, for windows of many cells.

    They grow along one plane, fall along the next, and the third holds impulses instead: so cells
    that are lost at any end show in a maximum, and the bound of a sum stays a few ulp.
    """
    near = [
        np.minimum(np.minimum(i, d - 1 - i), np.abs(i - d // 2)) < 3
        for d in c.shape[1:]
        for i in [np.arange(d)]
    ]
    marked = np.zeros(c.shape[1:], np.bool_)
    marked[np.ix_(*near)] = True
    rank = np.cumsum(marked).reshape(marked.shape) % 250
    planes = (np.arange(c.shape[0]) + int(c.bits.flat[0] % np.uint64(3))) % 3
    kinds = [np.where(marked, rank + 1.0, 0.0), np.where(marked, 251.0 - rank, 0.0)]
    sparse = impulses(c)
    return np.stack([sparse[i] if kind == 2 else kinds[kind] for i, kind in enumerate(planes)])


def signed_zeros(c: Canvas) -> Doubles:
    """Zeros of both signs among negative numbers: bits that are compared as integers show."""
    zero = np.where(c.bits & np.uint64(1), -0.0, 0.0)
    return np.where(_at_every_place(c), zero, c.integers(-9, -1))


def nan_encodings(c: Canvas) -> Doubles:
    """NaN of both signs and many payloads (see `_encoded`), first, in the middle and last."""
    return np.where(_at_every_place(c), np.nan, c.integers(-8, 8))


def infinities(c: Canvas) -> Doubles:
    """Infinities of both signs, first, in the middle and last; few windows hold two."""
    infinity = np.where(c.bits & np.uint64(1), np.inf, -np.inf)
    return np.where(_at_every_place(c), infinity, c.integers(-8, 8))


def contrasts(c: Canvas) -> Doubles:
    """About one number a window among zeros, far larger or smaller than that of the next one.

    What is computed over more than a window loses the small ones, and so do narrower types. Of
    some magnitudes, the fifth powers stay in the range of the type.
    """
    return _far_apart(c, c.window_cells)


def magnitudes(c: Canvas) -> Doubles:
    """Every number far larger or smaller than the next one."""
    return _far_apart(c, 1)


def _far_apart(c: Canvas, cells: int) -> Doubles:
    """Fill one of so many cells, each time with another magnitude."""
    plane = prod(c.shape[1:])
    cell = np.arange(plane)
    apart = min(cells, plane)
    nearby = cell // apart
    at = (c.bits.reshape(c.shape[0], -1)[:, nearby * apart] >> np.uint64(24)) % np.uint64(apart)
    marked = (cell % apart == at).reshape(c.shape)
    turn = (np.arange(c.shape[0])[:, np.newaxis] + nearby).reshape(c.shape)
    share = np.array([-0.17, 0.9, -0.45, 0.17, -0.9, 0.0, 0.3])[turn % 7]
    fraction = c.integers(0, 2 ** min(c.fmt.precision - 1, 30) - 1) * 4 * c.fmt.unit
    sign = np.where(c.bits >> np.uint64(60) & np.uint64(1), -1.0, 1.0)
    exponent = np.rint(share * np.log2(c.fmt.largest)).astype(np.int64)
    return np.where(marked, sign * np.ldexp(1.0 + fraction, exponent), 0.0)


def near_largest(c: Canvas) -> Doubles:
    """Numbers near both ends of the range: two of them have a norm beyond it."""
    sign = np.where(c.bits & np.uint64(4), -1.0, 1.0)
    return sign * c.fmt.largest * (c.integers(0, 3) / 64.0 + 0.90625)


def _at_every_place(c: Canvas) -> npt.NDArray[np.bool_]:
    """Mark the first, middle and last cell of every plane, and every place of a window."""
    marked = _spread(c, 0).reshape(c.shape[0], -1)
    cells = marked.shape[1]
    marked[:, [0, cells // 2, cells - 1]] = True
    return marked.reshape(c.shape)


_PATTERNS: dict[str, Callable[[Canvas], Doubles]] = {
    pattern.__name__.replace("_", "-"): pattern
    for pattern in (
        impulses,
        ones,
        index,
        codes,
        integers,
        normals,
        negative,
        lowest,
        large,
        tiny,
        subnormals,
        cancellation,
        spikes,
        sign_changes,
        lossy,
        ties,
        zeros,
        overflow,
        nan,
        infinity,
        minus_infinity,
        both_infinities,
        all_minus_infinity,
        extremes,
        names,
        edges,
        signed_zeros,
        nan_encodings,
        infinities,
        contrasts,
        magnitudes,
        near_largest,
    )
}

SPECIAL_PATTERNS = ("names", "edges", "signed-zeros", "nan-encodings", "infinities")
"""Patterns of special kernels and of large dimensions: the covering arrays have the others."""
FURTHER_PATTERNS = ("contrasts", "magnitudes", "near-largest")
"""Patterns of the cases of every kind of number alone."""
AVERAGE_PATTERNS = tuple(
    name
    for name in _PATTERNS
    if name
    not in {
        "codes",
        "extremes",
        "all-minus-infinity",
        "lowest",
        *SPECIAL_PATTERNS,
        *FURTHER_PATTERNS,
    }
)
NORM_PATTERNS = tuple(name for name in AVERAGE_PATTERNS if name != "overflow")
"""A norm overflows where a mean does not, and a bound says nothing where it is about to."""
MAXIMUM_PATTERNS = tuple(
    name
    for name in _PATTERNS
    if name
    not in {
        *("codes", "ones", "cancellation", "spikes", "sign-changes", "ties", "overflow"),
        *SPECIAL_PATTERNS,
        *FURTHER_PATTERNS,
    }
)
INTEGER_PATTERNS = ("index", "negative", "integers", "zeros", "extremes", "lowest")
OF_INTEGERS = (*INTEGER_PATTERNS, "names")
"""Patterns that an integer type can hold, those of SPECIAL_PATTERNS among them."""
SPARSE_PATTERNS = ("impulses", "zeros", "all-minus-infinity")
"""Patterns whose bound stays meaningful with hundreds of cells in a window of bfloat16."""


def fill(
    pattern: str, shape: tuple[int, ...], name: str, *, window_cells: int, key: str, seed: int
) -> Array:
    """Return data of a shape (N, C, d1..dr) and type, for windows of `window_cells` cells.

    The same pattern, shape, type, key and seed give the same data everywhere.
    """
    if 0 in shape:
        return np.zeros(shape, dtype_of(name))
    count = min(shape[0] * shape[1], _PLANES)
    planes = (count, *shape[2:])
    words = _words(f"{seed}/{key}/{pattern}", planes)
    if name in FLOATS:
        canvas = Canvas(planes, window_cells, float_format(name), words)
        base = narrow(_PATTERNS[pattern](canvas), name)
        if pattern == "nan-encodings":
            base = _encoded(base, canvas)
    else:
        base = _whole_numbers(pattern, dtype_of(name), Canvas(planes, window_cells, _ANY, words))
    # Another channel is another plane of the base, and so is the same channel of another batch.
    order = (np.arange(shape[0])[:, None] * 3 + np.arange(shape[1])) % count
    if pattern == "index" and name in ("float32", "float64"):
        # Wide enough types tell every cell of every plane from every other.
        return np.arange(1, prod(shape) + 1).reshape(shape).astype(dtype_of(name))
    return np.ascontiguousarray(base[order])


_ANY = float_format("float32")


def _words(key: str, shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    digest = hashlib.sha256(key.encode()).digest()
    stream = np.random.PCG64(int.from_bytes(digest[:16], "big"))
    cells = prod(shape)
    words: npt.NDArray[np.uint64] = stream.random_raw(min(cells, _WORDS))
    return (words if cells <= _WORDS else np.resize(words, cells)).reshape(shape)


def _encoded(base: Array, c: Canvas) -> Array:
    """Return data with a random sign and payload in every NaN; all stay quiet."""
    unsigned = np.dtype(f"u{base.itemsize}")
    quiet = 1 << (c.fmt.precision - 2)
    # All bits of the payload, none, one at either end, or any.
    payloads = np.array([quiet - 1, 0, 1, quiet >> 1], np.uint64)
    payload = np.where(
        c.bits & np.uint64(32), payloads[c.bits % np.uint64(4)], c.bits % np.uint64(quiet)
    )
    sign = (c.bits >> np.uint64(8) & np.uint64(1)) << np.uint64(8 * base.itemsize - 1)
    infinity = np.array(np.inf).astype(base.dtype).view(unsigned)
    codes = (payload | sign | np.uint64(quiet)).astype(unsigned) | infinity
    return np.where(np.isnan(base), codes, base.view(unsigned)).view(base.dtype)


def _whole_numbers(pattern: str, dtype: DType, c: Canvas) -> Array:
    ends: Any = np.iinfo(dtype)
    if pattern == "extremes":
        near = [ends.max, ends.max - 1, ends.min, ends.min + 1, ends.max // 2, ends.max // 2 + 1]
        return _picked(np.array(near, dtype), c.bits % np.uint64(6))
    if pattern == "negative":
        # Of unsigned numbers, those that a signed comparison takes for negative.
        top = ends.max if ends.min == 0 else -1
        return (top - (c.bits % np.uint64(50)).astype(np.int64).astype(object)).astype(dtype)
    if pattern == "zeros":
        return np.zeros(c.shape, dtype)
    if pattern == "lowest":
        # Few windows hold more than the lowest number of all.
        return _picked(np.array([ends.min, ends.min + 1], dtype), c.bits % np.uint64(16) == 0)
    cells: Array
    if pattern == "integers":
        cells = c.integers(0 if ends.min == 0 else -8, 8)
    elif pattern == "names":
        cells = names(c) + (_WORDS // 2 if ends.min == 0 else 0)
    else:
        cells = np.arange(prod(c.shape)).reshape(c.shape) % min(int(ends.max), 2**15)
    return cells.astype(dtype)


def _picked(numbers: Array, places: npt.NDArray[Any]) -> Array:
    picked: Array = numbers[places.astype(np.int64)]
    return picked
