"""The bound of an outcome as two arrays and a mask, for readers that compare and do not compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.batch import ExpectedColumns
from conformance.check.closeness import Closeness, arithmetic_code, closeness
from conformance.dtypes import FLOATS, DType, float_format, name_of
from conformance.reference.rounding import widen
from conformance.vector import Array, Values

OVERFLOW, ANY, NAN = 1, 2, 3
"""Values of the mask: an infinity or NaN conforms as well; any value conforms."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The smallest and the largest element that conforms, in the shape and type of the output.

    Both are the expected value where it is NaN or infinite. `mask` is uint8, 0 where nothing
    but the limits counts.
    """

    lower: Array
    upper: Array
    mask: npt.NDArray[np.uint8]


@np.errstate(all="ignore")  # NaN and overflow are among what is compared
def limits(outcome: Values, axes: int, *, average: bool, output: int = 0) -> Limits:
    """Return the limits of an output of an outcome, given the number of spatial axes.

    `average` says that errors within the bound are allowed. The limits admit exactly what the
    checker does.
    """
    asked = outcome.outputs[output]
    expected = asked.values.reshape(-1)
    columns = ExpectedColumns(expected, asked.addends, asked.divisor, asked.magnitude)
    arithmetic = arithmetic_code(outcome)
    mask = np.where(columns.addends < 0, np.uint8(ANY), np.uint8(0))
    lower = upper = expected
    if name_of(expected.dtype) in FLOATS and (average or outcome.subnormals == "flushed"):
        near = closeness(expected, columns, np.array(axes), average=average)
        lower, upper = (
            _furthest(near, near.bound(arithmetic, below=sign < 0), expected.dtype, sign)
            for sign in (-1, 1)
        )
        if average and outcome.sum_overflow == "overflows":
            mask[near.may_overflow(arithmetic) & (mask == 0)] = OVERFLOW
            mask[np.isinf(near.expected) & (mask == OVERFLOW)] = NAN
    shape = asked.values.shape
    return Limits(lower.reshape(shape), upper.reshape(shape), mask.reshape(shape))


def _furthest(near: Closeness, bound: npt.NDArray[np.float64], dtype: DType, sign: int) -> Array:
    """Return the values of a type furthest below (sign -1) or above that are within the bound."""
    center = near.expected
    moving = np.flatnonzero(np.isfinite(center) & (bound > 0))
    values = near.columns.values.copy()
    middle, distance = center[moving], bound[moving]
    largest = float_format(name_of(dtype)).largest
    end, back = (np.array(direction * np.inf).astype(dtype) for direction in (sign, -sign))

    def admitted(candidates: Array) -> npt.NDArray[np.bool_]:
        return np.abs(widen(candidates) - middle) <= distance

    # Rounding put each start next to its place: a step or two to either side finds it.
    reached = np.clip(middle + sign * distance, -largest, largest).astype(dtype)
    while not (inside := admitted(reached)).all():
        reached = np.where(inside, reached, np.nextafter(reached, back))
    while (further := admitted(beyond := np.nextafter(reached, end)) & np.isfinite(beyond)).any():
        reached = np.where(further, beyond, reached)
    values[moving] = reached + np.zeros((), dtype)  # no zero is negative
    return values
