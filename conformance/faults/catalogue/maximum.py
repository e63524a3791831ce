"""Faults of `reduce` for the maximum: where it starts, how it compares, what NaN does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.catalogue.building_blocks import (
    CHOOSING,
    INTEGERS,
    MAXIMUM,
    PADDED,
    Seen,
    remember,
    result,
)
from conformance.faults.catalogue.window_cells import WindowCells, window_cells
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import maximum_of_cells
from conformance.reference import maximum_ignoring_nan
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Reduce = Callable[[Gathered, Divisor], Array]


def _is_float(data: Array) -> bool:
    return data.dtype.kind not in "iu"


def _at_least(start: float, *, integers: bool = False) -> StepWrap:
    """Start from a number instead of the lowest."""

    def change(right: Array, _gathered: Gathered) -> Array:
        if not _is_float(right):
            return np.maximum(right, 0) if integers else right
        wide = widen(right)
        return narrow(np.where(wide < start, start, wide), name_of(right.dtype))

    return result(change)


def _in(kind: str) -> StepWrap:
    """Compare, or keep, floating-point numbers in another type."""

    def change(right: Array, _gathered: Gathered) -> Array:
        if not _is_float(right):
            return right
        return narrow(widen(narrow(widen(right), kind)), name_of(right.dtype))

    return result(change)


def _folded(
    combine: Callable[[Array, Array], Array], start: Callable[[WindowCells], Any] | None = None
) -> StepWrap:
    """Fold the cells of each window in order, from its first cell unless `start` says."""

    def wrap(reduce: Reduce) -> Reduce:
        def folded(gathered: Gathered, divisor: Divisor) -> Array:
            if not _is_float(gathered.data):
                return reduce(gathered, divisor)
            wide = Gathered(widen(gathered.data), gathered.lo, gathered.hi)
            taps = window_cells(wide)
            first = taps.cells[:, :, 0] if start is None else start(taps)
            empty = ~taps.held.any(axis=1)
            values = taps.fold(np.where(empty, -np.inf, first), combine)
            return narrow(values, name_of(gathered.data.dtype))

        return folded

    return wrap


def _mapped(change: Callable[[Array], Array]) -> StepWrap:
    """Take the maximum of changed cells of the same type."""
    return lambda reduce: (
        lambda gathered, divisor: reduce(
            Gathered(change(gathered.data), gathered.lo, gathered.hi), divisor
        )
    )


def _nan_as(value: float) -> StepWrap:
    def change(data: Array) -> Array:
        if not _is_float(data):
            return data
        wide = widen(data)
        return narrow(np.where(np.isnan(wide), value, wide), name_of(data.dtype))

    return _mapped(change)


def _nan_dropped_where(where: Callable[[tuple[int, ...]], Any]) -> StepWrap:
    """Drop NaN at some outputs, `where(shape)`, and propagate it at the others."""

    def change(right: Array, gathered: Gathered) -> Array:
        if not _is_float(right):
            return right
        other = maximum_ignoring_nan(gathered.data, gathered.lo, gathered.hi)
        propagated = maximum_of_cells(gathered, np.ones((), np.int64))
        return np.where(np.broadcast_to(where(right.shape), right.shape), other, propagated)

    return result(change)


def _tail(axis: int, lanes: int) -> Callable[[tuple[int, ...]], Any]:
    """Mark what a loop over groups of `lanes` leaves to its remainder."""

    def where(shape: tuple[int, ...]) -> Any:
        marked = np.arange(shape[axis]) >= shape[axis] // lanes * lanes
        return marked.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])

    return where


def _integers(change: Callable[[Array], Array]) -> StepWrap:
    return _mapped(lambda data: data if _is_float(data) else change(data))


def _opposite_sign(reduce: Reduce) -> Reduce:
    """Compare signed integers as unsigned ones and the reverse."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        if _is_float(data):
            return reduce(gathered, divisor)
        kind = np.dtype(f"{'u' if data.dtype.kind == 'i' else 'i'}{data.dtype.itemsize}")
        view = np.ascontiguousarray(data).view(kind)
        return reduce(Gathered(view, gathered.lo, gathered.hi), divisor).view(data.dtype)

    return other


def _of_bits(reduce: Reduce) -> Reduce:
    """Compare floating-point numbers by their bits as signed integers."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        data = gathered.data
        if not _is_float(data):
            return reduce(gathered, divisor)
        view = np.ascontiguousarray(data).view(np.dtype(f"i{data.dtype.itemsize}"))
        return reduce(Gathered(view, gathered.lo, gathered.hi), divisor).view(data.dtype)

    return other


def _as_float_where_padded(reduce: Reduce) -> Reduce:
    """Return integers as floats where they are padded with minus infinity."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        if _is_float(right) or not isinstance(gathered, Seen):
            return right
        padded = any(
            (a < 0).any() or (b > d).any()
            for a, b, d in zip(
                gathered.windows.start, gathered.windows.stop, gathered.params.sizes, strict=True
            )
        )
        return right.astype(np.float32) if padded else right

    return other


