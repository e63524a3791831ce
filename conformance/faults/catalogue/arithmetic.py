"""Faults of `reduce` for averages: the type, order and rounding of sums and quotients.

Sums in the element type itself are a reading, not a fault; the faults here are worse than any
bound admits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS8, FloatFormat, dtype_of, float_format, name_of
from conformance.faults.atoms import numbers
from conformance.faults.atoms.numbers import (
    CUT_OFF_TO_INTEGERS,
    LARGEST_IF_INFINITE,
    MAGNITUDES,
    MINUS_INFINITY_IF_NAN,
    ROUNDED_DOWN,
    ROUNDED_TO_INTEGERS,
    ZERO_IF_NAN,
    ZERO_IF_NEGATIVE,
    Change,
    Number,
    cut_off,
    cut_off_to,
    is_float,
    of_floats,
    on_results,
    rounded_to,
    where,
    within,
)
from conformance.faults.atoms.reductions import DIFFERENCES, SLID, Way, summed
from conformance.faults.atoms.window_cells import Reduce, padded_window_cells, window_cells
from conformance.faults.behaviour import AVERAGES, INCLUDING, SPREAD, Behaviour, Faults, instead
from conformance.faults.catalogue.values import returning
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Doubles = Any
Average = Callable[[Reduce, Gathered, Divisor], Array]


_OVERLAPPING = AVERAGES & SPREAD  # sums of several windows of a plane


def _averaged(
    summary: str, average: Average, bug: str = "", *, needs: Needs = AVERAGES
) -> Behaviour:
    """Average floating-point data by `average(reduce, gathered, divisor)`."""

    def other(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if is_float(gathered.data):
            return average(reduce, gathered, divisor)
        return reduce(gathered, divisor)

    return Behaviour(summary, needs, instead("reduce", other), bug)


def _scaled(
    summary: str, factor: Callable[[Gathered, Divisor], Doubles], bug: str = ""
) -> Behaviour:
    """Multiply the right averages by `factor(gathered, divisor)`."""

    def average(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        return narrow(widen(right) * factor(gathered, divisor), name_of(right.dtype))

    return _averaged(summary, average, bug)


def _divided(sums: Array, divisor: Divisor, kind: str) -> Array:
    """Divide sums by counts, both in the type `kind`; NaN where the count is zero."""
    counts = np.maximum(divisor, 1).astype(dtype_of(kind))
    return np.where(divisor > 0, sums.astype(dtype_of(kind)) / counts, np.nan)


def _of(types: tuple[str, ...], average: Average) -> Average:
    """Average data of some types in another way."""

    def other(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if name_of(gathered.data.dtype) in types:
            return average(reduce, gathered, divisor)
        return reduce(gathered, divisor)

    return other


def _accumulated_in(kind: str) -> Average:
    """Add cells in the narrower type `kind`, from the first cell of a window on."""

    def average(_reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        name = name_of(gathered.data.dtype)
        cells = narrow(widen(gathered.data), kind)
        taps = window_cells(replace(gathered, data=cells))
        sums = taps.fold(np.zeros((), cells.dtype), lambda a, b: a + b)
        return narrow(widen(_divided(sums, divisor, kind)), name)

    return average


def _rounded(kind: str, types: tuple[str, ...]) -> Change:
    """Round data of `types` to the narrower type `kind`."""
    rounded = of_floats(rounded_to(kind))
    return lambda data: rounded(data) if name_of(data.dtype) in types else data


def _reciprocal(bits: int) -> Callable[[Gathered, Divisor], Doubles]:
    """Multiply right sums by a reciprocal of `bits` bits, in types of more bits."""

    def factor(gathered: Gathered, divisor: Divisor) -> Doubles:
        exact = 1.0 / np.maximum(divisor, 1)
        has_more = float_format(name_of(gathered.data.dtype)).precision > bits
        return cut_off(exact, bits) / exact if has_more else np.ones_like(exact)

    return factor


_ROWS, _COLUMNS, _PLANES = slice(-1, None), slice(0, 1), slice(None)


def _wider(name: str) -> str:
    return "float32" if name in {"float16", "bfloat16"} else name


def _in_float32_over_planes(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    wrong = summed(DIFFERENCES, _PLANES, lambda _: "float32")(reduce)
    averages: Array = wrong(gathered, divisor)
    return averages


def _overlapping(said: str, way: Way, axes: slice, kind_of: Callable[[str], str]) -> Behaviour:
    """Take sums of windows that overlap in an unsound way."""
    return Behaviour(said, _OVERLAPPING, {"reduce": summed(way, axes, kind_of)})


def _matrix_product(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Multiply cells outside a window by zero: infinity and NaN make every output NaN."""
    right = reduce(gathered, divisor)
    wide = widen(gathered.data)
    has_special = ~np.isfinite(wide).all(axis=tuple(range(2, wide.ndim)), keepdims=True)
    return np.where(has_special, right.dtype.type(np.nan), right)


