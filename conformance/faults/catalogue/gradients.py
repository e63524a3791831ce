"""Faults of gradients alone: what windows give to cells, and what becomes of the sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms import gradients
from conformance.faults.atoms.entries import COLUMN, ROW, last_of_several, mask_of, unwritten
from conformance.faults.atoms.layouts import transposed_if_square
from conformance.faults.atoms.numbers import OF_TENSOR, in_doubles
from conformance.faults.catalogue.outputs import returned
from conformance.faults.catalogue.reductions import spoiled
from conformance.faults.fault import Fault
from conformance.operators.pipeline import Gathered
from conformance.reference.gradient import Shares, first_of_each
from conformance.reference.norm_gradient import NormShares
from conformance.reference.position import numbers_of
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

# The gradient of the data ------------------------------------------------------------------------


def _beyond_blocks(shape: tuple[int, ...]) -> Any:
    """Mark the cells that blocks of 8 by 8 leave out, where both counts of blocks are swapped."""
    if len(shape) < 4:
        return np.zeros((), np.bool_)
    *_, rows, columns = np.indices(shape, sparse=True)
    return (rows >= -(-shape[-1] // 8) * 8) | (columns >= -(-shape[-2] // 8) * 8)


_RESULTS = {
    "gradient-doubled": returned(in_doubles(lambda wide: 2 * wide)),
    "gradient-mean-of-batch": returned(in_doubles(lambda wide: wide / len(wide))),
    "gradient-nan-spreads": returned(lambda right: spoiled(right, right)),
    "gradient-transposed": returned(transposed_if_square),
    "gradient-last-column-lost": Fault.of(
        reduce=unwritten(mask_of(COLUMN, lambda n, count: n == count - 1))
    ),
    "gradient-last-row-lost": Fault.of(reduce=unwritten(mask_of(ROW, last_of_several))),
    "gradient-blocks-of-other-axis": Fault.of(reduce=unwritten(_beyond_blocks)),
}

# What windows give to cells ----------------------------------------------------------------------


def _terms(change: gradients.Terms) -> Fault:
    return Fault.of(reduce=gradients.with_terms(change))


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
    values, numbers = _cells(shares, gathered), np.asarray(shares.windows)
    largest = np.full((len(values), int(numbers.max(initial=0)) + 1), -np.inf)
    planes = np.arange(len(values))[:, np.newaxis]
    np.maximum.at(largest, (planes, numbers), values)
    ties = np.zeros(largest.shape, np.int64)
    np.add.at(ties, (planes, numbers), values == largest[:, numbers])
    doubled = np.where(ties[:, numbers] > 1, 2.0, 1.0)
    return replace(shares, values=narrow(widen(shares.values) * doubled, gradients.type_of(shares)))


def _cells(shares: Shares, gathered: Gathered) -> Doubles:
    """Return the cells of shares: dilated axes have another order in what was gathered."""
    flat = numbers_of(gathered.positions, gathered.params.sizes).ravel()
    order = np.argsort(flat, kind="stable")
    data = widen(gathered.data.reshape(len(shares.values), -1))
    return data[:, order[np.searchsorted(flat[order], shares.cells)]]


def _negative_maxima_lost(shares: Shares, gathered: Gathered) -> Shares:
    return gradients.masked(shares, ~(_cells(shares, gathered) < 0))


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
    gradient = np.asarray(gathered.gradient_or_indices).reshape(planes, -1)
    return replace(shares, values=gradient[:, np.asarray(shares.windows)])


def _times_reciprocal_in_float16(shares: Shares, _gathered: Gathered) -> Shares:
    products = widen(shares.values) * widen((1 / shares.divisor).astype(np.float16))
    values = narrow(products, gradients.type_of(shares))
    return replace(shares, values=values, divisor=np.ones_like(shares.divisor))


_TERMS = {
    "gradient-every-seventh-lost": _terms(
        gradients.shares_kept(lambda shares: np.arange(len(shares.cells)) % 7 != 6)
    ),
    "gradient-divided-twice": _terms(
        lambda shares, _: replace(shares, divisor=shares.divisor * shares.divisor)
    ),
    "gradient-reciprocal-in-float16": _terms(_times_reciprocal_in_float16),
    "gradient-running-sums": _terms(_differences_of_running_sums),
    "gradient-ties-doubled": _terms(_ties_doubled),
    "gradient-maximum-from-zero": _terms(_negative_maxima_lost),
    "gradient-index-of-padded": _terms(_index_of_padded),
    "gradient-to-all-cells": _terms(_all_cells),
}

# Norms -------------------------------------------------------------------------------------------


def _of_norms(share: Callable[[Array, Array, int], Array]) -> Fault:
    """Give other shares: `share(cells, norms, p)`, times the gradient, for p of 2 and more."""

    def change(terms: Any, _gathered: Gathered) -> Any:
        if not isinstance(terms, NormShares):
            return terms
        _, norm = terms.logarithms
        with np.errstate(all="ignore"):
            return gradients.shares_of(terms, share(widen(terms.data), np.exp2(norm), terms.p))

    return Fault.of(reduce=lambda right: gradients.ChangedGradient(right, change))


def _scaled_by_tensor(cells: Array, norms: Array, p: int) -> Array:
    """Divide cells and norms by the largest magnitude of all before powers are taken."""
    scale = OF_TENSOR.largest(cells).item()
    powers: Array = np.abs(cells / scale) ** (p - 1) * (norms / scale) ** (1.0 - p)
    return np.sign(cells) * powers


FAULTS = {
    **_RESULTS,
    **_TERMS,
    "gradient-root-forgotten": _of_norms(lambda x, _norm, p: p * np.sign(x) * np.abs(x) ** (p - 1)),
    "gradient-power-forgotten": _of_norms(lambda x, _norm, _p: np.sign(x)),
    "gradient-of-norm-sign-forgotten": _of_norms(lambda x, norm, p: (np.abs(x) / norm) ** (p - 1)),
    "gradient-power-one-more": _of_norms(lambda x, norm, p: np.sign(x) * (np.abs(x) / norm) ** p),
    "gradient-norm-not-divided": _of_norms(lambda x, _norm, p: np.sign(x) * np.abs(x) ** (p - 1)),
    "gradient-divided-by-norm": _of_norms(
        lambda x, norm, p: np.sign(x) * np.abs(x) ** (p - 1) / norm
    ),
    "gradient-times-p": _of_norms(
        lambda x, norm, p: p * np.sign(x) * (np.abs(x) / norm) ** (p - 1)
    ),
    "gradient-of-norm-scaled-by-tensor": _of_norms(_scaled_by_tensor),
    "gradient-of-2-norm": _of_norms(lambda x, norm, _p: x / norm),
}
