"""Gradients: what of the gradient of the output is read, and what windows give to cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.faults.atoms.atom import ORDINALS, Atom, family, faults
from conformance.faults.atoms.entries import Chosen, beyond_groups, other_entries, tail
from conformance.faults.atoms.layouts import other_layouts
from conformance.faults.atoms.numbers import NUMBERS, Change, in_fixed_point, of_floats, on_cells
from conformance.faults.concerns import GRADIENTS, ROUNDED, WINDOWED
from conformance.faults.fault import Fault
from conformance.operators.gradients import Gradient
from conformance.operators.needs import GRADIENTS_OF_MAXIMA, GRADIENTS_OF_NORMS, has
from conformance.operators.pipeline import Divisor, Gathered, outer, resolve_pads, slacks
from conformance.operators.windows import first_from
from conformance.operators.wraps import StepWrap, after
from conformance.reference import maximum_ignoring_nan
from conformance.reference.gradient import Shares, first_of_each
from conformance.reference.norm_gradient import NormShares
from conformance.reference.position import numbers_of, positions_of
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

_GIVEN = "gradients of the output"

# Ways to change what is summed -------------------------------------------------------------------

Terms = Callable[[Shares, Gathered], Shares]
"""From the shares of the cells of a case: other shares."""


@dataclass(frozen=True, eq=False)
class ChangedGradient(Gradient):
    """A gradient of changed terms, of what was gathered or something else."""

    right: Any
    change: Callable[[Any, Gathered], Any]
    gather: Callable[[Gathered], Gathered] = lambda gathered: gathered

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        """Return the gradient of the data: what was kept in doubles is rounded once it is added."""
        return narrow(widen(super().__call__(gathered, divisor)), name_of(gathered.data.dtype))

    def terms(self, gathered: Gathered, divisor: Divisor) -> Any:
        """Return what windows give to cells, with the change."""
        gathered = self.gather(gathered)
        return self.change(self.right.terms(gathered, divisor), gathered)


def _as_shares(terms: Any) -> Shares:
    """Return the terms of norms, too, as shares without factors."""
    if isinstance(terms, Shares):
        with np.errstate(all="ignore"):
            values = narrow(widen(terms.values) * terms.factor, type_of(terms))
        return replace(terms, values=values, factor=1)
    norms: NormShares = terms
    ratio = _ratio_to_norm(norms)
    return shares_of(norms, np.sign(widen(norms.data)) * ratio ** (norms.p - 1))


def _ratio_to_norm(norms: NormShares) -> npt.NDArray[np.float64]:
    size, norm = norms.logarithms
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp2(size - norm))


def shares_of(norms: NormShares, parts: npt.NDArray[np.float64]) -> Shares:
    """Return parts of the gradient, times the weight of each window, as doubles."""
    with np.errstate(all="ignore"):
        values = widen(norms.gradient) * norms.weight * parts
    values = np.where(norms.undefined, 0.0, values)
    ones = np.ones(values.shape[1], np.int64)
    return Shares(values, ones, norms.cells, norms.undefined, norms.pairs.windows)


def with_terms(change: Terms) -> StepWrap:
    """Let the step `reduce` of a gradient add up other shares."""
    return lambda right: ChangedGradient(right, lambda terms, of: change(_as_shares(terms), of))


def with_gradient(change: Change) -> StepWrap:
    """Let it take another gradient of the output, of the same shape."""

    def gather(gathered: Gathered) -> Gathered:
        return replace(
            gathered, gradient_or_indices=change(np.asarray(gathered.gradient_or_indices))
        )

    return lambda right: ChangedGradient(right, lambda terms, _: _as_shares(terms), gather)


def type_of(shares: Shares) -> str:
    """Return the name of the element type of shares."""
    return name_of(shares.values.dtype)


# Shares ------------------------------------------------------------------------------------------


def masked(shares: Shares, is_kept: npt.NDArray[np.bool_]) -> Shares:
    """Take shares that are not kept as zero."""
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


def _counts_of(shares: Shares) -> npt.NDArray[np.int64]:
    """Return how many shares the cell of each has."""
    counts: npt.NDArray[np.int64] = np.bincount(shares.cells, minlength=1)[shares.cells]
    return counts


def _not_zero(shares: Shares, *, last: bool) -> npt.NDArray[np.bool_]:
    """Mark the first or last share of each cell that is not zero: what overwrites all others."""
    rank = rank_of(shares)
    order = np.where(shares.values != 0, rank if last else rank.max(initial=0) - rank, -1)
    largest = np.full((len(order), int(shares.cells.max(initial=0)) + 1), -1)
    np.maximum.at(largest, (np.arange(len(order))[:, np.newaxis], shares.cells), order)
    marks: npt.NDArray[np.bool_] = order == largest[:, shares.cells]
    return marks


def shares_kept(is_kept: Callable[[Shares], npt.NDArray[np.bool_]]) -> Terms:
    """Leave out some shares."""
    return lambda shares, _gathered: masked(shares, is_kept(shares))


def _windows_lost(are_lost: Chosen) -> Terms:
    """Leave out what some windows give, by their numbers in a plane and how many there are."""

    def change(shares: Shares, gathered: Gathered) -> Shares:
        count = prod(len(begin) for begin in gathered.lo)
        return masked(shares, ~are_lost(np.asarray(shares.windows), count))

    return change


def _added_in(kind: str, wide: tuple[str, ...], shares: Shares, gathered: Gathered) -> Shares:
    """Round each partial sum to a type, for data of wide types."""
    if name_of(gathered.data.dtype) not in wide:
        return shares
    cells = int(shares.cells.max(initial=0)) + 1
    rank, sums = rank_of(shares), np.zeros((len(shares.values), cells))
    values = widen(shares.values) / shares.divisor
    for turn in range(int(rank.max(initial=-1)) + 1):
        at = rank == turn
        total = sums[:, shares.cells[at]] + values[:, at]
        sums[:, shares.cells[at]] = widen(narrow(total, kind))
    first = np.where(rank == 0, sums[:, shares.cells], 0.0)
    return replace(shares, values=first, divisor=np.ones(len(shares.cells), np.int64))


def _nan_of_zeros(terms: Any, _gathered: Gathered) -> Shares:
    """Divide by norms of zero: what comes of that is the backend's to say."""
    shares = _as_shares(terms)
    if isinstance(terms, Shares) or terms.nothing is None:
        return shares
    nan = shares.values.dtype.type(np.nan)
    return replace(shares, values=np.where(terms.nothing, nan, shares.values))


