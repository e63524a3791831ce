"""What the error bound depends on, per box: number and magnitude of the addends, and the divisor.

Of a norm, these are a number of roundings, the norm itself, and its exponent as -p.

None of these depends on how a backend sums, so a reader can compute a bound for any precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format, name_of
from conformance.reference.fold import Ranges, fold
from conformance.reference.rounding import widen
from conformance.vector import Array

Doubles = npt.NDArray[np.float64]

_POWER = 8
"""Roundings that a power function may be off by: four units in the last place."""
# Sums that overflow are computed again from values scaled by this power of two.
_SCALE, _LARGEST = 2.0**-100, float(np.finfo(np.float64).max)


class Measures(NamedTuple):
    """Columns (N * C * o1 * .. * or,), in C order of the output: see docs/numerics.md for m and M.

    `addends` is m, the cells that are not zero; `magnitude` is M = sum|x| / divisor. Of a p-norm,
    `addends` is how many roundings it is off by, at most; `magnitude` is the norm, and `divisor`
    is -p.
    """

    addends: npt.NDArray[np.int32]
    divisor: npt.NDArray[np.int32]
    magnitude: npt.NDArray[np.float64]


def measures(data: Array, lo: Ranges, hi: Ranges, divisor: npt.NDArray[np.int64]) -> Measures:
    """Return the addends m, the divisor, and M rounded up.

    Shapes as in `mean`. Cells that are not finite count as zeros: a mean of such cells is NaN or
    infinite and needs no bound. Where the divisor is zero, M is zero. Of integers, all are as of an
    exact value.
    """
    planes = data.shape[0] * data.shape[1]
    if data.dtype.kind in "iu":
        counts = np.tile(np.minimum(divisor, 1).astype(np.int32).ravel(), planes)
        return Measures(np.zeros_like(counts), counts, np.zeros(counts.size))
    values = np.abs(widen(np.ascontiguousarray(data).reshape(planes, *data.shape[2:])))
    values[~np.isfinite(values)] = 0.0
    n = np.maximum(divisor, 1)
    with np.errstate(over="ignore"):
        addends, total = fold(np.stack([values != 0.0, values]), lo, hi, np.add, 0.0)
        # m additions, a scaling and a division: at most m + 2 relative errors of 2**-53 each. The
        # step to the next double covers a quotient that underflows.
        inflation = 1.0 + (addends + 3.0) * 2.0**-52
        magnitude = np.where(total > 0.0, np.nextafter(total / n * inflation, np.inf), 0.0)
    overflows = ~np.isfinite(magnitude)
    if overflows.any():
        scaled = fold(values * _SCALE, lo, hi, np.add, 0.0) / n * inflation
        magnitude[overflows] = np.minimum(scaled, _LARGEST * _SCALE)[overflows] / _SCALE
    magnitude = rounded_up(magnitude)
    magnitude[:, divisor == 0] = 0.0
    shape = (len(values), *divisor.shape)
    return Measures(
        addends.astype(np.int32).ravel(),
        np.broadcast_to(divisor, shape).astype(np.int32).ravel(),
        magnitude.ravel(),
    )


@np.errstate(over="ignore")
def norm_measures(norms: Array, data: Array, lo: Ranges, hi: Ranges, p: int) -> Measures:
    """Return how many roundings p-norms may be off by, -p, and the norms rounded up.

    `norms` are rounded once; shapes are those of `norm`. Where a norm is not finite because a cell
    is not, the magnitude is 0; where the norm overflows, it is about what overflows.
    """
    planes = data.shape[0] * data.shape[1]
    values = np.abs(widen(np.ascontiguousarray(data).reshape(planes, *data.shape[2:])))
    finite = np.isfinite(values)
    values[~finite] = 0.0
    exact = np.abs(widen(norms)).reshape(planes, *norms.shape[2:])
    if not np.isfinite(exact).all():
        specials = fold(~finite, lo, hi, np.logical_or, False)  # noqa: FBT003 - the identity of or
        exact = np.where(np.isfinite(exact), exact, np.where(specials, 0.0, np.inf))
        largest = values.max(initial=0.0) or 1.0
        about = largest * fold((values / largest) ** p, lo, hi, np.add, 0.0) ** (1 / p)
        exact = np.minimum(np.where(np.isinf(exact), about, exact), _LARGEST)
    cells = fold((values != 0.0).astype(np.float64), lo, hi, np.add, 0.0)
    fmt = float_format(name_of(data.dtype))
    # The exact norm is at most half a step above the rounded one.
    magnitude = np.minimum(exact * (1 + 2 * fmt.unit) + fmt.smallest, _LARGEST)
    return Measures(
        norm_roundings(cells, exact, p).astype(np.int32).ravel(),
        np.full(cells.size, -p, np.int32),
        np.where(cells > 0, rounded_up(magnitude), 0.0).ravel(),
    )


def norm_roundings(cells: Doubles, norms: Doubles, p: int) -> Doubles:
    """Return how many roundings a p-norm of so many cells that are not zero may be off by."""
    of_powers = cells - 1 + max(p - 1, _POWER)
    exponent: Doubles | float = 0.0
    if p & (p - 1):  # 1 / p is rounded: that shifts a root by its logarithm
        size = np.log(np.where(norms > 0, norms, 1.0))
        exponent = np.ceil(np.maximum(np.abs(size), np.log(np.maximum(cells, 1)) / p))
    return np.where(cells > 0, np.ceil(of_powers / p) + _POWER + exponent, 0.0)


def rounded_up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round up to twelve significant bits: enough for a bound, and small in a compressed file."""
    stored_bits = np.uint64(0xFFFF_FE00_0000_0000)
    up = (values.view(np.uint64) + ~stored_bits) & stored_bits
    # The largest doubles would become infinite; they stay as they are.
    return np.where(up < np.uint64(0x7FF0_0000_0000_0000), up.view(np.float64), values)
