"""The mean of integers that stand for numbers: exact, rounded once to such an integer.

An integer q stands for (q - zero point) scale. Without scales and zero points, for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, frexp, isinf

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format
from conformance.reference.bound import gamma
from conformance.reference.fold import Ranges, fold
from conformance.reference.mean import most_cells
from conformance.vector import Array

Ints = npt.NDArray[np.int64]
"""Of 64 bits, or Python's."""

_MACHINE_INTEGERS = 1 << 24
"""Of scales whose ratio has smaller terms, all products fit into 64 bits."""
_DIVISION_AND_SCALES = 8
"""Roundings of a dequantised cell, a division by way of a reciprocal, scales and a zero point."""
_FINE = 1 << 15
"""Multiples of one part in this, with a zero point added, are numbers of float32."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """Which numbers the integers of an input and of an output stand for."""

    input_scale: float = 1.0
    output_scale: float = 1.0
    input_zero_point: int = 0
    output_zero_point: int = 0

    def sums(self, data: Array, lo: Ranges, hi: Ranges) -> Ints:
        """Return the sums (planes, o1..or) of the integers of each box less their zero point."""
        planes = data.reshape(data.shape[0] * data.shape[1], *data.shape[2:]).astype(np.int64)
        sums: Ints = fold(planes - self.input_zero_point, lo, hi, np.add, 0)
        return sums

    def scaled(self, sums: Ints, n: Ints) -> tuple[Ints, Ints]:
        """Return sums over n in steps of the output: exact quotients, as two integers each."""
        ratio = Fraction(self.input_scale) / Fraction(self.output_scale)
        if max(ratio.numerator, ratio.denominator) >= _MACHINE_INTEGERS:
            sums, n = sums.astype(object), n.astype(object)
        return sums * ratio.numerator, n * ratio.denominator

    def encoded(self, number: float, quotient: str = "exact") -> float:
        """Return the integer of the output nearest to a number, halves away from zero.

        The `quotient` of the number and the scale is exact, or rounded to "float32" before. No type
        limits the integer; an infinity stays one.
        """
        if isinf(number):
            return number
        if quotient == "float32":
            # Of two numbers of float32, its division is the quotient, rounded once.
            steps = Fraction(float(np.float32(number) / np.float32(self.output_scale)))
        else:
            steps = Fraction(number) / Fraction(self.output_scale)
        away = floor(abs(steps) + Fraction(1, 2))
        return self.output_zero_point + (away if steps > 0 else -away)

    @property
    def is_exact(self) -> bool:
        """Whether products and quotients by its scales are not rounded: they are powers of two."""
        return all(frexp(scale)[0] == 0.5 for scale in (self.input_scale, self.output_scale))


def rounded_integer_mean(
    data: Array,
    lo: Ranges,
    hi: Ranges,
    divisor: Ints,
    encoding: Encoding,
    halves: str = "away",
    *,
    early: bool = False,
) -> Array:
    """Return the integer that stands for the mean of each box, to the nearest.

    `halves` go "away" from zero, to the "even" integer or "up"; the zero point of the output is
    added after that, or before if `early`. What the type does not hold is its nearest end. Shapes
    as in `mean`; sums fit into 37 bits. A divisor of zero gives the zero point.
    """
    sums, n = encoding.scaled(encoding.sums(data, lo, hi), np.maximum(divisor, 1))
    added = encoding.output_zero_point
    means = nearest(sums + added * n, n, halves) if early else nearest(sums, n, halves) + added
    ends = np.iinfo(data.dtype)
    held: Array = np.clip(means, ends.min, ends.max).astype(data.dtype)
    return held.reshape(*data.shape[:2], *divisor.shape)


def reciprocal_mean(
    data: Array, lo: Ranges, hi: Ranges, divisor: Ints, encoding: Encoding
) -> Array:
    """Return the mean of each box by TOSA's product with a reciprocal and shift, in integers.

    That is the nearest integer, halves away from zero, for sums below 2**29, and what the document
    defines for any sum that int32 holds. Zero points, and ends of the type, are as in
    `rounded_integer_mean`; scales do not matter.
    """
    n = np.maximum(divisor, 1)
    doublings = np.frexp(n - 1.0)[1].astype(np.int64)  # the least power of two that is not below n
    shift = doublings + 30
    multiplier = ((1 << 30) + 1 << doublings) // n
    half = np.left_shift(1, shift - 1)
    means = (encoding.sums(data, lo, hi) * multiplier + half) >> shift
    ends = np.iinfo(data.dtype)
    held: Array = np.clip(means + encoding.output_zero_point, ends.min, ends.max)
    return held.astype(data.dtype).reshape(*data.shape[:2], *divisor.shape)


def leaves_int32(data: Array, lo: Ranges, hi: Ranges, encoding: Encoding) -> bool:
    """Say whether int32 cannot hold the sum of some box, or of its first cells in row-major order.

    Of integers less their zero point.
    """
    ends = np.iinfo(np.int32)
    planes = data.reshape(-1, *data.shape[2:]).astype(np.int64) - encoding.input_zero_point
    if most_cells(lo, hi) * int(np.abs(planes).max(initial=0)) <= ends.max:
        return False
    for place in np.ndindex(*map(len, lo)):
        axes = zip(place, lo, hi, strict=True)
        box = tuple(slice(begins[i], stops[i]) for i, begins, stops in axes)
        sums = planes[(slice(None), *box)].reshape(len(planes), -1).cumsum(axis=1)
        if sums.size and not ends.min <= sums.min() <= sums.max() <= ends.max:
            return True
    return False


def nearest(sums: Ints, n: Ints, halves: str) -> Ints:
    """Return the integers nearest to quotients; `halves` as in `rounded_integer_mean`."""
    up, rest = (2 * sums + n) // (2 * n), (2 * sums + n) % (2 * n)
    down = {"up": False, "even": up % 2 == 1, "away": sums < 0}[halves]
    rounded: Ints = up - ((rest == 0) & down)
    return rounded


def depends_on_order(
    data: Array, lo: Ranges, hi: Ranges, divisor: Ints, encoding: Encoding
) -> bool:
    """Say whether sound computations in float32 may round some mean to different integers.

    They may where it is as near to a half as their errors reach, unless powers of two alone let
    them make none: docs/numerics.md, "Quantised integers". Arguments as of `rounded_integer_mean`.
    """
    cells = np.maximum(divisor, 1)
    of_output = Encoding(encoding.input_scale, encoding.output_scale)
    sums, n = encoding.scaled(encoding.sums(data, lo, hi), cells)
    distances = abs(data.astype(np.int64) - encoding.input_zero_point)
    magnitudes, _ = encoding.scaled(of_output.sums(distances, lo, hi), cells)
    ends, stored = np.iinfo(data.dtype), sums + encoding.output_zero_point * n
    roundings = most_cells(lo, hi) + 2.0 * len(lo) + _DIVISION_AND_SCALES
    error = gamma(np.array(roundings), float_format("float32").unit)
    apart = abs(2 * stored % (2 * n) - n)  # in parts of 2 n
    reached = apart <= 2.0 * error * (magnitudes + (int(ends.max) - int(ends.min) + 1) * n)
    inside = (stored > int(ends.min) * n) & (stored < int(ends.max) * n)
    is_exact = encoding.is_exact & (cells & (cells - 1) == 0) & (n <= _FINE)
    return bool((reached & inside & ~is_exact.astype(np.bool_)).any())
