"""The maximum over boxes of cells: always exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.reference.fold import Ranges, fold
from conformance.reference.rounding import to_float32
from conformance.vector import Array


def maximum(data: Array, lo: Ranges, hi: Ranges) -> Array:
    """Return the largest cell of each box; NaN where a box holds a NaN.

    `data` has shape (N, C, d1..dr), the result (N, C, o1..or). Boxes without a cell give -inf,
    or the lowest integer.
    """
    return choose(data, lo, hi, np.maximum, _lowest(data))


def maximum_ignoring_nan(data: Array, lo: Ranges, hi: Ranges) -> Array:
    """Return the largest number of each box; NaN only for a box of NaN alone. Shapes as above."""
    return choose(data, lo, hi, np.fmax, _lowest(data))


def choose(data: Array, lo: Ranges, hi: Ranges, ufunc: np.ufunc, empty: Any) -> Array:
    """Return the cell of each box that `ufunc`, such as np.maximum, chooses of any two.

    `empty` is the value of a box without cells. Shapes are those of `maximum`.
    """
    # numpy's loops for float16 are slow, and those for bfloat16 and float8 are of another package.
    is_narrow = data.dtype.itemsize <= 2 and data.dtype.kind not in "iu"
    work = to_float32(data) if is_narrow else data
    planes = work.reshape(data.shape[0] * data.shape[1], *data.shape[2:])
    result = fold(planes, lo, hi, ufunc, empty)
    return result.reshape(*data.shape[:2], *result.shape[1:]).astype(data.dtype, copy=False)


def _lowest(data: Array) -> Any:
    return np.iinfo(data.dtype).min if data.dtype.kind in "iu" else -np.inf
