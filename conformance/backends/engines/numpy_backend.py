"""A backend of plain numpy: one loop over the windows of each axis.

It computes any operator from the roles of its attributes and its reduction, as the documents and
the default reading of every disputed clause say, and returns the first output and indices of maxima
where there are any. It is independent of the reference that computes expected values: sums are
float64 sums, rounded when stored. Undefined averages are NaN, undefined maxima the lowest value,
undefined indices -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from conformance.operators import OPERATORS, Params, Reduction
from conformance.vector import Array, Outputs

_FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)


class _Window(NamedTuple):
    """Input cells of one window on one axis, what it divides by, and whether it has others."""

    cells: slice
    divisor: int
    reaches_out: bool


def backend(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Array | Outputs:
    """Compute one case; ValueError for attributes or inputs the operator's document excludes."""
    if operator not in OPERATORS:
        raise ValueError(f"no operator {operator!r}")
    definition = OPERATORS[operator]
    params = definition.validate(inputs, attributes)
    data = inputs[0]
    if definition.reduction.sums and data.dtype not in _FLOATS:
        raise ValueError(f"{operator} of {data.dtype}: no document says how integers round")
    if params.exponent < 1:
        raise ValueError(f"an exponent of {params.exponent} makes no norm")
    axes = _divided(params) if definition.is_adaptive else _slid(params)
    first = _pooled(data, axes, definition.reduction, params.exponent)
    if definition.has_indices and definition.reduction.combine is np.maximum:
        return first, _indices(data, axes, params)
    return first


# Values ---------------------------------------------------------------------------------------


def _pooled(data: Array, axes: list[list[_Window]], reduction: Reduction, exponent: int) -> Array:
    """Reduce the cells of every window, axis by axis: a window is a box."""
    reduce: Any = reduction.combine.reduce
    if reduction.combine.identity is None:  # which numpy takes where there are no cells
        reduce = partial(reduce, initial=reduction.empty(data.dtype))
    # float64 holds every floating-point type exactly
    values = data.astype(np.float64) if data.dtype in _FLOATS else data
    with np.errstate(all="ignore"):
        scale = 1.0
        if reduction.powers:
            finite = np.abs(values[np.isfinite(values)])
            scale = finite.max(initial=0.0) or 1.0  # so that no power overflows
            values = np.abs(values / scale) ** exponent
        for axis, windows in enumerate(axes, 2):
            before = (slice(None),) * axis
            cells = [(*before, window.cells) for window in windows]
            values = np.stack([reduce(values[part], axis=axis) for part in cells], axis)
        if reduction.divides:
            divisor = np.ones(())
            for windows in axes:
                divisor = np.multiply.outer(divisor, [window.divisor for window in windows])
            values = values / divisor  # nothing by nothing is NaN
        if reduction.powers:
            values = scale * _root(values, exponent)
        # float64 to bfloat16 rounds twice, through float32: 2**-24 of the result at most, far
        # below the bound
        return values.astype(data.dtype)


def _root(values: Array, p: int) -> Array:
    """Return p-th roots: a power of a rounded 1/p, and a step of Newton's that corrects it."""
    root: Array = values ** (1 / p)
    slope = p * root ** (p - 1)
    usual = (slope > 0) & np.isfinite(root)
    return np.where(usual, root - (root**p - values) / slope, root)


