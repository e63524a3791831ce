"""A backend of plain numpy: one loop over the windows of each axis.

It computes any operator from the roles of its attributes and its reduction, as the documents and
the default reading of every disputed clause say, and returns the first output alone. It is
independent of the reference that computes expected values: sums are float64 sums, rounded when
stored. Undefined averages are NaN, undefined maxima the lowest value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from conformance.operators import OPERATORS, Params, Reduction
from conformance.vector import Array

_FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)


class _Window(NamedTuple):
    """Input cells `start:stop` of one window on one axis, and what the axis divides by."""

    start: int
    stop: int
    divisor: int


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
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
    return _pooled(data, axes, definition.reduction, params.exponent)


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
            cells = [(*before, slice(window.start, window.stop)) for window in windows]
            values = np.stack([reduce(values[part], axis=axis) for part in cells], axis)
        if reduction.divides:
            divisor = np.ones(())
            for windows in axes:
                divisor = np.multiply.outer(divisor, [window.divisor for window in windows])
            values = values / divisor  # nothing by nothing is NaN
        if reduction.powers:
            values = scale * values ** (1 / exponent)
        # float64 to bfloat16 rounds twice, through float32: 2**-24 of the result at most, far
        # below the bound
        return values.astype(data.dtype)


# Windows --------------------------------------------------------------------------------------


def _slid(params: Params) -> list[list[_Window]]:
    """Return the windows of each spatial axis of a sliding operator."""
    axes = []
    for d, k, s, explicit_begin, explicit_end in zip(
        params.sizes,
        params.kernel,
        params.strides,
        params.pads_begin,
        params.pads_end,
        strict=True,
    ):
        begin, end = explicit_begin, explicit_end
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
        rounds_up = params.rounding == "ceil" and params.auto_pad in {"explicit", "valid"}
        outputs = (-(-slack // s) if rounds_up else slack // s) + 1
        axes.append(_slide(d, k, s, (begin, end), outputs, count_pads=params.include_pad))
    return axes


def _divided(params: Params) -> list[list[_Window]]:
    """Return the windows of each spatial axis of an adaptive operator."""
    if 0 in params.output:
        raise ValueError(f"an output of size {list(params.output)}: must be at least 1")
    axes = []
    for d, o in zip(params.sizes, params.output, strict=True):
        bounds = [(i * d // o, -(-(i + 1) * d // o)) for i in range(o)]
        axes.append([_Window(start, stop, stop - start) for start, stop in bounds])
    return axes


def _slide(
    d: int, k: int, s: int, pads: tuple[int, int], outputs: int, *, count_pads: bool
) -> list[_Window]:
    """Place windows of k cells every s, the first at -begin, and clip them to the input.

    With `count_pads` the divisor counts cells up to the end of the padding, and none beyond it,
    where ceil rounding may place the end of the last window.
    """
    begin, end = pads
    windows = []
    for start in range(-begin, outputs * s - begin, s):
        first, last = max(start, 0), min(start + k, d)
        inside = max(last - first, 0)
        counted = max(min(start + k, d + end) - start, 0) if count_pads else inside
        windows.append(_Window(first, first + inside, counted))
    return windows
