"""A backend of plain numpy: one loop over the windows of each axis, written to be read.

It follows the documents and the default reading of every disputed clause, and is independent of
the reference that computes expected values: sums are float64 sums, rounded when stored.
Undefined averages are NaN, undefined maxima the lowest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from conformance.vector import Array

_FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
_WINDOWED = frozenset({"kernel", "strides", "pads_begin", "pads_end", "rounding_type", "auto_pad"})
_NGRAPH = frozenset(
    {
        "window_shape",
        "window_movement_strides",
        "padding_below",
        "padding_above",
        "include_padding_in_avg_computation",
    }
)


@dataclass(frozen=True, slots=True)
class _Window:
    """Input cells `start:stop` of one window on one axis, and what the axis divides by."""

    start: int
    stop: int
    divisor: int


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case; ValueError for attributes or inputs the operator's document excludes."""
    if operator not in _OPERATORS:
        raise ValueError(f"no operator {operator!r}")
    axes = _OPERATORS[operator](operator, inputs, attributes)
    data = inputs[0]
    average = operator != "MaxPool-1"
    if average and data.dtype not in _FLOATS:
        raise ValueError(f"{operator} of {data.dtype}: no document says how integers round")
    return _average(data, axes) if average else _maximum(data, axes)


# Values ---------------------------------------------------------------------------------------


def _average(data: Array, axes: list[list[_Window]]) -> Array:
    with np.errstate(all="ignore"):
        total = _pooled(data.astype(np.float64), axes, np.add.reduce)
        divisor = np.ones(())
        for windows in axes:
            divisor = np.multiply.outer(divisor, [window.divisor for window in windows])
        # Nothing by nothing is NaN. float64 to bfloat16 rounds twice, through float32: 2**-24 of
        # the result at most, far below the bound.
        return (total / divisor).astype(data.dtype)


def _maximum(data: Array, axes: list[list[_Window]]) -> Array:
    is_float = data.dtype in _FLOATS
    # float64 holds every floating-point type exactly, and numpy's maximum propagates its NaN
    values = data.astype(np.float64) if is_float else data
    lowest = -math.inf if is_float else np.iinfo(data.dtype).min
    return _pooled(values, axes, partial(np.maximum.reduce, initial=lowest)).astype(data.dtype)


def _pooled(values: Array, axes: list[list[_Window]], reduce: Callable[..., Array]) -> Array:
    """Reduce the cells of every window, axis by axis: a window is a box."""
    for axis, windows in enumerate(axes, 2):
        before = (slice(None),) * axis
        cells = [(*before, slice(window.start, window.stop)) for window in windows]
        values = np.stack([reduce(values[each], axis=axis) for each in cells], axis)
    return values


# Windows --------------------------------------------------------------------------------------


