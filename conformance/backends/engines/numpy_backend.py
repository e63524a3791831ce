"""A backend of plain numpy: cells are gathered by window and reduced, one axis after another.

It computes any operator from the roles of its attributes and its reduction, as the documents and
the default reading of every disputed clause say, and returns the first output and indices of maxima
where there are any. It is independent of the reference that computes expected values: sums are
float64 sums, rounded when stored. Undefined averages are NaN, undefined maxima the lowest value,
undefined indices -1, or that of a cell that is the lowest value. Where an unpooling has several
values for a cell, the last stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, inf, isinf, prod
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS, dtype_of
from conformance.operators import OPERATORS, Operator, Params, Reduction
from conformance.vector import Array, Outputs, own_inputs

_FLOATS = tuple(map(dtype_of, FLOATS))
_LIMITS = {"relu": (0, inf), "relu_n1_to_1": (-1, 1), "relu6": (0, 6)}


class _Windows(NamedTuple):
    """The windows on one axis of d cells: their cells, and what each divides by.

    `cells` are numbers of shape (windows, cells); d is the cell after the last one, which stands
    for all padding.
    """

    cells: Array
    divisors: Array


def backend(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Array | Outputs:
    """Compute one case; ValueError for attributes or inputs the operator's document excludes."""
    if operator not in OPERATORS:
        raise ValueError(f"no operator {operator!r}")
    definition = OPERATORS[operator]
    convention = definition.convention_of(attributes)
    inputs, attributes = convention.taken(inputs, attributes)
    params = definition.validate(inputs, attributes)
    data, *others = own_inputs(operator, inputs)
    if definition.scatters:
        return convention.array_given(_unpooled(data, others[0], params))
    rounds = definition.rounds_integers or data.dtype in _FLOATS
    if definition.reduction.sums and not rounds:
        raise ValueError(f"{operator} of {data.dtype}: no document says how integers round")
    if params.exponent < 1:
        raise ValueError(f"an exponent of {params.exponent} makes no norm")
    axes = _divided(params) if definition.is_adaptive else _slid(params)
    if definition.forward is not None:
        reduction = definition.forward.reduction
        return convention.array_given(_gradient(inputs[0], data, axes, reduction, params))
    pooled = _pooled(data, axes, definition, params)
    if params.activation != "none":
        pooled = _activated(pooled, params)
    first = convention.array_given(pooled)
    if definition.has_indices and definition.reduction.combine is np.maximum:
        indices = _indices(data, axes, params, definition.reduction.empty(data.dtype))
        return first, convention.array_given(indices)
    return first


# Values ---------------------------------------------------------------------------------------


def _pooled(data: Array, axes: list[_Windows], operator: Operator, params: Params) -> Array:
    """Reduce the cells of every window, axis by axis: a window is a box."""
    reduction = operator.reduction
    # float64 holds every floating-point type exactly, and sums of short integers
    sums_integers = reduction.divides and data.dtype not in _FLOATS
    values = data.astype(np.float64) if data.dtype in _FLOATS or sums_integers else data
    combine, padding = reduction.combine, reduction.empty(data.dtype)
    if combine is np.maximum and params.nan == "ignored":
        combine = np.fmax
        if data.dtype in _FLOATS:
            padding = np.nan  # which a window of NaN alone is, however it is padded
    # of one zero point for input and output, the integers are averaged as they are
    has_two = operator.attribute("output_zero_point") is not None
    if sums_integers and has_two:
        values -= params.input_zero_point
    with np.errstate(all="ignore"):
        for axis, windows in enumerate(axes, 2):
            cells = _cells(values, windows, axis, padding)
            if reduction.powers:  # a norm of norms is the norm of all cells
                values = _norm(cells, axis + 1, params.exponent)
            else:
                values = combine.reduce(cells, axis + 1)
        if sums_integers:
            ends = np.iinfo(data.dtype)
            values = _rounded(values, _divisor(axes, params), operator, params)
            values = values + has_two * params.output_zero_point
            values = values.clip(ends.min, ends.max)
        elif reduction.divides:
            values = values / _divisor(axes, params)  # nothing by nothing is NaN
        # float64 to bfloat16 rounds twice, through float32: 2**-24 of the result at most, far
        # below the bound
        return values.astype(data.dtype)


