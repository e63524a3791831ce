"""Faults of `reduce`: how the cells of a window become its value, where no atom says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS8, dtype_of, float_format, name_of
from conformance.faults.atoms.entries import BATCH, CHANNEL, COLUMN
from conformance.faults.atoms.indices import ChosenCells, chosen_by, numbered
from conformance.faults.atoms.numbers import (
    LOWEST_IF_MINUS_INFINITY,
    SPANS,
    Span,
    at_least,
    is_float,
    of_floats,
    on_cells,
    range_of,
)
from conformance.faults.atoms.outputs import Mask, beyond, beyond_groups, entries
from conformance.faults.atoms.reductions import differences, summed, unless_smaller
from conformance.faults.atoms.window_cells import Reduce, padded_window_cells, window_cells
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnOutputs, after, instead
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

# Averages and norms ------------------------------------------------------------------------------


def _added_in(kind: str) -> Fault:
    """Add cells in a type, from the first cell of a window on."""

    def average(_reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        cells = narrow(widen(gathered.data), kind)
        taps = window_cells(replace(gathered, data=cells))
        sums = taps.fold(np.zeros((), cells.dtype), lambda a, b: a + b)
        counts = np.maximum(divisor, 1).astype(dtype_of(kind))
        averages = np.where(divisor > 0, sums / counts, np.nan)
        return narrow(widen(averages), name_of(gathered.data.dtype))

    return Fault.of(f"sums kept in {kind}", reduce=instead(average))


def _matrix_product(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Multiply cells outside a window by zero: infinity and NaN make every output NaN."""
    right = reduce(gathered, divisor)
    if not is_float(right):
        return right
    wide = widen(gathered.data)
    has_special = ~np.isfinite(wide).all(axis=tuple(range(2, wide.ndim)), keepdims=True)
    return np.where(has_special, right.dtype.type(np.nan), right)


def _clipped_at_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of zero and the running sum at every cell of the padding."""
    if not is_float(gathered.data):
        return reduce(gathered, divisor)
    taps = padded_window_cells(replace(gathered, data=widen(gathered.data)))
    sums = np.zeros(taps.cells.shape[:2])
    for tap in range(taps.cells.shape[2]):
        added = sums + taps.cells[:, :, tap]
        sums = np.where(taps.is_cell[:, tap], added, np.maximum(sums, 0.0))
    averages = np.where(divisor > 0, sums.reshape(taps.shape) / np.maximum(divisor, 1), np.nan)
    return narrow(averages, name_of(gathered.data.dtype))


def _norm_scaled_by(span: Span) -> Fault:
    """Divide cells by the largest magnitude of a part before powers are taken, all in doubles."""

    def norm(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
        p, scale = gathered.params.exponent, span.largest(gathered.data)
        taps = window_cells(replace(gathered, data=np.abs(widen(gathered.data)) / scale))
        sums = np.where(taps.is_cell, taps.cells**p, 0.0).sum(axis=2).reshape(taps.shape)
        return narrow(scale * sums ** (1.0 / p), name_of(gathered.data.dtype))

    said = f"cells divided by the largest magnitude of {span.words} before powers are taken"
    return Fault.of(said, reduce=instead(norm))


_SUMS = (
    *map(_added_in, FLOATS8),
    Fault.of(
        "sums taken as differences of running sums over a plane in float32",
        reduce=summed(differences, slice(None), lambda _: "float32"),
    ),
    Fault.of(
        "cells outside a window multiplied by 0: one infinity or NaN spoils the plane",
        reduce=instead(_matrix_product),
    ),
    Fault.of(
        "a running sum below 0 replaced by 0 at every cell of the padding",
        reduce=instead(_clipped_at_padding),
    ),
    *map(_norm_scaled_by, SPANS),
)

# Maxima ------------------------------------------------------------------------------------------


def _at_least_zero(right: Array) -> Array:
    return of_floats(at_least(0.0).of)(right) if is_float(right) else np.maximum(right, 0)


def _reversed_order(data: Array) -> Array:
    reverse: Array = -data if is_float(data) else np.invert(data)
    return reverse


def _minimum(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of the data in reverse order, which is the minimum."""
    reverse = replace(gathered, data=_reversed_order(gathered.data))
    return _reversed_order(reduce(reverse, divisor))


