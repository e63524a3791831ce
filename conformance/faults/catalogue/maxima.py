"""Faults of `reduce` for the maximum: its first value, its comparison, its treatment of NaN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.behaviour import (
    CHOOSING,
    INTEGERS,
    MAXIMUM,
    PADDED,
    SPREAD,
    Behaviour,
    Faults,
    Replaces,
    after,
    instead,
)
from conformance.faults.catalogue.values import (
    Change,
    Mask,
    Reduce,
    beyond_groups,
    clamped_to_finite,
    entries,
    first_of_planes,
    in_doubles,
    is_float,
    nan_as,
    of_floats,
    of_integers,
    padded_window_cells,
    reducing,
    returning,
    rounded_to,
    window_cells,
)
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import maximum_of_cells
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

_WIDE = INTEGERS & Needs(dtypes=("int64",))


def _cells(summary: str, change: Change) -> Behaviour:
    """Take the maximum of changed cells."""
    return Behaviour(summary, MAXIMUM, reducing(change))


def _integers(summary: str, change: Change, needs: Needs = _WIDE) -> Behaviour:
    """Choose from changed integers."""
    return Behaviour(summary, CHOOSING & needs, reducing(of_integers(change)))


def _results(summary: str, change: Change, bug: str = "") -> Behaviour:
    return Behaviour(summary, MAXIMUM, returning(change), bug)


def _started(summary: str, start: float, bug: str = "") -> Behaviour:
    """Start from a number instead of -inf; integers from the lowest, as they should."""
    return _results(summary, _at_least(start), bug)


def _at_least(start: float) -> Change:
    # Unlike np.maximum, this keeps the sign of zeros.
    return in_doubles(lambda wide: np.where(wide < start, start, wide))


def _at_least_zero(right: Array) -> Array:
    return _at_least(0.0)(right) if is_float(right) else np.maximum(right, 0)


def _folded(summary: str, combine: Callable[[Array, Array], Array], bug: str = "") -> Behaviour:
    """Fold the cells of each window in order: `combine(accumulated, cell)` from its first cell."""

    def folded(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if not is_float(gathered.data):
            return reduce(gathered, divisor)
        taps = window_cells(replace(gathered, data=widen(gathered.data)))
        is_empty = ~taps.is_cell.any(axis=1)
        values = taps.fold(np.where(is_empty, -np.inf, taps.cells[:, :, 0]), combine)
        return narrow(values, name_of(gathered.data.dtype))

    return Behaviour(summary, MAXIMUM, instead("reduce", folded), bug)


def _nan_dropped(summary: str, mask: Mask, bug: str = "", *, needs: Needs = MAXIMUM) -> Behaviour:
    """Ignore NaN at the outputs of a mask, and propagate it elsewhere."""

    def change(right: Array, gathered: Gathered, divisor: Divisor) -> Array:
        if not is_float(right):
            return right
        ignoring = maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)
        return np.where(mask(right.shape), ignoring, maximum_of_cells(gathered, divisor))

    return Behaviour(summary, needs, after("reduce", change), bug)


def _compared_as(kinds: Mapping[str, str]) -> Replaces:
    """Compare data of some kinds by their bits as others: "f", "i" and "u", as in numpy."""

    def compared(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        kind = kinds.get("f" if is_float(data) else data.dtype.kind)
        if kind is None:
            return reduce(gathered, divisor)
        bits = np.ascontiguousarray(data).view(f"{kind}{data.dtype.itemsize}")
        return reduce(replace(gathered, data=bits), divisor).view(data.dtype)

    return instead("reduce", compared)


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
        return np.where(_padded(gathered), _at_least(start)(right), right)

    return compute


def _for_minus_infinity(value: float) -> Change:
    return in_doubles(lambda wide: np.where(np.isneginf(wide), value, wide))


def _without_lowest(right: Array) -> Array:
    lowest = np.nextafter(right.dtype.type(-np.inf), right.dtype.type(0))
    return np.where(right == lowest, right.dtype.type(-np.inf), right)


def _lowest_for_minus_infinity(right: Array) -> Array:
    lowest = np.nextafter(right.dtype.type(-np.inf), right.dtype.type(0))
    return np.where(np.isneginf(widen(right)), lowest, right)


def _at_least_first_cell(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    first = first_of_planes(gathered.data)
    return np.maximum(right, first) if is_float(right) else right


def _minimum(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of the data in reverse order, which is the minimum."""
    reverse = np.negative if is_float(gathered.data) else np.invert
    lowest: Array = reverse(reduce(replace(gathered, data=reverse(gathered.data)), divisor))
    return lowest


def _later_wins(a: Array, b: Array) -> Array:
    """Return the later cell b unless a > b: NaN never wins by comparison, but as the last cell."""
    return np.where(a > b, a, b)


