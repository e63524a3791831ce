"""The gradient of an operator: its plan, transposed. What its windows took from cells, they give.

`NAME-backward` takes the gradient of the first output of NAME, then the inputs of NAME, and returns
the gradient of the data. It has the attributes, the steps of geometry and the clauses of NAME; only
`reduce` is another, which a `Gradient` computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, float_format, name_of
from conformance.errors import InvalidCase
from conformance.operators.operator import Operator, Output
from conformance.operators.pipeline import Divisor, Extent, Gathered, no_further
from conformance.operators.reduction import (
    AVERAGE,
    MAXIMUM,
    NORM,
    Reduction,
    exponent_of,
    multiplier_of,
)
from conformance.reference.gradient import Pairs, Shares, pairs_of
from conformance.reference.measures import Measures
from conformance.reference.norm_gradient import NormShares
from conformance.reference.position import numbers_of
from conformance.reference.rounding import widen
from conformance.vector import BACKWARD, Array

Ints = npt.NDArray[np.int64]


class Terms(Protocol):
    """What windows give to cells: see `Shares`."""

    def sums(self, shape: Sequence[int]) -> Array:
        """Return what each cell gets, of `shape` (N, C, d1..dr)."""

    def measures(self, shape: Sequence[int]) -> Measures:
        """Return what the bound of each sum depends on."""


def check_gradient(gradient: Array, extent: Extent) -> None:
    """Raise InvalidCase unless a gradient (N, C, o1..or) has the extent of the output."""
    if gradient.shape[2:] != extent:
        raise InvalidCase(
            f"gradient of shape {gradient.shape}: the output has {extent} after batch and channels"
        )


@dataclass(frozen=True)
class Gradient:
    """The step `reduce` of a gradient: each cell gets the sum of what windows give to it."""

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        """Return the gradient of the data, of their shape; undefined elements are NaN."""
        return self.terms(gathered, divisor).sums(_shape(gathered))

    def measures(self, gathered: Gathered, divisor: Divisor) -> Measures:
        """Return what the bound depends on; `addends` are UNDEFINED where an element is."""
        return self.terms(gathered, divisor).measures(_shape(gathered))

    def terms(self, gathered: Gathered, divisor: Divisor) -> Terms:
        """Return what windows give to cells."""
        raise NotImplementedError


@dataclass(frozen=True)
class GradientOfAverage(Gradient):
    """Each cell of a window gets the window's gradient over its divisor."""

    def terms(self, gathered: Gathered, divisor: Divisor) -> Terms:
        """Return what windows give to cells."""
        given = _WindowCells(gathered)
        windows = given.pairs.windows
        return Shares(given.gradient, divisor.ravel()[windows], given.cells, windows=windows)


@dataclass(frozen=True)
class GradientOfMaximum(Gradient):
    """The cell that a window chooses gets the window's gradient.

    Of equal maxima, `ties` says which: the "first" or "last" in row-major order, "all", or all of
    them a "shared" part. So does `nan` where NaNs are the maximum: "first" or "last"; what cells of
    such windows get may be "undefined". Where `infinity` is "spreads", so is what cells that are
    not chosen get of a gradient that is not finite. Undefined are the cells of a window whose
    maximum is what padding holds.
    """

    ties: str = "first"
    nan: str = "first"
    infinity: str = "alone"

    def terms(self, gathered: Gathered, _divisor: Divisor) -> Shares:
        """Return what windows give to cells."""
        given = _WindowCells(gathered)
        data = widen(given.data)
        maxima = given.pairs.of_window(data, np.maximum)
        of_nan = np.isnan(maxima)
        tied = np.where(of_nan, np.isnan(data), data == maxima)
        chosen = _chosen(given.pairs, tied, self.ties)
        if of_nan.any():
            of_nans = _chosen(given.pairs, tied, "last" if self.nan == "last" else "first")
            chosen = np.where(of_nan, of_nans, chosen)
        shares = np.where(chosen, given.gradient, given.gradient.dtype.type(0))
        counts = np.ones(data.shape, np.int64)
        if self.ties == "shared":
            counts = given.pairs.of_window(chosen.astype(np.int64), np.add)
        undefined = given.reaches_out & (maxima == -np.inf)
        if self.nan == "undefined":
            undefined |= of_nan
        if self.infinity == "spreads":
            undefined |= ~np.isfinite(widen(given.gradient)) & ~chosen
        return Shares(shares, counts, given.cells, undefined, given.pairs.windows)

    def if_flushed(self, gathered: Gathered, divisor: Divisor) -> tuple[Shares, Shares, Shares]:
        """Return the least that cells may get where subnormals count as zero, the most, and all.

        Each cell of a window that is largest then may be chosen, and get the gradient or a part.
        """
        exact, given = self.terms(gathered, divisor), _WindowCells(gathered)
        data, gradient = widen(given.data), given.gradient
        is_zero = np.abs(data) < float_format(name_of(given.data.dtype)).smallest_normal
        tied = is_zero & (given.pairs.of_window(np.where(is_zero, 0.0, data), np.maximum) == 0)
        tied &= given.pairs.of_window(tied & (data != 0), np.logical_or)
        zero = gradient.dtype.type(0)
        undefined = exact.undefined | (tied & ~np.isfinite(widen(gradient)))
        counts = np.where(tied, 1, exact.divisor)
        least, most, every = (
            replace(
                exact,
                values=np.where(tied, given_to_tied, exact.values),
                divisor=counts,
                undefined=undefined,
            )
            for given_to_tied in (
                np.where(gradient < 0, gradient, zero),
                np.where(gradient > 0, gradient, zero),
                gradient,
            )
        )
        return least, most, every