def _as_float_where_padded(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Return integers as floats where they are padded with minus infinity."""
    windows = gathered.windows
    ranges = zip(windows.start, windows.stop, gathered.params.sizes, strict=True)
    is_padded = any(((a < 0) | (b > d)).any() for a, b, d in ranges)
    return right.astype(np.float32) if is_padded and not is_float(right) else right


def _minus_infinity_of_nan_alone(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    if gathered.params.nan == "propagates" or not is_float(right):
        return right
    return np.where(np.isnan(widen(right)), right.dtype.type(-np.inf), right)


def _later_wins_over_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Keep a cell if it is larger than the next, with a cell of -inf for each of the padding."""
    if not is_float(gathered.data) or not np.isnan(widen(gathered.data)).any():
        return reduce(gathered, divisor)
    taps = padded_window_cells(replace(gathered, data=widen(gathered.data)))
    values = np.full(taps.cells.shape[:2], -np.inf)
    for tap in range(taps.cells.shape[2]):
        cell = np.where(taps.is_cell[:, tap], taps.cells[:, :, tap], -np.inf)
        values = np.where(unless_smaller(values, cell), cell, values)
    return narrow(values.reshape(taps.shape), name_of(gathered.data.dtype))


def _nan_dropped(where: str, mask: Mask) -> Fault:
    """Ignore NaN at the outputs of a mask alone."""

    def change(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
        if not is_float(right):
            return right
        ignoring = maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)
        return np.where(mask(right.shape), ignoring, right)

    return Fault.of(f"NaN dropped in {where}", reduce=after(change))


def _first_unless_above_lowest(cells: ChosenCells) -> Array:
    """Return numbers: the first cell of the plane where no cell is above the lowest number."""
    planes, chosen = cells.planes
    values = np.take_along_axis(planes, chosen, 1).reshape(cells.shape)
    least, _ = range_of(name_of(cells.gathered.data.dtype))
    return cells.at([np.where(values > least, position, 0) for position in cells.positions])


def _of_other_sign(data: Array) -> Array:
    return data if is_float(data) else data.view(f"{'iu'[data.dtype.kind == 'i']}{data.itemsize}")


def _in_bytes(right: Any, gathered: Gathered, *_: Any) -> tuple[Array, ...]:
    return tuple(indices * gathered.data.itemsize for indices in right)


_MAXIMA = (
    Fault.of("the maximum started from 0", reduce=OnOutputs(_at_least_zero)),
    Fault.of("the minimum in place of the maximum", reduce=instead(_minimum)),
    Fault.of("the largest magnitude in place of the largest cell", reduce=on_cells(np.abs)),
    Fault.of(
        "NaN ignored in windows of nothing else too, which give minus infinity",
        reduce=after(_minus_infinity_of_nan_alone),
    ),
    _nan_dropped("the channels beyond groups of 4", entries(CHANNEL, beyond_groups(4))),
    _nan_dropped("the columns beyond groups of 4", entries(COLUMN, beyond_groups(4))),
    _nan_dropped("the first column", entries(COLUMN, lambda i, _: i == 0)),
    _nan_dropped("every second column", entries(COLUMN, lambda i, _: i % 2 == 1)),
    _nan_dropped("all batches but the first", entries(BATCH, beyond(1))),
    Fault.of(
        "NaN replaced by the next cell, also by the -inf that stands for padding",
        reduce=instead(_later_wins_over_padding),
    ),
    Fault.of(
        "integers returned as float32 where there is padding", reduce=after(_as_float_where_padded)
    ),
    Fault.of(
        "a maximum that starts as the lowest finite number, in the first cell of the plane, and "
        "that larger cells alone replace",
        reduce=OnOutputs(of_floats(LOWEST_IF_MINUS_INFINITY.of)),
        further=numbered(_first_unless_above_lowest),
    ),
    Fault.of("indices in bytes", further=after(_in_bytes)),
    Fault.of(
        "indices of the element type of the data",
        further=after(lambda right, *given: tuple(i.astype(given[2].dtype) for i in right)),
    ),
    Fault.of("the index of the smallest cell", further=chosen_by(_reversed_order)),
    Fault.of(
        "the index chosen as if signed integers were unsigned, or the reverse",
        further=chosen_by(_of_other_sign),
    ),
)

# NaN that are encoded in another way than usual --------------------------------------------------


IsMeant = Callable[[Array, int], Any]
"""Which NaN, by their bits and how many bits a fraction has."""


def _nan_as(summary: str, value: float, is_meant: IsMeant) -> Fault:
    """Take some NaN as a number."""

    def change(data: Array) -> Array:
        if not is_float(data):
            return data
        fraction = float_format(name_of(data.dtype)).precision - 1
        bits = np.ascontiguousarray(data).view(f"u{data.itemsize}")
        mask = np.isnan(widen(data)) & is_meant(bits, fraction)
        return np.where(mask, data.dtype.type(value), data)

    return Fault.of(summary, reduce=on_cells(change))


def _is_negative(bits: Array, _fraction: int) -> Any:
    return bits >> (8 * bits.itemsize - 1) == 1


def _has_payload(bits: Array, fraction: int) -> Any:
    """Say whether the fraction has bits besides the first, which says that a NaN is quiet."""
    return bits & bits.dtype.type((1 << fraction - 1) - 1) != 0


_ENCODINGS = (
    _nan_as("NaN with the sign bit taken as minus infinity", -np.inf, _is_negative),
    _nan_as("NaN with the sign bit taken as zero", 0.0, _is_negative),
    _nan_as("NaN with a payload taken as infinity", np.inf, _has_payload),
)

FAULTS = (*_SUMS, *_MAXIMA, *_ENCODINGS)