def _indices(data: Array, axes: list[list[_Window]], params: Params) -> Array:
    """Return the indices of the maxima of every window, axis by axis, the last axis first.

    Of equal cells, the first along each axis in turn is the first in row-major order.
    """
    values = data.astype(np.float64) if data.dtype in _FLOATS else data
    lowest = np.iinfo(data.dtype).min if data.dtype.kind in "iu" else -np.inf
    numbers = np.arange(data.size).reshape(data.shape)
    if params.storage_order == "column-major":
        planes, sizes = data.shape[:2], data.shape[2:]
        turned = (0, 1, *range(data.ndim - 1, 1, -1))
        numbers = np.arange(data.size).reshape(*planes, *sizes[::-1]).transpose(turned)
    reaches_out = np.zeros((), np.bool_)
    for axis, windows in reversed(list(enumerate(axes, 2))):
        chosen = [_largest(values, numbers, axis, window.cells, lowest) for window in windows]
        values, numbers = (np.stack(each, axis) for each in zip(*chosen, strict=True))
        reaches_out = np.logical_or.outer([window.reaches_out for window in windows], reaches_out)
    undefined = (numbers < 0) | (reaches_out & (values == lowest))
    counted = prod(data.shape[params.index_axis % data.ndim :])
    return np.where(undefined, -1, numbers % counted).astype(params.index_type)


def _largest(
    values: Array, numbers: Array, axis: int, cells: slice, lowest: Any
) -> tuple[Array, Array]:
    """Return the first of the largest values of some cells along an axis, and its number."""
    part = (*(slice(None),) * axis, cells)
    values, numbers = values[part], numbers[part]
    if not values.shape[axis]:
        shape = values.sum(axis).shape
        return np.full(shape, lowest, values.dtype), np.full(shape, -1)
    place = np.expand_dims(values.argmax(axis), axis)
    largest, number = (np.take_along_axis(each, place, axis) for each in (values, numbers))
    return largest.squeeze(axis), number.squeeze(axis)


# Windows --------------------------------------------------------------------------------------


def _slid(params: Params) -> list[list[_Window]]:
    """Return the windows of each spatial axis of a sliding operator."""
    axes = []
    for d, cells, s, n, explicit_begin, explicit_end in zip(
        params.sizes,
        params.kernel,
        params.strides,
        params.dilations,
        params.pads_begin,
        params.pads_end,
        strict=True,
    ):
        begin, end = explicit_begin, explicit_end
        k = (cells - 1) * n + 1
        if params.auto_pad == "valid":
            begin = end = 0
        elif params.auto_pad != "explicit":
            outputs = -(-d // s)
            total = max(0, (outputs - 1) * s + k - d)
            begin = total // 2 if params.auto_pad == "same_upper" else total - total // 2
            end = total - begin
        slack = d + begin + end - k
        if slack < 0:
            raise ValueError(f"kernel {k} is longer than the padded axis of {slack + k}")
        # same_* has fixed its number of windows, whatever the rounding
        rounds_up = params.rounding != "floor" and params.auto_pad in {"explicit", "valid"}
        outputs = (-(-slack // s) if rounds_up else slack // s) + 1
        if rounds_up and params.rounding == "ceil_torch" and (outputs - 1) * s >= d + begin:
            outputs -= 1
        starts = range(-begin, outputs * s - begin, s)
        axes.append(
            [_window(start, k, n, d, end, count_pads=params.include_pad) for start in starts]
        )
    return axes


def _divided(params: Params) -> list[list[_Window]]:
    """Return the windows of each spatial axis of an adaptive operator."""
    if 0 in params.output:
        raise ValueError(f"an output of size {list(params.output)}: must be at least 1")
    axes = []
    for d, o in zip(params.sizes, params.output, strict=True):
        bounds = [(i * d // o, -(-(i + 1) * d // o)) for i in range(o)]
        axes.append([_Window(slice(a, b), b - a, reaches_out=False) for a, b in bounds])
    return axes


def _window(start: int, k: int, n: int, d: int, end: int, *, count_pads: bool) -> _Window:
    """Place a window on every n-th of k cells from a start on, and clip it to an input of d cells.

    With `count_pads` the divisor counts cells up to the end of the padding, and none beyond it,
    where ceil rounding may place the end of the last window.
    """
    first = start if start >= 0 else start % n
    inside = range(first, min(start + k, d), n)
    counted = range(start, min(start + k, d + end), n) if count_pads else inside
    return _Window(
        slice(first, max(inside.stop, first), n),
        len(counted),
        reaches_out=len(inside) < len(range(0, k, n)),
    )
