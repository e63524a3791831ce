"""Faults of outputs: unwritten tails, memory layout, element type, state, further outputs."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import prod
from typing import Any

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AVERAGES,
    EVERY,
    FURTHER,
    INCLUDING,
    PADDED,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    Replaces,
    after,
    instead,
)
from conformance.faults.catalogue.values import (
    GatheredWithGeometry,
    Mask,
    Reduce,
    entries,
    first_of_planes,
    reducing_with_geometry,
    returning,
)
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array

# Tails: the entries left over by a vectorised loop over groups of `lanes`, if there is a group ---


def _tail(axis: int, lanes: int) -> Mask:
    return entries(axis, lambda i, length: (length >= lanes) & (i >= length // lanes * lanes))


def _zero_where(mask: Mask) -> Replaces:
    return returning(lambda right: np.where(mask(right.shape), right.dtype.type(0), right))


def _tail_unwritten(axis: int, lanes: int) -> Replaces:
    return _zero_where(_tail(axis, lanes))


def _tail_repeated(axis: int, lanes: int) -> Replaces:
    def change(right: Array) -> Array:
        last_of_groups = right.shape[axis] // lanes * lanes - 1
        return np.where(_tail(axis, lanes)(right.shape), right.take([last_of_groups], axis), right)

    return returning(change)


def _tail_undivided(axis: int, lanes: int) -> Replaces:
    def reduced(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        right, undivided = reduce(gathered, divisor), reduce(gathered, np.minimum(divisor, 1))
        return np.where(_tail(axis, lanes)(right.shape), undivided, right)

    return instead("reduce", reduced)


# What is returned --------------------------------------------------------------------------------


def _returned(summary: str, change: Callable[[Array], Array], *, needs: Needs = EVERY) -> Behaviour:
    return Behaviour(summary, needs, returning(change))


def _unwritten(summary: str, mask: Mask, bug: str = "") -> Behaviour:
    return Behaviour(summary, EVERY, _zero_where(mask), bug)


def _last_of_several(i: Array, length: int) -> Any:
    return (i == length - 1) & (length > 1)


def _last_row(shape: tuple[int, ...]) -> Any:
    return entries(-2, _last_of_several)(shape) if len(shape) > 3 else False


def _transposed(right: Array) -> Array:
    return np.swapaxes(right, -1, -2) if right.ndim > 3 else right


def _stored_as(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the memory of the changed output in the right shape."""
    return lambda right: np.ascontiguousarray(change(right)).reshape(right.shape)


def _channels_last(right: Array) -> Array:
    return np.moveaxis(right, 1, -1)


def _axes_reversed(right: Array) -> Array:
    return np.transpose(right, (0, 1, *range(right.ndim - 1, 1, -1)))


def _kernel_one_unwritten(
    reduce: Reduce, gathered: GatheredWithGeometry, divisor: Divisor
) -> Array:
    right = reduce(gathered, divisor)
    return np.zeros_like(right) if max(gathered.params.kernel) == 1 else right


def _kernel_one_subsamples(
    right: Gathered, _data: Array, params: Params, _windows: Windows
) -> Gathered:
    """Read every s-th cell of the input, without padding, where the kernel has one cell."""
    if max(params.kernel) > 1:
        return right
    axes = zip(right.lo, params.strides, params.sizes, strict=True)
    lo = tuple(np.minimum(np.arange(len(a)) * s, d - 1) for a, s, d in axes)
    return Gathered(right.data, lo, tuple(a + 1 for a in lo))


# State between calls -----------------------------------------------------------------------------


def _first_kept(step: str, key: Callable[..., Any]) -> Replaces:
    """Return the result of an earlier call with the same key, which says too little of a call."""

    def wrap(right: Callable[..., Any]) -> Callable[..., Any]:
        cache: dict[Any, Any] = {}

        def other(*given: Any) -> Any:
            result = right(*given)
            return copy(cache.setdefault(key(result, *given), result))

        return other

    return {step: wrap}


def _added_to_previous(reduce: Reduce) -> Reduce:
    previous: dict[Any, Array] = {}

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        right = reduce(gathered, divisor)
        key = (right.shape, right.dtype)
        total = right + previous[key] if key in previous else right
        previous[key] = right
        return total.astype(right.dtype)

    return other


# Outputs after the first -------------------------------------------------------------------------


def _further(change: Callable[[Array], Array]) -> Replaces:
    return after("further", lambda right, *_: tuple(map(change, right)))


def _of_first_window(right: Array) -> Array:
    first = first_of_planes(right)
    return np.broadcast_to(first, right.shape).copy()


_TAILS = (
    ("unwritten", "left unwritten", EVERY, _tail_unwritten),
    ("repeated", "filled with the one before them", EVERY, _tail_repeated),
    ("undivided", "not divided", AVERAGES, _tail_undivided),
)
_TAIL_BUGS = {
    ("channel", 32, "unwritten"): "channel_tail_wrong_32",
    ("channel", 16, "undivided"): "channel_tail_wrong_16",
    ("channel", 8, "unwritten"): "channel_tail_wrong_8",
}

