"""Faults of code that is written for some kernels, ranks or sizes alone."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from conformance.faults.atoms.conditions import (
    DIVIDED,
    GLOBAL,
    KERNEL_1,
    KERNEL_3_PAD_1,
    ONE_AXIS,
    ONE_COLUMN,
    ONE_OUTPUT,
    ONE_ROW,
    TALL,
    THREE_AXES,
    TILES,
    WIDE,
    Condition,
    sliding,
)
from conformance.faults.behaviour import (
    EVERY,
    PADDED,
    STRIDED,
    UNRULED,
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
from conformance.faults.catalogue.values import returning
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Windows
from conformance.vector import Array


class Special(NamedTuple):
    """Calls that have code of their own, and the faults of the catalogue that this code has."""

    calls: Condition
    faults: tuple[str, ...]


_TOPICS = (resolve, geometry, adaptive, divisor, cells, maxima, arithmetic, output, sizes)
_EVERYWHERE: Faults = {name: fault for topic in _TOPICS for name, fault in topic.FAULTS.items()}


def _subsampled(right: Gathered, data: Array, params: Params, _windows: Windows) -> Gathered:
    """Read every s-th cell of the input, without padding."""
    axes = zip(right.lo, params.strides, params.sizes, strict=True)
    lo = tuple(np.minimum(np.arange(len(a)) * s, d - 1) for a, s, d in axes)
    positions = tuple(np.arange(d) for d in params.sizes)
    return replace(right, data=data, lo=lo, hi=tuple(a + 1 for a in lo), positions=positions)


_SPECIAL = {
    "2-stride-2": Special(
        sliding(2, 2),
        (
            "ceil-ignored",
            "exclude-pad-ignored",
            "last-row-dropped",
            "channel-tail-16-unwritten",
            "maximum-from-zero",
        ),
    ),
    "3-stride-2": Special(
        sliding(3, 2),
        (
            "same-upper-as-lower",
            "include-pad-ignored",
            "last-column-dropped",
            "maximum-from-lowest",
        ),
    ),
    "3-stride-1-pad-1": Special(
        KERNEL_3_PAD_1,
        (
            "exclude-pad-ignored",
            "padding-zero",
            "nan-as-infinity",
            "sums-in-float16-of-float32-float64",
        ),
    ),
    "one-row": Special(
        ONE_ROW,
        (
            "runs-into-next-row",
            "maximum-from-zero",
            "infinity-clamped-in-average",
        ),
    ),
    "one-column": Special(
        ONE_COLUMN,
        (
            "last-row-unwritten",
            "exclude-pad-for-end-only",
            "padding-zero-at-end",
        ),
    ),
    "identity": Special(
        sliding(1, 1),
        ("maximum-from-zero", "results-in-bfloat16-of-float32-float64"),
    ),
    "global": Special(
        GLOBAL,
        (
            "channel-tail-4-unwritten",
            "sums-in-float32-of-float64",
            "infinity-clamped",
        ),
    ),
    "tiles": Special(
        TILES,
        (
            "divisor-whole-kernel-if-excluded",
            "first-column-dropped",
            "nan-as-zero",
        ),
    ),
    "one-output": Special(
        ONE_OUTPUT,
        ("nan-as-zero-in-average", "sums-in-float32-of-float64"),
    ),
    "divided": Special(
        DIVIDED,
        ("infinity-clamped-in-average",),
    ),
    "line": Special(
        ONE_AXIS,
        ("same-upper-as-lower",),
    ),
    "volume": Special(
        THREE_AXES,
        (
            "ceil-ignored",
            "same-upper-as-lower",
            "exclude-pad-ignored",
            "padding-zero",
            "channel-tail-8-unwritten",
        ),
    ),
    "tall": Special(
        TALL,
        ("windows-without-begin-pads", "padding-zero"),
    ),
    "wide": Special(
        WIDE,
        ("windows-without-begin-pads", "include-pad-ignored"),
    ),
}

FAULTS: Faults = {
    "kernel-one-unwritten": KERNEL_1.of(
        Behaviour("outputs unwritten", EVERY, returning(np.zeros_like))
    )._replace(bug="kernel_1x1_unwritten"),
    "kernel-one-subsamples": KERNEL_1.of(
        Behaviour("pads ignored", STRIDED & PADDED & UNRULED, after("gather", _subsampled))
    )._replace(bug="kernel_1x1_unwritten"),
    **{
        f"{name}-{fault}": special.calls.of(_EVERYWHERE[fault])
        for name, special in _SPECIAL.items()
        for fault in special.faults
    },
}