@dataclass(frozen=True)
class GradientOfNorm(Gradient):
    """Each cell of a window gets the window's gradient times the derivative of its norm.

    Norms are those of `weighs`, as in `NormOfCells`. Undefined are the cells at which the norm has
    no derivative, but where it is zero and a document says that it gives `at_zero` "nothing".
    """

    weighs: str = "cells"
    at_zero: str = "undefined"

    def terms(self, gathered: Gathered, divisor: Divisor) -> Terms:
        """Return what windows give to cells; InvalidCase for p that makes no norm."""
        given, p = _WindowCells(gathered), exponent_of(gathered)
        windows = given.pairs.windows
        above = multiplier_of(gathered, divisor, self.weighs).ravel()[windows]
        below = divisor.ravel()[windows]
        data = widen(given.data)
        nothing = np.zeros(data.shape, np.bool_)
        if self.at_zero == "nothing":
            nothing = ~given.pairs.of_window(data != 0, np.logical_or)
        if p > 1:
            weights = above, below
            return NormShares(
                given.gradient, given.data, given.pairs, given.cells, p, weights, nothing
            )
        wrong = ~(np.isfinite(data) & np.isfinite(widen(given.gradient)))
        undefined = (data == 0) & ~nothing | given.pairs.of_window(wrong, np.logical_or)
        shares = np.where(data < 0, -given.gradient, given.gradient)
        shares[nothing] = 0
        return Shares(shares, below, given.cells, undefined, windows, above)


class _WindowCells:
    """Pairs of a window and a cell in it, the data of the cell and the gradient of the window.

    `gradient` and `data` are (planes, P); `cells` (P,) are numbers of cells of a plane. Pairs of
    cells that are not of the data are left out; `reaches_out` (P,) marks windows that have others.
    """

    def __init__(self, gathered: Gathered) -> None:
        data, sizes, gradient = gathered.data, gathered.params.sizes, gathered.gradient_or_indices
        if gradient is None:
            raise ValueError("no gradient of the output")
        check_gradient(gradient, gathered.extent)
        planes = data.shape[0] * data.shape[1]
        pairs = pairs_of(gathered.lo, gathered.hi, data.shape[2:])
        numbers = numbers_of(gathered.positions, sizes).ravel()
        inside = np.ones((), np.bool_)
        for along, d in zip(gathered.positions, sizes, strict=True):
            inside = np.logical_and.outer(inside, (along >= 0) & (along < d))
        kept = inside.ravel()[pairs.cells]
        self.pairs = Pairs(pairs.windows[kept], pairs.cells[kept])
        self.cells: Ints = numbers[self.pairs.cells]
        flat = prod(data.shape[2:]), prod(gradient.shape[2:])
        self.data = data.reshape(planes, flat[0])[:, self.pairs.cells]
        self.gradient = gradient.reshape(planes, flat[1])[:, self.pairs.windows]
        cells = [hi - lo for lo, hi in zip(gathered.lo, gathered.hi, strict=True)]
        fewer = np.array(1)
        whole = np.array(1)
        for inner, length in zip(cells, gathered.windows.lengths, strict=True):
            fewer, whole = np.multiply.outer(fewer, inner), np.multiply.outer(whole, length)
        self.reaches_out = (fewer < whole).ravel()[self.pairs.windows]


def _chosen(pairs: Pairs, tied: npt.NDArray[np.bool_], ties: str) -> npt.NDArray[np.bool_]:
    """Return which of the tied pairs of each window are chosen, (planes, P)."""
    if ties in {"all", "shared"}:
        return tied
    places = np.arange(tied.shape[1])
    if ties == "last":
        chosen = pairs.of_window(np.where(tied, places, -1), np.maximum)
    else:
        chosen = pairs.of_window(np.where(tied, places, len(places)), np.minimum)
    mine: npt.NDArray[np.bool_] = chosen == places
    return mine


def _shape(gathered: Gathered) -> tuple[int, ...]:
    return (*gathered.data.shape[:2], *gathered.params.sizes)


def _reduction(forward: Reduction, gradient: Gradient, undefined: str = "") -> Reduction:
    return Reduction(
        name=f"gradient of {forward.name}",
        sums=True,
        undefined=undefined,
        reduce=gradient,
        combine=np.add,
        empty=lambda _dtype: 0.0,
        powers=forward.powers,
    )


GRADIENTS = {
    AVERAGE: _reduction(AVERAGE, GradientOfAverage()),
    MAXIMUM: _reduction(MAXIMUM, GradientOfMaximum(), "gradient-of-padding"),
    NORM: _reduction(NORM, GradientOfNorm(), "gradient-of-no-norm"),
}
"""The gradient of each reduction that has one."""


@cache
def backward(operator: Operator) -> Operator | None:
    """Return the gradient of an operator, `NAME-backward`; None if it has none."""
    reduction = GRADIENTS.get(operator.reduction)
    types = tuple(name for name in operator.dtypes if name in FLOATS)
    if reduction is None or not types or not operator.has_gradient or operator.is_gradient:
        return None
    step: Any = reduction.reduce  # a Gradient
    return replace(
        operator,
        name=operator.name + BACKWARD,
        document=f"gradient of {operator.document}",
        reduction=reduction,
        pipeline=operator.pipeline.replace(
            reduce=replace(step, **operator.of_gradient), further=no_further
        ),
        input_names=("gradient", *operator.input_names),
        outputs=(Output("gradient of data", always_defined=True),),
        dtypes=types,
        examples=(),
        levels="least" if operator.levels == "least" else "few",
        forward=operator,
    )
