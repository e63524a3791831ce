"""Faults of `reduce` for the maximum: its first value, its comparison, its treatment of NaN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms import numbers
from conformance.faults.atoms.entries import BATCH, CHANNEL, COLUMN
from conformance.faults.atoms.numbers import (
    AT_LEAST_LOWEST_OF_FLOAT16,
    AT_LEAST_LOWEST_OF_FLOAT32,
    AT_LEAST_SMALLEST_NORMAL,
    INFINITY_IF_NAN,
    KEPT_FROM_MINUS_127,
    LARGEST_IF_INFINITY,
    LOWEST_IF_MINUS_INFINITY,
    MINUS_INFINITY_IF_LOWEST,
    NAN_IF_MINUS_INFINITY,
    ZERO_IF_MINUS_INFINITY,
    ZERO_IF_NAN,
    Change,
    Integer,
    at_least,
    is_float,
    of_floats,
    on_cells,
    rounded_to,
    through,
    through_clamped,
)
from conformance.faults.atoms.reductions import (
    FIRST_UNLESS_SMALLER,
    LARGEST_MAGNITUDE,
    LATER_UNLESS_SMALLER,
    Comparison,
    compared_as,
    compared_by_columns,
    maximum_by,
)
from conformance.faults.atoms.window_cells import Reduce, padded_window_cells
from conformance.faults.behaviour import (
    CHOOSING,
    DOUBLES,
    INTEGERS,
    MAXIMUM,
    PADDED,
    SPREAD,
    Behaviour,
    Faults,
    after,
    instead,
    wrong_params,
)
from conformance.faults.catalogue.values import (
    Mask,
    beyond_groups,
    entries,
    first_of_planes,
    returning,
)
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

_WIDE = INTEGERS & Needs(dtypes=("int64",))
_NAN_MODE = MAXIMUM & Needs(roles=("nan",))


def _results(summary: str, change: Change, bug: str = "") -> Behaviour:
    return Behaviour(summary, MAXIMUM, returning(change), bug)


def _started(words: str, start: float) -> Behaviour:
    """Start from a number instead of -inf; integers from the lowest, as they should."""
    return numbers.results(at_least(start, words), MAXIMUM)


def _at_least_zero(right: Array) -> Array:
    return of_floats(at_least(0.0))(right) if is_float(right) else np.maximum(right, 0)


def _nan_dropped(summary: str, mask: Mask, bug: str = "", *, needs: Needs = MAXIMUM) -> Behaviour:
    """Ignore NaN at the outputs of a mask alone."""

    def change(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
        if not is_float(right):
            return right
        ignoring = maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)
        return np.where(mask(right.shape), ignoring, right)

    return Behaviour(summary, needs, after("reduce", change), bug)


def _whatever_is_asked(nan: str) -> Behaviour:
    """Have NaN propagate, or be ignored, whatever the attribute says."""
    summary = f"NaN {nan}, whatever the attribute for it says"
    return wrong_params("reduce", summary, _NAN_MODE, lambda params: replace(params, nan=nan))


def _minus_infinity_of_nan_alone(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    if gathered.params.nan == "propagates" or not is_float(right):
        return right
    return np.where(np.isnan(widen(right)), right.dtype.type(-np.inf), right)


def _padded(gathered: Gathered) -> Array:
    """Return a mask of the outputs whose windows reach beyond the input."""
    windows = gathered.windows
    ranges = zip(windows.start, windows.stop, gathered.params.sizes, strict=True)
    return np.equal(steps.outer([1 - ((a < 0) | (b > d)) for a, b, d in ranges]), 0)


def _as_float_where_padded(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Return integers as floats where they are padded with minus infinity."""
    right = reduce(gathered, divisor)
    return right if is_float(right) or not _padded(gathered).any() else right.astype(np.float32)


