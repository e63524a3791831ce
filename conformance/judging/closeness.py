"""Elements of a floating-point type beside those expected: how far off each is, and may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, float_format
from conformance.reference import mean_overflows, overflow_allowed, tolerance
from conformance.reference.rounding import equal_numbers, widen
from conformance.vector import Arithmetic, Array, Expected

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """Elements of one floating-point type beside what was expected of them, flat.

    `error` = |got - expected| (0 if equal or both NaN, NaN if only one is, inf if only one is
    infinite or they are not the same infinity). `expected` and `got` are doubles.
    """

    expected: Doubles
    got: Doubles
    error: Doubles
    columns: Expected
    axes: Ints
    average: bool

    def at(self, elements: Ints | Bools) -> Closeness:
        """Return some of the elements."""
        return Closeness(
            self.expected[elements],
            self.got[elements],
            self.error[elements],
            self.columns.at(elements),
            np.broadcast_to(self.axes, self.error.shape)[elements],
            self.average,
        )

    def bound(self, arithmetic: int, *, below: bool | Bools | None = None) -> Doubles:
        """Return the largest error that conforms under an arithmetic, per element.

        It is that of results below or above what is expected, as `got` is if `below` is None.
        """
        with np.errstate(all="ignore"):
            return tolerance(
                self.columns,
                self.axes,
                arithmetic,
                average=self.average,
                below=self.got < self.expected if below is None else below,
            )

    def right(self, arithmetic: int) -> Bools:
        """Mask: error <= bound, or an infinity or NaN where sums may overflow."""
        finite = np.isfinite(self.expected) & np.isfinite(self.got)
        right: Bools = (self.error == 0) | (finite & (self.error <= self.bound(arithmetic)))
        if self.average and arithmetic & Arithmetic.OVERFLOWS:
            right |= self.may_overflow(arithmetic) & (
                np.isnan(self.got) | (np.isinf(self.got) & self.of_either_sign())
            )
        return right

    def of_either_sign(self) -> Bools:
        """Mask: where the sum may overflow, it may do so to either side, as no cell is infinite."""
        either: Bools = np.isfinite(self.expected) | mean_overflows(self.columns)
        return either

    def may_overflow(self, arithmetic: int) -> Bools:
        """Mask: the sum may overflow in the accumulator of an arithmetic."""
        return overflow_allowed(self.columns, self.axes, arithmetic)


def closeness(got: Array, expected: Expected, axes: Ints, *, average: bool) -> Closeness:
    """Compare elements, flat, of a floating-point type; `axes` is the number of spatial axes."""
    returned, values = widen(got), widen(expected.values)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(returned - values)
    error[equal_numbers(returned, values)] = 0.0
    return Closeness(values, returned, error, expected, axes, average)


def spacing(expected: Doubles, name: str) -> Doubles:
    """Return the distance of each value to the next of its element type, away from zero."""
    if name not in FLOATS:
        return np.ones_like(expected)
    fmt = float_format(name)
    _, exponent = np.frexp(np.maximum(np.abs(expected), fmt.smallest_normal))
    distance: Doubles = np.ldexp(1.0, exponent - fmt.precision)
    return distance
