"""Faults of code that is written for some kernels, ranks or sizes alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from conformance.faults.behaviour import (
    ADAPTIVE,
    EVERY,
    PADDED,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    after,
)
from conformance.faults.catalogue import (
    adaptive,
    arithmetic,
    cells,
    divisor,
    geometry,
    maxima,
    output,
    resolve,
    sizes,
)
from conformance.faults.catalogue.values import only_where, returning
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows
from conformance.vector import Array


class Special(NamedTuple):
    """Calls that have code of their own, and the faults of the catalogue that this code has.

    `words` complete the sentence "this is wrong ...".
    """

    words: str
    needs: Needs
    holds: Callable[[Params], bool]
    faults: tuple[str, ...]


_TOPICS = (resolve, geometry, adaptive, divisor, cells, maxima, arithmetic, output, sizes)
_EVERYWHERE: Faults = {name: fault for topic in _TOPICS for name, fault in topic.FAULTS.items()}


def _only(special: Special, fault: Behaviour) -> Behaviour:
    """Restrict a fault to the calls that have code of their own."""
    return Behaviour(
        f"{fault.summary}, {special.words}",
        fault.needs & special.needs,
        only_where(special.holds, fault.replaces),
    )


def _of_kernel(kernel: int, stride: int) -> Callable[[Params], bool]:
    return lambda p: set(p.kernel) == {kernel} and set(p.strides) == {stride}


def _is_one_row(p: Params) -> bool:
    return p.kernel[-1] > 1 and set(p.kernel[:-1]) == {1}


def _is_one_column(p: Params) -> bool:
    return p.kernel[0] > 1 and set(p.kernel[1:]) == {1}


def _subsampled(right: Gathered, data: Array, params: Params, _windows: Windows) -> Gathered:
    """Read every s-th cell of the input, without padding."""
    axes = zip(right.lo, params.strides, params.sizes, strict=True)
    lo = tuple(np.minimum(np.arange(len(a)) * s, d - 1) for a, s, d in axes)
    positions = tuple(np.arange(d) for d in params.sizes)
    return replace(right, data=data, lo=lo, hi=tuple(a + 1 for a in lo), positions=positions)


_SPECIAL = {
    "2-stride-2": Special(
        "for a kernel of 2 and strides of 2",
        STRIDED,
        _of_kernel(2, 2),
        (
            "ceil-ignored",
            "exclude-pad-ignored",
            "last-row-dropped",
            "channel-tail-16-unwritten",
            "maximum-from-zero",
        ),
    ),
    "3-stride-2": Special(
        "for a kernel of 3 and strides of 2",
        STRIDED,
        _of_kernel(3, 2),
        (
            "same-upper-as-lower",
            "include-pad-ignored",
            "last-column-dropped",
            "maximum-from-lowest",
        ),
    ),
    "3-stride-1-pad-1": Special(
        "for a kernel of 3, strides of 1 and pads of 1",
        STRIDED & PADDED,
        lambda p: _of_kernel(3, 1)(p) and set(p.pads_begin + p.pads_end) == {1},
        (
            "exclude-pad-ignored",
            "padding-zero",
            "nan-as-infinity",
            "sums-in-float16-of-float32-float64",
        ),
    ),
    "one-row": Special(
        "for a kernel of one row",
        WINDOWED,
        _is_one_row,
        (
            "runs-into-next-row",
            "maximum-from-zero",
            "infinity-clamped-in-average",
        ),
    ),
    "one-column": Special(
        "for a kernel of one column",
        WINDOWED,
        _is_one_column,
        (
            "last-row-unwritten",
            "exclude-pad-for-end-only",
            "padding-zero-at-end",
        ),
    ),
    "identity": Special(
        "for a kernel of 1 and strides of 1",
        STRIDED,
        _of_kernel(1, 1),
        ("maximum-from-zero", "results-in-bfloat16-of-float32-float64"),
    ),
    "global": Special(
        "for a kernel as large as the input",
        WINDOWED,
        lambda p: p.kernel == p.sizes,
        (
            "channel-tail-4-unwritten",
            "sums-in-float32-of-float64",
            "infinity-clamped",
        ),
    ),
    "tiles": Special(
        "for strides equal to a kernel above 1",
        STRIDED,
        lambda p: p.kernel == p.strides and min(p.kernel) > 1,
        (
            "divisor-whole-kernel-if-excluded",
            "first-column-dropped",
            "nan-as-zero",
        ),
    ),
    "one-output": Special(
        "for an output of one cell",
        ADAPTIVE,
        lambda p: set(p.output) == {1},
        ("nan-as-zero-in-average", "sums-in-float32-of-float64"),
    ),
    "divided": Special(
        "where every output has as many cells of its own",
        ADAPTIVE,
        lambda p: all(d % o == 0 for d, o in zip(p.sizes, p.output, strict=True)),
        ("infinity-clamped-in-average",),
    ),
    "line": Special(
        "for one spatial axis",
        EVERY,
        lambda p: len(p.sizes) == 1,
        ("same-upper-as-lower",),
    ),
    "volume": Special(
        "for three spatial axes",
        EVERY,
        lambda p: len(p.sizes) == 3,
        (
            "ceil-ignored",
            "same-upper-as-lower",
            "exclude-pad-ignored",
            "padding-zero",
            "channel-tail-8-unwritten",
        ),
    ),
    "tall": Special(
        "where the first axis has more than 64 cells",
        EVERY,
        lambda p: p.sizes[0] > 64,
        ("windows-without-begin-pads", "padding-zero"),
    ),
    "wide": Special(
        "where the last axis has more than 64 cells",
        EVERY,
        lambda p: p.sizes[-1] > 64,
        ("windows-without-begin-pads", "include-pad-ignored"),
    ),
}

FAULTS: Faults = {
    "kernel-one-unwritten": Behaviour(
        "outputs unwritten for a kernel of 1",
        WINDOWED,
        only_where(lambda p: set(p.kernel) == {1}, returning(np.zeros_like)),
        bug="kernel_1x1_unwritten",
    ),
    "kernel-one-subsamples": Behaviour(
        "pads ignored for a kernel of 1",
        STRIDED & PADDED,
        only_where(lambda p: set(p.kernel) == {1}, after("gather", _subsampled)),
        bug="kernel_1x1_unwritten",
    ),
    **{
        f"{name}-{fault}": _only(special, _EVERYWHERE[fault])
        for name, special in _SPECIAL.items()
        for fault in special.faults
    },
}
