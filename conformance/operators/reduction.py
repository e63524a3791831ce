"""How the cells of a window become a value: average, maximum, and what others add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference import integer_mean, maximum, mean
from conformance.vector import Array


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reduction:
    """How the cells of a window become a value.

    `reduce` is the step that computes exact values, rounded once. Of a reduction that `sums`, and
    perhaps `divides` the sum, sound backends differ by rounding errors within a proven bound; any
    other chooses a cell, and every sound backend returns the same bits. `combine` and `empty` say
    it once more for the built-in backend, which shares no code with `reduce`: a numpy function that
    joins two cells, and the value of a window without cells, from the element type.
    `undefined` names the undefined clause of such windows.
    """

    name: str
    sums: bool
    undefined: str
    reduce: Callable[[Gathered, Divisor], Array]
    combine: np.ufunc
    empty: Callable[[np.dtype[Any]], Any]
    divides: bool = False


def mean_of_cells(gathered: Gathered, divisor: Divisor) -> Array:
    """Divide the exact sum of each window, rounding once; integers towards zero."""
    if gathered.data.dtype.kind in "iu":
        return integer_mean(gathered.data, gathered.lo, gathered.hi, divisor)
    return mean(gathered.data, gathered.lo, gathered.hi, divisor)


def maximum_of_cells(gathered: Gathered, _divisor: Divisor) -> Array:
    """Take the largest cell of each window; a NaN wins."""
    return maximum(gathered.data, gathered.lo, gathered.hi)


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return what is below every cell."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


AVERAGE = Reduction(
    name="average",
    sums=True,
    undefined="all-padding-average",
    reduce=mean_of_cells,
    combine=np.add,
    empty=lambda _dtype: 0.0,
    divides=True,
)
MAXIMUM = Reduction(
    name="maximum",
    sums=False,
    undefined="all-padding-maximum",
    reduce=maximum_of_cells,
    combine=np.maximum,
    empty=lowest,
)
