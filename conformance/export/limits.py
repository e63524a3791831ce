"""The bound of expected elements as two arrays and a mask, for readers that do not compute it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, DType, float_format, name_of
from conformance.judging.closeness import Closeness, closeness
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Arithmetic, Array, Expected

OVERFLOW, ANY, NAN = 1, 2, 3
"""Values of the mask: an infinity or NaN conforms as well; any value conforms; a NaN as well."""


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
def limits(
    expected: Expected, axes: int | npt.NDArray[np.int64], arithmetic: int, *, average: bool
) -> Limits:
    """Return the limits of elements under an `Arithmetic`.

    `axes` is the number of spatial axes, of all or of each element; `average` says that errors
    within the bound are allowed. The limits admit exactly what the checker does, which also takes
    any index of equal cells.
    """
    shape, columns = expected.values.shape, expected.at(slice(None))
    values = columns.values
    mask = np.where(columns.addends == UNDEFINED, np.uint8(ANY), np.uint8(0))
    lower = upper = values
    if name_of(values.dtype) in FLOATS and (average or arithmetic & Arithmetic.FLUSHED):
        near = closeness(values, columns, np.asarray(axes), average=average)
        lower, upper = (
            _furthest(near, near.bound(arithmetic, below=sign < 0), values.dtype, sign)
            for sign in (-1, 1)
        )
        if average and arithmetic & Arithmetic.OVERFLOWS:
            mask[near.may_overflow(arithmetic) & (mask == 0)] = OVERFLOW
            mask[~near.of_either_sign() & (mask == OVERFLOW)] = NAN
    return Limits(lower.reshape(shape), upper.reshape(shape), mask.reshape(shape))


def _furthest(near: Closeness, bound: npt.NDArray[np.float64], dtype: DType, sign: int) -> Array:
    """Return the values of a type furthest below (sign -1) or above that are within the bound.

    Most are where the bound ends, or next to it. The others are searched for by halving: where the
    expected value is large and the bound larger, ever so many values near zero have one and the
    same rounded distance.
    """
    moving = np.flatnonzero(np.isfinite(near.expected) & (bound > 0))
    center, bound = near.expected[moving], bound[moving]
    values = near.columns.values.copy()
    inside = sign * _places(values[moving])
    outside = np.full_like(inside, _places(np.array(float_format(name_of(dtype)).largest, dtype)))
    outside += 1  # an infinity

    def narrow(of: npt.NDArray[np.int64] | slice, middle: npt.NDArray[np.int64]) -> None:
        within = np.abs(widen(_at(sign * middle, dtype)) - center[of]) <= bound[of]
        inside[of] = np.where(within, middle, inside[of])
        outside[of] = np.where(within, outside[of], middle)

    end = np.clip(sign * _places((center + sign * bound).astype(dtype)), inside, outside - 1)
    narrow(slice(None), end)
    narrow(slice(None), np.clip(np.where(inside == end, end + 1, end - 1), inside, outside - 1))
    while (apart := np.flatnonzero(inside + 1 < outside)).size:
        low, high = inside[apart], outside[apart]
        narrow(apart, (low & high) + ((low ^ high) >> 1))  # their mean, without overflow
    values[moving] = _at(sign * inside, dtype)
    return values


def _places(values: Array) -> npt.NDArray[np.int64]:
    """Return where finite values are in the order of all of their type; both zeros are at 0."""
    bits = values.view(f"i{values.itemsize}").astype(np.int64)
    lowest = -1 << (8 * values.itemsize - 1)
    return np.where(bits < 0, lowest - bits, bits)


def _at(places: npt.NDArray[np.int64], dtype: DType) -> Array:
    """Return the values of a type at places in their order; no zero is negative."""
    lowest = -1 << (8 * dtype.itemsize - 1)
    return np.where(places < 0, lowest - places, places).astype(f"i{dtype.itemsize}").view(dtype)
