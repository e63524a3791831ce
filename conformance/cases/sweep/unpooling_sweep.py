"""The cases of an unpooling: small geometries, kinds of numbers, indices anywhere and repeated.

Values are copied, and geometry is a few numbers of an axis, so that some cases of each kind take
the place of covering arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod

import numpy as np

from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, Layout, build, case_of, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Array, Case, Tier

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


def unpoolings(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases of an operator, but for its worked examples and invalid ones."""
    yield from _geometries(operator, seed)
    yield from _plain_stride(operator, seed)
    yield from _most(operator, _kinds(operator, seed))
    if operator.levels != "least":
        yield from _long(operator, seed)
    yield from _most(operator, _anywhere(operator, seed))
    yield from _most(operator, _repeated(operator))
    yield from _most(operator, _undefined(operator))


def _tier(operator: Operator) -> Tier:
    """Return the tier of its cases: where there are few, all of them are in the smallest."""
    return "smoke" if operator.levels == "least" else "standard"


def _types(operator: Operator) -> tuple[str, ...]:
    """Return the element types of its cases: fewer where other operators have the others."""
    if operator.levels == "least":
        return (suited.plain_type(operator),)
    floats = suited.floats(operator)
    return floats if operator.rank is None else tuple(t for t in floats if t in _OF_ONE_RANK)


def _most(operator: Operator, cases: Iterator[Case]) -> Iterator[Case]:
    return islice(cases, _LEAST) if operator.levels == "least" else cases


def _layout(turn: int, axes: int) -> Layout:
    """Return planes and axes in one combination after the other."""
    chosen = [_AXES[(turn + 3 * place) % len(_AXES)] for place in range(axes)]
    if axes > 2:
        chosen = [
            axis._replace(size=min(axis.size, _SHORT), strides=min(axis.strides, 2))
            for axis in chosen
        ]
    return _PLANES[turn % len(_PLANES)], tuple(chosen)


def _given(axes: Sequence[Axis], turn: int) -> tuple[Axis, ...]:
    """Return axes with an output size that is given."""
    more = _MORE[turn % len(_MORE)]
    return tuple(
        axis._replace(fixed_output=max(1, axis.unpooled + more[place % 2]))
        for place, axis in enumerate(axes)
    )


def _spec(
    operator: Operator, layout: Layout, tag: str, pattern: str = "index", dtype: str = ""
) -> CaseSpec:
    planes, axes = layout
    name = dtype or suited.plain_type(operator)
    return case_of_axes(operator, planes, axes, {}, name, pattern, tags=(tag,))


def _geometries(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield layouts without and with an output size, with indices of windows of either size."""
    for axes in suited.axes(operator):
        count = len(_AXES) if axes == 2 else _FEW if axes < 4 else 1
        if operator.levels == "least":
            count = _LEAST
        for turn in range(count):
            planes, numbers = _layout(turn, axes)
            spec = _spec(operator, (planes, numbers), "geometry")
            yield build(spec, seed=seed, tier=_tier(operator))
            given = _spec(operator, (planes, _given(numbers, turn)), "output size")
            case = build(given, seed=seed, tier=_tier(operator))
            yield case
            others = pooled_indices(operator, spec.shape, spec.attributes)
            if _extent(operator, spec) <= _extent(operator, given):
                yield _with_indices(operator, given, case.data, others, "indices of another size")


def _plain_stride(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield a case without a stride, which is then what the document says: 1, or the kernel."""
    axes = (Axis(3, 2), Axis(2, 3), Axis(2, 2))[: operator.rank or 2]
    spec = case_of_axes(
        operator,
        (1, 2),
        axes,
        {},
        suited.plain_type(operator),
        "index",
        roles=("kernel",),
        tags=("no stride",),
    )
    yield build(spec, seed=seed, tier=_tier(operator))


def _extent(operator: Operator, spec: CaseSpec) -> tuple[int, ...]:
    params = operator.stated(spec.attributes, spec.shape[2:])
    return operator.pipeline.extent(params, operator.pipeline.pads(params))


def _long(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield a long row, and many channels."""
    before = (Axis(1),) * ((operator.rank or 2) - 1)
    for planes, axis in (((1, 1), Axis(140, 1, 2)), ((1, 9), Axis(2, 2, 2))):
        spec = _spec(operator, (planes, (*before, axis)), "long", "impulses")
        yield build(spec, seed=seed)


def _kinds(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield kinds of numbers in every type."""
    axes = (*(Axis(1),) * 2, Axis(2, 2, 2), Axis(3, 2, 2))[-(operator.rank or 2) :]
    layout = (1, 1), axes
    plain = suited.plain_type(operator)
    kinds = (*product(_KINDS, _types(operator)), *product(_FURTHER_KINDS, (plain,)))
    for pattern, dtype in kinds:
        spec = _spec(operator, layout, "kind of number", pattern, dtype)
        yield build(spec, seed=seed, tier=_tier(operator))


def _anywhere(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield indices that no windows gave: any cells of the output, each at most once."""
    for turn in range(4):
        planes, axes = _layout(turn + 1, operator.rank or 1 + turn % 3)
        spec = _spec(operator, (planes, _given(axes, 2) if turn % 2 else axes), "")
        rng = np.random.default_rng([seed, turn])
        output = (*planes, *_extent(operator, spec))
        first = operator.constants["index_axis"]
        groups, cells = prod(output[:first]), prod(output[first:])
        count = prod(spec.shape) // groups
        if count <= cells:
            places = [rng.permutation(cells)[:count] for _ in range(groups)]
            data = build(spec, seed=seed).data
            yield _with_indices(operator, spec, data, np.array(places), "indices anywhere")


def _repeated(operator: Operator) -> Iterator[Case]:
    """Yield repeated indices, with values that are equal and with others."""
    for turn in range(2):
        spec = _spec(operator, _layout(turn, operator.rank or 2), "")
        indices = pooled_indices(operator, spec.shape, spec.attributes)
        indices = indices // 3 * 3
        ones = np.ones(spec.shape, build(spec, seed=0).data.dtype)
        for data in (ones, ones.cumsum(dtype=ones.dtype)):
            yield _with_indices(operator, spec, data.reshape(spec.shape), indices, "repeated index")


def _undefined(operator: Operator) -> Iterator[Case]:
    """Yield indices that are not of the output, and no data at all."""
    spec = _spec(operator, ((1, 2), (Axis(2, 2, 2),) * (operator.rank or 2)), "")
    data = build(spec, seed=0).data
    indices = pooled_indices(operator, spec.shape, spec.attributes)
    cells = prod((1, 2, *_extent(operator, spec))[operator.constants["index_axis"] :])
    for wrong in (-1, cells):
        changed = indices.copy()
        changed.reshape(-1)[-1] = wrong
        yield _with_indices(operator, spec, data, changed, "index outside of the output")
    for nothing in (data[:0], data[:, :0], data[..., :0]):
        none = np.zeros(nothing.shape, np.int64)
        yield _with_indices(operator, spec, nothing, none, "empty")


def _with_indices(
    operator: Operator, spec: CaseSpec, data: Array, indices: Array, tag: str
) -> Case:
    return case_of(
        operator.name,
        spec.attributes,
        (data, indices.reshape(data.shape).astype(np.int64)),
        pattern=spec.pattern,
        tier=_tier(operator),
        tags=(tag,),
    )
