"""Faults of adaptive pooling: which block of cells an output is computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.lists import IN_WINDOWS, mixed_up
from conformance.faults.atoms.windows import (
    BEGIN_FIRST,
    BEGIN_FIXED_UP,
    BEGIN_NEAREST,
    BEGIN_OF_OUTPUT,
    BEGIN_UP,
    END_DOWN_AND_ONE,
    END_LAST,
    END_NEAREST,
    LENGTH_DOWN,
    LENGTH_OF_OUTPUT,
    LENGTH_ONE,
    LENGTH_UP,
    BlockEnd,
    blocks,
)
from conformance.faults.behaviour import ADAPTIVE, AVERAGES, Behaviour, Faults, after, instead
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Pads, Windows
from conformance.operators.windows import Positions, ceil_div

Blocks = Callable[[int, int, Positions], tuple[Any, Any]]
"""From input size d, output size o and indices 0..o-1 of an axis: starts and stops of blocks."""


def _blocks(
    summary: str, of: Blocks, bug: str = "", *, needs: Needs = ADAPTIVE, own_lengths: bool = False
) -> Behaviour:
    """Lay out other blocks.

    With `own_lengths`, divide by the cells of these, also where they reach beyond the input.
    """

    def blocks(_right: Any, params: Params, _pads: Pads, extent: Extent) -> Windows:
        ranges = [
            of(d, o, np.arange(o, dtype=np.int64))
            for d, o in zip(params.sizes, extent, strict=True)
        ]
        return Windows(
            tuple(np.asarray(a, np.int64) for a, _ in ranges),
            tuple(np.asarray(b, np.int64) for _, b in ranges),
        )

    replaces = instead("windows", blocks)
    if own_lengths:
        replaces |= instead("divide", lambda *given: steps.outer(given[-1].lengths))
    return Behaviour(summary, needs, replaces, bug)


def _start(d: int, o: int, i: Positions) -> Positions:
    return i * d // o


def _in_float(kind: type[np.floating[Any]], *, reciprocal: bool = False) -> Blocks:
    """Compute i d / o in floating point: as i (d / o), or with the reciprocal as (i d) (1 / o)."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        def at(index: Positions) -> Any:
            if reciprocal:
                return (index * d).astype(kind) * (kind(1) / kind(o))
            return index.astype(kind) * (kind(d) / kind(o))

        return np.floor(at(i)), np.ceil(at(i + 1))

    return blocks


def _fixed_kernel(
    kernel: Callable[[int, int, int], int], stride: Callable[[int, int], int]
) -> Blocks:
    """Slide a fixed kernel: `kernel(d, o, stride)` cells, `stride(d, o)` apart."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        s = max(1, stride(d, o))
        return i * s, i * s + max(1, kernel(d, o, s))

    return blocks


def _in_narrow_integer(kind: type[np.integer[Any]]) -> Blocks:
    """Compute the product i d in a narrow integer type, where it wraps."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        first = (i * d).astype(kind).astype(np.int64)
        last = ((i + 1) * d).astype(kind).astype(np.int64)
        return first // o, -(-last // o)

    return blocks


def _output_size(summary: str, of: Callable[[int, int], int], bug: str = "") -> Behaviour:
    """Return `of(d, o)` blocks on an axis instead of o, its entry of output_size."""

    def other(right: Extent, params: Params, _pads: Pads) -> Extent:
        return tuple(map(of, params.sizes, right))

    return Behaviour(summary, ADAPTIVE, after("extent", other), bug)


def _cells_read(summary: str, most: Callable[[int, int], int], bug: str) -> Behaviour:
    """Read at most `most(d, o)` cells of a block on each axis; the divisor stays right."""
    first = reading_other_cells(lambda cells, d, params, j: cells[: most(d, params.output[j])])
    replaces = {"gather": first}
    return Behaviour(summary, ADAPTIVE & AVERAGES, replaces, bug)