def _of_minus_infinity(shares: Shares, gathered: Gathered) -> Shares:
    """Leave out what windows of minus infinity alone give: no cell is above their start."""
    largest = widen(maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi))
    is_least = np.isneginf(largest.reshape(len(shares.values), -1))
    return masked(shares, ~is_least[:, np.asarray(shares.windows)])


def _of_floor(shares: Shares, gathered: Gathered) -> Shares:
    """Leave out what the windows give that rounding up adds."""
    params = gathered.params
    kept: Any = np.ones((), np.bool_)
    room = slacks(params, resolve_pads(params))
    for begin, slack, s in zip(gathered.lo, room, params.strides, strict=True):
        kept = np.logical_and.outer(kept, np.arange(len(begin)) <= slack // s)
    return shares if params.same else masked(shares, kept.ravel()[np.asarray(shares.windows)])


def _column_major(shares: Shares, gathered: Gathered) -> Shares:
    """Take the number of a cell in column-major order, where that is asked for, for its place."""
    sizes = gathered.params.sizes
    if gathered.params.storage_order != "column-major":
        return shares
    places = positions_of(shares.cells, sizes)
    return replace(shares, cells=np.ravel_multi_index(places[::-1], sizes[::-1]))


def _norms_at_least(least: float) -> StepWrap:
    """Divide by norms of a number at least."""

    def change(terms: Any, _gathered: Gathered) -> Shares:
        shares = _as_shares(terms)
        if isinstance(terms, Shares):
            return shares
        _, norm = terms.logarithms
        with np.errstate(all="ignore"):
            factor = np.minimum(np.exp2(norm) / least, 1.0) ** (terms.p - 1)
            values = shares.values * np.where(np.isfinite(norm), factor, 1.0)
        return replace(shares, values=values)

    return lambda right: ChangedGradient(right, change)


def _of_nothing(result: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Let windows without a cell give to a place that may be of another row or plane, or none."""
    sizes, windows = gathered.params.sizes, gathered.windows
    none = outer(windows.inside(sizes)) == 0
    places = numbers_of([first_from(start, 0, n) for start, _, n in windows.axes], sizes)
    planes = np.arange(prod(result.shape[:2]), dtype=np.int64)[:, np.newaxis] * prod(sizes)
    at = (planes + places[none]).ravel()
    gradient = widen(np.asarray(gathered.gradient_or_indices)).reshape(len(planes), -1)
    given = gradient[:, none.ravel()].ravel()
    flat = widen(result).ravel()
    is_held = at < flat.size
    np.add.at(flat, at[is_held], given[is_held])
    return narrow(flat.reshape(result.shape), name_of(result.dtype))


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield gradients that are given, and sums of what windows give to cells."""
    others = chain(other_entries(_GIVEN, "read"), other_layouts(_GIVEN))
    yield from faults("{}", GRADIENTS, "reduce", with_gradient, others)
    said = f"{_GIVEN} are {{}}"
    yield from faults(said, GRADIENTS, "reduce", lambda of: with_gradient(of_floats(of)), NUMBERS)
    parts = in_fixed_point(_GIVEN)
    yield from faults("{}", GRADIENTS, "reduce", with_gradient, parts)
    yield from faults(said, GRADIENTS, "reduce", with_gradient, [Atom("1", np.ones_like)])
    said = "data are {} in gradients"
    yield from faults(said, GRADIENTS, "reduce", lambda of: on_cells(of_floats(of)), NUMBERS)
    yield from faults("{}", GRADIENTS, "reduce", with_terms, _terms())
    of_maxima = (
        Atom("windows of minus infinity alone give nothing", _of_minus_infinity),
        Atom(
            "numbers in column-major order taken for places", _column_major, (has("storage_order"),)
        ),
    )
    yield from faults("{}", GRADIENTS_OF_MAXIMA, "reduce", with_terms, of_maxima)
    said = "windows that rounding up adds give nothing"
    yield Fault(said, (*GRADIENTS, *ROUNDED, *WINDOWED), {"reduce": with_terms(_of_floor)})
    least = family("{:g}", (1e-5, 1e-6, 1e-8, 1e-12), float)
    said = "norms are {} at least where gradients are divided by them"
    yield from faults(said, GRADIENTS_OF_NORMS, "reduce", _norms_at_least, least)
    divided = partial(ChangedGradient, change=_nan_of_zeros)
    said = "what a window of zeros gives is divided by its norm"
    yield Fault(said, GRADIENTS_OF_NORMS, {"reduce": divided})
    said = "windows without a cell give to the place in memory of their first tap from 0 on"
    yield Fault(said, GRADIENTS_OF_MAXIMA, {"reduce": after(_of_nothing)})


def _terms() -> Iterator[Atom[Terms]]:
    for end in ("last", "first"):
        kept = shares_kept(partial(_not_zero, last=end == "last"))
        yield Atom(f"a cell gets what its {end} window gives alone", kept)
    yield from family(
        "a cell gets what its first {} windows give alone",
        (2, 3, 4, 8),
        lambda most: shares_kept(lambda shares: rank_of(shares) < most),
    )
    yield from family(
        "a cell does not get what its {} window gives",
        ORDINALS[1:],
        lambda said: shares_kept(lambda shares: rank_of(shares) != ORDINALS.index(said)),
    )
    yield Atom("the first window of a plane gives nothing", _windows_lost(lambda i, _: i == 0))
    yield Atom("the last window of a plane gives nothing", _windows_lost(lambda i, n: i == n - 1))
    for lanes in (2, 4, 8, 16, 32):
        said = f"windows beyond whole groups of {lanes} of a plane give nothing"
        yield Atom(said, _windows_lost(beyond_groups(lanes)))
        yield Atom(f"{said}, if it has a group", _windows_lost(tail(lanes)))
    for kind, wide in (
        ("bfloat16", ("float16", "float32", "float64")),
        ("float16", ("float32", "float64")),
        ("float32", ("float64",)),
    ):
        yield Atom(f"what windows give is added in {kind}", partial(_added_in, kind, wide))
    yield Atom(
        "divisors are the number of windows that hold a cell",
        lambda shares, _: replace(shares, divisor=_counts_of(shares)),
    )
    yield Atom(
        "what windows give to a cell is divided by their number",
        lambda shares, _: replace(shares, divisor=shares.divisor * _counts_of(shares)),
    )