def _lowest_for_minus_infinity(right: Array, _gathered: Gathered) -> Array:
    if not _is_float(right):
        return right
    lowest = -narrow(np.array(np.finfo(np.float64).max), name_of(right.dtype))
    if np.isinf(widen(lowest)):
        lowest = np.nextafter(lowest, right.dtype.type(0))
    return np.where(np.isneginf(widen(right)), lowest, right)


def _at_least_first_cell(right: Array, gathered: Gathered) -> Array:
    if not _is_float(right):
        return right
    first = gathered.data.reshape(*right.shape[:2], -1)[:, :, :1]
    return np.maximum(right, first.reshape(*right.shape[:2], *[1] * (right.ndim - 2)))


def _minimum(gathered: Gathered, divisor: Divisor, reduce: Reduce) -> Array:
    data = gathered.data
    if not _is_float(data):
        flipped = np.invert(data)
        return np.invert(reduce(Gathered(flipped, gathered.lo, gathered.hi), divisor))
    return -reduce(Gathered(-data, gathered.lo, gathered.hi), divisor)


def _later_wins(a: Array, b: Array) -> Array:
    return np.where(a > b, a, b)


def _later_wins_over_padding(reduce: Reduce) -> Reduce:
    """Take the later of two cells unless the earlier is larger, padding being minus infinity."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        if not _is_float(gathered.data) or not isinstance(gathered, Seen):
            return reduce(gathered, divisor)
        windows = gathered.windows
        taps = window_cells(Gathered(widen(gathered.data), windows.start, windows.stop))
        values = np.full(taps.cells.shape[:2], -np.inf)
        for tap in range(taps.cells.shape[2]):
            cell = np.where(taps.held[:, tap], taps.cells[:, :, tap], -np.inf)
            values = _later_wins(values, cell)
        return narrow(values.reshape(taps.shape), name_of(gathered.data.dtype))

    return other


def _first_wins(a: Array, b: Array) -> Array:
    return np.where(b > a, b, a)


def _largest_magnitude(a: Array, b: Array) -> Array:
    return np.where(np.abs(b) > np.abs(a), b, a)


def _rounded_to(kind: str) -> Callable[[Array], Array]:
    return lambda data: data.astype(kind).astype(data.dtype)


def _wrapped(kind: str) -> Callable[[Array], Array]:
    """Keep integers in a narrower type of the same sign."""
    return lambda data: data.astype(f"{'u' if data.dtype.kind == 'u' else ''}{kind}").astype(
        data.dtype
    )


def _largest(kind: np.dtype[Any]) -> Any:
    return np.nextafter(kind.type(np.inf), kind.type(0))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "maximum-from-zero",
        "the maximum started from 0",
        needs=MAXIMUM,
        replaces={"reduce": _at_least(0.0, integers=True)},
        bugs=("max_init_zero",),
    ),
    Fault(
        "maximum-from-smallest-normal",
        "the maximum started from the smallest positive float32",
        needs=MAXIMUM,
        replaces={"reduce": _at_least(float(np.finfo(np.float32).smallest_normal))},
        bugs=("max_init_flt_min",),
    ),
    *(
        Fault(
            f"maximum-from-{name}",
            f"the maximum started from {words}",
            needs=MAXIMUM,
            replaces={"reduce": _at_least(start)},
        )
        for name, words, start in (
            ("minus-one", "-1", -1.0),
            ("minus-128", "-128", -128.0),
            ("minus-10000", "-10000", -10000.0),
            ("minus-1e20", "-1e20", -1e20),
            ("lowest-float16", "the lowest finite float16", -65504.0),
            ("lowest-float32", "the lowest finite float32", -float(np.finfo(np.float32).max)),
        )
    ),
    Fault(
        "maximum-from-lowest",
        "the lowest finite number for a window of minus infinity",
        needs=MAXIMUM,
        replaces={"reduce": result(_lowest_for_minus_infinity)},
    ),
    Fault(
        "maximum-from-first-input-cell",
        "the maximum started from the first cell of the plane",
        needs=MAXIMUM,
        replaces={"reduce": result(_at_least_first_cell)},
    ),
    Fault(
        "minimum",
        "the minimum in place of the maximum",
        needs=MAXIMUM,
        replaces={
            "reduce": lambda reduce: lambda gathered, divisor: _minimum(gathered, divisor, reduce)
        },
    ),
    Fault(
        "largest-magnitude",
        "the cell of the largest magnitude in place of the largest",
        needs=MAXIMUM,
        replaces={"reduce": _folded(_largest_magnitude)},
    ),
    Fault(
        "magnitude",
        "the largest magnitude in place of the largest cell",
        needs=MAXIMUM,
        replaces={"reduce": _mapped(lambda data: np.abs(data) if data.dtype.kind != "u" else data)},
    ),
    Fault(
        "last-cell",
        "the last cell of a window in place of the largest",
        needs=MAXIMUM,
        replaces={"reduce": _folded(lambda _, b: b)},
    ),
    Fault(
        "compares-bits",
        "floating-point numbers compared as integers: wrong for two negative ones",
        needs=CHOOSING,
        replaces={"reduce": _of_bits},
    ),
    Fault(
        "compares-opposite-sign",
        "signed integers compared as unsigned ones, or the reverse",
        needs=CHOOSING & INTEGERS,
        replaces={"reduce": _opposite_sign},
    ),
    Fault(
        "nan-dropped-unless-first",
        "NaN dropped unless it is the first cell of its window",
        needs=MAXIMUM,
        replaces={"reduce": _folded(_first_wins)},
        bugs=("max_nan_dropped_unless_first",),
    ),
    Fault(
        "nan-kept-if-last",
        "NaN replaced by the next cell, kept only at the end of its window",
        needs=MAXIMUM,
        replaces={"reduce": _folded(_later_wins)},
    ),
    Fault(
        "nan-as-zero",
        "NaN taken as 0",
        needs=MAXIMUM,
        replaces={"reduce": _nan_as(0.0)},
    ),
    Fault(
        "nan-as-infinity",
        "NaN taken as infinity",
        needs=MAXIMUM,
        replaces={"reduce": _nan_as(np.inf)},
    ),
    Fault(
        "infinity-clamped",
        "infinity replaced by the largest finite number",
        needs=MAXIMUM,
        replaces={
            "reduce": _mapped(
                lambda data: (
                    data
                    if not _is_float(data)
                    else np.where(np.isposinf(widen(data)), _largest(data.dtype), data)
                )
            )
        },
    ),
    Fault(
        "nan-dropped-in-channel-tail",
        "NaN dropped in the channels beyond groups of 4",
        needs=MAXIMUM,
        replaces={"reduce": _nan_dropped_where(_tail(1, 4))},
        bugs=("nan_depends_on_channel_tail",),
    ),
    Fault(
        "nan-dropped-in-width-tail",
        "NaN dropped in the columns beyond groups of 4",
        needs=MAXIMUM,
        replaces={"reduce": _nan_dropped_where(_tail(-1, 4))},
    ),
    Fault(
        "nan-dropped-in-first-column",
        "NaN dropped in the first column",
        needs=MAXIMUM,
        replaces={"reduce": _nan_dropped_where(lambda shape: np.arange(shape[-1]) == 0)},
    ),
    Fault(
        "nan-dropped-in-odd-columns",
        "NaN dropped in every second column",
        needs=MAXIMUM,
        replaces={"reduce": _nan_dropped_where(lambda shape: np.arange(shape[-1]) % 2 == 1)},
    ),
    Fault(
        "nan-dropped-after-first-batch",
        "NaN dropped in all batches but the first",
        needs=MAXIMUM,
        replaces={
            "reduce": _nan_dropped_where(
                lambda shape: np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1)) > 0
            )
        },
    ),
    *(
        Fault(
            f"maximum-in-{kind}",
            f"cells kept in {kind}",
            needs=MAXIMUM,
            replaces={"reduce": _in(kind)},
            bugs=bugs,
        )
        for kind, bugs in (("float32", ("f64_computed_in_f32",)), ("float16", ()), ("bfloat16", ()))
    ),
    *(
        Fault(
            f"integers-through-{kind}",
            f"integers compared as {kind}",
            needs=CHOOSING & INTEGERS,
            replaces={"reduce": _integers(_rounded_to(kind))},
        )
        for kind in ("float32", "float64", "float16")
    ),
    *(
        Fault(
            f"integers-wrapped-to-{bits}-bits",
            f"integers kept in {bits} bits",
            needs=CHOOSING & INTEGERS,
            replaces={"reduce": _integers(_wrapped(f"int{bits}"))},
        )
        for bits in (8, 16, 32)
    ),
    Fault(
        "int8-as-127",
        "integers clamped to -127..127",
        needs=CHOOSING & INTEGERS,
        replaces={
            "reduce": _integers(
                lambda data: np.clip(data, max(-127, np.iinfo(data.dtype).min), 127)
            )
        },
    ),
    Fault(
        "integers-padded-with-infinity",
        "integers returned as float32 where there is padding",
        needs=CHOOSING & INTEGERS & PADDED,
        replaces={"reduce": _as_float_where_padded, "gather": remember},
        bugs=("int_pad_with_inf",),
    ),
    Fault(
        "nan-replaced-by-padding",
        "NaN replaced by the next cell, also by the -inf that stands for padding",
        needs=MAXIMUM & PADDED,
        replaces={"reduce": _later_wins_over_padding, "gather": remember},
    ),
)