def _every_oth(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    """Read every o-th cell from cell i, as a reshape in the wrong order does."""
    o = params.output[j]
    if d % o or d < o:
        return cells
    i = cells[0] * o // d
    return list(range(i, d, o))


def _divisor_of_floors(_right: Any, params: Params, _pads: Pads, windows: Windows) -> Divisor:
    axes = zip(windows.start, params.sizes, params.output, strict=True)
    return steps.outer([np.full(len(a), max(1, d // o), np.int64) for a, d, o in axes])


_END_AND_ONE = BlockEnd(
    "(i + 1) d / o rounded up plus 1", lambda i, d, o, _: -(-(i + 1) * d // o) + 1
)
_BEGIN_LESS_ONE = BlockEnd("i d / o rounded down less 1", lambda i, d, o, _: i * d // o - 1)
_IN_BLOCKS = IN_WINDOWS._replace(words=", for the ends of blocks alone", needs=ADAPTIVE)

FAULTS: Faults = {
    "adaptive-end-floor": _blocks(
        "block ends rounded down",
        lambda d, o, i: (_start(d, o, i), (i + 1) * d // o),
        bug="adaptive_end_floor",
    ),
    "adaptive-start-ceil": blocks(begin=BEGIN_UP),
    "adaptive-rounded-to-nearest": blocks(BEGIN_NEAREST, END_NEAREST),
    "adaptive-end-one-more": blocks(end=_END_AND_ONE),
    "adaptive-end-floor-plus-one": blocks(end=END_DOWN_AND_ONE),
    "adaptive-start-one-early": blocks(begin=_BEGIN_LESS_ONE),
    "adaptive-length-ceil": blocks(end=LENGTH_UP),
    "adaptive-length-floor": blocks(end=LENGTH_DOWN),
    "adaptive-start-cell-only": blocks(end=LENGTH_ONE),
    "adaptive-fixed-kernel-floor": _blocks(
        "a fixed kernel of floor(d / o) cells with a stride of the same size",
        _fixed_kernel(lambda _d, _o, s: s, lambda d, o: d // o),
        bug="adaptive_as_fixed_pool_k_eq_s",
    ),
    "adaptive-fixed-kernel-rest": _blocks(
        "a fixed kernel of d - (o - 1) floor(d / o) cells with a stride of floor(d / o)",
        _fixed_kernel(lambda d, o, s: d - (o - 1) * s, lambda d, o: d // o),
        bug="adaptive_as_fixed_pool_k_eq_s",
    ),
    "adaptive-fixed-kernel-ceil": blocks(BEGIN_FIXED_UP, LENGTH_UP),
    "adaptive-last-takes-the-rest": _blocks(
        "blocks of floor(d / o) cells, the last with all that is left",
        lambda d, o, i: (i * max(1, d // o), np.where(i == o - 1, d, (i + 1) * max(1, d // o))),
    ),
    "adaptive-uint8-product": _blocks(
        "the product i d kept in eight bits", _in_narrow_integer(np.uint8)
    ),
    "adaptive-int16-product": _blocks(
        "the product i d kept in sixteen bits", _in_narrow_integer(np.int16)
    ),
    "adaptive-uint16-product": _blocks(
        "the product i d kept in sixteen bits without a sign", _in_narrow_integer(np.uint16)
    ),
    "adaptive-int32-product": _blocks(
        "the product i d kept in thirty-two bits", _in_narrow_integer(np.int32)
    ),
    "adaptive-sizes-swapped": _blocks(
        "input and output size swapped in the block ends",
        lambda d, o, i: (i * o // d, np.maximum(-(-(i + 1) * o // d), i * o // d + 1)),
    ),
    "adaptive-output-as-kernel": blocks(BEGIN_OF_OUTPUT, LENGTH_OF_OUTPUT),
    "adaptive-output-as-stride": blocks(BEGIN_OF_OUTPUT, LENGTH_UP),
    "adaptive-global": blocks(BEGIN_FIRST, END_LAST, needs=AVERAGES),
    "adaptive-float32-index": _blocks(
        "block ends computed in float32 as i (d / o)",
        _in_float(np.float32),
        own_lengths=True,
        bug="adaptive_index_float_reciprocal",
    ),
    "adaptive-float32-reciprocal": _blocks(
        "block ends computed in float32 as (i d) (1 / o)",
        _in_float(np.float32, reciprocal=True),
        own_lengths=True,
        bug="adaptive_index_float_reciprocal",
    ),
    "adaptive-float64-index": _blocks(
        "block ends computed in float64 as i (d / o)",
        _in_float(np.float64),
        own_lengths=True,
        bug="adaptive_index_float_reciprocal",
    ),
    "adaptive-float64-reciprocal": _blocks(
        "block ends computed in float64 as (i d) (1 / o)",
        _in_float(np.float64, reciprocal=True),
        own_lengths=True,
    ),
    "adaptive-float16-index": _blocks(
        "block ends computed in float16 as i (d / o)", _in_float(np.float16), own_lengths=True
    ),
    "adaptive-bfloat16-index": _blocks(
        "block ends computed in bfloat16 as i (d / o)",
        _in_float(dtype_of("bfloat16").type),
        own_lengths=True,
    ),
    **mixed_up("sizes", _IN_BLOCKS, "adaptive-sizes"),
    "adaptive-output-clamped": _output_size("output_size clamped to the input size", min),
    "adaptive-output-ignored": _output_size(
        "an output of one cell whatever output_size", lambda _d, _o: 1
    ),
    "adaptive-output-of-fixed-stride": _output_size(
        "as many outputs as windows of floor(d / o) cells fit",
        lambda d, o: d // max(1, d // o),
        bug="adaptive_as_fixed_pool_k_eq_s",
    ),
    "adaptive-loop-too-short": _cells_read(
        "only ceil(d / o) cells of a block read, divided by its length",
        ceil_div,
        bug="adaptive_loop_bound_short",
    ),
    "adaptive-loop-of-64": _cells_read(
        "only 64 cells of a block read, divided by its length",
        lambda _d, _o: 64,
        bug="adaptive_loop_bound_short",
    ),
    "adaptive-strided-cells": Behaviour(
        "every o-th cell averaged instead of neighbours",
        ADAPTIVE & AVERAGES,
        {"gather": reading_other_cells(_every_oth)},
        bug="adaptive_strided_instead_of_blocks",
    ),
    "adaptive-divisor-floor": Behaviour(
        "sums divided by floor(d / o) per axis",
        ADAPTIVE & AVERAGES,
        instead("divide", _divisor_of_floors),
    ),
}
