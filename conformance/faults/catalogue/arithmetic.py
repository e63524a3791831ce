"""Faults of `reduce` for averages: the type, order and rounding of sums and quotients.

Sums in the element type itself are a reading, not a fault; the faults here are worse than any
bound admits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.dtypes import dtype_of, name_of
from conformance.faults.catalogue.building_blocks import (
    AVERAGES,
    INCLUDING,
    Seen,
    remember,
)
from conformance.faults.catalogue.window_cells import window_cells
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Reduce = Callable[[Gathered, Divisor], Array]
Doubles = Any

_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def _averages(change: Callable[[Gathered, Divisor, Reduce], Array]) -> StepWrap:
    """Replace the average of floating-point data."""
    return lambda reduce: (
        lambda gathered, divisor: (
            reduce(gathered, divisor)
            if gathered.data.dtype.kind in "iu"
            else change(gathered, divisor, reduce)
        )
    )


def _divided(sums: Array, divisor: Divisor, kind: str) -> Array:
    """Divide sums by counts, both in one type; NaN where the count is zero."""
    counts = np.maximum(divisor, 1).astype(dtype_of(kind))
    return np.where(divisor > 0, sums.astype(dtype_of(kind)) / counts, np.nan)


def _accumulating(kind: str, over: tuple[str, ...]) -> StepWrap:
    """Add in a type narrower than the data's, from the first cell of a window to the last."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        data = gathered.data
        if name_of(data.dtype) not in over:
            return reduce(gathered, divisor)
        cells = narrow(widen(data), kind)
        zero = np.zeros((), cells.dtype)
        sums = window_cells(Gathered(cells, gathered.lo, gathered.hi)).fold(
            zero, lambda a, b: a + b
        )
        return narrow(widen(_divided(sums, divisor, kind)), name_of(data.dtype))

    return _averages(change)


def _rounded_result(kind: str, over: tuple[str, ...]) -> StepWrap:
    """Let right results pass through a narrower type."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        right = reduce(gathered, divisor)
        name = name_of(right.dtype)
        return narrow(widen(narrow(widen(right), kind)), name) if name in over else right

    return _averages(change)


def _cells(of: Callable[[Doubles], Doubles]) -> StepWrap:
    """Average changed cells."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        data = gathered.data
        cells = narrow(of(widen(data)), name_of(data.dtype))
        return reduce(replace(gathered, data=cells), divisor)

    return _averages(change)


def _results(of: Callable[[Doubles], Doubles]) -> StepWrap:
    """Change the averages."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        right = reduce(gathered, divisor)
        return narrow(of(widen(right)), name_of(right.dtype))

    return _averages(change)


def _kept_bits(values: Doubles, bits: int) -> Doubles:
    """Truncate numbers to a precision."""
    fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    kept = np.ldexp(np.trunc(np.ldexp(fraction, bits)), exponent - bits)
    return np.where(np.isfinite(values), kept, values)


def _reciprocal(bits: int) -> StepWrap:
    """Multiply right sums by a reciprocal of few bits."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        right = reduce(gathered, divisor)
        if _BITS[name_of(right.dtype)] <= bits:
            return right
        exact = 1.0 / np.maximum(divisor, 1)
        return narrow(widen(right) * (_kept_bits(exact, bits) / exact), name_of(right.dtype))

    return _averages(change)


def _prefix_sums(*, every_axis: bool, kind: str | None = None) -> StepWrap:
    """Take sums as differences of running sums in the element type, halves in float32."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        del reduce
        name = name_of(gathered.data.dtype)
        work = dtype_of(kind or ("float32" if name in {"float16", "bfloat16"} else name))
        sums = widen(gathered.data).astype(work)
        axes = len(gathered.lo)
        for j, (lo, hi) in reversed(list(enumerate(zip(gathered.lo, gathered.hi, strict=True)))):
            axis = 2 + j
            if j == axes - 1 or every_axis:
                running = np.cumsum(sums, axis=axis, dtype=work)
                zero = np.zeros_like(running.take([0], axis))
                running = np.concatenate([zero, running], axis)
                sums = running.take(np.maximum(hi, lo), axis) - running.take(lo, axis)
            else:
                parts = [
                    sums.take(range(a, b), axis).sum(axis, dtype=work)
                    for a, b in zip(lo.tolist(), hi.tolist(), strict=True)
                ]
                sums = np.stack(parts, axis)
        return narrow(widen(_divided(sums, divisor, work.name)), name)

    return _averages(change)


def _plus_epsilon(epsilon: float) -> StepWrap:
    """Add a small number to the divisor."""

    def change(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
        right = reduce(gathered, divisor)
        return narrow(widen(right) * (divisor / (divisor + epsilon)), name_of(right.dtype))

    return _averages(change)


def _matrix_product(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Multiply cells outside a window by zero: infinity and NaN reach every output."""
    right = reduce(gathered, divisor)
    wide = widen(gathered.data)
    spoilt = ~np.isfinite(wide).all(axis=tuple(range(2, wide.ndim)), keepdims=True)
    return np.where(spoilt, right.dtype.type(np.nan), right)


