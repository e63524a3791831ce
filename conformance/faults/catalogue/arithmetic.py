"""Faults of `reduce` for averages: the type, order and rounding of sums and quotients.

Sums in the element type itself are a reading, not a fault; the faults here are worse than any
bound admits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import dtype_of, float_format, name_of
from conformance.faults.behaviour import AVERAGES, INCLUDING, SPREAD, Behaviour, Faults, instead
from conformance.faults.catalogue.values import (
    Change,
    Reduce,
    clamped_to_finite,
    in_doubles,
    is_float,
    nan_as,
    padded_window_cells,
    reducing,
    returning,
    rounded_to,
    window_cells,
)
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Doubles = Any
Along = Callable[[Array, Array, Array], Array]
"""From cells along the first axis, and starts and stops of windows: the sum of each window."""
Average = Callable[[Reduce, Gathered, Divisor], Array]


_OVERLAPPING = AVERAGES & SPREAD  # sums of several windows of a plane


def _cells(summary: str, change: Change) -> Behaviour:
    """Average changed cells."""
    return Behaviour(summary, AVERAGES, reducing(change))


def _results(
    summary: str, change: Callable[[Doubles], Doubles], *, needs: Needs = AVERAGES
) -> Behaviour:
    """Change the right averages of floating-point data."""
    return Behaviour(summary, needs, returning(in_doubles(change)))


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
    rounded = rounded_to(kind)
    return lambda data: rounded(data) if name_of(data.dtype) in types else data


def _truncated_to_bits(values: Doubles, bits: int) -> Doubles:
    """Truncate the significands of numbers to `bits` bits."""
    significand, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    truncated = np.ldexp(np.trunc(np.ldexp(significand, bits)), exponent - bits)
    return np.where(np.isfinite(values), truncated, values)


def _reciprocal(bits: int) -> Callable[[Gathered, Divisor], Doubles]:
    """Multiply right sums by a reciprocal of `bits` bits, in types of more bits."""

    def factor(gathered: Gathered, divisor: Divisor) -> Doubles:
        exact = 1.0 / np.maximum(divisor, 1)
        has_more = float_format(name_of(gathered.data.dtype)).precision > bits
        return _truncated_to_bits(exact, bits) / exact if has_more else np.ones_like(exact)

    return factor


def _window_sums(cells: Array, lo: Array, hi: Array) -> Array:
    """Add the cells of each window."""
    windows = zip(lo.tolist(), hi.tolist(), strict=True)
    return np.stack([cells[a:b].sum(0, dtype=cells.dtype) for a, b in windows])


def _differences(cells: Array, lo: Array, hi: Array) -> Array:
    """Subtract running sums from the begin of the axis."""
    running = np.zeros((len(cells) + 1, *cells.shape[1:]), cells.dtype)
    np.cumsum(cells, axis=0, dtype=cells.dtype, out=running[1:])
    return running[np.maximum(hi, lo)] - running[lo]


def _slid(cells: Array, lo: Array, hi: Array) -> Array:
    """Add the cells that enter a window to the sum of the one before, and subtract the others."""
    terms, counts = [], []
    entered = left = int(lo[0])
    for a, b in zip(lo.tolist(), hi.tolist(), strict=True):
        terms += [(cell, 1) for cell in range(entered, b)] + [(cell, -1) for cell in range(left, a)]
        entered, left = max(entered, b), max(left, a)
        counts.append(len(terms))
    index, signs = np.array(terms, np.int64).reshape(-1, 2).T
    signed = cells[index] * signs.astype(cells.dtype).reshape(-1, *[1] * (cells.ndim - 1))
    return _differences(signed, np.zeros_like(lo), np.array(counts))


def _summed(along: Along, axes: slice, work: Mapping[str, str]) -> Average:
    """Take sums along some spatial axes in an unsound way, along the others as they should be.

    In the element type, or in that which `work` maps it to.
    """

    def average(_reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        name = name_of(gathered.data.dtype)
        kind = work.get(name, name)
        sums = widen(gathered.data).astype(dtype_of(kind))
        count = len(gathered.lo)
        unsound = range(count)[axes]
        for j, (lo, hi) in reversed(list(enumerate(zip(gathered.lo, gathered.hi, strict=True)))):
            cells = np.moveaxis(sums, 2 + j, 0)
            window_sums = along(cells, lo, hi) if j in unsound else _window_sums(cells, lo, hi)
            sums = np.moveaxis(window_sums, 0, 2 + j)
        return narrow(widen(_divided(sums, divisor, kind)), name)

    return average


_ROWS, _COLUMNS, _PLANES = slice(-1, None), slice(0, 1), slice(None)
_WIDER = {"float16": "float32", "bfloat16": "float32"}
_IN_FLOAT32 = {"float64": "float32"}


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


def _second_sum_not_cleared(averages: Doubles) -> Doubles:
    """Add the first result of each row to the second."""
    if averages.shape[-1] > 1:
        averages[..., 1] = averages[..., 1] + averages[..., 0]
    return averages


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


def _fixed_point(bits: int) -> Callable[[Doubles], Doubles]:
    """Round to multiples of 2**-bits."""
    return lambda values: np.where(
        np.isfinite(values), np.rint(values * 2.0**bits) / 2.0**bits, values
    )


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
    "cells-truncated-to-10-bits": _cells(
        "cells truncated to 10 bits of fraction before they are added",
        in_doubles(lambda values: _truncated_to_bits(values, 11)),
    ),
    "prefix-sums-of-rows": _averaged(
        "sums taken as differences of running sums along a row",
        _summed(_differences, _ROWS, _WIDER),
        needs=_OVERLAPPING,
        bug="prefix_sum_cancellation",
    ),
    "prefix-sums-of-planes": _averaged(
        "sums taken as differences of running sums over a plane",
        _summed(_differences, _PLANES, _WIDER),
        needs=_OVERLAPPING,
        bug="prefix_sum_cancellation",
    ),
    "prefix-sums-of-float64-in-float32": Behaviour(
        "sums of float64 taken as differences of running sums over a plane in float32",
        AVERAGES & Needs(dtypes=("float64",)),
        instead("reduce", _of(("float64",), _summed(_differences, _PLANES, _IN_FLOAT32))),
    ),
    "sliding-sums-of-rows": _averaged(
        "sums slid along a row: the cells that enter a window added, those that leave subtracted",
        _summed(_slid, _ROWS, _WIDER),
        needs=_OVERLAPPING,
    ),
    "sliding-sums-of-columns": _averaged(
        "sums slid along the first axis: cells that enter added, those that leave subtracted",
        _summed(_slid, _COLUMNS, _WIDER),
        needs=_OVERLAPPING,
    ),
    "sliding-sums-in-element-type": _averaged(
        "sums slid along a row in the element type, also of half types",
        _summed(_slid, _ROWS, {}),
        needs=_OVERLAPPING,
    ),
    "cells-truncated-to-integers": _cells(
        "cells truncated to integers before they are added", in_doubles(np.trunc)
    ),
    "results-truncated-to-integers": _results("averages truncated to integers", np.trunc),
    "results-rounded-to-integers": _results("averages rounded to integers", np.rint),
    "results-rounded-down": _results("averages rounded down to integers", np.floor),
    "fixed-point-of-8-bits": _results("averages rounded to multiples of 1/256", _fixed_point(8)),
    "negative-results-zero": _results(
        "negative averages replaced by 0", lambda v: np.where(v < 0, 0.0, v)
    ),
    "magnitudes": _cells("magnitudes averaged", in_doubles(np.abs)),
    "small-cells-zero": _cells(
        "cells below 1e-6 taken as 0", in_doubles(lambda v: np.where(np.abs(v) < 1e-6, 0.0, v))
    ),
    "results-clamped-to-float16": _results(
        "averages clamped to the range of float16", lambda v: np.clip(v, -65504.0, 65504.0)
    ),
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
    "nan-as-zero-in-average": _cells("NaN taken as 0", nan_as(0.0)),
    "nan-left-out-of-average": _averaged("NaN left out of sums and counts", _nan_left_out),
    "infinity-clamped-in-average": _cells(
        "infinity replaced by the largest finite number", clamped_to_finite(np.isinf)
    ),
    "sum-not-cleared": _results(
        "the second sum of a row started from the first result",
        _second_sum_not_cleared,
        needs=_OVERLAPPING,
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
