"""Faults of outputs: memory layout, element type, further outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.faults.atoms import numbers
from conformance.faults.atoms.entries import (
    CHANNELS_LAST,
    FIRST_BATCH,
    FLATTENED,
    LAST_TWO,
    SQUEEZED,
    stored,
)
from conformance.faults.atoms.numbers import LARGEST_IF_INFINITE
from conformance.faults.behaviour import (
    EVERY,
    FURTHER,
    SPREAD,
    STRIDED,
    Behaviour,
    Faults,
    Replaces,
    after,
)
from conformance.faults.catalogue.values import first_of_planes, returning
from conformance.operators.needs import Needs
from conformance.vector import Array

# What is returned --------------------------------------------------------------------------------


def _returned(summary: str, change: Callable[[Array], Array], *, needs: Needs = EVERY) -> Behaviour:
    return Behaviour(summary, needs, returning(change))


def _axes_reversed(right: Array) -> Array:
    return np.transpose(right, (0, 1, *range(right.ndim - 1, 1, -1)))


# Outputs after the first -------------------------------------------------------------------------


def _further(change: Callable[[Array], Array]) -> Replaces:
    return after("further", lambda right, *_: tuple(map(change, right)))


def _of_first_window(right: Array) -> Array:
    first = first_of_planes(right)
    return np.broadcast_to(first, right.shape).copy()


FAULTS: Faults = {
    "output-last-axes-swapped": _returned(
        "the last two axes of the output swapped", LAST_TWO.of, needs=SPREAD
    ),
    "output-stored-transposed": _returned(
        "the output stored as if its last two axes were swapped",
        stored(LAST_TWO),
        needs=SPREAD,
    ),
    "output-axes-reversed": _returned(
        "the spatial axes of the output reversed", _axes_reversed, needs=SPREAD
    ),
    "output-channels-last": _returned("the output returned with channels last", CHANNELS_LAST.of),
    "output-stored-channels-last": _returned(
        "the output stored as if channels came last", stored(CHANNELS_LAST), needs=SPREAD
    ),
    "output-squeezed": _returned("axes of length 1 dropped from the output", SQUEEZED.of),
    "output-flattened": _returned(
        "the spatial axes of the output flattened",
        FLATTENED.of,
    ),
    "output-batch-dropped": _returned("the batch axis dropped", FIRST_BATCH.of),
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
    "output-clamped": numbers.results(LARGEST_IF_INFINITE, EVERY),
    "output-negated": _returned("the sign of the output lost", np.abs, needs=Needs(powers=False)),
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
