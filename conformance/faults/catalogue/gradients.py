"""Faults of gradients alone: what windows give to cells, and what becomes of the sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.faults.atoms.entries import COLUMN, ROW
from conformance.faults.atoms.gradients import (
    ChangedGradient,
    Terms,
    masked,
    shares_kept,
    shares_of,
    type_of,
    with_terms,
)
from conformance.faults.atoms.numbers import SPANS, in_doubles
from conformance.faults.atoms.outputs import Mask, entries, last_of_several, unwritten
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnOutputs
from conformance.operators.pipeline import Gathered
from conformance.reference.gradient import Shares, first_of_each
from conformance.reference.norm_gradient import NormShares
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

# The gradient of the data ------------------------------------------------------------------------


def _result(summary: str, change: Callable[[Array], Array]) -> Fault:
    """Return a changed gradient of the data."""
    return Fault.of(summary, reduce=OnOutputs(change))


def _zero(summary: str, mask: Mask) -> Fault:
    return Fault.of(summary, reduce=unwritten(mask))


def _beyond_blocks(shape: tuple[int, ...]) -> Any:
    """Mark the cells that blocks of 8 by 8 leave out, where both counts of blocks are swapped."""
    if len(shape) < 4:
        return np.zeros((), np.bool_)
    *_, rows, columns = np.indices(shape, sparse=True)
    return (rows >= -(-shape[-1] // 8) * 8) | (columns >= -(-shape[-2] // 8) * 8)


def _nan_everywhere(right: Array) -> Array:
    bad = ~np.isfinite(widen(right)).all(axis=tuple(range(2, right.ndim)), keepdims=True)
    return np.where(bad, right.dtype.type(np.nan), right)


def _rows_and_columns(right: Array) -> Array:
    square = right.ndim > 3 and right.shape[-1] == right.shape[-2]
    return right.swapaxes(-1, -2) if square else right


_RESULTS = (
    _result("the gradient of the data is doubled", in_doubles(lambda wide: 2 * wide)),
    _result(
        "the gradient of the data is divided by the number of batches",
        in_doubles(lambda wide: wide / len(wide)),
    ),
    _result("a value that is not finite makes the whole plane NaN", _nan_everywhere),
    _result("square planes of the gradient of the data are transposed", _rows_and_columns),
    _zero(
        "the last column of the gradient of the data is zero",
        entries(COLUMN, lambda n, count: n == count - 1),
    ),
    _zero(
        "the last of several rows of the gradient of the data is zero",
        entries(ROW, last_of_several),
    ),
    _zero(
        "rows beyond as many blocks of 8 as columns need are zero, and the reverse", _beyond_blocks
    ),
)

# What windows give to cells ----------------------------------------------------------------------


def _terms(summary: str, change: Terms) -> Fault:
    return Fault.of(summary, reduce=with_terms(change))


def _differences_of_running_sums(shares: Shares, _gathered: Gathered) -> Shares:
    """Add what all cells of a plane get in one running sum, and take differences."""
    order, name = np.argsort(shares.cells, kind="stable"), name_of(shares.values.dtype)
    kind = np.dtype(np.float64 if name == "float64" else np.float32)
    given = (widen(shares.values) / shares.divisor).astype(kind)
    running = np.zeros((len(given), len(order) + 1), kind)
    np.cumsum(given[:, order], axis=1, dtype=kind, out=running[:, 1:])
    starts = first_of_each(shares.cells[order])
    sums = np.zeros(given.shape)
    sums[:, order[starts]] = running[:, np.append(starts[1:], len(order))] - running[:, starts]
    return replace(shares, values=narrow(sums, name), divisor=np.ones(len(order), np.int64))


def _ties_doubled(shares: Shares, gathered: Gathered) -> Shares:
    """Give the chosen of several equal maxima twice its share."""
    data = widen(gathered.data.reshape(len(shares.values), -1))
    numbers = np.asarray(shares.windows)
    largest = np.full((len(data), int(numbers.max(initial=0)) + 1), -np.inf)
    planes = np.arange(len(data))[:, np.newaxis]
    values = data[:, _places(shares, gathered)]
    np.maximum.at(largest, (planes, numbers), values)
    ties = np.zeros(largest.shape, np.int64)
    np.add.at(ties, (planes, numbers), values == largest[:, numbers])
    doubled = np.where(ties[:, numbers] > 1, 2.0, 1.0)
    return replace(shares, values=narrow(widen(shares.values) * doubled, type_of(shares)))


def _places(shares: Shares, gathered: Gathered) -> npt.NDArray[np.int64]:
    """Return where cells are in gathered data: dilated axes have another order there."""
    numbers: npt.NDArray[np.int64] = np.zeros((), np.int64)
    for along, d in zip(gathered.positions, gathered.params.sizes, strict=True):
        numbers = numbers[..., np.newaxis] * d + along
    flat = numbers.ravel()
    order = np.argsort(flat, kind="stable")
    places: npt.NDArray[np.int64] = order[np.searchsorted(flat[order], shares.cells)]
    return places


def _negative_maxima_lost(shares: Shares, gathered: Gathered) -> Shares:
    data = widen(gathered.data.reshape(len(shares.values), -1))
    return masked(shares, ~(data[:, _places(shares, gathered)] < 0))


def _index_of_padded(shares: Shares, gathered: Gathered) -> Shares:
    """Take the places of cells in the padded plane for those in the plane."""
    params = gathered.params
    begins = [max(0, -int(start.min(initial=0))) for start in gathered.windows.start]
    places = np.unravel_index(shares.cells, params.sizes)
    axes = zip(places, begins, params.sizes, strict=True)
    moved = [np.minimum(at + begin, d - 1) for at, begin, d in axes]
    return replace(shares, cells=np.ravel_multi_index(moved, params.sizes))


def _all_cells(shares: Shares, gathered: Gathered) -> Shares:
    """Give every cell of a window what the chosen one gets."""
    planes = len(shares.values)
    gradient = np.asarray(gathered.beside).reshape(planes, -1)
    return replace(shares, values=gradient[:, np.asarray(shares.windows)])


def _divided_twice(shares: Shares, _gathered: Gathered) -> Shares:
    return replace(shares, divisor=shares.divisor * shares.divisor)


def _times_reciprocal_in_float16(shares: Shares, _gathered: Gathered) -> Shares:
    products = widen(shares.values) * widen((1 / shares.divisor).astype(np.float16))
    values = narrow(products, type_of(shares))
    return replace(shares, values=values, divisor=np.ones_like(shares.divisor))


_TERMS = (
    _terms(
        "every seventh addition is lost",
        shares_kept(lambda shares: np.arange(len(shares.cells)) % 7 != 6),
    ),
    _terms("gradients are divided by the divisor twice", _divided_twice),
    _terms(
        "gradients are multiplied by a reciprocal that is rounded to float16",
        _times_reciprocal_in_float16,
    ),
    _terms(
        "what cells get is taken as differences of a running sum over a plane",
        _differences_of_running_sums,
    ),
    _terms("the chosen of several equal maxima gets its gradient twice", _ties_doubled),
    _terms(
        "a window whose cells are negative gives nothing: its maximum starts from zero",
        _negative_maxima_lost,
    ),
    _terms(
        "the place of a maximum in the padded plane is taken for that in the plane",
        _index_of_padded,
    ),
    _terms("all cells of a window get its gradient, not the maximum alone", _all_cells),
)

# Norms -------------------------------------------------------------------------------------------


def _of_norms(summary: str, share: Callable[[Array, Array, int], Array]) -> Fault:
    """Give other shares: `share(cells, norms, p)`, times the gradient, for p of 2 and more."""

    def change(terms: Any, _gathered: Gathered) -> Any:
        if not isinstance(terms, NormShares):
            return terms
        _, norm = terms.logarithms
        with np.errstate(all="ignore"):
            return shares_of(terms, share(widen(terms.data), np.exp2(norm), terms.p))

    return Fault.of(summary, reduce=lambda right: ChangedGradient(right, change))


def _scaled_by_tensor(cells: Array, norms: Array, p: int) -> Array:
    """Divide cells and norms by the largest magnitude of all before powers are taken."""
    scale = SPANS[0].largest(cells).item()
    powers: Array = np.abs(cells / scale) ** (p - 1) * (norms / scale) ** (1.0 - p)
    return np.sign(cells) * powers


_NORMS = (
    _of_norms(
        "the gradient is that of the sum of powers, not of its root",
        lambda x, _norm, p: p * np.sign(x) * np.abs(x) ** (p - 1),
    ),
    _of_norms(
        "the gradient has the sign of the cell, but not its power", lambda x, _norm, _p: np.sign(x)
    ),
    _of_norms(
        "the gradient of a norm is that of the magnitude of a cell",
        lambda x, norm, p: (np.abs(x) / norm) ** (p - 1),
    ),
    _of_norms(
        "the gradient has the power p in place of p - 1",
        lambda x, norm, p: np.sign(x) * (np.abs(x) / norm) ** p,
    ),
    _of_norms(
        "the power of a cell is not divided by that of the norm",
        lambda x, _norm, p: np.sign(x) * np.abs(x) ** (p - 1),
    ),
    _of_norms(
        "the gradient of a norm is p times too large",
        lambda x, norm, p: p * np.sign(x) * (np.abs(x) / norm) ** (p - 1),
    ),
    _of_norms(
        "cells and norms are divided by the largest magnitude of the whole tensor before powers "
        "are taken",
        _scaled_by_tensor,
    ),
    _of_norms("the gradient is that of p = 2, whatever p", lambda x, norm, _p: x / norm),
)

FAULTS = (*_RESULTS, *_TERMS, *_NORMS)
