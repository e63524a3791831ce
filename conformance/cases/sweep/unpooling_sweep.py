"""The cases of an unpooling: small geometries, kinds of numbers, indices anywhere and repeated.

Values are copied, and geometry is a few numbers of an axis, so that some cases of each kind take
the place of covering arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod

import numpy as np

from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import (
    CaseSpec,
    Geometry,
    build,
    case_of_axes,
    plain_type,
)
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Array

_AXES = (
    Axis(3, 2, 2),
    Axis(2, 3, 2, 0, 1),
    Axis(4, 3, 1),
    Axis(3, 2, 3),
    Axis(3, 3, 2, 1, 1),
    Axis(2, 4, 3, 1, 0),
    Axis(1, 3, 3),
)
"""Windows that touch, overlap or lie apart, with padding at both ends, one or none."""
_PLANES = ((2, 2), (1, 1), (2, 1), (1, 2), (1, 3))
_MORE = ((1, 0), (0, 2), (1, 1), (-1, 0), (0, -1), (0, 1), (2, 3))
"""Cells that a given output size has beyond the one that is inferred, on axes in turn."""
_KINDS = ("lossy", "nan-encodings", "infinities", "subnormals")
_FURTHER_KINDS = ("normals", "negative", "signed-zeros")
"""Kinds of numbers, of every type and of float32 alone."""
_FEW, _LEAST = 2, 2
"""Of cases of other numbers of axes than two, and of an operator with the fewest levels."""
_OF_ONE_RANK = ("float32", "float64", "bfloat16")
"""Element types of operators of one number of axes: each is another part of a file."""
_SHORT = 2
"""Cells of the data on each of three axes and more, at most."""


def unpoolings(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases of an operator, but for its worked examples and invalid ones."""
    yield from _geometries(operator)
    yield from _plain_stride(operator)
    yield from _most(operator, _kinds(operator))
    if operator.levels != "least":
        yield from _long(operator)
    yield from _most(operator, _anywhere(operator))
    yield from _most(operator, _repeated(operator))
    yield from _most(operator, _undefined(operator))


def _types(operator: Operator) -> tuple[str, ...]:
    """Return the element types of its cases: fewer where other operators have the others."""
    if operator.levels == "least":
        return (plain_type(operator),)
    floats = levels.floats(operator)
    return floats if operator.rank is None else tuple(t for t in floats if t in _OF_ONE_RANK)


def _most(operator: Operator, cases: Iterator[CaseSpec]) -> Iterator[CaseSpec]:
    return islice(cases, _LEAST) if operator.levels == "least" else cases


def _geometry(turn: int, axes: int) -> Geometry:
    """Return planes and axes in one combination after the other."""
    chosen = [_AXES[(turn + 3 * place) % len(_AXES)] for place in range(axes)]
    if axes > 2:
        chosen = [
            axis._replace(size=min(axis.size, _SHORT), strides=min(axis.strides, 2))
            for axis in chosen
        ]
    return _PLANES[turn % len(_PLANES)], tuple(chosen)


def _sized(axes: Sequence[Axis], turn: int) -> tuple[Axis, ...]:
    """Return axes with an output size that is given."""
    more = _MORE[turn % len(_MORE)]
    return tuple(
        axis._replace(fixed_output=max(1, axis.unpooled + more[place % 2]))
        for place, axis in enumerate(axes)
    )


def _spec(
    operator: Operator,
    planes: tuple[int, int],
    axes: Sequence[Axis],
    tag: str,
    pattern: str = "index",
    dtype: str = "",
) -> CaseSpec:
    tier = levels.kind_tier(operator)
    return case_of_axes(operator, planes, axes, pattern, dtype, tier=tier, tags=(tag,))


def _geometries(operator: Operator) -> Iterator[CaseSpec]:
    """Yield geometries without and with an output size, with indices of windows of either size."""
    for axes in levels.axes(operator):
        count = len(_AXES) if axes == 2 else _FEW if axes < 4 else 1
        for turn in range(_LEAST if operator.levels == "least" else count):
            planes, numbers = _geometry(turn, axes)
            spec = _spec(operator, planes, numbers, "geometry")
            sized = _spec(operator, planes, _sized(numbers, turn), "output size")
            yield spec
            yield sized
            if _extent(operator, spec) <= _extent(operator, sized):
                others = replace(sized, tags=("indices of another size",))
                yield _with_indices(others, pooled_indices(operator, spec.shape, spec.attributes))


