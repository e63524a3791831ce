"""Faults of `reduce`: how the cells of a window become its value, where no atom says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS8, dtype_of, float_format, name_of
from conformance.faults.atoms.indices import ChosenCells, chosen_by, numbered
from conformance.faults.atoms.numbers import (
    LOWEST_IF_MINUS_INFINITY,
    OF_BATCH,
    OF_PLANE,
    OF_TENSOR,
    Span,
    at_least,
    is_float,
    of_floats,
    on_cells,
    range_of,
)
from conformance.faults.atoms.reductions import first_of, unless_smaller
from conformance.faults.atoms.window_cells import (
    Reduce,
    cells_of,
    is_small,
    padded_window_cells,
    window_cells,
)
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnOutputs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.wraps import after, instead
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

# Averages and norms ------------------------------------------------------------------------------


def _added_in(kind: str, _reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Add cells in a type, from the first cell of a window on."""
    cells = narrow(widen(gathered.data), kind)
    taps = window_cells(replace(gathered, data=cells))
    sums = taps.fold(np.zeros((), cells.dtype), lambda a, b: a + b)
    counts = np.maximum(divisor, 1).astype(dtype_of(kind))
    averages = np.where(divisor > 0, sums / counts, np.nan)
    return narrow(widen(averages), name_of(gathered.data.dtype))


def spoiled(result: Array, planes: Array) -> Array:
    """Make floating-point results of planes NaN that hold an infinity or NaN."""
    if not is_float(result):
        return result
    bad = ~np.isfinite(widen(planes)).all(axis=tuple(range(2, planes.ndim)), keepdims=True)
    return np.where(bad, result.dtype.type(np.nan), result)