def _nan_as_zero(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Take NaN as zero."""
    wide = widen(gathered.data)
    name = name_of(gathered.data.dtype)
    cells = narrow(np.where(np.isnan(wide), 0.0, wide), name)
    return reduce(replace(gathered, data=cells), divisor)


def _nan_left_out(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Leave NaN out of sums and counts."""
    wide = widen(gathered.data)
    if not np.isnan(wide).any():
        return reduce(gathered, divisor)
    zero = np.zeros(())
    numbers = Gathered(np.where(np.isnan(wide), 0.0, wide), gathered.lo, gathered.hi)
    counts = Gathered((~np.isnan(wide)).astype(np.float64), gathered.lo, gathered.hi)
    sums = window_cells(numbers).fold(zero, np.add)
    held = window_cells(counts).fold(zero, np.add)
    return narrow(sums / held, name_of(gathered.data.dtype))


def _running_total(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Do not clear the sum between neighbouring outputs of a row's first two windows."""
    right = reduce(gathered, divisor)
    wide = widen(right)
    if wide.shape[-1] > 1:
        wide[..., 1] = wide[..., 1] + wide[..., 0]
    return narrow(wide, name_of(right.dtype))


def _nonzero_count(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Divide by the cells that are not zero."""
    wide = widen(gathered.data)
    held = window_cells(Gathered((wide != 0).astype(np.float64), gathered.lo, gathered.hi)).fold(
        np.zeros(()), np.add
    )
    right = reduce(gathered, divisor)
    return narrow(widen(right) * (divisor / np.maximum(held, 1.0)), name_of(right.dtype))


def _clipped_at_padding(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    """Take the maximum of zero and the running sum at every cell of the padding."""
    if not isinstance(gathered, Seen):
        return reduce(gathered, divisor)
    windows = gathered.windows
    taps = window_cells(Gathered(widen(gathered.data), windows.start, windows.stop))
    sums = np.zeros(taps.cells.shape[:2])
    longest = [int((b - a).max()) for a, b in zip(windows.start, windows.stop, strict=True)]
    for tap in range(int(np.prod(longest))):
        sums = np.where(taps.held[:, tap], sums + taps.cells[:, :, tap], np.maximum(sums, 0.0))
    return narrow(
        _divided(sums.reshape(taps.shape), divisor, "float64"), name_of(gathered.data.dtype)
    )


def _fixed_point(bits: int) -> Callable[[Doubles], Doubles]:
    """Round to multiples of 2**-bits."""
    return lambda values: np.where(
        np.isfinite(values), np.rint(values * 2.0**bits) / 2.0**bits, values
    )


_NARROWER = (
    ("float32", ("float64",)),
    ("float16", ("float32", "float64")),
    ("bfloat16", ("float32", "float64")),
    ("bfloat16", ("float16",)),
    ("float16", ("bfloat16",)),
)


def _of(kinds: tuple[str, ...]) -> str:
    return " and ".join(kinds)


def _dashed(kinds: tuple[str, ...]) -> str:
    return "-".join(kinds)


FAULTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"sums-in-{kind}-of-{_dashed(over)}",
            f"{_of(over)} summed in {kind}",
            needs=AVERAGES & Needs(dtypes=over),
            replaces={"reduce": _accumulating(kind, over)},
        )
        for kind, over in _NARROWER
    ),
    *(
        Fault(
            f"results-in-{kind}-of-{_dashed(over)}",
            f"results of {_of(over)} rounded to {kind}",
            needs=AVERAGES & Needs(dtypes=over),
            replaces={"reduce": _rounded_result(kind, over)},
        )
        for kind, over in _NARROWER
    ),
    *(
        Fault(
            f"reciprocal-of-{bits}-bits",
            f"sums multiplied by a reciprocal of {bits} bits",
            needs=AVERAGES,
            replaces={"reduce": _reciprocal(bits)},
            bugs=bugs,
        )
        for bits, bugs in ((8, ("reciprocal_in_low_precision",)), (11, ()), (20, ()))
    ),
    Fault(
        "cells-truncated-to-10-bits",
        "cells truncated to 10 bits of fraction before they are added",
        needs=AVERAGES,
        replaces={"reduce": _cells(lambda values: _kept_bits(values, 11))},
    ),
    Fault(
        "prefix-sums-of-rows",
        "sums taken as differences of running sums along a row",
        needs=AVERAGES,
        replaces={"reduce": _prefix_sums(every_axis=False)},
        bugs=("prefix_sum_cancellation",),
    ),
    Fault(
        "prefix-sums-of-planes",
        "sums taken as differences of running sums over a plane",
        needs=AVERAGES,
        replaces={"reduce": _prefix_sums(every_axis=True)},
        bugs=("prefix_sum_cancellation",),
    ),
    Fault(
        "cells-truncated-to-integers",
        "cells truncated to integers before they are added",
        needs=AVERAGES,
        replaces={"reduce": _cells(np.trunc)},
    ),
    Fault(
        "results-truncated-to-integers",
        "averages truncated to integers",
        needs=AVERAGES,
        replaces={"reduce": _results(np.trunc)},
    ),
    Fault(
        "results-rounded-to-integers",
        "averages rounded to integers",
        needs=AVERAGES,
        replaces={"reduce": _results(np.rint)},
    ),
    Fault(
        "results-rounded-down",
        "averages rounded down to integers",
        needs=AVERAGES,
        replaces={"reduce": _results(np.floor)},
    ),
    Fault(
        "fixed-point-of-8-bits",
        "averages rounded to multiples of 1/256",
        needs=AVERAGES,
        replaces={"reduce": _results(_fixed_point(8))},
    ),
    Fault(
        "negative-results-zero",
        "negative averages replaced by 0",
        needs=AVERAGES,
        replaces={"reduce": _results(lambda v: np.where(v < 0, 0.0, v))},
    ),
    Fault(
        "magnitudes",
        "magnitudes averaged",
        needs=AVERAGES,
        replaces={"reduce": _cells(np.abs)},
    ),
    Fault(
        "small-cells-zero",
        "cells below 1e-6 taken as 0",
        needs=AVERAGES,
        replaces={"reduce": _cells(lambda v: np.where(np.abs(v) < 1e-6, 0.0, v))},
    ),
    Fault(
        "results-clamped-to-float16",
        "averages clamped to the range of float16",
        needs=AVERAGES,
        replaces={"reduce": _results(lambda v: np.clip(v, -65504.0, 65504.0))},
    ),
    Fault(
        "divisor-plus-1e-5",
        "1e-5 added to divisors",
        needs=AVERAGES,
        replaces={"reduce": _plus_epsilon(1e-5)},
    ),
    Fault(
        "divisor-plus-1e-6",
        "1e-6 added to divisors",
        needs=AVERAGES,
        replaces={"reduce": _plus_epsilon(1e-6)},
    ),
    Fault(
        "zero-times-infinity",
        "cells outside a window multiplied by 0: one infinity or NaN spoils the plane",
        needs=AVERAGES,
        replaces={"reduce": _averages(_matrix_product)},
    ),
    Fault(
        "nan-as-zero-in-average",
        "NaN taken as 0",
        needs=AVERAGES,
        replaces={"reduce": _averages(_nan_as_zero)},
    ),
    Fault(
        "nan-left-out-of-average",
        "NaN left out of sums and counts",
        needs=AVERAGES,
        replaces={"reduce": _averages(_nan_left_out)},
    ),
    Fault(
        "infinity-clamped-in-average",
        "infinity replaced by the largest finite number",
        needs=AVERAGES,
        replaces={
            "reduce": _averages(
                lambda gathered, divisor, reduce: reduce(
                    replace(
                        gathered,
                        data=np.where(
                            np.isinf(widen(gathered.data)),
                            np.nextafter(gathered.data, gathered.data.dtype.type(0)),
                            gathered.data,
                        ),
                    ),
                    divisor,
                )
            )
        },
    ),
    Fault(
        "sum-not-cleared",
        "the second sum of a row started from the first result",
        needs=AVERAGES,
        replaces={"reduce": _averages(_running_total)},
    ),
    Fault(
        "divided-by-nonzero-cells",
        "sums divided by the number of cells that are not zero",
        needs=AVERAGES,
        replaces={"reduce": _averages(_nonzero_count)},
    ),
    Fault(
        "sum-clipped-at-padding",
        "a running sum below 0 replaced by 0 at every cell of the padding",
        needs=INCLUDING,
        replaces={"reduce": _averages(_clipped_at_padding), "gather": remember},
        bugs=("mean_relu_on_padded_taps",),
    ),
)
