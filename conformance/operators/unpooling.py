"""Unpooling: each cell of the data goes to the cell of the output that an index says.

It is the partial inverse of a maximum with indices. All other cells are zero. Values are copied, so
that every output is exact, whatever its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from conformance.errors import InvalidCase
from conformance.operators.clause import Clause, ruling
from conformance.operators.needs import UNPOOLINGS
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, inferred_extent
from conformance.operators.reduction import Reduction
from conformance.vector import Array

if TYPE_CHECKING:  # which is made of clauses
    from conformance.operators.operator import Operator

Ints = npt.NDArray[np.int64]


def is_outside(indices: Array, shape: tuple[int, ...], index_axis: int) -> bool:
    """Say whether an index is of no cell: those of axes from `index_axis` on of an output count."""
    return bool(((indices < 0) | (indices >= prod(shape[index_axis:]))).any())


@dataclass(frozen=True, slots=True)
class Scatter:
    """The step `reduce` of an unpooling: zeros, but for the cells that indices name.

    `space` says in which shape indices count cells: that of the "output", or the one that is
    "inferred" without a given size, of which the output then holds a copy in its low corner. Of
    several cells of the data for one of the output, the last in row-major order stays.
    """

    space: str = "output"

    def __call__(self, gathered: Gathered, _divisor: Divisor) -> Array:
        """Return the output; InvalidCase for an index of no cell."""
        data = gathered.data
        result = np.zeros((*data.shape[:2], *gathered.extent), data.dtype)
        result.reshape(-1)[self.places(gathered)] = data.ravel()
        return result

    def places(self, gathered: Gathered) -> Ints:
        """Return the place in the flat output of each cell of the flat data, (cells,)."""
        indices, params = gathered.gradient_or_indices, gathered.params
        if indices is None:
            raise ValueError("no indices")
        planes, first = gathered.data.shape[:2], params.index_axis
        output = (*planes, *gathered.extent)
        space = output
        if self.space == "inferred":
            pads = tuple(zip(params.pads_begin, params.pads_end, strict=True))
            space = (*planes, *(max(0, size) for size in inferred_extent(params, pads)))
        if is_outside(indices, space, first):
            raise InvalidCase(f"an index is outside of an output of shape {list(space)}")
        groups = prod(planes[:first])
        starts = np.arange(groups, dtype=np.int64) * prod(space[first:])
        places: Ints = (
            indices.reshape(groups, prod(indices.shape[first:])) + starts[:, np.newaxis]
        ).ravel()
        if space != output:
            places = np.ravel_multi_index(np.unravel_index(places, space), output)
        return places

    def contested(self, gathered: Gathered) -> npt.NDArray[np.bool_]:
        """Mark the cells of the output that get cells of the data with different bits."""
        places, data = self.places(gathered), gathered.data
        bits = np.ascontiguousarray(data).view(f"u{data.itemsize}").ravel()
        order = np.argsort(places, kind="stable")
        places, bits = places[order], bits[order]
        differ = (places[1:] == places[:-1]) & (bits[1:] != bits[:-1])
        shape = (*data.shape[:2], *gathered.extent)
        marked = np.zeros(prod(shape), np.bool_)
        marked[places[1:][differ]] = True
        return marked.reshape(shape)


UNPOOLING = Reduction(
    name="unpooling",
    sums=False,
    undefined="unpool-repeated-index",
    reduce=Scatter(),
    combine=np.add,
    empty=lambda _dtype: 0.0,
    scatters=True,
)


def _has_index_outside(operator: Operator, params: Params, inputs: Sequence[Array]) -> bool:
    data, indices = inputs
    extent = operator.pipeline.extent(params, operator.pipeline.pads(params))
    return is_outside(indices, (*data.shape[:2], *extent), params.index_axis)


UNDEFINED: tuple[Clause, ...] = (
    Clause(
        name="unpool-repeated-index",
        kind="undefined",
        needs=UNPOOLINGS,
        document="ONNX MaxUnpool-22",
        section="Summary",
        says="nothing about an index that several cells have, as those of overlapping windows may; "
        "PyTorch warns that the output may be nondeterministic",
        answer="the cells of the output that get different values; where all are the same, they "
        "are that value",
        evidence="on a CPU the last one stays in ONNX Runtime, ONNX's reference evaluator and "
        "PyTorch; on a GPU, any may",
    ),
    Clause(
        name="unpool-index-range",
        kind="undefined",
        needs=UNPOOLINGS,
        leaves_open=_has_index_outside,
        document="ONNX MaxUnpool-22",
        section="Inputs, I",
        says="a range of indices, nothing about those outside of it",
        answer="the whole case",
        evidence="ONNX Runtime and PyTorch refuse them; ONNX's reference evaluator counts negative "
        "ones from the end",
    ),
)

RULINGS: tuple[Clause, ...] = (
    ruling(
        "unpool-round-trip",
        "a partial inverse: what is unpooled and pooled again is the data",
        "cells without an index are zero, so that it is not where maxima are negative or "
        "windows overlap",
        "the texts set these cells to zero, and so does every engine",
        needs=UNPOOLINGS,
        document="ONNX MaxUnpool-22",
        section="Summary",
    ),
)
