"""Indices for an unpooling, as a maximum of windows might have given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.operators.operator import Operator

_MULTIPLIER = 0x9E3779B1
"""A prime near 2^32 over the golden ratio: multiples of it spread evenly over 32 bits."""


def pooled_indices(
    operator: Operator, shape: Sequence[int], attributes: Mapping[str, Any]
) -> npt.NDArray[np.int64]:
    """Return indices of the `shape` (N, C, d1..dr) of the data: a cell of each window.

    Which one depends on the number of the window alone. Cells are of the output, whose cell nearest
    to a window that lies outside stands for it; windows that overlap may have one in common.
    """
    params = operator.stated(attributes, tuple(shape[2:]))
    pads = operator.pipeline.pads(params)
    extent = [max(1, o) for o in operator.pipeline.extent(params, pads)]
    output = (*shape[:2], *extent)
    number = np.arange(prod(shape), dtype=np.uint64).reshape(shape)
    axes = zip(extent, params.kernel, params.strides, pads, strict=True)
    places = list(np.indices(shape, sparse=True))
    for axis, (o, k, s, (begin, _)) in enumerate(axes, 2):
        start = places[axis] * s - begin
        first = np.clip(start, 0, o - 1)
        cells = np.clip(start + k, first + 1, o) - first
        number ^= number >> np.uint64(16)
        number = (number * np.uint64(_MULTIPLIER) + np.uint64(axis)) & np.uint64(0xFFFFFFFF)
        places[axis] = first + ((number * cells.astype(np.uint64)) >> np.uint64(32)).astype(
            np.int64
        )
    indices: npt.NDArray[np.int64] = np.zeros(shape, np.int64)
    for axis in range(params.index_axis, len(shape)):
        indices = indices * output[axis] + places[axis]
    return indices
