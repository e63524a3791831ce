"""Faults of index arithmetic: positions, strides and quotients in types that are too narrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms.entries import CELL_OF_PLANE, PLANE, Numbers, taken_by
from conformance.faults.behaviour import (
    EVERY,
    SPREAD,
    STRIDED,
    Behaviour,
    Faults,
    Replaces,
    after,
    before,
)
from conformance.faults.catalogue.values import returning
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, Windows
from conformance.operators.windows import Positions, ceil_div
from conformance.vector import Array


def _starts(summary: str, stored: Callable[[Positions], Positions]) -> Behaviour:
    """Keep the starts of windows, counted from the begin of the padding, in another type."""

    def change(right: Windows, _params: Params, pads: Pads, _extent: Extent) -> Windows:
        starts = [
            stored(a + begin) - begin for a, (begin, _) in zip(right.start, pads, strict=True)
        ]
        axes = zip(starts, right.start, right.stop, strict=True)
        stops = tuple(a + stop - start for a, start, stop in axes)
        return replace(right, start=tuple(starts), stop=stops)

    return Behaviour(summary, STRIDED, after("windows", change))


def _in(kind: str) -> Callable[[Positions], Positions]:
    return lambda positions: positions.astype(dtype_of(kind)).astype(np.int64)


def _memory_stride(axis: int, bits: int) -> Replaces:
    """Address data with one memory stride, in elements, kept in a few bits."""

    def change(data: Array, *given: Any) -> tuple[Any, ...]:
        strides = [prod(data.shape[i + 1 :]) for i in range(data.ndim)]
        if strides[axis] < 1 << bits:
            return data, *given
        strides[axis] %= 1 << bits
        open_grid = np.ogrid[tuple(map(slice, data.shape))]
        index: Any = sum(i * stride for i, stride in zip(open_grid, strides, strict=True))
        return data.reshape(-1)[index], *given

    return before("gather", change)


# The entry of the axis before the last is found as number / length of the last.
Quotient = Callable[[Array, int], Any]


def _found_by(quotient: Quotient) -> Callable[[Numbers, tuple[int, ...]], Any]:
    """Find the place of units on their axes by wrong quotients."""

    def source(numbers: Array, lengths: tuple[int, ...]) -> Any:
        width = lengths[-1]
        before_last = quotient(numbers, width).astype(np.int64)
        return np.clip(before_last, 0, prod(lengths[:-1]) - 1) * width + numbers % width

    return source


def _by_reciprocal(numbers: Array, width: int) -> Any:
    return np.floor(numbers.astype(np.float32) * (np.float32(1) / np.float32(width)))


def _in_float16(numbers: Array, width: int) -> Any:
    return np.floor(numbers.astype(np.float16) / np.float16(width))


def _by_multiplication(bits: int) -> Quotient:
    """Multiply by 2**bits / width, rounded up, and shift."""
    return lambda numbers, width: numbers * ceil_div(1 << bits, width) >> bits


_QUOTIENTS = (
    ("float32-reciprocal", "a multiplication with the reciprocal in float32", _by_reciprocal),
    ("float16-quotient", "a division in float16", _in_float16),
    ("8-bit-quotient", "a multiplication and a shift by 8 bits", _by_multiplication(8)),
    ("16-bit-quotient", "a multiplication and a shift by 16 bits", _by_multiplication(16)),
)

FAULTS: Faults = {
    **{
        f"starts-{name}": _starts(f"starts of windows kept in {words}", _in(name))
        for name, words in (
            ("uint8", "8 bits"),
            ("uint16", "16 bits"),
            ("float16", "float16"),
            ("bfloat16", "bfloat16"),
        )
    },
    **{
        f"{name}-stride-of-{bits}-bits": Behaviour(
            f"the memory stride of a {name} kept in {bits} bits",
            EVERY,
            _memory_stride(axis, bits),
        )
        for name, axis, bits in (
            ("row", -2, 8),
            ("plane", 1, 16),
            ("batch", 0, 16),
        )
    },
    **{
        f"row-by-{name}": Behaviour(
            f"the row of an output found by {words}",
            SPREAD,
            returning(taken_by(CELL_OF_PLANE, _found_by(quotient))),
        )
        for name, words, quotient in _QUOTIENTS
    },
    "batch-by-float32-reciprocal": Behaviour(
        "the batch of a plane found by a multiplication with the reciprocal in float32",
        EVERY,
        returning(taken_by(PLANE, _found_by(_by_reciprocal))),
    ),
}