def _later_wins_over_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Compare as `_later_wins` does, with a cell of -inf for every cell of the padding."""
    if not is_float(gathered.data):
        return reduce(gathered, divisor)
    taps = padded_window_cells(replace(gathered, data=widen(gathered.data)))
    values = np.full(taps.cells.shape[:2], -np.inf)
    for tap in range(taps.cells.shape[2]):
        cell = np.where(taps.is_cell[:, tap], taps.cells[:, :, tap], -np.inf)
        values = _later_wins(values, cell)
    return narrow(values.reshape(taps.shape), name_of(gathered.data.dtype))


def _first_wins(a: Array, b: Array) -> Array:
    """Return the earlier cell a unless b > a: NaN stays only as the first cell."""
    return np.where(b > a, b, a)


def _largest_magnitude(a: Array, b: Array) -> Array:
    return np.where(np.abs(b) > np.abs(a), b, a)


def _through(kind: str) -> Change:
    """Convert data to another type and back."""
    return lambda data: data.astype(kind).astype(data.dtype)


def _wrapped_to(bits: int) -> Change:
    """Convert integers to a narrower type of the same sign, where they wrap, and back."""
    return lambda data: _through(f"{data.dtype.kind}{bits // 8}")(data)


FAULTS: Faults = {
    "maximum-from-zero": _results(
        "the maximum started from 0", _at_least_zero, bug="max_init_zero"
    ),
    "maximum-from-smallest-normal": _started(
        "the maximum started from the smallest positive float32",
        float(np.finfo(np.float32).smallest_normal),
        bug="max_init_flt_min",
    ),
    "maximum-from-minus-one": _started("the maximum started from -1", -1.0),
    "maximum-from-minus-128": _started("the maximum started from -128", -128.0),
    "maximum-from-minus-10000": _started("the maximum started from -10000", -10000.0),
    "maximum-from-minus-1e20": _started("the maximum started from -1e20", -1e20),
    "maximum-from-minus-1e30": _started("the maximum started from -1e30", -1e30),
    "maximum-from-lowest-float16": _started(
        "the maximum started from the lowest finite float16", -65504.0
    ),
    "maximum-from-lowest-float32": _started(
        "the maximum started from the lowest finite float32", -float(np.finfo(np.float32).max)
    ),
    "maximum-from-lowest": _results(
        "the lowest finite number for a window of minus infinity",
        of_floats(_lowest_for_minus_infinity),
    ),
    **{
        f"minus-infinity-as-{name}": _results(
            f"{words} for a window of minus infinity", _for_minus_infinity(value)
        )
        for name, words, value in (("nothing", "0", 0.0), ("nan", "NaN", np.nan))
    },
    "lowest-as-nothing": _results(
        "minus infinity for a window of the lowest finite number", of_floats(_without_lowest)
    ),
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
    "largest-magnitude": _folded(
        "the cell of the largest magnitude in place of the largest cell", _largest_magnitude
    ),
    "magnitude": _cells("the largest magnitude in place of the largest cell", np.abs),
    "last-cell": _folded("the last cell of a window in place of the largest", lambda _, b: b),
    "compares-bits": Behaviour(
        "floating-point numbers compared as integers: wrong for two negative ones",
        CHOOSING,
        _compared_as({"f": "i"}),
    ),
    "compares-opposite-sign": Behaviour(
        "signed integers compared as unsigned ones, or the reverse",
        CHOOSING & INTEGERS,
        _compared_as({"i": "u", "u": "i"}),
    ),
    "nan-dropped-unless-first": _folded(
        "NaN dropped unless it is the first cell of its window",
        _first_wins,
        bug="max_nan_dropped_unless_first",
    ),
    "nan-kept-if-last": _folded(
        "NaN replaced by the next cell, kept only at the end of its window", _later_wins
    ),
    "nan-as-zero": _cells("NaN taken as 0", nan_as(0.0)),
    "nan-as-infinity": _cells("NaN taken as infinity", nan_as(np.inf)),
    "infinity-clamped": _cells(
        "infinity replaced by the largest finite number", clamped_to_finite(np.isposinf)
    ),
    "nan-dropped-in-channel-tail": _nan_dropped(
        "NaN dropped in the channels beyond groups of 4",
        entries("channels", beyond_groups(4)),
        bug="nan_depends_on_channel_tail",
    ),
    "nan-dropped-in-width-tail": _nan_dropped(
        "NaN dropped in the columns beyond groups of 4",
        entries("columns", beyond_groups(4)),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-in-first-column": _nan_dropped(
        "NaN dropped in the first column",
        entries("columns", lambda i, _: i == 0),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-in-odd-columns": _nan_dropped(
        "NaN dropped in every second column",
        entries("columns", lambda i, _: i % 2 == 1),
        needs=MAXIMUM & SPREAD,
    ),
    "nan-dropped-after-first-batch": _nan_dropped(
        "NaN dropped in all batches but the first", entries("batches", lambda i, _: i > 0)
    ),
    "maximum-in-float32": _results(
        "cells kept in float32", rounded_to("float32"), bug="f64_computed_in_f32"
    ),
    "maximum-in-float16": _results("cells kept in float16", rounded_to("float16")),
    "maximum-in-bfloat16": _results("cells kept in bfloat16", rounded_to("bfloat16")),
    **{
        f"integers-through-{kind}": _integers(f"integers compared as {kind}", _through(kind))
        for kind in ("float32", "float64", "float16")
    },
    **{
        f"integers-wrapped-to-{bits}-bits": _integers(
            f"integers kept in {bits} bits", _wrapped_to(bits)
        )
        for bits in (8, 16, 32)
    },
    "int8-as-127": _integers(
        "integers clamped to -127..127",
        lambda data: np.clip(data, max(-127, np.iinfo(data.dtype).min), 127),
        INTEGERS,
    ),
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