def _rounded(sums: Array, n: Array, operator: Operator, params: Params) -> Array:
    """Return means of integers in steps of the output, each an integer."""
    if operator.publisher == "TOSA":  # whose document has a reciprocal in integers
        n = n.astype(np.int64)
        bits = np.ceil(np.log2(n)).astype(np.int64)
        products = sums.astype(np.int64) * (((2**30 + 1) << bits) // n)
        scaled: Array = (products + (1 << (29 + bits))) >> (30 + bits)
        return scaled
    means = sums / n * params.input_scale / params.output_scale
    # halves to even in the default reading of the documents that have scales, else away
    away: Array = np.sign(means) * np.floor(np.abs(means) + 0.5)
    return np.rint(means) if operator.requantises else away


def _activated(values: Array, params: Params) -> Array:
    """Clamp results to the limits of an activation, those of integers to what stands for them."""
    limits = _LIMITS[params.activation]
    if values.dtype in _FLOATS:
        return values.clip(*limits)
    ends = np.iinfo(values.dtype)
    clamped = values.astype(np.int64)
    for limit, closer in zip(limits, (np.maximum, np.minimum), strict=True):
        if not isinf(limit):
            steps = floor(abs(limit) / params.input_scale + 0.5)
            clamped = closer(clamped, params.input_zero_point + (steps if limit > 0 else -steps))
    return clamped.clip(ends.min, ends.max).astype(values.dtype)


def _unpooled(data: Array, indices: Array, params: Params) -> Array:
    """Put each cell where its index says, in a group of planes that indices do not tell apart."""
    axes = zip(
        *(params.sizes, params.kernel, params.strides, params.pads_begin, params.pads_end),
        strict=True,
    )
    inferred = [(d - 1) * s + k - begin - end for d, k, s, begin, end in axes]
    sizes = params.fixed_output if any(params.fixed_output) else inferred
    shape = (*data.shape[:2], *sizes)
    if min(sizes) < 1:
        raise ValueError(f"an output of shape {shape}")
    groups = prod(shape[: params.index_axis])
    result = np.zeros((groups, prod(shape) // groups), data.dtype)
    places = indices.reshape(groups, -1)
    if places.min() < 0 or places.max() >= result.shape[1]:
        raise ValueError(f"an index outside of an output of shape {shape}")
    np.put_along_axis(result, places, data.reshape(groups, -1), 1)
    return result.reshape(shape)


def _divisor(axes: list[_Windows], params: Params) -> Array:
    """Return what each window divides by."""
    if params.fixed_divisor is not None:
        return np.array(float(params.fixed_divisor))
    divisor = np.ones(())
    for windows in axes:
        divisor = np.multiply.outer(divisor, windows.divisors)
    return divisor


def _cells(values: Array, windows: _Windows, axis: int, padding: Any) -> Array:
    """Return the cells of each window on an axis: windows on that axis, their cells on the next."""
    before, after = values.shape[:axis], values.shape[axis + 1 :]
    beyond = np.full((*before, 1, *after), padding, values.dtype)
    return np.concatenate([values, beyond], axis).take(windows.cells, axis)


def _norm(cells: Array, axis: int, p: int) -> Array:
    """Return p-norms along an axis.

    Each is of cells divided by the largest of its own, so that no power overflows, and none that
    matters vanishes.
    """
    magnitudes = np.abs(cells)
    largest = magnitudes.max(axis, keepdims=True)
    scale = np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
    sums = ((magnitudes / scale) ** p).sum(axis)
    norms: Array = scale.squeeze(axis) * _root(sums, p)
    return norms


def _root(values: Array, p: int) -> Array:
    """Return p-th roots: a power of a rounded 1/p, and a step of Newton's that corrects it."""
    root: Array = values ** (1 / p)
    slope = p * root ** (p - 1)
    usual = (slope > 0) & np.isfinite(root)
    return np.where(usual, root - (root**p - values) / slope, root)


def _indices(data: Array, axes: list[_Windows], params: Params, lowest: Any) -> Array:
    """Return the indices of the maxima of every window, axis by axis, the last axis first.

    Of equal cells, the first along each axis in turn is the first in row-major order.
    """
    numbers = np.arange(data.size).reshape(data.shape)
    if params.storage_order == "column-major":
        planes, sizes = data.shape[:2], data.shape[2:]
        turned = (0, 1, *range(data.ndim - 1, 1, -1))
        numbers = np.arange(data.size).reshape(*planes, *sizes[::-1]).transpose(turned)
    counted = max(1, prod(data.shape[params.index_axis % data.ndim :]))
    values = data.astype(np.float64) if data.dtype in _FLOATS else data
    numbers = numbers % counted
    for axis, windows in reversed(list(enumerate(axes, 2))):
        values = _cells(values, windows, axis, lowest)
        numbers = _cells(numbers, windows, axis, -1)
        first = np.expand_dims(values.argmax(axis + 1), axis + 1)
        values, numbers = (
            np.take_along_axis(each, first, axis + 1).squeeze(axis + 1)
            for each in (values, numbers)
        )
    return numbers.astype(params.index_type)


# Gradients ------------------------------------------------------------------------------------


def _gradient(
    gradient: Array, data: Array, axes: list[_Windows], reduction: Reduction, params: Params
) -> Array:
    """Return the gradient of the data: what windows give to cells, added up."""
    if gradient.shape[2:] != tuple(len(windows.cells) for windows in axes):
        raise ValueError(f"the output has no gradient of shape {gradient.shape}")
    given = gradient.astype(np.float64)
    with np.errstate(all="ignore"):
        if reduction.combine is np.maximum:
            sums = _given_to_maxima(given, data, axes, params)
        elif reduction.powers:
            sums = _given_by_norms(given, data.astype(np.float64), axes, params.exponent)
        else:
            if reduction.divides:
                given = given / _divisor(axes, params)
            for axis, (windows, d) in enumerate(zip(axes, params.sizes, strict=True), 2):
                given = _given_to_cells(np.expand_dims(given, axis + 1), windows, axis, d)
            sums = given
        return sums.astype(data.dtype)


def _given_to_cells(given: Array, windows: _Windows, axis: int, d: int) -> Array:
    """Add up what windows on an axis of d cells give to each.

    `given` has the windows on that axis and their cells, or one for all of them, on the next.
    """
    of_windows = np.moveaxis(given, (axis, axis + 1), (0, 1))
    cells = np.zeros((d + 1, *of_windows.shape[2:]))
    np.add.at(cells, windows.cells, of_windows)
    return np.moveaxis(cells[:d], 0, axis)


def _given_by_norms(given: Array, data: Array, axes: list[_Windows], p: int) -> Array:
    """Add what norms give to their cells: sign(x) (|x| / norm)**(p - 1) of what they get.

    They are norms of norms, axis by axis: the last axis gives to the norms along those before it.
    """
    along = []
    for axis, windows in enumerate(axes, 2):
        d, cells = data.shape[axis], _cells(data, windows, axis, 0.0)
        data = _norm(cells, axis + 1, p)
        along.append((axis, windows, d, cells, np.expand_dims(data, axis + 1)))
    for axis, windows, d, cells, norms in reversed(along):
        of_windows = np.expand_dims(given, axis + 1)
        shares = of_windows * np.sign(cells) * np.abs(cells / norms) ** (p - 1)
        # what gets nothing gives nothing, whatever its cells are, nor does a norm of zero
        shares = np.where((of_windows == 0) | (norms == 0), 0.0, shares)
        given = _given_to_cells(shares, windows, axis, d)
    return given


def _given_to_maxima(given: Array, data: Array, axes: list[_Windows], params: Params) -> Array:
    """Add what each window gives to the first of its largest cells."""
    in_plane = replace(params, index_axis=2, index_type="int64", storage_order="row-major")
    numbers = _indices(data, axes, in_plane, -np.inf)
    sums = np.zeros((*data.shape[:2], prod(data.shape[2:]) + 1))
    # -1, where nothing is chosen, is the number of a cell behind the last
    spread = (slice(None), slice(None), *[np.newaxis] * (data.ndim - 2))
    batch, channel = (each[spread] for each in np.ogrid[: data.shape[0], : data.shape[1]])
    np.add.at(sums, (batch, channel, numbers), given)
    return sums[:, :, :-1].reshape(data.shape)


# Windows --------------------------------------------------------------------------------------


def _slid(params: Params) -> list[_Windows]:
    """Return the windows of each spatial axis of a sliding operator."""
    axes = []
    wanted = params.fixed_output or (0,) * len(params.sizes)
    for d, cells, s, n, explicit_begin, explicit_end, given in zip(
        params.sizes,
        params.kernel,
        params.strides,
        params.dilations,
        params.pads_begin,
        params.pads_end,
        wanted,
        strict=True,
    ):
        begin, end = (0, 0) if given else (explicit_begin, explicit_end)
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
        outputs = given or outputs
        starts = np.arange(outputs) * s - begin
        # the divisor counts cells up to the end of the padding, and none beyond it, where ceil
        # rounding may place the end of the last window
        counted = _number(starts, np.minimum(starts + k, d + end), n)
        windows = _windows(starts, starts + k, n, d)
        axes.append(windows._replace(divisors=counted) if params.include_pad else windows)
    return axes


def _divided(params: Params) -> list[_Windows]:
    """Return the windows of each spatial axis of an adaptive operator."""
    if 0 in params.output:
        raise ValueError(f"an output of size {list(params.output)}: must be at least 1")
    axes = []
    for d, o in zip(params.sizes, params.output, strict=True):
        places = np.arange(o)
        axes.append(_windows(places * d // o, -(-(places + 1) * d // o), 1, d))
    return axes


def _windows(starts: Array, stops: Array, n: int, d: int) -> _Windows:
    """Place windows on every n-th cell from their starts to their stops, on an axis of d cells.

    They divide by the number of their cells, without padding.
    """
    first = np.where(starts < 0, starts % n, starts)
    counts = _number(first, np.minimum(stops, d), n)
    steps = np.arange(counts.max(initial=1))
    cells = first[:, np.newaxis] + steps * n
    return _Windows(np.where(steps < counts[:, np.newaxis], cells, d), counts)


def _number(starts: Array, stops: Array, n: int) -> Array:
    """Return how many there are of every n-th cell from starts to stops."""
    number: Array = -(-np.maximum(stops - starts, 0) // n)
    return number
