"""What the error bound depends on, per box: number and magnitude of the addends, and the divisor.

None of these depends on how a backend sums, so a reader can compute a bound for any precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.reference.fold import Ranges, fold
from conformance.reference.rounding import widen
from conformance.vector import Array

# Sums that overflow are computed again from values scaled by this power of two.
_SCALE, _LARGEST = 2.0**-100, float(np.finfo(np.float64).max)


class Measures(NamedTuple):
    """Columns (N * C * o1 * .. * or,), in C order of the output: see docs/numerics.md for m and M.

    `addends` is m, the cells that are not zero; `magnitude` is M = sum|x| / divisor.
    """

    addends: npt.NDArray[np.int32]
    divisor: npt.NDArray[np.int32]
    magnitude: npt.NDArray[np.float64]


def measures(data: Array, lo: Ranges, hi: Ranges, divisor: npt.NDArray[np.int64]) -> Measures:
    """Return the addends m, the divisor, and M rounded up.

    Shapes as in `mean`. Cells that are not finite count as zeros: a mean of such cells is NaN or
    infinite and needs no bound. Where the divisor is zero, M is zero.
    """
    planes = data.shape[0] * data.shape[1]
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
    magnitude = _rounded_up(magnitude)
    magnitude[:, divisor == 0] = 0.0
    shape = (len(values), *divisor.shape)
    return Measures(
        addends.astype(np.int32).ravel(),
        np.broadcast_to(divisor, shape).astype(np.int32).ravel(),
        magnitude.ravel(),
    )


def _rounded_up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round up to twelve significant bits: enough for a bound, and small in a compressed file."""
    stored_bits = np.uint64(0xFFFF_FE00_0000_0000)
    up = (values.view(np.uint64) + ~stored_bits) & stored_bits
    # The largest doubles would become infinite; they stay as they are.
    return np.where(up < np.uint64(0x7FF0_0000_0000_0000), up.view(np.float64), values)
