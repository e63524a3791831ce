"""Backends with two bugs each, written by hand: none of them is a fault of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from conformance import evaluate
from conformance.backends import Backend
from conformance.vector import Array

Given = dict[str, Any]
Before = Callable[[str, list[Array], Given], None]
"""Changes a call: its inputs and its attributes."""
After = Callable[[list[Array]], None]
"""Changes what is returned."""
_STRIDES = ("strides", "stride", "window_movement_strides")
_DILATIONS = ("dilations", "dilation")
_KERNELS = ("kernel", "kernel_shape", "kernel_size", "window_shape", "windowDimensions")
_PADS = (("pads_begin", "pads_end"), ("padding_below", "padding_above"))


def backend(*bugs: str) -> Backend:
    """Return a right backend with bugs, by their names."""

    def called(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Any:
        arrays, given = [array.copy() for array in inputs], dict(attributes)
        for name in bugs:
            if name in _BEFORE:
                _BEFORE[name](operator, arrays, given)
        with np.errstate(all="ignore"):
            outputs = evaluate(operator, arrays, given)
            parts = list(outputs) if isinstance(outputs, tuple) else [outputs]
            for name in bugs:
                if name in _AFTER:
                    _AFTER[name](parts)
        return tuple(parts) if isinstance(outputs, tuple) else parts[0]

    return called


def _lists(given: Given, keys: Sequence[str], change: Callable[[list[int]], list[int]]) -> None:
    for key in keys:
        if isinstance(given.get(key), list):
            given[key] = change(given[key])


# Of calls


def strides_swapped(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Read strides as width, height."""
    _lists(given, _STRIDES, lambda numbers: numbers[::-1])


def first_stride_for_all(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Take the first stride for every axis."""
    _lists(given, _STRIDES, lambda numbers: numbers[:1] * len(numbers))


def no_dilation(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Ignore dilations."""
    _lists(given, _DILATIONS, lambda numbers: [1] * len(numbers))


def last_dilation_ignored(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Ignore the last dilation."""
    _lists(given, _DILATIONS, lambda numbers: [*numbers[:-1], 1])


def pads_mirrored(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Pad the begin by what the end is given, and the other way round."""
    for begin, end in _PADS:
        if begin in given and end in given:
            given[begin], given[end] = given[end], given[begin]


def lower_as_upper(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Put the odd pad of same_lower at the end."""
    for key, value in given.items():
        if isinstance(value, str) and value.lower() == "same_lower":
            given[key] = value.replace("lower", "upper").replace("LOWER", "UPPER")


def floors(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Round every size of an output down."""
    for key, value in given.items():
        if key in {"rounding_type", "outputShapeRounding"}:
            given[key] = "floor"
        elif key == "ceil_mode":
            given[key] = type(value)(0)


def padding_counted(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Divide by all cells of a window, those of the padding too."""
    for key, value in (("exclude_pad", False), ("exclude-pad", False), ("count_include_pad", True)):
        if key in given:
            given[key] = type(given[key])(value)
    if "include_padding_in_avg_computation" in given:
        given["include_padding_in_avg_computation"] = True


def short_kernel(_operator: str, _arrays: list[Array], given: Given) -> None:
    """Read no kernel longer than 7."""
    _lists(given, _KERNELS, lambda numbers: [min(n, 7) for n in numbers])


def nan_is_zero(_operator: str, arrays: list[Array], _given: Given) -> None:
    """Load NaN as zero."""
    if arrays[0].dtype.kind == "f":
        arrays[0] = np.where(np.isnan(arrays[0]), 0, arrays[0]).astype(arrays[0].dtype)


def infinity_cut(_operator: str, arrays: list[Array], _given: Given) -> None:
    """Load infinities as the largest number of the type."""
    if arrays[0].dtype.kind == "f":
        ends = np.finfo(arrays[0].dtype)
        arrays[0] = np.clip(arrays[0], ends.min, ends.max)


def first_batch(_operator: str, arrays: list[Array], _given: Given) -> None:
    """Read the first of the batch for all."""
    arrays[0][:] = arrays[0][:1]


# Of results


def tail_of_channels(parts: list[Array]) -> None:
    """Leave channels beyond the last whole group of 8 at zero."""
    if parts[0].ndim > 2:
        parts[0][:, parts[0].shape[1] // 8 * 8 :] = 0


def in_float32(parts: list[Array]) -> None:
    """Compute doubles in single precision."""
    if parts[0].dtype == np.float64:
        parts[0][...] = parts[0].astype(np.float32)


def in_float16(parts: list[Array]) -> None:
    """Keep single precision in half precision."""
    if parts[0].dtype == np.float32:
        parts[0][...] = parts[0].astype(np.float16)


def positive(parts: list[Array]) -> None:
    """Return nothing below zero."""
    if parts[0].dtype.kind in "fi":
        np.maximum(parts[0], parts[0].dtype.type(0), out=parts[0])


def last_column(parts: list[Array]) -> None:
    """Leave the last column of several unwritten."""
    if parts[0].shape[-1] > 1:
        parts[0][..., -1] = 0


def index_from_one(parts: list[Array]) -> None:
    """Count cells from one."""
    if len(parts) > 1:
        parts[1] += 1


def index_32(parts: list[Array]) -> None:
    """Return indices as int32."""
    if len(parts) > 1:
        parts[1] = parts[1].astype(np.int32)


_BEFORE: Mapping[str, Before] = {
    bug.__name__: bug
    for bug in (
        *(strides_swapped, first_stride_for_all, no_dilation, last_dilation_ignored),
        *(pads_mirrored, lower_as_upper, floors, padding_counted, short_kernel),
        *(nan_is_zero, infinity_cut, first_batch),
    )
}
_AFTER: Mapping[str, After] = {
    bug.__name__: bug
    for bug in (
        *(tail_of_channels, in_float32, in_float16, positive, last_column),
        *(index_from_one, index_32),
    )
}
_PAIRS = (
    ("strides_swapped", "nan_is_zero"),
    ("no_dilation", "positive"),
    ("last_dilation_ignored", "index_from_one"),
    ("pads_mirrored", "floors"),
    ("lower_as_upper", "padding_counted"),
    ("floors", "in_float32"),
    ("short_kernel", "last_column"),
    ("padding_counted", "tail_of_channels"),
    ("infinity_cut", "strides_swapped"),
    ("first_batch", "lower_as_upper"),
    ("nan_is_zero", "index_32"),
    ("first_stride_for_all", "in_float16"),
    ("no_dilation", "pads_mirrored"),
    ("tail_of_channels", "index_from_one"),
    ("positive", "padding_counted"),
    ("last_column", "lower_as_upper"),
    ("floors", "no_dilation"),
    ("in_float32", "short_kernel"),
    ("first_batch", "nan_is_zero"),
    ("pads_mirrored", "in_float16"),
)
BACKENDS: list[tuple[Mapping[str, Backend], Backend]] = [
    ({name: backend(name) for name in pair}, backend(*pair)) for pair in _PAIRS
]
"""Backends with one bug each, by its name, and one with both."""