def _openvino(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> list[list[_Window]]:
    average = operator == "AvgPool-1"
    sizes = _spatial(inputs, count=1, most=3)
    _only(attributes, _WINDOWED | {"exclude_pad"} if average else _WINDOWED)
    kernel = _integers(attributes, "kernel", sizes, least=1)
    strides = _integers(attributes, "strides", sizes, least=1)
    begins = _integers(attributes, "pads_begin", sizes, least=0)
    ends = _integers(attributes, "pads_end", sizes, least=0)
    count_pads = average and not _boolean(attributes, "exclude_pad")
    ceil = _word(attributes, "rounding_type", ("floor", "ceil")) == "ceil"
    mode = _word(attributes, "auto_pad", ("explicit", "same_upper", "same_lower", "valid"))
    axes = []
    for d, k, s, given_begin, given_end in zip(sizes, kernel, strides, begins, ends, strict=True):
        begin, end = given_begin, given_end
        if mode == "valid":
            begin = end = 0
        elif mode != "explicit":
            outputs = -(-d // s)
            total = max(0, (outputs - 1) * s + k - d)
            begin = total // 2 if mode == "same_upper" else total - total // 2
            end = total - begin
        room = d + begin + end - k
        if room < 0:
            raise ValueError(f"kernel {k} is longer than the padded axis of {room + k}")
        # same_* has fixed its number of windows, whatever the rounding
        rounds_up = ceil and mode in {"explicit", "valid"}
        outputs = (-(-room // s) if rounds_up else room // s) + 1
        axes.append(_slide(d, k, s, (begin, end), outputs, count_pads=count_pads))
    return axes


def _ngraph(
    _operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> list[list[_Window]]:
    sizes = _spatial(inputs, count=1, most=None)
    _only(attributes, _NGRAPH)
    zeros, ones = [0] * len(sizes), [1] * len(sizes)
    window = _integers(attributes, "window_shape", sizes, least=1)
    strides = _integers(attributes, "window_movement_strides", sizes, least=1, default=ones)
    below = _integers(attributes, "padding_below", sizes, least=0, default=zeros)
    above = _integers(attributes, "padding_above", sizes, least=0, default=zeros)
    include = _boolean(attributes, "include_padding_in_avg_computation", default=False)
    axes = []
    for d, w, s, p, q in zip(sizes, window, strides, below, above, strict=True):
        if w > p + d + q:
            raise ValueError(f"window {w} is longer than the padded axis of {p + d + q}")
        outputs = -(-(p + d + q - w + 1) // s)
        axes.append(_slide(d, w, s, (p, q), outputs, count_pads=include))
    return axes


def _adaptive(
    _operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> list[list[_Window]]:
    sizes = _spatial(inputs, count=2, most=3)
    _only(attributes, {"output_type"})  # in the document's example; its text gives it no meaning
    wanted = inputs[1]
    if wanted.dtype not in (np.int32, np.int64) or wanted.shape != (len(sizes),):
        raise ValueError("output_size: one int32 or int64 per spatial axis")
    if any(o < 1 for o in wanted.tolist()):
        raise ValueError(f"output_size={wanted.tolist()}: must be at least 1")
    axes = []
    for d, o in zip(sizes, wanted.tolist(), strict=True):
        bounds = [(i * d // o, -(-(i + 1) * d // o)) for i in range(o)]
        axes.append([_Window(start, stop, stop - start) for start, stop in bounds])
    return axes


_OPERATORS = {
    "AvgPool-1": _openvino,
    "MaxPool-1": _openvino,
    "AdaptiveAvgPool-8": _adaptive,
    "nGraph-AvgPool": _ngraph,
}


def _slide(
    d: int, k: int, s: int, pads: tuple[int, int], outputs: int, *, count_pads: bool
) -> list[_Window]:
    """Place windows of k cells every s, the first at -begin, and clip them to the input.

    With `count_pads` the divisor counts cells up to the end of the padding; what ceil rounding
    makes a window hang over beyond that exists for nobody.
    """
    begin, end = pads
    windows = []
    for start in range(-begin, outputs * s - begin, s):
        first, last = max(start, 0), min(start + k, d)
        inside = max(last - first, 0)
        counted = max(min(start + k, d + end) - start, 0) if count_pads else inside
        windows.append(_Window(first, first + inside, counted))
    return windows


# Attributes -----------------------------------------------------------------------------------


def _spatial(inputs: Sequence[Array], *, count: int, most: int | None) -> tuple[int, ...]:
    if len(inputs) != count:
        raise ValueError(f"{len(inputs)} inputs given, not {count}")
    sizes: tuple[int, ...] = inputs[0].shape[2:]
    if not sizes or (most is not None and len(sizes) > most):
        raise ValueError(f"an input of {inputs[0].ndim} dimensions")
    return sizes


def _only(attributes: Mapping[str, Any], names: frozenset[str] | set[str]) -> None:
    unknown = sorted(set(attributes) - names)
    if unknown:
        raise ValueError(f"unknown attributes: {', '.join(unknown)}")


def _integers(
    attributes: Mapping[str, Any],
    name: str,
    sizes: tuple[int, ...],
    *,
    least: int,
    default: list[int] | None = None,
) -> list[int]:
    values = attributes.get(name, default)
    if values is None:
        raise ValueError(f"{name} is required")
    if not isinstance(values, list | tuple) or len(values) != len(sizes):
        raise ValueError(f"{name}={values!r}: must be {len(sizes)} integers")
    if any(type(value) is not int or value < least for value in values):
        raise ValueError(f"{name}={values!r}: must be integers from {least}")
    return list(values)


def _boolean(attributes: Mapping[str, Any], name: str, *, default: bool | None = None) -> bool:
    value = attributes.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"{name}={value!r}: must be true or false")  # noqa: TRY004 - one type for every invalid attribute
    return value


def _word(attributes: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = attributes.get(name, allowed[0])
    if value not in allowed:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(allowed)}")
    return str(value)
