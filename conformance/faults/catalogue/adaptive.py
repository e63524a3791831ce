"""Faults of adaptive pooling: which block of cells belongs to an output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AVERAGES,
    AXIS_SLIPS,
    reading_other_cells,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, Windows
from conformance.operators.windows import Positions, ceil_div

Blocks = Callable[[int, int, Positions], tuple[Any, Any]]  # d, o, indices -> starts, stops


def _blocks(of: Blocks) -> StepWrap:
    """Replace the starts and stops of blocks, axis by axis."""

    def wrap(_windows: Callable[..., Windows]) -> Callable[..., Windows]:
        def other(params: Params, _pads: Pads, extent: Extent) -> Windows:
            ranges = [
                of(d, o, np.arange(o, dtype=np.int64))
                for d, o in zip(params.sizes, extent, strict=True)
            ]
            return Windows(
                tuple(np.asarray(a, np.int64) for a, _ in ranges),
                tuple(np.asarray(b, np.int64) for _, b in ranges),
            )

        return other

    return wrap


def _start(d: int, o: int, i: Positions) -> Positions:
    return i * d // o


def _stop(d: int, o: int, i: Positions) -> Positions:
    return -(-(i + 1) * d // o)


def _in_float(kind: type[np.floating[Any]], *, reciprocal: str = "") -> Blocks:
    """Compute i d / o in floating point: i (d / o), or with a reciprocal (i d) (1 / o)."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        def at(index: Positions) -> Any:
            if reciprocal:
                return (index * d).astype(kind) * (kind(1) / kind(o))
            return index.astype(kind) * (kind(d) / kind(o))

        return np.floor(at(i)).astype(np.int64), np.ceil(at(i + 1)).astype(np.int64)

    return blocks


