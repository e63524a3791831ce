"""Faults of outputs: where they are written, their layout and type, further outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conformance.faults.atoms import entries
from conformance.faults.atoms.numbers import Change, in_doubles
from conformance.faults.call import Call
from conformance.faults.concerns import GRADIENTS
from conformance.faults.fault import BACKWARD, Fault
from conformance.faults.wraps import OnOutputs, on_further
from conformance.operators import pipeline as steps
from conformance.operators.call_convention import CallConvention
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.operators.windows import ceil_div
from conformance.operators.wraps import after, before, instead
from conformance.vector import Array

# Where outputs are written, and further ones -----------------------------------------------------


def returned(change: Change) -> Fault:
    """Return a changed first output."""
    return Fault.of(reduce=OnOutputs(change))


def _unwritten_in_odd_rows(lanes: int) -> Fault:
    """Leave channels beyond whole groups unwritten where rows have odd length."""
    mask = entries.mask_of(entries.CHANNEL, entries.tail(lanes))
    return Fault.of(reduce=entries.unwritten(lambda shape: mask(shape) & bool(shape[-1] % 2)))


def _large_unwritten(
    most: int, channels: int, right: Array, gathered: Gathered, _divisor: Divisor
) -> Array:
    """Leave outputs of windows of more cells unwritten, in the channels from a number on."""
    ranges = zip(gathered.lo, gathered.hi, strict=True)
    cells = steps.outer([np.maximum(hi - lo, 0) for lo, hi in ranges])
    wrong = (cells > most) & entries.mask_of(entries.CHANNEL, entries.beyond(channels))(right.shape)
    return np.where(wrong, right.dtype.type(0), right)


def _merged(axis: int, merge: Callable[..., Array], right: Array) -> Array:
    """Make one value of all batches or channels."""
    if not right.size:
        return right
    return np.broadcast_to(merge(right, axis=axis, keepdims=True), right.shape).copy()


# The entry of the axis before the last is found as number / length of the last.
Quotient = Callable[[entries.Numbers, int], Any]


def _found_by(quotient: Quotient, unit: entries.Unit = entries.CELL_OF_PLANE) -> Fault:
    """Find the place of units on their axes by wrong quotients."""

    def source(numbers: entries.Numbers, lengths: tuple[int, ...]) -> Any:
        width = lengths[-1]
        before_last = quotient(numbers, width).astype(np.int64)
        return np.clip(before_last, 0, prod(lengths[:-1]) - 1) * width + numbers % width

    return returned(entries.taken_by(unit, source))


def _by_reciprocal(numbers: entries.Numbers, width: int) -> Any:
    return np.floor(numbers.astype(np.float32) * (np.float32(1) / np.float32(width)))


def _by_multiplication(bits: int) -> Quotient:
    """Multiply by 2**bits / width, rounded up, and shift."""
    return lambda numbers, width: numbers * ceil_div(1 << bits, width) >> bits


def _over_two_axes(_reduce: object, gathered: Gathered, _divisor: Divisor) -> Array:
    """Pool over axes n and n + 1 of data with n spatial axes, and append n axes to the rest."""
    data = gathered.data
    n = data.ndim - 2
    maximum: Array = data.max(axis=(n, n + 1))
    return maximum.reshape(maximum.shape + (1,) * n)


_WRITTEN = {
    "output-axes-reversed": returned(
        lambda right: np.transpose(right, (0, 1, *range(right.ndim - 1, 1, -1)))
    ),
    "output-float32": returned(lambda right: right.astype(np.float32)),
    "output-float64": returned(lambda right: right.astype(np.float64)),
    "output-negated": returned(np.abs),
    "kernel-one-unwritten": returned(np.zeros_like),
    "whole-axes-dropped": returned(lambda right: right.reshape(right.shape[:2])),
    "further-outputs-zero": Fault.of(further=on_further(np.zeros_like)),
    "further-outputs-of-first-window": Fault.of(
        further=on_further(entries.taken_by(entries.CELL_OF_PLANE, lambda numbers, _: 0 * numbers))
    ),
    "further-outputs-one-more": Fault.of(
        further=on_further(lambda right: right + right.dtype.type(1))
    ),
    "further-outputs-reversed": Fault.of(further=after(lambda right, *_: right[::-1])),
    "whole-last-two-of-all-axes": Fault.of(reduce=instead(_over_two_axes)),
    **{
        f"whole-{what}-{merged}": returned(in_doubles(partial(_merged, axis, merge)))
        for axis, what in enumerate(("batch", "channel"))
        # the sum is what the norm of p = 1 of all planes is
        for merged, merge in (("maximum", np.max), ("average", np.mean), ("norm", np.sum))
    },
    **{f"channel-tail-{n}-unwritten-in-odd-rows": _unwritten_in_odd_rows(n) for n in (16, 32)},
    "full-channel-blocks-unwritten": Fault.of(
        reduce=entries.unwritten(lambda shape: shape[1] % 8 == 0)
    ),
    **{
        f"windows-above-{most}-unwritten": Fault.of(reduce=after(_large_unwritten, most, 0))
        for most in (256, 1024, 4096)
    },
    "channels-above-256-of-large-windows-unwritten": Fault.of(
        reduce=after(_large_unwritten, 24, 256)
    ),
    "row-by-float32-reciprocal": _found_by(_by_reciprocal),
    "row-by-float16-quotient": _found_by(
        lambda numbers, width: np.floor(numbers.astype(np.float16) / np.float16(width))
    ),
    "row-by-8-bit-quotient": _found_by(_by_multiplication(8)),
    "row-by-16-bit-quotient": _found_by(_by_multiplication(16)),
    "batch-by-float32-reciprocal": _found_by(_by_reciprocal, entries.PLANE),
}

# A layout that an attribute chooses --------------------------------------------------------------

_LAST = CallConvention(channels_last=True)


def _taken_as_other(*, last: bool) -> Fault:
    """Take arrays with channels last, or those with channels second, as in the other layout.

    All of them, the output too; so the sizes of the data are others.
    """
    read, back = _LAST.array_given, _LAST.array_taken
    if not last:
        read, back = back, read

    def call(given: Call) -> tuple[Call]:
        is_other = given.meaning("channels_last") is last
        return (replace(given, inputs=tuple(map(read, given.inputs))) if is_other else given,)

    def data(cells: Array, params: Params, windows: Windows) -> tuple[Array, Params, Windows]:
        return read(cells) if params.channels_last is last else cells, params, windows

    def reduced(reduce: Callable[..., Array], gathered: Gathered, divisor: Divisor) -> Array:
        if gathered.params.channels_last is not last:
            return reduce(gathered, divisor)
        other = gathered.gradient_or_indices
        other = None if other is None else read(other)
        return back(reduce(replace(gathered, gradient_or_indices=other), divisor))

    return Fault.of(validate=before(call), gather=before(data), reduce=instead(reduced))


def _sizes_of_other_axes(params: Params, call: Call) -> Params:
    """Take the last two of three sizes, those of the channels among them, as the spatial ones."""
    if not params.channels_last:
        return params
    sizes = (*params.sizes[1:], call.inputs[-1].shape[1])
    kernel = params.kernel if "kernel" in call.given else sizes
    return replace(params, sizes=sizes, kernel=kernel)


def _fitted(data: Array, params: Params, windows: Windows) -> tuple[Array, Params, Windows]:
    """Cut off cells beyond the sizes, and add zeros up to these."""
    inside: tuple[Any, ...] = (..., *map(slice, params.sizes))
    kept = data[inside]
    added = [(0, d - have) for d, have in zip(params.sizes, kept.shape[2:], strict=True)]
    return np.pad(kept, [(0, 0), (0, 0), *added]), params, windows


def _as_the_other(output: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Return an output with channels second where they are last."""
    return _LAST.array_taken(output) if gathered.params.channels_last else output


_LAYOUTS = {
    "layout-last-as-second": _taken_as_other(last=True),
    "layout-second-as-last": _taken_as_other(last=False),
    "layout-of-input-alone": Fault.of(reduce=after(_as_the_other)),
}

FAULTS = {
    **_WRITTEN,
    **_LAYOUTS,
    "layout-sizes-of-other-axes": Fault.of(
        validate=after(_sizes_of_other_axes), gather=before(_fitted)
    ),
    # What becomes of an output is written anew in gradients, too.
    **{f"{BACKWARD}{name}": fault.but(needs=GRADIENTS) for name, fault in _LAYOUTS.items()},
}