FAULTS: Faults = {
    **{
        f"{unit}-tail-{lanes}-{name}": Behaviour(
            f"{unit}s beyond groups of {lanes} {words}",
            needs,
            replaces(axis, lanes),
            _TAIL_BUGS.get((unit, lanes, name), ""),
        )
        for name, words, needs, replaces in _TAILS
        for unit, axis in (("column", -1), ("channel", 1))
        for lanes in (4, 8, 16, 32)
    },
    "output-last-axes-swapped": _returned("the last two axes of the output swapped", _transposed),
    "output-stored-transposed": _returned(
        "the output stored as if its last two axes were swapped", _stored_as(_transposed)
    ),
    "output-axes-reversed": _returned("the spatial axes of the output reversed", _axes_reversed),
    "output-channels-last": _returned("the output returned with channels last", _channels_last),
    "output-stored-channels-last": _returned(
        "the output stored as if channels came last", _stored_as(_channels_last)
    ),
    "output-squeezed": _returned(
        "axes of length 1 dropped from the output", lambda right: right.squeeze()
    ),
    "output-flattened": _returned(
        "the spatial axes of the output flattened",
        lambda right: right.reshape(*right.shape[:2], -1),
    ),
    "output-batch-dropped": _returned("the batch axis dropped", lambda right: right[0]),
    # Blocks lie the same way from both ends: adaptive pooling of mirrored data is mirrored.
    "output-mirrored": _returned(
        "the last axis of the output reversed", lambda right: right[..., ::-1], needs=STRIDED
    ),
    "output-float32": _returned(
        "the output returned as float32", lambda right: right.astype(np.float32)
    ),
    "output-float64": _returned(
        "the output returned as float64", lambda right: right.astype(np.float64)
    ),
    "output-negated": _returned("the sign of the output lost", np.abs),
    "last-batch-unwritten": _unwritten(
        "the last of several batches unwritten", entries(0, _last_of_several)
    ),
    "last-channel-unwritten": _unwritten(
        "the last of several channels unwritten", entries(1, _last_of_several)
    ),
    "last-output-unwritten": _unwritten(
        "the last output of every row unwritten", entries(-1, _last_of_several)
    ),
    "last-row-unwritten": _unwritten("the last row of the output unwritten", _last_row),
    "full-channel-blocks-unwritten": _unwritten(
        "every output unwritten for a multiple of 8 channels",
        entries(1, lambda i, length: (length % 8 == 0) & (i >= 0)),
    ),
    "channels-above-256-unwritten": _unwritten(
        "channels above 256 unwritten",
        entries(1, lambda i, _: i >= 256),
        bug="channel_beyond_256_wrong",
    ),
    "outputs-above-65535-unwritten": _unwritten(
        "outputs of a plane beyond 65,535 unwritten",
        lambda shape: (np.arange(prod(shape[2:])) > 65535).reshape(shape[2:]),
    ),
    "planes-above-1024-unwritten": _unwritten(
        "planes beyond 1,024 unwritten",
        lambda shape: (np.arange(prod(shape[:2])) >= 1024).reshape(
            *shape[:2], *[1] * (len(shape) - 2)
        ),
    ),
    "kernel-one-unwritten": Behaviour(
        "outputs unwritten for a kernel of 1",
        WINDOWED,
        reducing_with_geometry(_kernel_one_unwritten),
        bug="kernel_1x1_unwritten",
    ),
    "kernel-one-subsamples": Behaviour(
        "pads ignored for a kernel of 1",
        STRIDED & PADDED,
        after("gather", _kernel_one_subsamples),
        bug="kernel_1x1_unwritten",
    ),
    "first-pads-kept": Behaviour(
        "pads kept from an earlier call of the same kernel and strides",
        PADDED,
        _first_kept("pads", lambda _, p: (p.kernel, p.strides)),
        remembers=True,
    ),
    "first-extent-kept": Behaviour(
        "the output size kept from an earlier call that differed in other attributes",
        WINDOWED & Needs(some=("pads_begin", "auto_pad", "rounding")),
        _first_kept("extent", lambda _, p, _pads: (p.sizes, p.kernel, p.strides, p.output)),
        remembers=True,
    ),
    "first-divisor-kept": Behaviour(
        "divisors kept from an earlier call of the same output size",
        INCLUDING,
        _first_kept("divide", lambda right, *_: right.shape),
        remembers=True,
    ),
    "added-to-previous-output": Behaviour(
        "the output added to that of the previous call",
        EVERY,
        {"reduce": _added_to_previous},
        remembers=True,
    ),
    "first-output-kept": Behaviour(
        "the output of an earlier call of the same shape returned",
        EVERY,
        _first_kept(
            "reduce", lambda right, gathered, _: (gathered.data.shape, right.shape, right.dtype)
        ),
        remembers=True,
    ),
    "further-outputs-zero": Behaviour(
        "outputs after the first left at 0", FURTHER, _further(np.zeros_like)
    ),
    "further-outputs-of-first-window": Behaviour(
        "outputs after the first computed for the first window alone",
        FURTHER,
        _further(_of_first_window),
    ),
    "further-outputs-one-more": Behaviour(
        "outputs after the first one too large",
        FURTHER,
        _further(lambda right: right + right.dtype.type(1)),
    ),
    "further-outputs-reversed": Behaviour(
        "outputs after the first in reverse order",
        Needs(outputs=3),
        after("further", lambda right, *_: right[::-1]),
    ),
}
