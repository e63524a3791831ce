"""How the cells of a window become a value: average, maximum and norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, outer
from conformance.reference import (
    Encoding,
    Measures,
    integer_mean,
    is_judged,
    maximum,
    maximum_ignoring_nan,
    mean,
    measures,
    norm,
    norm_measures,
    rounded_integer_mean,
    weighted_norms,
)
from conformance.vector import Array


def measures_of_sum(gathered: Gathered, divisor: Divisor, _values: Array) -> Measures:
    """Return what the bound of a sum, over its divisor, depends on."""
    return measures(gathered.data, gathered.lo, gathered.hi, divisor)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reduction:
    """How the cells of a window become a value.

    `reduce` is the step that computes the exact value, rounded once. If the reduction `sums` (and
    perhaps `divides` the sum), sound backends differ by rounding errors within a proven bound,
    which depends on `measures` of the cells and the values; otherwise it chooses a cell, and every
    sound backend returns the same bits. `combine` and `empty` define the same for the built-in
    backend, which shares no code with `reduce`: a numpy function of two cells, and the value of a
    window without cells, given the element type. If it `powers`, cells are magnitudes to the power
    of the exponent p, and the value is the p-th root. `undefined` names the undefined clause of
    windows without cells, "" if they are defined.

    One that `scatters` puts cells of the data where indices say, and reads no windows: `empty` is
    what a cell holds that gets none, nothing is combined, and `undefined` names the clause of cells
    that get several.
    """

    name: str
    sums: bool
    undefined: str = ""
    reduce: Callable[[Gathered, Divisor], Array]
    combine: np.ufunc
    empty: Callable[[np.dtype[Any]], Any]
    divides: bool = False
    powers: bool = False
    scatters: bool = False
    measures: Callable[[Gathered, Divisor, Array], Measures] = measures_of_sum


def mean_of_cells(gathered: Gathered, divisor: Divisor) -> Array:
    """Return the exact mean of each window, rounded once; of integers towards zero."""
    if gathered.data.dtype.kind in "iu":
        return integer_mean(gathered.data, gathered.lo, gathered.hi, divisor)
    return mean(gathered.data, gathered.lo, gathered.hi, divisor)


@dataclass(frozen=True)
class RoundedMean:
    """The step `reduce` of a quantised average: of integers, the nearest one that stands for it.

    `halves` and `early` are as in `rounded_integer_mean`.
    """

    halves: str = "away"
    early: bool = False

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        """Return the means (N, C, o1..or)."""
        data, lo, hi = gathered.data, gathered.lo, gathered.hi
        if data.dtype.kind not in "iu":
            return mean_of_cells(gathered, divisor)
        encoding = encoding_of(gathered.params)
        return rounded_integer_mean(data, lo, hi, divisor, encoding, self.halves, early=self.early)


def encoding_of(params: Params) -> Encoding:
    """Return which numbers integers of the input and of the output stand for."""
    return Encoding(
        params.input_scale,
        params.output_scale,
        params.input_zero_point,
        params.output_zero_point,
    )


LIMITS = {
    "none": (-np.inf, np.inf),
    "relu": (0.0, np.inf),
    "relu_n1_to_1": (-1.0, 1.0),
    "relu6": (0.0, 6.0),
}
"""The least and the largest number under each activation."""


@dataclass(frozen=True)
class Clamped:
    """The step `clamp` of an activation: the first output within its limits; a NaN stays one.

    `quotient` is as in `Encoding.encoded`.
    """

    quotient: str = "exact"

    def __call__(self, gathered: Gathered, _divisor: Divisor, first: Array) -> Array:
        """Return the first output, clamped."""
        if gathered.params.activation == "none":
            return first
        limits = limits_of(gathered.params, first.dtype, self.quotient)
        held: Array = np.clip(first, *limits).astype(first.dtype)
        return held


def limits_of(params: Params, dtype: np.dtype[Any], quotient: str = "exact") -> tuple[float, float]:
    """Return the least and the largest value of a type under an activation.

    Of integers, they are the nearest to the limits that stand for numbers, halves away from zero,
    within the type.
    """
    least, most = LIMITS[params.activation]
    if dtype.kind not in "iu":
        return least, most
    ends, encoding = np.iinfo(dtype), encoding_of(params)
    lowest, highest = int(ends.min), int(ends.max)
    return (
        min(max(encoding.encoded(least, quotient), lowest), highest),
        min(max(encoding.encoded(most, quotient), lowest), highest),
    )


def maximum_as_asked(gathered: Gathered, divisor: Divisor) -> Array:
    """Return the largest cell of each window; whether a NaN is one, the case says."""
    if gathered.params.nan == "propagates":
        return maximum_of_cells(gathered, divisor)
    return maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)


def maximum_of_cells(gathered: Gathered, _divisor: Divisor) -> Array:
    """Return the largest cell of each window; NaN if the window holds a NaN."""
    return maximum(gathered.data, gathered.lo, gathered.hi)


@dataclass(frozen=True)
class NormOfCells:
    """The step `reduce` of a norm: the exact p-norm of each window, rounded once.

    Where the divisor counts the cells of a window, `weighs` says what their mean power is
    multiplied by: the number of these "cells", or of those of a "whole-kernel".
    """

    weighs: str = "cells"

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        """Return the norms (N, C, o1..or); InvalidCase for p that makes none."""
        data, lo, hi, p = gathered.data, gathered.lo, gathered.hi, exponent_of(gathered)
        multiplier = multiplier_of(gathered, divisor, self.weighs)
        return weighted_norms(norm(data, lo, hi, p), data, lo, hi, p, (multiplier, divisor))


def exponent_of(gathered: Gathered) -> int:
    """Return p of a norm or of its gradient; InvalidCase for one that makes none."""
    p = gathered.params.exponent
    if not is_judged(p):
        raise InvalidCase(f"p = {p}: no norm, or powers out of any range")
    return p


def multiplier_of(gathered: Gathered, divisor: Divisor, weighs: str) -> Divisor:
    """Return what the mean power of each window is multiplied by, (o1..or): see `NormOfCells`."""
    return outer(gathered.windows.lengths) if weighs == "whole-kernel" else divisor


def measures_of_norm(gathered: Gathered, _divisor: Divisor, values: Array) -> Measures:
    """Return what the bound of a norm depends on."""
    exponent = gathered.params.exponent
    return norm_measures(values, gathered.data, gathered.lo, gathered.hi, exponent)


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
NORM = Reduction(
    name="norm",
    sums=True,
    reduce=NormOfCells(),
    combine=np.add,
    empty=lambda _dtype: 0.0,
    powers=True,
    measures=measures_of_norm,
)
