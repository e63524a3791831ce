"""Faults of what is stored and of what is kept: tails, layouts, types, state between calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AVERAGES,
    INCLUDING,
    PADDED,
    STRIDED,
    WINDOWED,
    Seen,
    remember,
    result,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, Windows
from conformance.vector import Array

Reduce = Callable[[Gathered, Divisor], Array]

# Tails: what a loop over groups of lanes leaves to its remainder --------------------------------


def _tail(length: int, lanes: int) -> slice:
    """Return the remainder behind at least one whole group; empty if there is none."""
    whole = length // lanes * lanes
    return slice(whole or length, length)


def _along(axis: int, part: slice) -> tuple[Any, ...]:
    return (slice(None), part) if axis == 1 else (..., part)


def _unwritten(axis: int, lanes: int) -> StepWrap:
    def change(right: Array, _gathered: Gathered) -> Array:
        written = right.copy()
        written[_along(axis, _tail(right.shape[axis], lanes))] = 0
        return written

    return result(change)


def _repeated(axis: int, lanes: int) -> StepWrap:
    def change(right: Array, _gathered: Gathered) -> Array:
        tail = _tail(right.shape[axis], lanes)
        written = right.copy()
        before = slice(tail.start - 1, tail.start)
        if tail.start < right.shape[axis]:
            written[_along(axis, tail)] = right[_along(axis, before)]
        return written

    return result(change)


def _undivided(axis: int, lanes: int) -> StepWrap:
    def wrap(reduce: Reduce) -> Reduce:
        def other(gathered: Gathered, divisor: Divisor) -> Array:
            written = reduce(gathered, divisor)
            where = _along(axis, _tail(written.shape[axis], lanes))
            written[where] = reduce(gathered, np.minimum(divisor, 1))[where]
            return written

        return other

    return wrap


# What is returned -------------------------------------------------------------------------------


def _zero_where(mark: Callable[[Array], Any]) -> StepWrap:
    def change(right: Array, _gathered: Gathered) -> Array:
        return np.where(mark(right), right.dtype.type(0), right)

    return result(change)


def _transposed(right: Array, _gathered: Gathered) -> Array:
    return np.swapaxes(right, -1, -2) if right.ndim > 3 else right


def _stored_transposed(right: Array, _gathered: Gathered) -> Array:
    if right.ndim < 4:
        return right
    return np.ascontiguousarray(np.swapaxes(right, -1, -2)).reshape(right.shape)


def _axes_reversed(right: Array, _gathered: Gathered) -> Array:
    return np.transpose(right, (0, 1, *range(right.ndim - 1, 1, -1)))


def _in_type(kind: Any) -> Callable[[Array, Gathered], Array]:
    return lambda right, _gathered: right.astype(kind)


def _kernel_one(reduce: Reduce) -> Reduce:
    """Leave the output unwritten where the kernel has one cell."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        one = isinstance(gathered, Seen) and max(gathered.params.kernel) == 1
        return np.zeros_like(right) if one else right

    return other


