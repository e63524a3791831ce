"""The recipes of tier `large`: one for each way in which a size leaves what a number holds.

Each axis of the small data is five blocks, the middle one repeated, whose length is no divisor of a
power of two: a position that has lost its upper bits reads another value. The values of a block are
all different, and other ones in each plane. Impulses stand in the corners of the data, so in the
first and the last block of each axis: nowhere but at the ends of the large tensor.

Values are small integers and windows of averages have a power of two of cells, so that any sound
sum is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from types import MappingProxyType

import numpy as np

from conformance.cases.large.recipe import Recipe
from conformance.cases.sweep.sweep_model import case_of, case_of_axes
from conformance.dtypes import dtype_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.operators.axis import Axis
from conformance.repeated import Run
from conformance.vector import Array

_BLOCKS = 5
_MIDDLE = _BLOCKS // 2
_PLANES = 5
"""Batches or channels of the small data where they are repeated: those between first and last."""
_LARGEST = 100
"""Values of a block are at most this; impulses are above, and all are in every element type."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers to leave behind: what a signed index holds, a count of planes, a float32.

    An unsigned index holds twice as much as a signed one.
    """

    index: int = 1 << 31
    count: int = 1 << 16
    exact: int = 1 << 24


LIMITS = Limits()
_ONCE = Run()
_OF_ALL: Mapping[str, object] = MappingProxyType({})
_OF_PLANE: Mapping[str, object] = MappingProxyType({"index_axis": 2})
_NARROW: Mapping[str, object] = MappingProxyType({"index_type": "int32", "index_axis": 2})
"""Indices, as a document has them by default, of each plane alone, and in 32 bits besides."""


@dataclass(frozen=True, slots=True)
class _LargeAxis:
    """An axis: the numbers of the small case, its block, and what of it is repeated."""

    small: Axis
    block: int
    run: Run = _ONCE


def _sliding(size: int, kernel: int, stride: int, block: int, pad: int = 0) -> _LargeAxis:
    """Return an axis of `size` cells at least."""
    small = Axis(_BLOCKS * block, kernel, stride, pad, pad)
    return _LargeAxis(small, block, _repeated(size, block, block // stride))


def _single(size: int) -> _LargeAxis:
    """Return an axis that is one window, and not repeated."""
    return _LargeAxis(Axis(size, size, size), size)


def _divided(size: int, block: int, outputs: int) -> _LargeAxis:
    """Return an axis of `size` cells at least, with so many windows on each block."""
    small = Axis(_BLOCKS * block, output=_BLOCKS * outputs)
    return _LargeAxis(small, block, _repeated(size, block, outputs))


def _swallowed(size: int, block: int = 10) -> _LargeAxis:
    """Return an axis of `size` cells at least, all in one window."""
    return _LargeAxis(Axis(_BLOCKS * block), block, _repeated(size, block, 0))


def _repeated(size: int, block: int, outputs: int) -> Run:
    """Return the run of the middle block, so often that all blocks are `size` cells or more."""
    times = max(1, -(-(size - (_BLOCKS - 1) * block) // block))
    return Run(_MIDDLE * block, (_MIDDLE + 1) * block, times, _MIDDLE * outputs, outputs)


def _planes(count: int) -> Run:
    """Return a run of batches or channels, of which there are `count` at least."""
    times = max(1, -(-(count - 2) // (_PLANES - 2)))
    return Run(1, _PLANES - 1, times, 1, _PLANES - 2)


def _data(planes: Sequence[int], axes: Sequence[_LargeAxis], dtype: str, *, zeros: bool) -> Array:
    """Return the small data, of shape (*planes, d1..dr); blocks of zeros if asked for."""
    rng = np.random.default_rng(prod(planes))
    shape = tuple(axis.small.size for axis in axes)
    blocks = tuple(axis.block for axis in axes)
    repeats = [size // block for size, block in zip(shape, blocks, strict=True)]
    ends = [(0, -1) if axis.run.times > 1 else () for axis in axes]
    data = np.empty((*planes, *shape), np.int64)
    for plane in np.ndindex(*planes):
        values = (rng.permutation(_LARGEST)[: prod(blocks)] + 1) * (not zeros)
        data[plane] = np.tile(values.reshape(blocks), repeats)
        for number, corner in enumerate(product(*ends), 1):
            data[(*plane, *corner)] = _LARGEST + number
    return data.astype(dtype_of(dtype))


def _recipe(
    name: str,
    dtype: str,
    what: str,
    axes: Sequence[_LargeAxis],
    planes: tuple[int, int] = (1, 1),
    indices: Mapping[str, object] = _OF_ALL,
) -> Recipe:
    """Return a recipe with so many batches and channels at least.

    `indices` says by role what indices are like, for operators that have such attributes.
    """
    operator = OPERATORS[name]
    of_planes = [_planes(count) if count > _PLANES else _ONCE for count in planes]
    counts = [_PLANES if run.times > 1 else n for run, n in zip(of_planes, planes, strict=True)]
    small = [axis.small for axis in axes]
    words = {"include_pad": False, **indices}
    spec = case_of_axes(operator, (counts[0], counts[1]), small, what, dtype=dtype, words=words)
    swallowed = any(axis.run.added and not axis.run.outputs for axis in axes)
    zeros = operator.reduction.sums and swallowed
    inputs = spec.own_inputs(_data(counts, axes, dtype, zeros=zeros))
    source = f"{operator.document}: no size is too large"
    case = case_of(operator.name, spec.attributes, inputs, pattern=what, source=source)
    return Recipe(case, (*of_planes, *(axis.run for axis in axes)), what)


@cache
def named() -> dict[str, Recipe]:
    """Return the recipes of the tier by id."""
    return {recipe.id: recipe for recipe in recipes()}


def recipe_named(name: str) -> Recipe:
    """Return the recipe with an id; UsageError if there is none."""
    try:
        return named()[name]
    except KeyError:
        raise UsageError(f"no recipe {name!r}; check --tier large lists those there are") from None


def recipes(limits: Limits = LIMITS) -> Iterator[Recipe]:
    """Yield the recipes of the tier, whose sizes are just above some limits."""
    yield from _maxima(limits)
    yield from _averages(limits)
    yield from _adaptive(limits)
    yield from _whole(limits)


def _maxima(limits: Limits) -> Iterator[Recipe]:
    signed, unsigned = limits.index, 2 * limits.index
    for name in ("MaxPool-8", "ONNX-MaxPool-22"):
        line = _sliding(limits.exact, 3, 2, 10, pad=1)
        yield _recipe(name, "float32", "axis past 2^24", [line], (1, 2), _NARROW)
        yield _recipe(name, "float16", "axis past 2^31", [_sliding(signed, 15, 15, 30)])
        yield _recipe(name, "int8", "plane past 2^31", _square(signed))
        yield _recipe(name, "int8", "plane past 2^32", _square(unsigned))
        yield _recipe(name, "int8", "channels past 2^16 and 2^31", *_many(limits), _NARROW)
    side = _root(signed, 3)
    volume = [_sliding(side, 3, 3, 3), _sliding(side, 5, 5, 5), _sliding(side, 3, 3, 6)]
    yield _recipe("MaxPool-8", "int8", "volume past 2^31", volume)
    for what, cells in (("bytes past 2^31", signed // 4), ("bytes past 2^32", unsigned // 4)):
        yield _recipe("MaxPool-8", "float32", what, _square(cells // 3), (1, 3), _OF_PLANE)
    name = "MaxPool-1"
    axes = [_single(1), _sliding(unsigned, 15, 15, 30)]  # int8 is rarer on a single axis
    yield _recipe(name, "int8", "axis past 2^32", axes)
    line = _sliding(_root(signed), 2, 1, 10, pad=1)
    yield _recipe(name, "int8", "output past 2^31", [line, line])
    both = (limits.count + 1, limits.count + 1)
    yield _recipe(name, "int8", "batch and channels past 2^16", [_single(1), _single(1)], both)
    for what, planes in _few_planes(limits):
        yield _recipe("MaxPool-8", "float32", what, [_single(2), _single(3)], planes)


def _averages(limits: Limits) -> Iterator[Recipe]:
    signed, unsigned = limits.index, 2 * limits.index
    for name in ("AvgPool-1", "ONNX-AveragePool-22"):
        line = _sliding(limits.exact, 4, 2, 10)
        yield _recipe(name, "float32", "axis past 2^24", [line], (1, 2))
        yield _recipe(name, "float16", "axis past 2^31", [_sliding(signed, 8, 8, 24)])
        yield _recipe(name, "float16", "plane past 2^31", _oblong(signed))
    name = "AvgPool-1"
    for what, cells in (("bytes past 2^31", signed // 4), ("bytes past 2^32", unsigned // 4)):
        yield _recipe(name, "float32", what, _oblong(cells // 3), (1, 3))
    axes = _oblong(signed // limits.count)
    yield _recipe(name, "float16", "channels past 2^16 and 2^31", axes, (1, limits.count + 1))
    planes = (limits.count + 1, signed // limits.count + 1)
    yield _recipe(name, "float16", "planes past 2^31", [_single(1), _single(1)], planes)
    for what, planes in _few_planes(limits):
        yield _recipe(name, "float32", what, [_single(2), _single(4)], planes)


def _adaptive(limits: Limits) -> Iterator[Recipe]:
    for name in ("AdaptiveAvgPool-8", "AdaptiveMaxPool-8"):
        for what, limit in (("2^31", limits.index), ("2^32", 2 * limits.index)):
            # the product of a place in the output, of up to 2 d / 3, and the size d
            line = _divided(_root(limit * 3 // 2) + 15, 3, 2)
            yield _recipe(name, "float32", f"place by size past {what}", [line], (1, 2))
        axes = [_divided(_root(limits.index), 15, 2), _divided(_root(limits.index), 6, 3)]
        yield _recipe(name, "float16", "plane past 2^31", axes)
        for what, planes in _few_planes(limits):
            axes = [_divided(0, 3, 2), _divided(0, 3, 2)]
            yield _recipe(name, "float32", what, axes, planes, _NARROW)


def _whole(limits: Limits) -> Iterator[Recipe]:
    """Yield maxima over planes whose last cell is the largest, and averages of the corners."""
    for name in ("AdaptiveAvgPool-8", "ONNX-GlobalAveragePool-22"):
        for what, cells in (("2^24", limits.exact), ("2^31", limits.index)):
            axes = [_swallowed(_root(cells))] * 2
            yield _recipe(name, "float32", f"mean past {what}", axes)
    for name in ("AdaptiveMaxPool-8", "ONNX-GlobalMaxPool-22"):
        axes = [_swallowed(_root(limits.index))] * 2
        yield _recipe(name, "float16", "window past 2^31", axes)
    axes = [_swallowed(_root(2 * limits.index))] * 2
    yield _recipe("ONNX-GlobalMaxPool-22", "float16", "window past 2^32", axes)


def _few_planes(limits: Limits) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield batches, then channels, beyond the limit, each with three of the other."""
    yield "batch past 2^16", (limits.count + 1, 3)
    yield "channels past 2^16", (3, limits.count + 1)


def _square(cells: int) -> list[_LargeAxis]:
    """Return two axes of maxima with so many cells at least."""
    return [_sliding(_root(cells), 5, 5, 10), _sliding(_root(cells), 5, 5, 10)]


def _oblong(cells: int) -> list[_LargeAxis]:
    """Return two axes of averages, of eight cells each, with so many cells at least."""
    return [_sliding(_root(cells), 4, 4, 12), _sliding(_root(cells), 2, 2, 6)]


def _many(limits: Limits) -> tuple[list[_LargeAxis], tuple[int, int]]:
    """Return axes and planes with more channels and more elements than two of the limits."""
    return _square(limits.index // limits.count), (1, limits.count + 1)


def _root(cells: int, axes: int = 2) -> int:
    """Return how long axes of equal lengths are that have so many cells and a few more."""
    return int(cells ** (1 / axes)) + 2
