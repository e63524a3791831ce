"""Faults of gradients: geometry that is wrong in the backward pass alone, and sums of shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format, name_of
from conformance.faults.atoms.entries import BATCH, CHANNEL, COLUMN, ROW
from conformance.faults.atoms.numbers import (
    ROUNDED_TO_INTEGERS,
    ZERO_IF_NAN,
    ZERO_IF_NEGATIVE,
    Change,
    Number,
    in_doubles,
    of_floats,
    rounded_to,
)
from conformance.faults.behaviour import ANY_EXPONENT, DOUBLES, Behaviour, Faults, Replaces
from conformance.faults.catalogue import (
    adaptive,
    cells,
    dilations,
    divisor,
    geometry,
    layouts,
    resolve,
)
from conformance.faults.catalogue import whole_plane as whole
from conformance.faults.catalogue.values import (
    SPANS,
    Mask,
    beyond_groups,
    entries,
    in_fixed_point_of,
)
from conformance.operators.clause import StepWrap
from conformance.operators.gradients import Gradient
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.gradient import Shares, first_of_each
from conformance.reference.norm_gradient import NormShares
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

_EVERY = Needs(gradient=True)
_OVERLAPPING = _EVERY & Needs(some=("kernel", "output"))  # a cell may be in several windows
_NOT_OF_NORMS = _EVERY & Needs(powers=False)  # where infinities are undefined
_AVERAGE = Needs(gradient=True, reduction="gradient of average")
_MAXIMUM = Needs(gradient=True, reduction="gradient of maximum")
_NORM = Needs(gradient=True, reduction="gradient of norm")


# Geometry ----------------------------------------------------------------------------------------

_OF_FORWARD: Mapping[str, tuple[str, ...]] = {
    resolve.__name__: (
        *("pads-ignored", "pads-swapped", "pads-begin-for-both", "pads-reversed"),
        *("kernel-reversed", "strides-reversed", "strides-as-kernel", "kernel-as-strides"),
        *("ceil-ignored", "same-lower-as-upper", "exclude-pad-ignored", "include-pad-ignored"),
    ),
    geometry.__name__: (
        *("windows-without-begin-pads", "windows-start-at-end-pads", "windows-one-late"),
        *("windows-stride-ignored", "windows-one-cell-short", "last-column-dropped"),
        *("first-column-dropped", "last-row-dropped", "overhang-moved-back"),
    ),
    dilations.__name__: (
        *("windows-dilations-ignored", "windows-dilations-reversed"),
        *("dilated-last-cell-skipped", "dilated-holes-read"),
    ),
    adaptive.__name__: (
        *("adaptive-end-floor", "adaptive-fixed-kernel-floor", "adaptive-last-takes-the-rest"),
        "adaptive-float32-reciprocal",
    ),
    whole.__name__: ("whole-without-last-row", "whole-last-axis-alone"),
    divisor.__name__: (
        *("not-divided", "divisor-whole-kernel-if-excluded", "divisor-one-more"),
        *("divisor-of-first", "divisor-of-last", "divisor-pads-swapped", "divisor-axes-reversed"),
        *("given-divisor-ignored", "given-divisor-ignored-with-padding"),
        *("given-divisor-ignored-at-border", "given-divisor-multiplied"),
    ),
    cells.__name__: (
        *("padding-repeats-border", "padding-wraps", "padding-mirrors", "last-cell-skipped"),
        *("first-cell-twice", "overlap-not-counted-again", "runs-into-next-row"),
    ),
    layouts.__name__: (
        *("layout-last-as-second", "layout-second-as-last", "layout-of-input-alone"),
        "layout-last-without-begin-pads",
    ),
}
"""Faults that a backward pass has of its own, by the module that has them for forward ones."""


def _backward(behaviour: Behaviour) -> Behaviour:
    """Return the same fault of gradients."""
    summary, needs = f"in the gradient, {behaviour.summary}", behaviour.needs.in_gradients()
    return behaviour._replace(summary=summary, needs=needs, bug="")


_GEOMETRY: Faults = {
    f"backward-{name}": _backward(module.FAULTS[name])
    for module in (resolve, geometry, dilations, adaptive, whole, divisor, cells, layouts)
    for name in _OF_FORWARD[module.__name__]
}


# Ways to change what is summed -------------------------------------------------------------------

Terms = Callable[[Shares, Gathered], Shares]
"""From the shares of the cells of a case: other shares."""


@dataclass(frozen=True, eq=False)
class _Changed(Gradient):
    """A gradient of what is gathered, changed, or of other shares."""

    right: Any
    gather: Callable[[Gathered], Gathered]
    change: Terms

    def terms(self, gathered: Gathered, divisor: Divisor) -> Shares:
        """Return what windows give to cells, with the change."""
        gathered = self.gather(gathered)
        return self.change(_as_shares(self.right.terms(gathered, divisor)), gathered)


def _as_shares(terms: Any) -> Shares:
    """Return the terms of norms, too, as shares without factors, rounded once from doubles."""
    if isinstance(terms, Shares):
        with np.errstate(all="ignore"):
            values = narrow(widen(terms.values) * terms.factor, _name(terms))
        return replace(terms, values=values, factor=1)
    norms: NormShares = terms
    ratio = _ratio_to_norm(norms)
    return _shares_of(norms, np.sign(widen(norms.data)) * ratio ** (norms.p - 1))


def _ratio_to_norm(norms: NormShares) -> npt.NDArray[np.float64]:
    size, norm = norms.logarithms
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp2(size - norm))


def _shares_of(norms: NormShares, parts: npt.NDArray[np.float64]) -> Shares:
    """Return parts of the gradient, times the weight of each window."""
    name = name_of(norms.data.dtype)
    with np.errstate(all="ignore"):
        values = widen(norms.gradient) * norms.weight * parts
        values = narrow(np.where(norms.undefined, 0.0, values), name)
    ones = np.ones(values.shape[1], np.int64)
    return Shares(values, ones, norms.cells, norms.undefined, norms.pairs.windows)


def with_terms(change: Terms) -> StepWrap:
    """Let the step `reduce` of a gradient add up other shares."""
    return lambda right: _Changed(right, lambda given: given, change)


def with_gradient(change: Change) -> StepWrap:
    """Let it take another gradient of the output, of the same shape."""

    def gather(gathered: Gathered) -> Gathered:
        return replace(gathered, beside=change(np.asarray(gathered.beside)))

    return lambda right: _Changed(right, gather, lambda shares, _gathered: shares)


def _terms(summary: str, change: Terms, needs: Needs = _EVERY) -> Behaviour:
    return Behaviour(summary, needs, {"reduce": with_terms(change)})


def _given(summary: str, change: Change, needs: Needs = _EVERY) -> Behaviour:
    return Behaviour(summary, needs, {"reduce": with_gradient(change)})


def _given_as(number: Number, needs: Needs = _EVERY) -> Behaviour:
    """Take other numbers for those of the gradient of the output."""
    said = f"as if gradients of the output were {number.words}"
    return _given(said, of_floats(number), needs)


def _result(
    summary: str, change: Callable[[Array, Gathered], Array], needs: Needs = _EVERY
) -> Behaviour:
    """Return a changed gradient of the data."""

    def wrap(right: Callable[..., Array]) -> Callable[..., Array]:
        return lambda gathered, divisor: change(right(gathered, divisor), gathered)

    return Behaviour(summary, needs, {"reduce": wrap})


def _zero_at(mask: Mask) -> Callable[[Array, Gathered], Array]:
    def change(right: Array, _gathered: Gathered) -> Array:
        return np.where(mask(right.shape), right.dtype.type(0), right)

    return change


# Shares ------------------------------------------------------------------------------------------


def _masked(shares: Shares, is_kept: npt.NDArray[np.bool_]) -> Shares:
    zero = shares.values.dtype.type(0)
    return replace(shares, values=np.where(is_kept, shares.values, zero))


def rank_of(shares: Shares) -> npt.NDArray[np.int64]:
    """Return which share of its cell each is, 0 for that of its first window."""
    order = np.argsort(shares.cells, kind="stable")
    starts = first_of_each(shares.cells[order])
    lengths = np.diff(starts, append=len(order))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return ranks


def counts_of(shares: Shares) -> npt.NDArray[np.int64]:
    """Return how many shares the cell of each has."""
    counts: npt.NDArray[np.int64] = np.bincount(shares.cells, minlength=1)[shares.cells]
    return counts


def _not_zero_last(shares: Shares) -> npt.NDArray[np.bool_]:
    """Mark the last share of each cell that is not zero: what overwrites all others."""
    rank = np.where(shares.values != 0, rank_of(shares), -1)
    largest = np.full((len(rank), int(shares.cells.max(initial=0)) + 1), -1)
    np.maximum.at(largest, (np.arange(len(rank))[:, np.newaxis], shares.cells), rank)
    marks: npt.NDArray[np.bool_] = rank == largest[:, shares.cells]
    return marks


def last_wins(shares: Shares, _gathered: Gathered) -> Shares:
    """Leave each cell its last share that is not zero."""
    return _masked(shares, _not_zero_last(shares))


def first_wins(shares: Shares, gathered: Gathered) -> Shares:
    """Leave each cell its first share that is not zero."""
    backwards = replace(
        shares,
        values=shares.values[:, ::-1],
        cells=shares.cells[::-1],
        divisor=shares.divisor[..., ::-1],
        undefined=None if shares.undefined is None else shares.undefined[:, ::-1],
    )
    return last_wins(backwards, gathered)


def _averaged(shares: Shares, _gathered: Gathered) -> Shares:
    return replace(shares, divisor=shares.divisor * counts_of(shares))


def shares_kept(is_kept: Callable[[Shares], npt.NDArray[np.bool_]]) -> Terms:
    """Leave out some shares."""
    return lambda shares, _gathered: _masked(shares, is_kept(shares))


def windows_kept(is_kept: Callable[[npt.NDArray[np.int64], int], Any]) -> Terms:
    """Leave out what some windows give, by their numbers in a plane and how many there are."""

    def change(shares: Shares, gathered: Gathered) -> Shares:
        count = int(np.prod([len(begin) for begin in gathered.lo]))
        windows = np.asarray(shares.windows)
        return _masked(shares, np.asarray(is_kept(windows, count)))

    return change


def added_in(kind: str, wide: tuple[str, ...]) -> Terms:
    """Round each partial sum to a type, for data of wide types."""

    def change(shares: Shares, _gathered: Gathered) -> Shares:
        if name_of(shares.values.dtype) not in wide:
            return shares
        rank, sums = rank_of(shares), np.zeros((len(shares.values), int(shares.cells.max()) + 1))
        values = widen(shares.values) / shares.divisor
        for turn in range(int(rank.max(initial=-1)) + 1):
            at = rank == turn
            total = sums[:, shares.cells[at]] + values[:, at]
            sums[:, shares.cells[at]] = widen(narrow(total, kind))
        first = np.where(rank == 0, sums[:, shares.cells], 0.0)
        name = name_of(shares.values.dtype)
        ones = np.ones(len(shares.cells), np.int64)
        return replace(shares, values=narrow(first, name), divisor=ones)

    return change


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


# Gradients of outputs ----------------------------------------------------------------------------


def _clamped(data: Array) -> Array:
    largest = float_format(name_of(data.dtype)).largest
    return in_doubles(lambda wide: np.clip(wide, -largest, largest))(data)


def _flipped(gradient: Array) -> Array:
    return np.flip(gradient, tuple(range(2, gradient.ndim)))


# Maxima ------------------------------------------------------------------------------------------


def _chosen_by(change: Change) -> Behaviour:
    """Choose the cells by changed data."""
    replaces: Replaces = {
        "reduce": lambda right: _Changed(
            right,
            lambda gathered: replace(gathered, data=change(gathered.data)),
            lambda shares, _gathered: shares,
        )
    }
    return Behaviour("", _MAXIMUM, replaces)


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
    return replace(shares, values=narrow(widen(shares.values) * doubled, _name(shares)))


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
    return _masked(shares, ~(data[:, _places(shares, gathered)] < 0))


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


# Norms -------------------------------------------------------------------------------------------


def _of_norms(summary: str, share: Callable[[Array, Array, int], Array]) -> Behaviour:
    """Give other shares: `share(cells, norms, p)`, times the gradient, for p of 2 and more."""

    def change(right: Any) -> Gradient:
        return _OtherNorm(right, share)

    return Behaviour(summary, _NORM, {"reduce": change})


@dataclass(frozen=True, eq=False)
class _OtherNorm(Gradient):
    """A gradient of norms with other shares."""

    right: Any
    share: Callable[[Array, Array, int], Array]

    def terms(self, gathered: Gathered, divisor: Divisor) -> Any:
        """Return what windows give to cells."""
        terms = self.right.terms(gathered, divisor)
        if not isinstance(terms, NormShares):
            return terms
        _, norm = terms.logarithms
        with np.errstate(all="ignore"):
            share = self.share(widen(terms.data), np.exp2(norm), terms.p)
            return _shares_of(terms, share)


def _scaled_by_tensor(cells: Array, norms: Array, p: int) -> Array:
    """Divide cells and norms by the largest magnitude of all before powers are taken."""
    scale = SPANS[0].largest(cells).item()
    powers: Array = np.abs(cells / scale) ** (p - 1) * (norms / scale) ** (1.0 - p)
    return np.sign(cells) * powers


def _name(shares: Shares) -> str:
    return name_of(shares.values.dtype)


def _not_cleared(right: Callable[..., Array]) -> Callable[..., Array]:
    left: dict[Any, Array] = {}

    def adding(gathered: Gathered, divisor: Divisor) -> Array:
        result = right(gathered, divisor)
        key = (result.shape, result.dtype)
        with np.errstate(all="ignore"):
            total: Array = (result + left.get(key, 0)).astype(result.dtype)
        left[key] = total.copy()
        return total

    return adding


def _one_for_all(gradient: Array) -> Array:
    return np.broadcast_to(gradient[:1], gradient.shape).copy()


def _mean_of_batch(right: Array, _gathered: Gathered) -> Array:
    return in_doubles(lambda wide: wide / len(wide))(right)


def _beyond_blocks(shape: tuple[int, ...]) -> Any:
    """Mark the cells that blocks of 8 by 8 leave out, where both counts of blocks are swapped."""
    if len(shape) < 4:
        return False
    *_, rows, columns = np.indices(shape, sparse=True)
    return (rows >= -(-shape[-1] // 8) * 8) | (columns >= -(-shape[-2] // 8) * 8)


def _nan_everywhere(right: Array, _gathered: Gathered) -> Array:
    axes = tuple(range(2, right.ndim))
    bad = ~np.isfinite(widen(right)).all(axis=axes, keepdims=True)
    return np.where(bad, right.dtype.type(np.nan), right)


def _rows_and_columns(right: Array, _gathered: Gathered) -> Array:
    square = right.ndim > 3 and right.shape[-1] == right.shape[-2]
    return right.swapaxes(-1, -2) if square else right


_OTHER_FLOATS = ("float32", "float64")

FAULTS: Faults = {
    **_GEOMETRY,
    # What is summed.
    "gradient-last-window-wins": _terms(
        "the gradient of a cell is what its last window gives, not the sum",
        last_wins,
        _OVERLAPPING,
    ),
    "gradient-first-window-wins": _terms(
        "the gradient of a cell is what its first window gives, not the sum",
        first_wins,
        _OVERLAPPING,
    ),
    "gradient-averaged-over-windows": _terms(
        "the gradient of a cell is the mean of what its windows give, not the sum",
        _averaged,
        _OVERLAPPING,
    ),
    "gradient-second-window-lost": _terms(
        "what the second window of a cell gives is lost: an addition that is not atomic",
        shares_kept(lambda shares: rank_of(shares) != 1),
        _OVERLAPPING,
    ),
    "gradient-of-four-windows-at-most": _terms(
        "a cell gets what four windows give at most",
        shares_kept(lambda shares: rank_of(shares) < 4),
        _OVERLAPPING,
    ),
    "gradient-every-seventh-lost": _terms(
        "every seventh addition is lost",
        shares_kept(lambda shares: np.arange(len(shares.cells)) % 7 != 6),
    ),
    "gradient-last-window-lost": _terms(
        "the last window of each plane gives nothing",
        windows_kept(lambda windows, count: windows < count - 1),
    ),
    "gradient-first-window-lost": _terms(
        "the first window of each plane gives nothing",
        windows_kept(lambda windows, _count: windows > 0),
    ),
    "gradient-tail-of-4-lost": _terms(
        "windows beyond the last full group of 4 give nothing",
        windows_kept(lambda windows, count: (windows < count // 4 * 4) | (count < 4)),
        _OVERLAPPING,
    ),
    "gradient-tail-of-8-lost": _terms(
        "windows beyond the last full group of 8 give nothing",
        windows_kept(lambda windows, count: (windows < count // 8 * 8) | (count < 8)),
        _OVERLAPPING,
    ),
    "gradient-added-in-bfloat16": _terms(
        "gradients are added in bfloat16, whatever their type",
        added_in("bfloat16", ("float16", *_OTHER_FLOATS)),
    ),
    "gradient-added-in-float16": _terms(
        "gradients of wide types are added in float16", added_in("float16", _OTHER_FLOATS)
    ),
    "gradient-added-in-float32": _terms(
        "gradients of float64 are added in float32", added_in("float32", ("float64",))
    ).needing(DOUBLES),
    # The gradient of the output.
    "gradient-through-float16": _given_as(rounded_to("float16")),
    "gradient-through-bfloat16": _given_as(rounded_to("bfloat16")),
    "gradient-through-float32": _given_as(rounded_to("float32")).needing(DOUBLES),
    "gradient-whole-numbers": _given_as(ROUNDED_TO_INTEGERS),
    "gradient-nan-as-zero": _given_as(ZERO_IF_NAN, _NOT_OF_NORMS),
    "gradient-infinity-clamped": _given(
        "an infinity in the gradient of the output is the largest number", _clamped, _NOT_OF_NORMS
    ),
    "gradient-negative-lost": _given_as(ZERO_IF_NEGATIVE),
    "gradient-sign-lost": _given("the gradient of the output loses its sign", np.abs),
    **{
        f"gradient-in-fixed-point-of-{span.name}": _given(
            "the gradient of the output is rounded to multiples of the last bit of the largest "
            f"number of {span.words}",
            in_fixed_point_of(span),
            _EVERY if span.name != "plane" else _OVERLAPPING,
        )
        for span in SPANS
    },
    "gradient-clipped": _given_as(Number("kept from -1 to 1", lambda v, _: np.clip(v, -1.0, 1.0))),
    "gradient-of-first-batch": _given(
        "the gradient of the output of the first batch is used for all", _one_for_all
    ),
    "gradient-channels-reversed": _given(
        "channels of the gradient of the output are in reverse", lambda g: g[:, ::-1]
    ),
    "gradient-windows-reversed": _given(
        "windows are taken from the last to the first in the gradient of the output",
        _flipped,
        _OVERLAPPING,
    ),
    "gradient-of-first-window-for-all": _given(
        "the gradient of the first output of each plane is used for all",
        lambda g: np.broadcast_to(
            g.reshape(*g.shape[:2], -1)[:, :, :1].reshape(*g.shape[:2], *[1] * (g.ndim - 2)),
            g.shape,
        ).copy(),
        _OVERLAPPING,
    ),
    "gradient-taken-as-ones": _given("the gradient of the output is taken as ones", np.ones_like),
    # The gradient of the data.
    "gradient-doubled": _result(
        "the gradient of the data is doubled",
        lambda right, _gathered: in_doubles(lambda wide: 2 * wide)(right),
    ),
    "gradient-negated": _result(
        "the gradient of the data has the wrong sign", lambda right, _gathered: -right
    ),
    "gradient-last-column-lost": _result(
        "the last column of the gradient of the data is zero",
        _zero_at(entries(COLUMN, lambda n, count: n == count - 1)),
    ),
    "gradient-last-row-lost": _result(
        "the last of several rows of the gradient of the data is zero",
        _zero_at(entries(ROW, lambda n, count: (n == count - 1) & (count > 1))),
    ),
    "gradient-blocks-of-other-axis": _result(
        "rows beyond as many blocks of 8 as columns need are zero, and the reverse",
        _zero_at(_beyond_blocks),
        _EVERY & Needs(axes=2),
    ),
    "gradient-later-batches-lost": _result(
        "the gradient of the data is zero after the first batch",
        _zero_at(entries(BATCH, lambda n, _count: n > 0)),
    ),
    "gradient-channels-beyond-8-lost": _result(
        "channels beyond the last full group of 8 get no gradient, where there is a group",
        _zero_at(entries(CHANNEL, beyond_groups(8))),
    ),
    "gradient-mean-of-batch": _result(
        "the gradient of the data is divided by the number of batches", _mean_of_batch
    ),
    "gradient-nan-spreads": _result(
        "a value that is not finite makes the whole plane NaN", _nan_everywhere
    ),
    "gradient-transposed": _result(
        "square planes of the gradient of the data are transposed", _rows_and_columns, _OVERLAPPING
    ),
    "gradient-rounded-to-bfloat16": _result(
        "the gradient of the data is rounded to bfloat16",
        lambda right, _gathered: of_floats(rounded_to("bfloat16"))(right),
    ),
    "gradient-not-cleared": Behaviour(
        "the gradient of the call before is added, if it has the same shape",
        _EVERY,
        {"reduce": _not_cleared},
        remembers=True,
    ),
    # Averages.
    "gradient-divided-twice": _terms(
        "gradients are divided by the divisor twice",
        lambda shares, _gathered: replace(shares, divisor=shares.divisor * shares.divisor),
        _AVERAGE,
    ),
    "gradient-divided-by-shared-windows": _terms(
        "gradients are divided by the number of windows of a cell, in place of cells of a window",
        lambda shares, _gathered: replace(shares, divisor=counts_of(shares)),
        _AVERAGE & Needs(some=("kernel", "output")),
    ),
    "gradient-reciprocal-in-float16": _terms(
        "gradients are multiplied by a reciprocal that is rounded to float16",
        lambda shares, _gathered: replace(
            shares,
            values=narrow(
                widen(shares.values) * widen((1 / shares.divisor).astype(np.float16)),
                _name(shares),
            ),
            divisor=np.ones_like(shares.divisor),
        ),
        _AVERAGE,
    ),
    "gradient-running-sums": _terms(
        "what cells get is taken as differences of a running sum over a plane",
        _differences_of_running_sums,
        _AVERAGE & Needs(some=("kernel", "output")),
    ),
    # Maxima.
    "gradient-ties-doubled": _terms(
        "the chosen of several equal maxima gets its gradient twice", _ties_doubled, _MAXIMUM
    ),
    "gradient-chosen-by-magnitude": _chosen_by(np.abs)._replace(
        summary="the cell of the largest magnitude gets the gradient"
    ),
    "gradient-chosen-as-minimum": _chosen_by(np.negative)._replace(
        summary="the smallest cell gets the gradient"
    ),
    "gradient-chosen-in-bfloat16": _chosen_by(of_floats(rounded_to("bfloat16")))._replace(
        summary="the cell that gets the gradient is chosen from data rounded to bfloat16"
    ),
    "gradient-maximum-from-zero": _terms(
        "a window whose cells are negative gives nothing: its maximum starts from zero",
        _negative_maxima_lost,
        _MAXIMUM,
    ),
    "gradient-index-of-padded": _terms(
        "the place of a maximum in the padded plane is taken for that in the plane",
        _index_of_padded,
        _MAXIMUM & Needs(roles=("kernel",), some=("pads_begin", "pads", "auto_pad")),
    ),
    "gradient-to-all-cells": _terms(
        "all cells of a window get its gradient, not the maximum alone", _all_cells, _MAXIMUM
    ),
    # Norms.
    "gradient-root-forgotten": _of_norms(
        "the gradient is that of the sum of powers, not of its root",
        lambda x, _norm, p: p * np.sign(x) * np.abs(x) ** (p - 1),
    ),
    "gradient-power-forgotten": _of_norms(
        "the gradient has the sign of the cell, but not its power", lambda x, _norm, _p: np.sign(x)
    ),
    "gradient-of-norm-sign-forgotten": _of_norms(
        "the gradient of a norm is that of the magnitude of a cell",
        lambda x, norm, p: (np.abs(x) / norm) ** (p - 1),
    ),
    "gradient-power-one-more": _of_norms(
        "the gradient has the power p in place of p - 1",
        lambda x, norm, p: np.sign(x) * (np.abs(x) / norm) ** p,
    ),
    "gradient-norm-not-divided": _of_norms(
        "the power of a cell is not divided by that of the norm",
        lambda x, _norm, p: np.sign(x) * np.abs(x) ** (p - 1),
    ),
    "gradient-times-p": _of_norms(
        "the gradient of a norm is p times too large",
        lambda x, norm, p: p * np.sign(x) * (np.abs(x) / norm) ** (p - 1),
    ),
    "gradient-of-norm-scaled-by-tensor": _of_norms(
        "cells and norms are divided by the largest magnitude of the whole tensor before powers "
        "are taken",
        _scaled_by_tensor,
    ).needing(DOUBLES),
    "gradient-of-2-norm": _of_norms(
        "the gradient is that of p = 2, whatever p",
        lambda x, norm, _p: x / norm,
    ).needing(ANY_EXPONENT),
}