def _clipped_at_padding(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take the maximum of zero and the running sum at every cell of the padding."""
    if not is_float(gathered.data):
        return reduce(gathered, divisor)
    taps = padded_window_cells(gathered)
    sums = np.zeros(taps.cells.shape[:2])
    for tap in range(taps.cells.shape[2]):
        added = sums + taps.cells[:, :, tap]
        sums = np.where(taps.is_cell[:, tap], added, np.maximum(sums, 0.0))
    averages = np.where(divisor > 0, sums.reshape(taps.shape) / np.maximum(divisor, 1), np.nan)
    return narrow(averages, name_of(gathered.data.dtype))


def _norm_scaled_by(span: Span, _reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
    """Divide cells by the largest magnitude of a part before powers are taken, all in doubles."""
    p, scale = gathered.params.exponent, span.largest(gathered.data)
    taps = window_cells(replace(gathered, data=np.abs(widen(gathered.data)) / scale))
    sums = np.where(taps.is_cell, taps.cells**p, 0.0).sum(axis=2).reshape(taps.shape)
    return narrow(scale * sums ** (1.0 / p), name_of(gathered.data.dtype))


_SUMS = {
    **{f"sums-in-{kind}": Fault.of(reduce=instead(_added_in, kind)) for kind in FLOATS8},
    # A product of matrices multiplies cells outside a window by zero.
    "zero-times-infinity": Fault.of(
        reduce=after(lambda right, gathered, _: spoiled(right, gathered.data))
    ),
    "sum-clipped-at-padding": Fault.of(reduce=instead(_clipped_at_padding)),
    "norm-scaled-by-tensor": Fault.of(reduce=instead(_norm_scaled_by, OF_TENSOR)),
    "norm-scaled-by-batch": Fault.of(reduce=instead(_norm_scaled_by, OF_BATCH)),
    "norm-scaled-by-plane": Fault.of(reduce=instead(_norm_scaled_by, OF_PLANE)),
}

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
    taps = padded_window_cells(gathered)
    values = np.full(taps.cells.shape[:2], -np.inf)
    for tap in range(taps.cells.shape[2]):
        cell = np.where(taps.is_cell[:, tap], taps.cells[:, :, tap], -np.inf)
        values = np.where(unless_smaller(values, cell), cell, values)
    return narrow(values.reshape(taps.shape), name_of(gathered.data.dtype))


# In float32, as compilers and kernels make them for x86: the instruction for maxima of vectors
# returns its second operand if either is NaN, and scalar code keeps its first.

_LANES, _BYTES, _TAPS = 4, 4, 9
_LOWEST = float(np.finfo(np.float32).min)


def _in_vectors(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take maxima of float32, and of smaller types through it, as ONNX Runtime does on x86."""
    data = gathered.data
    if not is_float(data) or data.itemsize > _BYTES or not is_small(gathered):
        return reduce(gathered, divisor)
    params, windows, wide = gathered.params, gathered.windows, widen(data)
    cells = window_cells(replace(gathered, data=wide))
    per_axis = zip(windows.lengths, windows.inside(params.sizes), params.sizes, strict=True)
    is_whole = all([*length] == [*inside] == [size] for length, inside, size in per_axis)
    if any(n > 1 for n in windows.dilations):
        values = cells.fold(first_of(cells, _LOWEST), _larger_or_first)
    elif is_whole and {*params.strides} <= {1}:
        values = _of_lanes(wide.reshape(*data.shape[:2], -1))
    elif params.strides[1:] and params.strides[-1] <= 2:
        values = _of_columns(wide, gathered)
    else:
        values = cells.fold(np.array(_LOWEST), _larger_or_first)
    with np.errstate(over="ignore"):
        return narrow(values.reshape(cells.shape), name_of(data.dtype))


def _of_lanes(planes: Doubles) -> Doubles:
    """Return the maxima of planes, taken in four lanes; cells that are left over come last."""
    whole = planes.shape[-1] // _LANES * _LANES
    lanes = np.full((*planes.shape[:2], _LANES), _LOWEST)
    for first in range(0, whole, _LANES):
        lanes = _larger_or_second(lanes, planes[..., first : first + _LANES])
    halves = _larger_or_second(lanes[..., :2], lanes[..., 2:])
    values = _larger_or_second(halves[..., 0], halves[..., 1])
    for cell in range(whole, planes.shape[-1]):
        values = _larger_or_first(values, planes[..., cell])
    return values


def _of_columns(data: Doubles, gathered: Gathered) -> Doubles:
    """Return the maxima of windows: of columns first, and then of these and of the padding.

    On three axes, those of columns start from the lowest number.
    """
    (*rows_lo, lo), (*rows_hi, hi) = gathered.lo, gathered.hi
    column, size = np.arange(data.shape[-1]), gathered.params.sizes[-1]
    cells = cells_of(data, (*rows_lo, column), (*rows_hi, column + 1))
    is_left_over = gathered.positions[-1] >= size // _LANES * _LANES
    is_left_over = np.broadcast_to(is_left_over, cells.shape).reshape(cells.cells.shape[:2])

    def larger(a: Doubles, b: Doubles) -> Doubles:
        return np.where(is_left_over, _larger_or_first(a, b), _larger_or_second(a, b))

    columns = cells.fold(first_of(cells, _LOWEST) if data.ndim == 4 else np.array(_LOWEST), larger)
    begin = np.maximum(0, -gathered.windows.start[-1])
    end = np.maximum(0, gathered.windows.stop[-1] - size)
    pads = (int(begin.max(initial=0)), int(end.max(initial=0)))
    columns = np.pad(columns, [(0, 0)] * (data.ndim - 1) + [pads], constant_values=_LOWEST)
    rows = [np.arange(n) for n in columns.shape[2:-1]]
    lo, hi = lo + pads[0] - begin, hi + pads[0] + end
    cells = cells_of(columns, (*rows, lo), (*(row + 1 for row in rows), hi))
    return cells.fold(first_of(cells), _larger_or_second)


def _in_nines(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
    """Take maxima of float32 as XNNPACK does on x86, and LiteRT with it.

    Nine cells at a time, from the last axis on, are compared in a tree; the cell nearest to the
    padding stands for it. Windows that lie further apart than they are long are scalar code.
    """
    params, axes = gathered.params, gathered.windows.axes
    if name_of(gathered.data.dtype) != "float32" or not params.kernel or not is_small(gathered):
        return reduce(gathered, divisor)
    wide = widen(gathered.data)
    if any(stride > k for stride, k in zip(params.strides, params.kernel, strict=True)):
        window = window_cells(replace(gathered, data=wide))
        values = window.fold(np.array(_LOWEST), _larger_or_first).reshape(window.shape)
        return narrow(np.minimum(values, -_LOWEST), "float32")
    read: list[Any] = [...]
    for i, (start, _, dilation) in enumerate(axes):
        places = start[:, None] + dilation * np.arange(params.kernel[i])
        # The kernel's axes come behind those of the output, the last first.
        own = {i, 2 * len(axes) - 1 - i}
        others = [n for n in range(2 * len(axes)) if n not in own]
        read.append(np.expand_dims(np.clip(places, 0, params.sizes[i] - 1), others))
    cells = wide[tuple(read)]
    taps = [*np.moveaxis(cells.reshape(*cells.shape[: 2 + len(axes)], -1), -1, 0)]
    values = _larger_or_second(_of_nine(taps[:_TAPS]), np.array(-np.inf))
    for first in range(_TAPS, len(taps), _TAPS):
        values = _larger_or_second(values, _of_nine(taps[first : first + _TAPS]))
        values = np.where(np.isnan(values), np.inf, values)
    return narrow(values, "float32")


def _of_nine(taps: list[Doubles]) -> Doubles:
    """Return the maxima of up to nine cells, the first of which stands for those missing."""
    t, larger = taps + taps[:1] * (_TAPS - len(taps)), _larger_or_second
    ends = larger(larger(larger(t[0], t[1]), t[8]), larger(t[6], t[7]))
    return larger(larger(larger(t[2], t[3]), larger(t[4], t[5])), ends)


def _larger_or_first(a: Doubles, b: Doubles) -> Doubles:
    return np.where(b > a, b, a)


def _larger_or_second(a: Doubles, b: Doubles) -> Doubles:
    return np.where(unless_smaller(a, b), b, a)


def _first_unless_above_lowest(cells: ChosenCells, *, float_type: str = "") -> Array:
    """Return numbers: the first cell of the plane where no cell is above the lowest number.

    That of the type of the data, or of another `float_type` for floating-point data.
    """
    planes, chosen = cells.planes
    values = np.take_along_axis(planes, chosen, 1).reshape(cells.shape)
    data = cells.gathered.data
    least, _ = range_of((is_float(data) and float_type) or name_of(data.dtype))
    return cells.at([np.where(values > least, position, 0) for position in cells.positions])


def _of_other_sign(data: Array) -> Array:
    return data if is_float(data) else data.view(f"{'iu'[data.dtype.kind == 'i']}{data.itemsize}")


def _in_bytes(right: Any, gathered: Gathered, *_: Any) -> tuple[Array, ...]:
    return tuple(indices * gathered.data.itemsize for indices in right)


_MAXIMA = {
    "maximum-from-zero": Fault.of(reduce=OnOutputs(_at_least_zero)),
    "minimum": Fault.of(reduce=instead(_minimum)),
    "magnitude": Fault.of(reduce=on_cells(np.abs)),
    "nan-alone-as-minus-infinity": Fault.of(reduce=after(_minus_infinity_of_nan_alone)),
    "nan-replaced-by-padding": Fault.of(reduce=instead(_later_wins_over_padding)),
    "maximum-in-nines": Fault.of(reduce=instead(_in_nines)),
    "maximum-in-vectors": Fault.of(reduce=instead(_in_vectors)),
    "integers-padded-with-infinity": Fault.of(reduce=after(_as_float_where_padded)),
    "maximum-above-lowest-alone": Fault.of(
        reduce=OnOutputs(of_floats(LOWEST_IF_MINUS_INFINITY.of)),
        further=numbered(_first_unless_above_lowest),
    ),
    "maximum-above-lowest-of-float32-alone": Fault.of(
        reduce=OnOutputs(of_floats(at_least(range_of("float32")[0]).of)),
        further=numbered(partial(_first_unless_above_lowest, float_type="float32")),
    ),
    "index-in-bytes": Fault.of(further=after(_in_bytes)),
    "indices-of-type-of-data": Fault.of(
        further=after(lambda right, *given: tuple(i.astype(given[2].dtype) for i in right))
    ),
    "index-of-minimum": Fault.of(further=chosen_by(_reversed_order)),
    "index-of-opposite-sign": Fault.of(further=chosen_by(_of_other_sign)),
}

# NaN that are encoded in another way than usual --------------------------------------------------


IsMeant = Callable[[Array, int], Any]
"""Which NaN, by their bits and how many bits a fraction has."""


def _nan_as(value: float, is_meant: IsMeant, data: Array) -> Array:
    """Take some NaN as a number."""
    if not is_float(data):
        return data
    fraction = float_format(name_of(data.dtype)).precision - 1
    bits = np.ascontiguousarray(data).view(f"u{data.itemsize}")
    mask = np.isnan(widen(data)) & is_meant(bits, fraction)
    return np.where(mask, data.dtype.type(value), data)


def _is_negative(bits: Array, _fraction: int) -> Any:
    return bits >> (8 * bits.itemsize - 1) == 1


def _has_payload(bits: Array, fraction: int) -> Any:
    """Say whether the fraction has bits besides the first, which says that a NaN is quiet."""
    return bits & bits.dtype.type((1 << fraction - 1) - 1) != 0


_NAN = {
    "negative-nan-as-minus-infinity": partial(_nan_as, -np.inf, _is_negative),
    "negative-nan-as-zero": partial(_nan_as, 0.0, _is_negative),
    "payload-nan-as-infinity": partial(_nan_as, np.inf, _has_payload),
}
FAULTS = {
    **_SUMS,
    **_MAXIMA,
    **{name: Fault.of(reduce=on_cells(change)) for name, change in _NAN.items()},
}
