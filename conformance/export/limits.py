"""The bound of an outcome as two arrays and a mask, for readers that compare and do not compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.batch import ExpectedColumns
from conformance.check.compare import Closeness, closeness
from conformance.dtypes import FLOATS, DType, float_format, name_of
from conformance.reference import overflow_allowed
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Outcome

OVERFLOW, ANY, NAN = 1, 2, 3
"""Values of the mask: an infinity or NaN conforms as well; any value conforms."""

_Keys = npt.NDArray[np.int64]


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
def limits(outcome: Outcome, axes: int, *, average: bool, output: int = 0) -> Limits:
    """Return the limits of an output of an outcome, given the number of spatial axes.

    `average` says that errors within the bound are allowed. The limits admit exactly what the
    checker does.
    """
    asked = outcome.outputs[output]
    expected = asked.values.reshape(-1)
    columns = ExpectedColumns(expected, asked.addends, asked.divisor, asked.magnitude)
    own, flushed = outcome.accumulator == "element-type", outcome.subnormals == "flushed"
    mask = np.where(columns.addends == UNDEFINED, np.uint8(ANY), np.uint8(0))
    lower = upper = expected
    if name_of(expected.dtype) in FLOATS and (average or flushed):
        spread = np.array(axes)
        near = closeness(expected, columns, spread, average=average)
        bound = near.bound(own + 2 * flushed)
        lower, upper = (_furthest(near, bound, expected.dtype, sign) for sign in (-1, 1))
        if average and own:
            overflows = overflow_allowed(
                expected, columns.addends, columns.divisor, columns.magnitude, spread
            )
            mask[overflows & (mask == 0)] = OVERFLOW
            mask[np.isinf(near.expected) & (mask == OVERFLOW)] = NAN
    shape = asked.values.shape
    return Limits(lower.reshape(shape), upper.reshape(shape), mask.reshape(shape))


def _furthest(near: Closeness, bound: npt.NDArray[np.float64], dtype: DType, sign: int) -> Array:
    """Return the values of a type furthest below (sign -1) or above that are within the bound."""
    center = near.expected
    moving = np.flatnonzero(np.isfinite(center) & (bound > 0))
    found = near.columns.values.copy()
    middle, room = center[moving], bound[moving]
    largest = float_format(name_of(dtype)).largest
    start = np.clip(middle + sign * room, -largest, largest).astype(dtype)
    keys, end = _keys(start), _keys(np.array([sign * largest]).astype(dtype))[0]

    def admitted(candidates: _Keys) -> npt.NDArray[np.bool_]:
        return np.abs(widen(_values(candidates, dtype)) - middle) <= room

    # Rounding put each start next to its place: a step or two to either side finds it.
    while not (inside := admitted(keys)).all():
        keys = np.where(inside, keys, keys - sign)
    while (further := admitted(keys + sign) & (keys != end)).any():
        keys = np.where(further, keys + sign, keys)
    found[moving] = _values(keys, dtype)
    return found


def _keys(values: Array) -> _Keys:
    """Return integers in the order of floating-point values, neighbours one apart."""
    nbytes = values.dtype.itemsize
    bits = values.view(f"u{nbytes}").astype(np.uint64)
    sign = np.uint64(1 << (8 * nbytes - 1))
    size = (bits & (sign - np.uint64(1))).astype(np.int64)
    return np.where(bits & sign, -size, size)


def _values(keys: _Keys, dtype: DType) -> Array:
    """Undo `_keys`."""
    sign = np.where(keys < 0, np.uint64(1 << (8 * dtype.itemsize - 1)), np.uint64(0))
    bits = np.abs(keys).astype(np.uint64) | sign
    return bits.astype(f"u{dtype.itemsize}").view(dtype)
