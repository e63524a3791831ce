"""How the cells of a window become its value: comparisons, and sums that are unsound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import HALVES, dtype_of, name_of
from conformance.faults.atoms.atom import Atom, family, faults
from conformance.faults.atoms.entries import BATCH, CHANNEL, COLUMN, PLANE, ROW, Mask, some_outputs
from conformance.faults.atoms.indices import ChosenCells, numbered
from conformance.faults.atoms.numbers import MINUS_INFINITY_IF_NAN, is_float, of_floats
from conformance.faults.atoms.window_cells import (
    Computed,
    Reduce,
    Taps,
    WindowCells,
    cells_of,
    computed,
    in_doubles,
    is_small,
)
from conformance.faults.atoms.windows import FIRST_AXIS, LAST_AXIS, Axes
from conformance.faults.concerns import EVERY, INDEXED, NORMS, SEVERAL_AXES
from conformance.faults.fault import Fault
from conformance.operators.needs import AVERAGES, MAXIMUM, all_of
from conformance.operators.pipeline import Divisor, Gathered, outer
from conformance.operators.wraps import StepWrap, after, instead
from conformance.reference import maximum_ignoring_nan
from conformance.reference.position import positions_of
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Comparison = Callable[[Doubles, Doubles], Any]
"""Whether a cell takes the place of the one kept so far, which comes first."""


def unless_smaller(a: Doubles, b: Doubles) -> Any:
    """Say whether the one before is not larger, which no NaN is."""
    return ~(a > b)


_COMPARISONS: tuple[Atom[Comparison], ...] = (
    Atom("a cell takes the place of the one before unless that is larger", unless_smaller),
    Atom("a cell takes the place of the first only if it is larger", lambda a, b: b > a),
    Atom(
        "a cell takes the place of another only if its magnitude is larger",
        lambda a, b: np.abs(b) > np.abs(a),
    ),
    Atom("each cell takes the place of the one before", lambda _, b: np.ones(b.shape, np.bool_)),
)


def _kept(comparison: Comparison, taps: Taps) -> Doubles:
    return _from_first(taps.windows, comparison)


def _from_first(windows: WindowCells, comparison: Comparison) -> Doubles:
    """Fold the cells of each window in order, from its first cell on."""
    return windows.fold(first_of(windows), lambda a, b: np.where(comparison(a, b), b, a))


def first_of(windows: WindowCells, if_empty: Any = -np.inf) -> Doubles:
    """Return the first cell of each window, and something else for a window without cells."""
    return np.where(windows.is_cell.any(-1), windows.cells[..., 0], if_empty)


def _numbers_of_kept(comparison: Comparison, cells: ChosenCells) -> Array:
    """Return the numbers of the cells that are kept where cells are folded in order."""
    gathered = cells.gathered
    if not is_float(gathered.data) or not is_small(gathered):
        return cells.at(cells.positions)
    plane = gathered.data.shape[2:]
    counted = np.arange(prod(plane)).reshape(1, 1, *plane)
    windows, numbers = in_doubles(gathered), cells_of(counted, gathered.lo, gathered.hi).cells
    kept, number_kept = first_of(windows), numbers[..., 0]
    for tap in range(windows.cells.shape[2]):
        cell = windows.cells[:, :, tap]
        takes = windows.is_cell[:, tap] & comparison(kept, cell)
        kept = np.where(takes, cell, kept)
        number_kept = np.where(takes, numbers[..., tap], number_kept)
    kept_at = positions_of(number_kept.reshape(windows.shape), plane)
    axes = zip(gathered.positions, kept_at, strict=True)
    return cells.at([at[places] for at, places in axes])


def _kept_in_turn(turns: Sequence[slice], comparison: Comparison, taps: Taps) -> Doubles:
    """Fold the cells of each window along some axes, and what that gives along the others."""
    data, gathered = widen(taps.gathered.data), taps.gathered
    for turn in turns:
        folded = range(len(gathered.lo))[turn]
        first = [np.arange(length) for length in data.shape[2:]]
        stop = [cell + 1 for cell in first]
        for axis in folded:
            first[axis], stop[axis] = gathered.lo[axis], gathered.hi[axis]
        data = _from_first(cells_of(data, first, stop), comparison)
    return data


_TURNS = (
    Atom("down each column and then from column to column", (slice(0, -1), slice(-1, None))),
    Atom("along each row and then from row to row", (slice(-1, None), slice(0, -1))),
)


def _compared_as(
    kinds: Mapping[str, str], reduce: Reduce, gathered: Gathered, divisor: Divisor
) -> Array:
    """Compare data of some kinds by their bits as others: "f", "i" and "u", as in numpy."""
    data = gathered.data
    kind = kinds.get("f" if is_float(data) else data.dtype.kind)
    if kind is None:
        return reduce(gathered, divisor)
    bits = np.ascontiguousarray(data).view(f"{kind}{data.dtype.itemsize}")
    return reduce(replace(gathered, data=bits), divisor).view(data.dtype)


def _differences(cells: Array, lo: Array, hi: Array) -> Array:
    """Return the differences of running sums at both ends of windows."""
    running = np.zeros((len(cells) + 1, *cells.shape[1:]), cells.dtype)
    np.cumsum(cells, axis=0, dtype=cells.dtype, out=running[1:])
    return running[np.maximum(hi, lo)] - running[lo]


def _slid(cells: Array, lo: Array, hi: Array) -> Array:
    """Add the cells that enter a window to the sum of the one before; subtract those that left."""
    terms, counts = [], []
    entered = left = int(lo[0])
    for a, b in zip(lo.tolist(), hi.tolist(), strict=True):
        terms += [(cell, 1) for cell in range(entered, b)] + [(cell, -1) for cell in range(left, a)]
        entered, left = max(entered, b), max(left, a)
        counts.append(len(terms))
    index, signs = np.array(terms, np.int64).reshape(-1, 2).T
    signed = cells[index] * signs.astype(cells.dtype).reshape(-1, *[1] * (cells.ndim - 1))
    return _differences(signed, np.zeros_like(lo), np.array(counts))


def _added(cells: Array, lo: Array, hi: Array) -> Array:
    ends = zip(lo.tolist(), hi.tolist(), strict=True)
    return np.stack([cells[a:b].sum(0, dtype=cells.dtype) for a, b in ends])


Way = Callable[[Array, Array, Array], Array]
"""The sums of windows lo:hi of cells that lie along the first axis, from cells, lo and hi."""


def _summed(way: Way, axes: slice, kind_of: Callable[[str], str]) -> StepWrap:
    """Take sums along some axes in an unsound way, along the others as they should be.

    They are kept in the type that `kind_of` returns for an element type.
    """

    def other(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if not is_float(gathered.data):
            return right(gathered, divisor)
        name = name_of(gathered.data.dtype)
        sums = widen(gathered.data).astype(dtype_of(kind_of(name)))
        unsound = range(len(gathered.lo))[axes]
        for j in reversed(range(len(gathered.lo))):
            along = way if j in unsound else _added
            cells = np.moveaxis(sums, 2 + j, 0)
            sums = np.moveaxis(along(cells, gathered.lo[j], gathered.hi[j]), 0, 2 + j)
        counts = np.maximum(divisor, 1).astype(sums.dtype)
        return narrow(widen(np.where(divisor > 0, sums / counts, np.nan)), name)

    return instead(other)


# Cells that are left out, or counted twice -------------------------------------------------------

Kind = Callable[[Taps], Array]


def _nth(taps: Taps) -> Array:
    """Return for each tap which cell of its window it is, from 1 on; 0 for none."""
    counted: Array = np.cumsum(taps.is_cell, axis=-1)
    return counted * taps.is_cell


def _is_last(taps: Taps) -> Array:
    nth = _nth(taps)
    last: Array = nth == nth.max(-1, keepdims=True)
    return last


_KINDS: tuple[Atom[Kind], ...] = (
    Atom("that are NaN", lambda t: np.isnan(t.cells)),
    Atom("that are infinite", lambda t: np.isinf(t.cells)),
    Atom("that are NaN or infinite", lambda t: ~np.isfinite(t.cells)),
    Atom("that are 0", lambda t: t.cells == 0),
    Atom("that are negative", lambda t: t.cells < 0),
    Atom("that come first in their window", lambda t: _nth(t) == 1),
    Atom("that come last in their window", _is_last),
    Atom("that come second in their window", lambda t: _nth(t) == 2),
    *family(
        "beyond the first {} of their window",
        (4, 8, 16, 32, 64, 128, 256),
        lambda most: lambda taps: _nth(taps) > most,
    ),
)


def _largest_but(kind: Kind, taps: Taps) -> Doubles:
    return taps.reduced(np.maximum, np.where(kind(taps), -np.inf, taps.cells), -np.inf)


def _weighed(in_sums: int, in_divisors: int, kind: Kind, taps: Taps) -> Doubles:
    """Count cells of a kind so many times in sums, and in divisors: without any, 0 / 0 is NaN."""
    chosen = taps.is_cell & kind(taps)
    sums = taps.reduced(np.add, np.where(chosen & (in_sums == 0), 0.0, taps.cells), 0.0)
    sums += taps.reduced(np.add, np.where(chosen & (in_sums == 2), taps.cells, 0.0), 0.0)
    left_out = 0 if in_divisors else taps.shaped(chosen.sum(-1))
    with np.errstate(all="ignore"):
        return np.where(taps.divisor > 0, sums / (taps.divisor - left_out), np.nan)


def _norm_of_others(kind: Kind, taps: Taps) -> Doubles:
    powers = np.abs(taps.cells) ** taps.gathered.params.exponent
    sums = taps.reduced(np.add, np.where(kind(taps), 0.0, powers), 0.0)
    roots: Doubles = sums ** (1.0 / taps.gathered.params.exponent)
    return roots


def _norm_of_mean(kind: Kind, taps: Taps) -> Doubles:
    """Return norms of means times all cells, padding too, where cells are left out of the means."""
    every, left_out = outer(taps.gathered.windows.lengths), taps.is_cell & kind(taps)
    with np.errstate(all="ignore"):
        shares = every / (every - taps.shaped(left_out.sum(-1)))
        roots: Doubles = shares ** (1.0 / taps.gathered.params.exponent)
        return _norm_of_others(kind, taps) * roots


# Other values of a window, and other starts ------------------------------------------------------


def _value_at(place: Callable[[Array], Any], taps: Taps) -> Doubles:
    """Return the cell of each window that has a number from 1 on, given that of the last one."""
    nth = _nth(taps)
    chosen = nth == place(nth.max(-1, keepdims=True))
    return taps.reduced(np.add, np.where(chosen, taps.cells, 0.0), 0.0)


def _folded(ufunc: np.ufunc, empty: float, taps: Taps) -> Doubles:
    return taps.reduced(ufunc, taps.cells, empty)


def _average(of: Callable[[Doubles], Doubles], taps: Taps) -> Doubles:
    """Return the average of numbers made of the cells inside the input."""
    counts = taps.shaped(taps.is_cell.sum(-1))
    return taps.reduced(np.add, of(taps.cells), 0.0) / np.maximum(counts, 1)


def _mean_of_means(count: int, taps: Taps) -> Doubles:
    """Weigh the means of groups of cells alike, though the last of them may have fewer."""
    group = (_nth(taps) - 1) // count
    means, groups = np.zeros(()), int(group.max(initial=-1)) + 1
    for number in range(groups):
        is_in = taps.is_cell & (group == number)
        sums = np.where(is_in, taps.cells, 0.0).sum(-1)
        means = means + sums / np.maximum(is_in.sum(-1), 1)
    cells = taps.is_cell.sum(-1)
    of_window = np.maximum(-(-cells // count), 1)
    return taps.divided(taps.shaped(means / of_window * cells))


def _shifted_mean(taps: Taps) -> Doubles:
    """Add the mean of differences from the first cell to it: of an infinite one, NaN."""
    first = np.where(_nth(taps) == 1, taps.cells, 0.0).sum(-1, keepdims=True)
    with np.errstate(all="ignore"):
        sums = taps.reduced(np.add, taps.cells - first, 0.0)
        added = taps.shaped(first[..., 0] * taps.is_cell.sum(-1))
        return taps.divided(sums + added)


_REDUCTIONS: tuple[Atom[Computed], ...] = (
    Atom("the first cell of its window", partial(_value_at, lambda _: 1)),
    Atom("the last cell of its window", partial(_value_at, lambda last: last)),
    Atom("the middle cell of its window", partial(_value_at, lambda last: (last + 1) // 2)),
    Atom("the sum of its window", partial(_folded, np.add, 0.0)),
    Atom("the smallest cell of its window", partial(_folded, np.minimum, np.inf)),
    Atom("the largest cell of its window", partial(_folded, np.maximum, -np.inf)),
    Atom(
        "the largest magnitude of its window",
        lambda taps: taps.reduced(np.maximum, np.abs(taps.cells), 0.0),
    ),
    Atom("the average of the cells of its window", partial(_average, lambda cells: cells)),
    Atom("the average magnitude of the cells of its window", partial(_average, np.abs)),
    Atom("the average square of the cells of its window", partial(_average, np.square)),
    Atom(
        "the root of the average square of its window",
        lambda taps: np.sqrt(_average(np.square, taps)),
    ),
)


_CARRIED = (Atom("in its row", -1), Atom("in its plane", 2), Atom("anywhere", 0))
_KINDS_OF_SUMS: tuple[Atom[Callable[[str], str]], ...] = (
    Atom("its own type", lambda name: name),
    Atom("float32 at least", lambda name: "float32" if name in HALVES else name),
    Atom("float32", lambda _: "float32"),
    Atom("float64", lambda _: "float64"),
)


def _carried(
    ufunc: np.ufunc, first_axis: int, right: Reduce, gathered: Gathered, divisor: Divisor
) -> Array:
    """Start each window from the sum or maximum of the one before."""
    results = right(gathered, divisor)
    if results.dtype.kind in "iu":
        return results
    by = np.maximum(divisor, 1) if ufunc is np.add else np.ones_like(divisor)
    wide = widen(results) * by
    flat = wide.reshape(*wide.shape[: first_axis % wide.ndim], -1)
    carried = ufunc.accumulate(flat, axis=-1).reshape(wide.shape)
    return narrow(carried / by, name_of(results.dtype))


def _from_first_of_plane(right: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    data, results = gathered.data, right(gathered, divisor)
    first = data.reshape(*data.shape[:2], -1)[..., 0]
    return np.maximum(results, first.reshape(*first.shape, *[1] * (data.ndim - 2)))


# NaN that some maxima ignore ---------------------------------------------------------------------


def _ignoring_nan(mask: Mask, right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Ignore NaN at the outputs of a mask alone."""
    if not is_float(right):
        return right
    ignoring = maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)
    return np.where(mask(right.shape), ignoring, right)