def _started_where_padded(
    start: float,
) -> Callable[[Reduce, Gathered, Divisor], Array]:
    def compute(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        return np.where(_padded(gathered), of_floats(at_least(start))(right), right)

    return compute


def _at_least_first_cell(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    first = first_of_planes(gathered.data)
    return np.maximum(right, first) if is_float(right) else right


def _minimum(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of the data in reverse order, which is the minimum."""
    reverse = np.negative if is_float(gathered.data) else np.invert
    lowest: Array = reverse(reduce(replace(gathered, data=reverse(gathered.data)), divisor))
    return lowest


def _later_wins_over_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Keep a cell if it is larger than the next, with a cell of -inf for each of the padding."""
    if not is_float(gathered.data) or not np.isnan(widen(gathered.data)).any():
        return reduce(gathered, divisor)
    taps = padded_window_cells(replace(gathered, data=widen(gathered.data)))
    values = np.full(taps.cells.shape[:2], -np.inf)
    for tap in range(taps.cells.shape[2]):
        cell = np.where(taps.is_cell[:, tap], taps.cells[:, :, tap], -np.inf)
        values = LATER_UNLESS_SMALLER.of(values, cell)
    return narrow(values.reshape(taps.shape), name_of(gathered.data.dtype))


def _kept_in(bits: int) -> Integer:
    """Convert integers to a narrower type of the same sign, where they wrap, and back."""
    return Integer(
        f"kept in {bits} bits",
        lambda data: data.astype(f"{data.dtype.kind}{bits // 8}").astype(data.dtype),
    )


_LAST_CELL = Comparison("each cell took the place of the one before", lambda _, b: b)

FAULTS: Faults = {
    "maximum-from-zero": _results(
        "the maximum started from 0", _at_least_zero, bug="max_init_zero"
    ),
    "maximum-from-smallest-normal": _results(
        "the maximum started from the smallest positive float32",
        of_floats(AT_LEAST_SMALLEST_NORMAL),
        bug="max_init_flt_min",
    ),
    "maximum-from-minus-one": _started("-1", -1.0),
    "maximum-from-minus-128": _started("-128", -128.0),
    "maximum-from-minus-10000": _started("-10000", -10000.0),
    "maximum-from-minus-1e20": _started("-1e20", -1e20),
    "maximum-from-minus-1e30": _started("-1e30", -1e30),
    "maximum-from-lowest-float16": numbers.results(AT_LEAST_LOWEST_OF_FLOAT16, MAXIMUM),
    "maximum-from-lowest-float32": numbers.results(AT_LEAST_LOWEST_OF_FLOAT32, MAXIMUM),
    "maximum-from-lowest": numbers.results(LOWEST_IF_MINUS_INFINITY, MAXIMUM),
    "minus-infinity-as-nothing": numbers.results(ZERO_IF_MINUS_INFINITY, MAXIMUM),
    "minus-infinity-as-nan": numbers.results(NAN_IF_MINUS_INFINITY, MAXIMUM),
    "lowest-as-nothing": numbers.results(MINUS_INFINITY_IF_LOWEST, MAXIMUM),
    **{
        f"padding-{name}": Behaviour(
            f"padding taken as {words}, which wins over lower cells",
            MAXIMUM & PADDED,
            instead("reduce", _started_where_padded(start)),
        )
        for name, words, start in (
            ("lowest-float16", "the lowest finite float16", -65504.0),
            ("lowest-float32", "the lowest finite float32", -float(np.finfo(np.float32).max)),
        )
    },
    "maximum-from-first-input-cell": Behaviour(
        "the maximum started from the first cell of the plane",
        MAXIMUM & SPREAD,
        after("reduce", _at_least_first_cell),
    ),
    "minimum": Behaviour(
        "the minimum in place of the maximum", MAXIMUM, instead("reduce", _minimum)
    ),
    "largest-magnitude": maximum_by(LARGEST_MAGNITUDE),
    "magnitude": Behaviour(
        "the largest magnitude in place of the largest cell", MAXIMUM, {"reduce": on_cells(np.abs)}
    ),
    "last-cell": maximum_by(_LAST_CELL),
    "compares-bits": Behaviour(
        "floating-point numbers compared as integers: wrong for two negative ones",
        CHOOSING,
        {"reduce": compared_as({"f": "i"})},
    ),
    "compares-opposite-sign": Behaviour(
        "signed integers compared as unsigned ones, or the reverse",
        CHOOSING & INTEGERS,
        {"reduce": compared_as({"i": "u", "u": "i"})},
    ),
    "nan-dropped-unless-first": maximum_by(FIRST_UNLESS_SMALLER)._replace(
        summary="NaN dropped unless it is the first cell of its window",
        bug="max_nan_dropped_unless_first",
    ),
    "nan-kept-if-last": maximum_by(LATER_UNLESS_SMALLER),
    "nan-kept-if-last-of-columns": Behaviour(
        f"as if {LATER_UNLESS_SMALLER.words}, down each column and then from column to column",
        MAXIMUM & Needs(axes=2),
        {"reduce": compared_by_columns(LATER_UNLESS_SMALLER)},
    ),
    "nan-as-zero": numbers.cells(ZERO_IF_NAN, MAXIMUM),
    "nan-mode-always-propagates": _whatever_is_asked("propagates"),
    "nan-mode-always-ignored": _whatever_is_asked("ignored"),
    "nan-alone-as-minus-infinity": Behaviour(
        "NaN ignored in windows of nothing else too, which give minus infinity",
        _NAN_MODE,
        after("reduce", _minus_infinity_of_nan_alone),
    ),
    "nan-as-infinity": numbers.cells(INFINITY_IF_NAN, MAXIMUM),
    "infinity-clamped": numbers.cells(LARGEST_IF_INFINITY, MAXIMUM),
    "nan-dropped-in-channel-tail": _nan_dropped(
        "NaN dropped in the channels beyond groups of 4",
        entries(CHANNEL, beyond_groups(4)),
        bug="nan_depends_on_channel_tail",
    ),
    "nan-dropped-in-width-tail": _nan_dropped(
        "NaN dropped in the columns beyond groups of 4",
        entries(COLUMN, beyond_groups(4)),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-in-first-column": _nan_dropped(
        "NaN dropped in the first column",
        entries(COLUMN, lambda i, _: i == 0),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-in-odd-columns": _nan_dropped(
        "NaN dropped in every second column",
        entries(COLUMN, lambda i, _: i % 2 == 1),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-after-first-batch": _nan_dropped(
        "NaN dropped in all batches but the first", entries(BATCH, lambda i, _: i > 0)
    ),
    "maximum-in-float32": _results(
        "cells kept in float32", of_floats(rounded_to("float32")), bug="f64_computed_in_f32"
    ).needing(DOUBLES),
    "maximum-in-float16": numbers.results(rounded_to("float16"), MAXIMUM),
    "maximum-in-bfloat16": numbers.results(rounded_to("bfloat16"), MAXIMUM),
    **{
        f"integers-through-{kind}": numbers.cells(through(kind), CHOOSING & _WIDE)
        for kind in ("float32", "float64", "float16")
    },
    "integers-through-float32-clamped": numbers.cells(through_clamped("float32"), CHOOSING & _WIDE),
    **{
        f"integers-wrapped-to-{bits}-bits": numbers.cells(_kept_in(bits), CHOOSING & _WIDE)
        for bits in (8, 16, 32)
    },
    "int8-as-127": numbers.cells(KEPT_FROM_MINUS_127, CHOOSING & INTEGERS),
    "integers-padded-with-infinity": Behaviour(
        "integers returned as float32 where there is padding",
        CHOOSING & INTEGERS & PADDED,
        instead("reduce", _as_float_where_padded),
        bug="int_pad_with_inf",
    ),
    "nan-replaced-by-padding": Behaviour(
        "NaN replaced by the next cell, also by the -inf that stands for padding",
        MAXIMUM & PADDED,
        instead("reduce", _later_wins_over_padding),
    ),
}
