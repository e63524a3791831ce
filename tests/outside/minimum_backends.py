"""Backends for MinimumPool-1: a right one in plain loops, and one for each way to be wrong."""

from __future__ import annotations

import itertools

import numpy as np

from conformance import Unsupported


def _axis(size, kernel, stride, begin, end, mode, *, up):
    """Return the cells of each window of one axis."""
    if mode == "valid":
        begin = end = 0
    elif mode != "explicit":
        total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
        begin = total - total // 2 if mode == "same_lower" else total // 2
        end = total - begin
    slack = size + begin + end - kernel
    if slack < 0:
        raise ValueError("nothing to pool")
    count = (-(-slack // stride) if up and mode in {"explicit", "valid"} else slack // stride) + 1
    starts = [number * stride - begin for number in range(count)]
    return [range(max(0, start), min(size, start + kernel)) for start in starts]


def right(operator, inputs, attributes):
    """Compute both outputs, window by window."""
    if operator != "MinimumPool-1":
        raise Unsupported(operator)
    (data,) = inputs
    rank = data.ndim - 2
    given = {"step": [1] * rank, "pads": [0] * 2 * rank, "round_up": 0, "mode": "explicit"}
    given |= attributes
    window, step, pads, mode = (given.pop(key) for key in ("window", "step", "pads", "mode"))
    up = given.pop("round_up")
    lists = [len(window) == rank, len(step) == rank, len(pads) == 2 * rank, 1 <= rank <= 3]
    words = [mode in {"explicit", "same_upper", "same_lower", "valid"}, up in {0, 1}]
    if given or not all(lists + words) or min(window + step) < 1 or min(pads) < 0:
        raise ValueError("invalid attributes")
    axes = [
        _axis(*numbers, mode, up=bool(up))
        for numbers in zip(data.shape[2:], window, step, pads[:rank], pads[rank:], strict=True)
    ]
    shape = (*data.shape[:2], *map(len, axes))
    values, cells = np.empty(shape, data.dtype), np.empty(shape, np.int64)
    empty = np.iinfo(data.dtype).max if data.dtype.kind in "iu" else np.inf
    for place in itertools.product(*map(range, shape[2:])):
        here = np.ix_(*(axis[i] for axis, i in zip(axes, place, strict=True)))
        taken = data[(slice(None), slice(None), *here)].reshape(*shape[:2], -1)
        cells[(..., *place)] = taken.shape[-1]
        values[(..., *place)] = taken.min(axis=-1) if taken.shape[-1] else empty
    return values, cells


def values_alone(operator, inputs, attributes):
    """Leave the second output out."""
    return right(operator, inputs, attributes)[0]


def counts_padding(operator, inputs, attributes):
    """Count the cells of the whole window in the second output."""
    values, cells = right(operator, inputs, attributes)
    return values, np.full_like(cells, np.prod(attributes["window"]))


def starts_from_zero(operator, inputs, attributes):
    """Take zero for a cell of every window."""
    values, cells = right(operator, inputs, attributes)
    return np.minimum(values, values.dtype.type(0)), cells


def one_too_many(operator, inputs, attributes):
    """Return three outputs."""
    values, cells = right(operator, inputs, attributes)
    return values, cells, cells
