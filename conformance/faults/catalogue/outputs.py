"""Faults of outputs: where they are written, their layout and type, further outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conformance.faults.atoms.entries import CELL_OF_PLANE, CHANNEL, PLANE, Numbers, taken_by
from conformance.faults.atoms.numbers import Change, in_doubles
from conformance.faults.atoms.outputs import Mask, beyond, entries, tail, unwritten
from conformance.faults.call import Call
from conformance.faults.concerns import GRADIENTS
from conformance.faults.fault import IN_GRADIENT, Fault
from conformance.faults.wraps import OnOutputs, after, before, instead
from conformance.operators import pipeline as steps
from conformance.operators.form import Form
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.operators.windows import ceil_div
from conformance.vector import Array

# Where outputs are written, and further ones -----------------------------------------------------


def _returned(summary: str, change: Change) -> Fault:
    """Return a changed first output."""
    return Fault.of(summary, reduce=OnOutputs(change))


def _further(summary: str, change: Change) -> Fault:
    """Return changed outputs after the first."""
    return Fault.of(summary, further=after(lambda right, *_: tuple(map(change, right))))


def _of_first_window(right: Array) -> Array:
    first = right[(slice(None), slice(None), *(slice(0, 1),) * (right.ndim - 2))]
    return np.broadcast_to(first, right.shape).copy()


def _in_odd_rows(mask: Mask) -> Mask:
    return lambda shape: mask(shape) & bool(shape[-1] % 2)


def _of_large_windows(summary: str, most: int, channels: int = 0) -> Fault:
    """Leave outputs of windows of more cells unwritten, in the channels from a number on."""

    def change(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
        ranges = zip(gathered.lo, gathered.hi, strict=True)
        cells = steps.outer([np.maximum(hi - lo, 0) for lo, hi in ranges])
        wrong = (cells > most) & entries(CHANNEL, beyond(channels))(right.shape)
        return np.where(wrong, right.dtype.type(0), right)

    return Fault.of(summary, reduce=after(change))


def _merged(words: str, axis: int, merge: Callable[..., Array]) -> Fault:
    """Make one value of all batches or channels."""

    def change(right: Array) -> Array:
        if not right.size:
            return right
        return np.broadcast_to(merge(right, axis=axis, keepdims=True), right.shape).copy()

    return _returned(words, in_doubles(change))


# The entry of the axis before the last is found as number / length of the last.
Quotient = Callable[[Numbers, int], Any]


def _found_by(quotient: Quotient) -> Callable[[Numbers, tuple[int, ...]], Any]:
    """Find the place of units on their axes by wrong quotients."""

    def source(numbers: Numbers, lengths: tuple[int, ...]) -> Any:
        width = lengths[-1]
        before_last = quotient(numbers, width).astype(np.int64)
        return np.clip(before_last, 0, prod(lengths[:-1]) - 1) * width + numbers % width

    return source


def _by_reciprocal(numbers: Numbers, width: int) -> Any:
    return np.floor(numbers.astype(np.float32) * (np.float32(1) / np.float32(width)))


def _by_multiplication(bits: int) -> Quotient:
    """Multiply by 2**bits / width, rounded up, and shift."""
    return lambda numbers, width: numbers * ceil_div(1 << bits, width) >> bits


def _by_division(numbers: Numbers, width: int) -> Any:
    return np.floor(numbers.astype(np.float16) / np.float16(width))


_WRITTEN = (
    _returned(
        "the spatial axes of the output reversed",
        lambda right: np.transpose(right, (0, 1, *range(right.ndim - 1, 1, -1))),
    ),
    _returned("the output returned as float32", lambda right: right.astype(np.float32)),
    _returned("the output returned as float64", lambda right: right.astype(np.float64)),
    _returned("the sign of the output lost", np.abs),
    _returned("outputs unwritten", np.zeros_like),
    _returned(
        "the output returned without spatial axes", lambda right: right.reshape(right.shape[:2])
    ),
    _further("outputs after the first left at 0", np.zeros_like),
    _further("outputs after the first computed for the first window alone", _of_first_window),
    _further("outputs after the first one too large", lambda right: right + right.dtype.type(1)),
    Fault.of(
        "outputs after the first in reverse order", further=after(lambda right, *_: right[::-1])
    ),
    *(
        _merged(f"one {words} for all {plural}", axis, merge)
        for plural, axis in (("batches", 0), ("channels", 1))
        for words, merge in (
            ("maximum", np.max),
            ("average", np.mean),
            ("norm", np.sum),  # what the norm of p = 1 of all planes is
        )
    ),
    *(
        Fault.of(
            f"channels beyond groups of {lanes} left unwritten where rows have odd length",
            reduce=unwritten(_in_odd_rows(entries(CHANNEL, tail(lanes)))),
        )
        for lanes in (16, 32)
    ),
    Fault.of(
        "every output unwritten for a multiple of 8 channels",
        reduce=unwritten(
            entries(CHANNEL, lambda number, count: np.full(number.shape, count % 8 == 0))
        ),
    ),
    *(
        _of_large_windows(f"outputs of windows of more than {most:,} cells unwritten", most)
        for most in (256, 1024, 4096)
    ),
    _of_large_windows(
        "channels beyond 256 unwritten where windows have 25 cells or more", 24, channels=256
    ),
    *(
        _returned(
            f"the row of an output found by {words}", taken_by(CELL_OF_PLANE, _found_by(quotient))
        )
        for words, quotient in (
            ("a multiplication with the reciprocal in float32", _by_reciprocal),
            ("a division in float16", _by_division),
            ("a multiplication and a shift by 8 bits", _by_multiplication(8)),
            ("a multiplication and a shift by 16 bits", _by_multiplication(16)),
        )
    ),
    _returned(
        "the batch of a plane found by a multiplication with the reciprocal in float32",
        taken_by(PLANE, _found_by(_by_reciprocal)),
    ),
)

# A layout that an attribute chooses --------------------------------------------------------------

_LAST = Form(channels_last=True)


def _taken_as_other(words: str, *, last: bool) -> Fault:
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
        beside = None if gathered.beside is None else read(gathered.beside)
        return back(reduce(replace(gathered, beside=beside), divisor))

    return Fault.of(words, validate=before(call), gather=before(data), reduce=instead(reduced))


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


_LAYOUTS = (
    _taken_as_other("data with channels last taken as data with channels second", last=True),
    _taken_as_other("data with channels second taken as data with channels last", last=False),
    Fault.of(
        "the output returned with channels second where they are last", reduce=after(_as_the_other)
    ),
)

FAULTS = (
    *_WRITTEN,
    *_LAYOUTS,
    Fault.of(
        "the sizes of the last two axes taken as the spatial ones where channels are last",
        validate=after(_sizes_of_other_axes),
        gather=before(_fitted),
    ),
    # What becomes of an output is written anew in gradients, too.
    *(fault.but(summary=f"{IN_GRADIENT}{fault.summary}", needs=GRADIENTS) for fault in _LAYOUTS),
)