def _plain_stride(operator: Operator) -> Iterator[CaseSpec]:
    """Yield a case without a stride, which is then what the document says: 1, or the kernel."""
    yield case_of_axes(
        operator,
        (1, 2),
        (Axis(3, 2), Axis(2, 3), Axis(2, 2))[: operator.rank or 2],
        "index",
        roles=("kernel",),
        tier=levels.kind_tier(operator),
        tags=("no stride",),
    )


def _extent(operator: Operator, spec: CaseSpec) -> tuple[int, ...]:
    params = operator.stated(spec.attributes, spec.shape[2:])
    return operator.pipeline.extent(params, operator.pipeline.pads(params))


def _long(operator: Operator) -> Iterator[CaseSpec]:
    """Yield a long row, and many channels."""
    before = (Axis(1),) * ((operator.rank or 2) - 1)
    for planes, axis in (((1, 1), Axis(140, 1, 2)), ((1, 9), Axis(2, 2, 2))):
        yield _spec(operator, planes, (*before, axis), "long", "impulses")


def _kinds(operator: Operator) -> Iterator[CaseSpec]:
    """Yield kinds of numbers in every type."""
    axes = (*(Axis(1),) * 2, Axis(2, 2, 2), Axis(3, 2, 2))[-(operator.rank or 2) :]
    further = product(_FURTHER_KINDS, (plain_type(operator),))
    for pattern, dtype in (*product(_KINDS, _types(operator)), *further):
        yield _spec(operator, (1, 1), axes, "kind of number", pattern, dtype)


def _anywhere(operator: Operator) -> Iterator[CaseSpec]:
    """Yield indices that no windows gave: any cells of the output, each at most once."""
    for turn in range(4):
        planes, axes = _geometry(turn + 1, operator.rank or 1 + turn % 3)
        spec = _spec(operator, planes, _sized(axes, 2) if turn % 2 else axes, "indices anywhere")
        rng = np.random.default_rng([0, turn])
        output = (*planes, *_extent(operator, spec))
        first = operator.constants["index_axis"]
        groups, cells = prod(output[:first]), prod(output[first:])
        count = prod(spec.shape) // groups
        if count <= cells:
            places = [rng.permutation(cells)[:count] for _ in range(groups)]
            yield _with_indices(spec, np.array(places))


def _repeated(operator: Operator) -> Iterator[CaseSpec]:
    """Yield repeated indices, with values that are equal and with others."""
    for turn in range(2):
        spec = _spec(operator, *_geometry(turn, operator.rank or 2), "repeated index")
        indices = pooled_indices(operator, spec.shape, spec.attributes) // 3 * 3
        yield _with_indices(spec, indices, np.ones(spec.shape))
        yield _with_indices(spec, indices)


def _undefined(operator: Operator) -> Iterator[CaseSpec]:
    """Yield indices that are not of the output, and no data at all."""
    axes = (Axis(2, 2, 2),) * (operator.rank or 2)
    spec = _spec(operator, (1, 2), axes, "index outside of the output")
    data, indices = build(spec, seed=0).inputs
    cells = prod((1, 2, *_extent(operator, spec))[operator.constants["index_axis"] :])
    for wrong in (-1, cells):
        changed = indices.copy()
        changed.reshape(-1)[-1] = wrong
        yield _with_indices(spec, changed)
    for nothing in (data[:0], data[:, :0], data[..., :0]):
        empty = spec.with_data(nothing, np.zeros(nothing.shape, np.int64))
        yield replace(empty, tags=("empty",))


def _with_indices(spec: CaseSpec, indices: Array, data: Array | None = None) -> CaseSpec:
    """Return a case with other indices, and maybe other data."""
    filled = build(spec, seed=0).data
    values = filled if data is None else data.astype(filled.dtype)
    return spec.with_data(values, indices.reshape(spec.shape).astype(np.int64))