def index_without_nan(right: Any, gathered: Gathered, divisor: Divisor, first: Array) -> Any:
    """Return the index of a number where the maximum is one, and that of a NaN elsewhere."""
    if not is_float(first):
        return right(gathered, divisor, first)
    data = of_floats(MINUS_INFINITY_IF_NAN.of)(gathered.data)
    numbers = right(replace(gathered, data=data), divisor, first)
    of_nan, is_nan = right(gathered, divisor, first), np.isnan(widen(first))
    return tuple(np.where(is_nan, one, two) for one, two in zip(of_nan, numbers, strict=True))


_PLACES_IN_WINDOWS: tuple[Atom[Kind], ...] = (
    Atom("that come first in their window", lambda t: _nth(t) == 1),
    Atom("that do not come first in their window", lambda t: _nth(t) > 1),
    Atom("that come last in their window", _is_last),
    Atom("that do not come last in their window", lambda t: ~_is_last(t)),
)


def _without_nan(place: Kind, taps: Taps) -> Doubles:
    return _largest_but(lambda t: np.isnan(t.cells) & place(t), taps)


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield what is made of the cells of a window, and cells that are left out."""
    yield from faults("the result is {}", EVERY, "reduce", computed, _REDUCTIONS)
    yield from faults("{}", MAXIMUM, "reduce", partial(computed, _kept), _COMPARISONS)
    for turns in _TURNS:
        needs, kept = (*MAXIMUM, *SEVERAL_AXES), partial(computed, _kept_in_turn, turns.of)
        yield from faults(f"{{}}, {turns.words}", needs, "reduce", kept, _COMPARISONS)
    for each in _COMPARISONS:
        further = numbered(partial(_numbers_of_kept, each.of))
        replaces = {"reduce": computed(_kept, each.of), "further": further}
        yield Fault(f"{each.words}, for values and indices", INDEXED, replaces)
    kinds = (
        Atom("floating-point numbers are compared as signed integers", {"f": "i"}),
        Atom("floating-point numbers are compared as unsigned integers", {"f": "u"}),
        Atom("signed and unsigned integers are compared as the others", {"i": "u", "u": "i"}),
    )
    yield from faults("{}", MAXIMUM, "reduce", partial(instead, _compared_as), kinds)
    for of, needs, ufunc in (("sum", AVERAGES, np.add), ("maximum", MAXIMUM, np.maximum)):
        said = f"a {of} starts from that of the window before it {{}}"
        yield from faults(said, needs, "reduce", partial(instead, _carried, ufunc), _CARRIED)
    said = "a maximum starts from the first cell of its plane"
    yield Fault(said, MAXIMUM, {"reduce": instead(_from_first_of_plane)})
    every_axis = Axes(" along every axis", slice(None))
    ways = (Atom("differences of running sums", _differences), Atom("slid", _slid))
    for axes, kind, way in product((LAST_AXIS, FIRST_AXIS, every_axis), _KINDS_OF_SUMS, ways):
        said = f"sums are {way.words}{axes.words}, in {kind.words}"
        yield Fault(said, AVERAGES, {"reduce": _summed(way.of, axes.of, kind.of)})
    said = "a mean is the first cell and the mean of differences from it"
    yield Fault(said, AVERAGES, {"reduce": computed(_shifted_mean)})
    groups = family(
        "groups of {} cells", (8, 16, 32, 64, 128, 256), lambda n: partial(_mean_of_means, n)
    )
    yield from faults("a mean is that of the means of {}", AVERAGES, "reduce", computed, groups)
    yield from _of_kinds()
    yield from _of_nan()


def _of_nan() -> Iterator[Fault]:
    """Yield maxima that ignore some NaN."""
    some_of_all = [*some_outputs(BATCH, CHANNEL, PLANE, ROW, COLUMN)]
    ignoring = partial(after, _ignoring_nan)
    yield from faults("NaN are ignored in {}", MAXIMUM, "reduce", ignoring, some_of_all)
    for some in some_of_all:
        said = f"NaN are ignored in {some.words}, for values and indices"
        replaces = {"reduce": ignoring(some.of), "further": instead(index_without_nan)}
        yield Fault(said, all_of(INDEXED, some.needs), replaces)
    for place in _PLACES_IN_WINDOWS:
        said, values = f"NaN {place.words} are ignored", computed(_without_nan, place.of)
        yield Fault(said, MAXIMUM, {"reduce": values})
        replaces = {"reduce": values, "further": instead(index_without_nan)}
        yield Fault(f"{said}, for values and indices", INDEXED, replaces)


def _of_kinds() -> Iterator[Fault]:
    """Yield kinds of cells that are left out, or added twice."""
    but = partial(computed, _largest_but)
    yield from faults("cells {} are left out", MAXIMUM, "reduce", but, _KINDS)
    for said, in_sums, in_divisors in (
        ("left out of sums", 0, 1),
        ("left out of sums and divisors", 0, 0),
        ("left out of divisors", 1, 0),
        ("added twice", 2, 1),
    ):
        wrap = partial(computed, _weighed, in_sums, in_divisors)
        yield from faults(f"cells {{}} are {said}", AVERAGES, "reduce", wrap, _KINDS)
    of_others, of_mean = (partial(computed, each) for each in (_norm_of_others, _norm_of_mean))
    yield from faults("cells {} are left out of norms", NORMS, "reduce", of_others, _KINDS)
    said = "norms are of the mean of powers times all cells, and cells {} are left out of the mean"
    yield from faults(said, NORMS, "reduce", of_mean, _KINDS)