def _kernel_one_subsamples(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
    """Subsample without padding where the kernel has one cell."""

    def other(data: Array, params: Params, windows: Windows) -> Gathered:
        right = gather(data, params, windows)
        if max(params.kernel) > 1:
            return right
        lo = tuple(
            np.minimum(np.arange(len(a)) * s, d - 1)
            for a, s, d in zip(right.lo, params.strides, params.sizes, strict=True)
        )
        return Gathered(right.data, lo, tuple(a + 1 for a in lo))

    return other


# State kept between calls -----------------------------------------------------------------------


def _first_pads_kept(pads: Callable[[Params], Pads]) -> Callable[[Params], Pads]:
    kept: dict[Any, Pads] = {}

    def other(params: Params) -> Pads:
        # Pads belong to more than this key says: sizes and auto_pad are missing.
        return kept.setdefault((params.kernel, params.strides), pads(params))

    return other


def _first_extent_kept(extent: Callable[..., Extent]) -> Callable[..., Extent]:
    kept: dict[Any, Extent] = {}

    def other(params: Params, pads: Pads) -> Extent:
        key = (params.sizes, params.kernel, params.strides, params.output)
        return kept.setdefault(key, extent(params, pads))

    return other


def _first_divisor_kept(divide: Callable[..., Divisor]) -> Callable[..., Divisor]:
    kept: dict[Any, Divisor] = {}

    def other(params: Params, pads: Pads, windows: Windows) -> Divisor:
        right = divide(params, pads, windows)
        return kept.setdefault(right.shape, right)

    return other


def _added_to_previous(reduce: Reduce) -> Reduce:
    previous: dict[Any, Array] = {}

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        key = (right.shape, right.dtype)
        result = right + previous[key] if key in previous else right
        previous[key] = right
        return result.astype(right.dtype)

    return other


def _previous_result(reduce: Reduce) -> Reduce:
    kept: dict[Any, Array] = {}

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        return kept.setdefault((gathered.data.shape, right.shape, right.dtype), right).copy()

    return other


FAULTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"{of}-tail-{lanes}-{name}",
            f"{of}s beyond groups of {lanes} {words}",
            needs=needs,
            replaces={"reduce": wrap(axis, lanes)},
            bugs=bugs.get((of, lanes), ()),
        )
        for name, words, wrap, needs, bugs in (
            (
                "unwritten",
                "left unwritten",
                _unwritten,
                Needs(),
                {
                    ("channel", 32): ("channel_tail_wrong_32",),
                    ("channel", 8): ("channel_tail_wrong_8",),
                },
            ),
            ("repeated", "filled with the one before them", _repeated, Needs(), {}),
            (
                "undivided",
                "not divided",
                _undivided,
                AVERAGES,
                {("channel", 16): ("channel_tail_wrong_16",)},
            ),
        )
        for of, axis in (("column", -1), ("channel", 1))
        for lanes in (4, 8, 16, 32)
    ),
    Fault(
        "output-last-axes-swapped",
        "the last two axes of the output swapped",
        replaces={"reduce": result(_transposed)},
    ),
    Fault(
        "output-stored-transposed",
        "the output stored as if its last two axes were swapped",
        replaces={"reduce": result(_stored_transposed)},
    ),
    Fault(
        "output-axes-reversed",
        "the spatial axes of the output reversed",
        replaces={"reduce": result(_axes_reversed)},
    ),
    Fault(
        "output-channels-last",
        "the output returned with channels last",
        replaces={"reduce": result(lambda right, _: np.moveaxis(right, 1, -1))},
    ),
    Fault(
        "output-stored-channels-last",
        "the output stored as if channels came last",
        replaces={
            "reduce": result(
                lambda right, _: np.ascontiguousarray(np.moveaxis(right, 1, -1)).reshape(
                    right.shape
                )
            )
        },
    ),
    Fault(
        "output-squeezed",
        "axes of length 1 dropped from the output",
        replaces={"reduce": result(lambda right, _: right.squeeze())},
    ),
    Fault(
        "output-flattened",
        "the spatial axes of the output flattened",
        replaces={"reduce": result(lambda right, _: right.reshape(*right.shape[:2], -1))},
    ),
    Fault(
        "output-batch-dropped",
        "the batch axis dropped",
        replaces={"reduce": result(lambda right, _: right[0])},
    ),
    Fault(
        "output-mirrored",
        "the last axis of the output reversed",
        # Blocks lie the same way from both ends: adaptive pooling of mirrored data is mirrored.
        needs=STRIDED,
        replaces={"reduce": result(lambda right, _: right[..., ::-1])},
    ),
    Fault(
        "output-float32",
        "the output returned as float32",
        replaces={"reduce": result(_in_type(np.float32))},
    ),
    Fault(
        "output-float64",
        "the output returned as float64",
        replaces={"reduce": result(_in_type(np.float64))},
    ),
    Fault(
        "output-negated",
        "the sign of the output lost",
        replaces={"reduce": result(lambda right, _: abs(right))},
    ),
    Fault(
        "last-batch-unwritten",
        "the last of several batches unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (
                    (np.arange(len(y)) == len(y) - 1).reshape(-1, *[1] * (y.ndim - 1))
                    & (len(y) > 1)
                )
            )
        },
    ),
    Fault(
        "last-channel-unwritten",
        "the last of several channels unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (
                    (np.arange(y.shape[1]) == y.shape[1] - 1).reshape(-1, *[1] * (y.ndim - 2))
                    & (y.shape[1] > 1)
                )
            )
        },
    ),
    Fault(
        "last-output-unwritten",
        "the last output of every row unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (np.arange(y.shape[-1]) == y.shape[-1] - 1) & (y.shape[-1] > 1)
            )
        },
    ),
    Fault(
        "last-row-unwritten",
        "the last row of the output unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (
                    np.arange(y.shape[-2])[:, np.newaxis] == y.shape[-2] - 1
                    if y.ndim > 3 and y.shape[-2] > 1
                    else np.zeros((), np.bool_)
                )
            )
        },
    ),
    Fault(
        "full-channel-blocks-unwritten",
        "outputs unwritten for a multiple of 8 channels",
        replaces={"reduce": _zero_where(lambda y: np.full((), y.shape[1] % 8 == 0))},
    ),
    Fault(
        "channels-above-256-unwritten",
        "channels above 256 unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (np.arange(y.shape[1]) >= 256).reshape(-1, *[1] * (y.ndim - 2))
            )
        },
        bugs=("channel_beyond_256_wrong",),
    ),
    Fault(
        "outputs-above-65535-unwritten",
        "outputs of a plane beyond 65,535 unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (np.arange(int(np.prod(y.shape[2:]))) > 65535).reshape(y.shape[2:])
            )
        },
    ),
    Fault(
        "planes-above-1024-unwritten",
        "planes beyond 1,024 unwritten",
        replaces={
            "reduce": _zero_where(
                lambda y: (np.arange(y.shape[0] * y.shape[1]) >= 1024).reshape(
                    *y.shape[:2], *[1] * (y.ndim - 2)
                )
            )
        },
    ),
    Fault(
        "kernel-one-unwritten",
        "outputs unwritten for a kernel of 1",
        needs=WINDOWED,
        replaces={"reduce": _kernel_one, "gather": remember},
        bugs=("kernel_1x1_unwritten",),
    ),
    Fault(
        "kernel-one-subsamples",
        "pads ignored for a kernel of 1",
        needs=STRIDED & PADDED,
        replaces={"gather": _kernel_one_subsamples},
        bugs=("kernel_1x1_unwritten",),
    ),
    Fault(
        "first-pads-kept",
        "pads kept from an earlier call of the same kernel and strides",
        needs=PADDED,
        replaces={"pads": _first_pads_kept},
        remembers=True,
    ),
    Fault(
        "first-extent-kept",
        "the output size kept from an earlier call that differed in other attributes",
        needs=WINDOWED & Needs(some=("pads_begin", "auto_pad", "rounding")),
        replaces={"extent": _first_extent_kept},
        remembers=True,
    ),
    Fault(
        "first-divisor-kept",
        "divisors kept from an earlier call of the same output size",
        needs=INCLUDING,
        replaces={"divide": _first_divisor_kept},
        remembers=True,
    ),
    Fault(
        "added-to-previous-output",
        "the output added to that of the previous call",
        replaces={"reduce": _added_to_previous},
        remembers=True,
    ),
    Fault(
        "first-output-kept",
        "the output of an earlier call of the same shape returned",
        replaces={"reduce": _previous_result},
        remembers=True,
    ),
)