def _fixed(kernel: Callable[[int, int, int], int], stride: Callable[[int, int], int]) -> Blocks:
    """Slide a fixed kernel: `kernel(d, o, stride)` cells, `stride(d, o)` apart."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        s = max(1, stride(d, o))
        return i * s, i * s + max(1, kernel(d, o, s))

    return blocks


def _narrow(kind: type[np.integer[Any]]) -> Blocks:
    """Keep the product i d in a narrow integer."""

    def blocks(d: int, o: int, i: Positions) -> tuple[Any, Any]:
        first = (i * d).astype(kind).astype(np.int64)
        last = ((i + 1) * d).astype(kind).astype(np.int64)
        return first // o, -(-last // o)

    return blocks


def _rounded(numerator: Positions, o: int) -> Positions:
    return (2 * numerator + o) // (2 * o)


def _output(of: Callable[[int, int], int]) -> StepWrap:
    """Change the output extent, axis by axis, given input size and output_size."""
    return lambda extent: (
        lambda params, pads: tuple(
            of(d, o) for d, o in zip(params.sizes, extent(params, pads), strict=True)
        )
    )


def _of_other_axes(slip: Callable[[tuple[int, ...]], tuple[int, ...]]) -> StepWrap:
    def wrap(windows: Callable[..., Windows]) -> Callable[..., Windows]:
        def other(params: Params, pads: Pads, extent: Extent) -> Windows:
            return windows(replace(params, sizes=slip(params.sizes)), pads, extent)

        return other

    return wrap


def _at_most(most: Callable[[int, int], int]) -> StepWrap:
    """Read at most `most(d, o)` cells of a block on each axis; the divisor stays right."""
    return reading_other_cells(lambda cells, d, params, j: cells[: most(d, params.output[j])])


def _length(_divide: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _params, _pads, windows: steps.outer(
        [b - a for a, b in zip(windows.start, windows.stop, strict=True)]
    )


def _strided(cells: list[int], d: int, params: Params, j: int) -> list[int]:
    """Read every o-th cell from cell i, as a reshape in the wrong order does."""
    o = params.output[j]
    i = cells[0] * o // d if d % o == 0 else -1
    return list(range(i, d, o)) if d % o == 0 and d >= o else cells


def _mean_divisor(of: Callable[[int, int], int]) -> StepWrap:
    """Divide by one number for all blocks."""

    def wrap(_divide: Callable[..., Any]) -> Callable[..., Any]:
        def other(params: Params, _pads: Pads, windows: Windows) -> steps.Divisor:
            return steps.outer(
                [
                    np.full(len(a), max(1, of(d, o)), np.int64)
                    for a, d, o in zip(windows.start, params.sizes, params.output, strict=True)
                ]
            )

        return other

    return wrap


FAULTS: tuple[Fault, ...] = (
    Fault(
        "adaptive-end-floor",
        "block ends rounded down",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (_start(d, o, i), (i + 1) * d // o))},
        bugs=("adaptive_end_floor",),
    ),
    Fault(
        "adaptive-start-ceil",
        "block starts rounded up",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (-(-i * d // o), _stop(d, o, i)))},
    ),
    Fault(
        "adaptive-rounded-to-nearest",
        "block starts and ends rounded to nearest",
        needs=ADAPTIVE,
        replaces={
            "windows": _blocks(lambda d, o, i: (_rounded(i * d, o), _rounded((i + 1) * d, o)))
        },
    ),
    Fault(
        "adaptive-end-one-more",
        "blocks one cell too long at the end",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (_start(d, o, i), _stop(d, o, i) + 1))},
    ),
    Fault(
        "adaptive-end-floor-plus-one",
        "block ends rounded down and one added, also where the division is exact",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (_start(d, o, i), (i + 1) * d // o + 1))},
    ),
    Fault(
        "adaptive-start-one-early",
        "blocks one cell too long at the begin",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (_start(d, o, i) - 1, _stop(d, o, i)))},
    ),
    Fault(
        "adaptive-length-ceil",
        "every block ceil(d / o) cells long",
        needs=ADAPTIVE,
        replaces={
            "windows": _blocks(lambda d, o, i: (_start(d, o, i), _start(d, o, i) + ceil_div(d, o)))
        },
    ),
    Fault(
        "adaptive-length-floor",
        "every block floor(d / o) cells long",
        needs=ADAPTIVE,
        replaces={
            "windows": _blocks(lambda d, o, i: (_start(d, o, i), _start(d, o, i) + max(1, d // o)))
        },
    ),
    Fault(
        "adaptive-start-cell-only",
        "only the first cell of a block read",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (_start(d, o, i), _start(d, o, i) + 1))},
    ),
    Fault(
        "adaptive-fixed-kernel-floor",
        "a fixed kernel of floor(d / o) cells, as far apart",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_fixed(lambda _d, _o, s: s, lambda d, o: d // o))},
        bugs=("adaptive_as_fixed_pool_k_eq_s",),
    ),
    Fault(
        "adaptive-fixed-kernel-rest",
        "a fixed kernel of d - (o - 1) floor(d / o) cells, floor(d / o) apart",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_fixed(lambda d, o, s: d - (o - 1) * s, lambda d, o: d // o))},
        bugs=("adaptive_as_fixed_pool_k_eq_s",),
    ),
    Fault(
        "adaptive-fixed-kernel-ceil",
        "a fixed kernel of ceil(d / o) cells, as far apart",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_fixed(lambda _d, _o, s: s, ceil_div))},
    ),
    Fault(
        "adaptive-last-takes-the-rest",
        "blocks of floor(d / o) cells, the last with all that is left",
        needs=ADAPTIVE,
        replaces={
            "windows": _blocks(
                lambda d, o, i: (
                    i * max(1, d // o),
                    np.where(i == o - 1, d, (i + 1) * max(1, d // o)),
                )
            )
        },
    ),
    Fault(
        "adaptive-uint8-product",
        "the product i d kept in eight bits",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_narrow(np.uint8))},
    ),
    Fault(
        "adaptive-int16-product",
        "the product i d kept in sixteen bits",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_narrow(np.int16))},
    ),
    Fault(
        "adaptive-sizes-swapped",
        "input and output size swapped in the block ends",
        needs=ADAPTIVE,
        replaces={
            "windows": _blocks(
                lambda d, o, i: (i * o // d, np.maximum(-(-(i + 1) * o // d), i * o // d + 1))
            )
        },
    ),
    Fault(
        "adaptive-output-as-kernel",
        "output_size used as the kernel and the stride",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda _d, o, i: (i * o, (i + 1) * o))},
    ),
    Fault(
        "adaptive-output-as-stride",
        "output_size used as the stride",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(lambda d, o, i: (i * o, i * o + ceil_div(d, o)))},
    ),
    Fault(
        "adaptive-global",
        "every output the average of the whole axis",
        needs=ADAPTIVE & AVERAGES,
        replaces={"windows": _blocks(lambda d, _o, i: (i * 0, i * 0 + d))},
    ),
    Fault(
        "adaptive-float32-index",
        "block ends computed in float32 as i (d / o)",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_in_float(np.float32)), "divide": _length},
        bugs=("adaptive_index_float_reciprocal",),
    ),
    Fault(
        "adaptive-float32-reciprocal",
        "block ends computed in float32 as (i d) (1 / o)",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_in_float(np.float32, reciprocal="yes")), "divide": _length},
        bugs=("adaptive_index_float_reciprocal",),
    ),
    Fault(
        "adaptive-float64-index",
        "block ends computed in float64 as i (d / o)",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_in_float(np.float64)), "divide": _length},
        bugs=("adaptive_index_float_reciprocal",),
    ),
    Fault(
        "adaptive-float64-reciprocal",
        "block ends computed in float64 as (i d) (1 / o)",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_in_float(np.float64, reciprocal="yes")), "divide": _length},
    ),
    Fault(
        "adaptive-float16-index",
        "block ends computed in float16 as i (d / o)",
        needs=ADAPTIVE,
        replaces={"windows": _blocks(_in_float(np.float16)), "divide": _length},
    ),
    *(
        Fault(
            f"adaptive-sizes-{slip.name}",
            f"the input size {slip.words} in the block ends",
            needs=ADAPTIVE,
            replaces={"windows": _of_other_axes(slip.of)},
        )
        for slip in AXIS_SLIPS
    ),
    Fault(
        "adaptive-output-clamped",
        "output_size clamped to the input size",
        needs=ADAPTIVE,
        replaces={"extent": _output(min)},
    ),
    Fault(
        "adaptive-output-ignored",
        "an output of one cell whatever output_size",
        needs=ADAPTIVE,
        replaces={"extent": _output(lambda _d, _o: 1)},
    ),
    Fault(
        "adaptive-output-of-fixed-stride",
        "as many outputs as windows of floor(d / o) cells fit",
        needs=ADAPTIVE,
        replaces={"extent": _output(lambda d, o: d // max(1, d // o))},
        bugs=("adaptive_as_fixed_pool_k_eq_s",),
    ),
    Fault(
        "adaptive-loop-too-short",
        "only ceil(d / o) cells of a block read, divided by its length",
        needs=ADAPTIVE & AVERAGES,
        replaces={"gather": _at_most(ceil_div)},
        bugs=("adaptive_loop_bound_short",),
    ),
    Fault(
        "adaptive-loop-of-64",
        "only 64 cells of a block read, divided by its length",
        needs=ADAPTIVE & AVERAGES,
        replaces={"gather": _at_most(lambda _d, _o: 64)},
        bugs=("adaptive_loop_bound_short",),
    ),
    Fault(
        "adaptive-strided-cells",
        "every o-th cell averaged instead of neighbours",
        needs=ADAPTIVE & AVERAGES,
        replaces={"gather": reading_other_cells(_strided)},
        bugs=("adaptive_strided_instead_of_blocks",),
    ),
    Fault(
        "adaptive-divisor-floor",
        "sums divided by floor(d / o) per axis",
        needs=ADAPTIVE & AVERAGES,
        replaces={"divide": _mean_divisor(lambda d, o: d // o)},
    ),
)
