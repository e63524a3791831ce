"""How the cells of a window become a value: average and maximum."""

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

    `reduce` is the step that computes the exact value, rounded once. If the reduction `sums` (and
    perhaps `divides` the sum), sound backends differ by rounding errors within a proven bound;
    otherwise it chooses a cell, and every sound backend returns the same bits. `combine` and
    `empty` define the same for the built-in backend, which shares no code with `reduce`: a numpy
    function of two cells, and the value of a window without cells, given the element type.
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
    """Return the exact mean of each window, rounded once; of integers towards zero."""
    if gathered.data.dtype.kind in "iu":
        return integer_mean(gathered.data, gathered.lo, gathered.hi, divisor)
    return mean(gathered.data, gathered.lo, gathered.hi, divisor)


def maximum_of_cells(gathered: Gathered, _divisor: Divisor) -> Array:
    """Return the largest cell of each window; NaN if the window holds a NaN."""
    return maximum(gathered.data, gathered.lo, gathered.hi)


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return a value that is not above any cell of the type: -inf or the lowest integer."""
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