def _nan_left_out(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Leave NaN out of sums and counts."""
    wide = widen(gathered.data)
    if not np.isnan(wide).any():
        return reduce(gathered, divisor)
    sums = _sums_of(np.where(np.isnan(wide), 0.0, wide), gathered)
    return narrow(sums / _sums_of(~np.isnan(wide), gathered), name_of(gathered.data.dtype))


def _sums_of(cells: Array, gathered: Gathered) -> Doubles:
    """Return sums, as doubles, of other cells in the windows that are gathered."""
    doubles = replace(gathered, data=cells.astype(np.float64))
    return window_cells(doubles).fold(np.zeros(()), np.add)


def _added_to_second(wide: Doubles, _fmt: FloatFormat) -> Doubles:
    """Add the first result of each row to the second."""
    added = wide.copy()
    added[..., 1:2] += wide[..., :1]
    return added


def _count_of_nonzero(gathered: Gathered, divisor: Divisor) -> Doubles:
    """Return the factor that turns averages into sums over the number of cells that are not 0."""
    nonzero = _sums_of(widen(gathered.data) != 0, gathered)
    return divisor / np.maximum(nonzero, 1.0)


def _clipped_at_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of zero and the running sum at every cell of the padding."""
    if not is_float(gathered.data):
        return reduce(gathered, divisor)
    taps = padded_window_cells(replace(gathered, data=widen(gathered.data)))
    sums = np.zeros(taps.cells.shape[:2])
    for tap in range(taps.cells.shape[2]):
        added = sums + taps.cells[:, :, tap]
        sums = np.where(taps.is_cell[:, tap], added, np.maximum(sums, 0.0))
    return narrow(
        _divided(sums.reshape(taps.shape), divisor, "float64"), name_of(gathered.data.dtype)
    )


def _fixed_point(bits: int) -> Number:
    """Round to multiples of 2**-bits."""
    return Number(
        f"rounded to multiples of 2**-{bits}",
        lambda v, _: np.where(np.isfinite(v), np.rint(v * 2.0**bits) / 2.0**bits, v),
    )


ADDED_TO_SECOND = Number("", _added_to_second)
# A type to compute in, and the element types that it is too narrow for.
_NARROWER = (
    ("float32", ("float64",)),
    ("float16", ("float32", "float64")),
    ("bfloat16", ("float32", "float64")),
    ("bfloat16", ("float16",)),
    ("float16", ("bfloat16",)),
)


FAULTS: Faults = {
    **{
        f"sums-in-{kind}-of-{'-'.join(types)}": Behaviour(
            f"{' and '.join(types)} summed in {kind}",
            AVERAGES & Needs(dtypes=types),
            instead("reduce", _of(types, _accumulated_in(kind))),
        )
        for kind, types in _NARROWER
    },
    **{
        f"sums-in-{kind}": Behaviour(
            f"{kind} summed in {kind}",
            AVERAGES & Needs(dtypes=(kind,)),
            instead("reduce", _of((kind,), _accumulated_in(kind))),
        )
        for kind in FLOATS8
    },
    **{
        f"results-in-{kind}-of-{'-'.join(types)}": Behaviour(
            f"results of {' and '.join(types)} rounded to {kind}",
            AVERAGES & Needs(dtypes=types),
            returning(_rounded(kind, types)),
        )
        for kind, types in _NARROWER
    },
    "reciprocal-of-8-bits": _scaled(
        "sums multiplied by a reciprocal of 8 bits",
        _reciprocal(8),
        bug="reciprocal_in_low_precision",
    ),
    "reciprocal-of-11-bits": _scaled("sums multiplied by a reciprocal of 11 bits", _reciprocal(11)),
    "reciprocal-of-20-bits": _scaled("sums multiplied by a reciprocal of 20 bits", _reciprocal(20)),
    "cells-truncated-to-10-bits": numbers.cells(cut_off_to(11), AVERAGES),
    "prefix-sums-of-rows": _overlapping(
        "sums taken as differences of running sums along a row", DIFFERENCES, _ROWS, _wider
    )._replace(bug="prefix_sum_cancellation"),
    "prefix-sums-of-planes": _overlapping(
        "sums taken as differences of running sums over a plane", DIFFERENCES, _PLANES, _wider
    )._replace(bug="prefix_sum_cancellation"),
    "prefix-sums-of-float64-in-float32": Behaviour(
        "sums of float64 taken as differences of running sums over a plane in float32",
        AVERAGES & Needs(dtypes=("float64",)),
        instead("reduce", _of(("float64",), _in_float32_over_planes)),
    ),
    "sliding-sums-of-rows": _overlapping(
        "sums slid along a row: the cells that enter a window added, those that leave subtracted",
        SLID,
        _ROWS,
        _wider,
    ),
    "sliding-sums-of-columns": _overlapping(
        "sums slid along the first axis: cells that enter added, those that leave subtracted",
        SLID,
        _COLUMNS,
        _wider,
    ),
    "sliding-sums-in-element-type": _overlapping(
        "sums slid along a row in the element type, also of half types",
        SLID,
        _ROWS,
        lambda name: name,
    ),
    "cells-truncated-to-integers": numbers.cells(CUT_OFF_TO_INTEGERS, AVERAGES),
    "results-truncated-to-integers": numbers.results(CUT_OFF_TO_INTEGERS, AVERAGES),
    "results-rounded-to-integers": numbers.results(ROUNDED_TO_INTEGERS, AVERAGES),
    "results-rounded-down": numbers.results(ROUNDED_DOWN, AVERAGES),
    "fixed-point-of-8-bits": numbers.results(_fixed_point(8), AVERAGES),
    "negative-results-zero": numbers.results(ZERO_IF_NEGATIVE, AVERAGES),
    "magnitudes": numbers.cells(MAGNITUDES, AVERAGES),
    "small-cells-zero": numbers.cells(
        where("0 where their magnitude is below 1e-6", lambda v: np.abs(v) < 1e-6, 0.0), AVERAGES
    ),
    "results-nan-as-minus-infinity": numbers.results(MINUS_INFINITY_IF_NAN, AVERAGES),
    "results-clamped-to-float16": numbers.results(within("float16"), AVERAGES),
    "divisor-plus-1e-5": _scaled(
        "1e-5 added to divisors", lambda _, divisor: divisor / (divisor + 1e-5)
    ),
    "divisor-plus-1e-6": _scaled(
        "1e-6 added to divisors", lambda _, divisor: divisor / (divisor + 1e-6)
    ),
    "zero-times-infinity": _averaged(
        "cells outside a window multiplied by 0: one infinity or NaN spoils the plane",
        _matrix_product,
    ),
    "nan-as-zero-in-average": numbers.cells(ZERO_IF_NAN, AVERAGES),
    "nan-left-out-of-average": _averaged("NaN left out of sums and counts", _nan_left_out),
    "infinity-clamped-in-average": numbers.cells(LARGEST_IF_INFINITE, AVERAGES),
    "sum-not-cleared": Behaviour(
        "the second sum of a row started from the first result",
        _OVERLAPPING,
        {"reduce": on_results(of_floats(ADDED_TO_SECOND))},
    ),
    "divided-by-nonzero-cells": _scaled(
        "sums divided by the number of cells that are not zero", _count_of_nonzero
    ),
    "sum-clipped-at-padding": Behaviour(
        "a running sum below 0 replaced by 0 at every cell of the padding",
        INCLUDING,
        instead("reduce", _clipped_at_padding),
        bug="mean_relu_on_padded_taps",
    ),
}
