"""Ladders: one dimension after the other grows from 17 to 65,537, and the others stay small.

Each rung is one more than a power of two: what is counted, tiled or indexed in so many bits or
blocks is one too many there. What can grow follows from the roles of an operator's attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import ceil, prod

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, Geometry, case_of_axes
from conformance.dtypes import dtype_of
from conformance.operators.axis import Axis, sizes
from conformance.operators.operator import Operator

RUNGS = (*(2**bits + 1 for bits in range(4, 13)), 2**16 + 1)
_FEW = 257
"""Up to this rung the other dimensions have a few cells; above they have one or two."""
_NARROW = 4097
"""Above this rung elements have two bytes where they can, and the first ranks take part, three for
one axis and two for several together: files that are checked stay in memory."""
_MOST_WINDOWS = 2049
"""Windows of an axis, at most: backends without vectors take microseconds for each."""
_MOST_BYTES = 2**18
"""Bytes of the data, at most: a whole suite stays in memory while it is checked."""
_DENSE = 40
"""Cells of a window up to which a single wrong one shows in dense data."""

_Grown = Callable[[int, int], Axis]
"""The numbers of an axis where something reaches a rung, and 0 or 1: padding or the like."""

_WINDOWS: dict[str, _Grown] = {
    "positions": lambda n, padded: Axis(n, 2 + padded, max(1, n // 1024), padded, padded),
    "kernel": lambda n, padded: Axis(n if padded else n + 2, n, 1, padded, padded),
    "strides": lambda n, padded: Axis(n + 2 - padded, 2, n, padded),
    "strides_and_pads": lambda n, _: Axis(3, n + 1, n, n, n),
    "dilations": lambda n, padded: Axis(n + 2, 2, 1, padded, padded, dilations=n),
    "pads_begin": lambda n, padded: Axis(3, n + 1, pads_begin=n, pads_end=padded),
    "pads_end": lambda n, padded: Axis(3, n + 1, pads_begin=padded, pads_end=n),
}
_ROLES = {"strides_and_pads": {"strides", "pads_begin", "pads_end"}}
_BLOCKS: dict[str, _Grown] = {
    "positions": lambda n, _: Axis(n, output=n // 33 + 2),
    "kernel": lambda n, halved: Axis(n, output=1 + halved),
    "output": lambda n, wider: Axis(5 if wider else 3, output=n),
    "both sizes": lambda n, odd: Axis(n, output=n - 1 - odd),
}
_PLANES: dict[str, _Grown] = {"kernel": lambda n, _: Axis(n, n)}
_OF_ALL_AXES = ("positions", "kernel", "output")
"""What grows on all axes together, too: positions of a plane, cells of a window, outputs."""

_LONG_ROWS: tuple[Geometry, ...] = (
    ((1, 1), (Axis(4113, 2, output=4110),)),
    ((1, 2), (Axis(4099, 3, 1, 1, 1, output=4098),)),
    ((2, 1), (Axis(4609, 2, 1, 1, output=4612),)),
    ((1, 1), (Axis(2, 2, output=1), Axis(4101, 3, 1, 1, output=4101))),
    ((1, 1), (Axis(3, 2, output=2), Axis(4222, 2, output=4200))),
)
"""Rows of more than 4,096 outputs."""


_ALONE = 33
"""Cells of one axis beside others of one: a block of threads or of lanes has no more than 32."""
_DEEP, _PLANE_OF_DEEP = 512, 25
"""Channels, and the least cells of their windows: both are large, as in the last layers of models.
"""
_Rung = tuple[str, tuple[int, int], list[Axis]]
"""A dimension that has reached a number, batch and channels, and each spatial axis."""


def long_rows(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases with more outputs in a row than the rungs have, for operators that have rows."""
    if operator.is_gradient or not {"kernel", "output"} & operator.roles:
        return
    dtype, tags = levels.floats(operator)[0], ("large: a row of more than 4,096 outputs",)
    for planes, axes in _LONG_ROWS:
        yield case_of_axes(operator, planes, axes, "names", dtype=dtype, tags=tags)


def axes_alone(operator: Operator) -> Iterator[CaseSpec]:
    """Yield gradients along one axis after the other of a volume, of windows of one cell if any.

    Where the numbers of blocks of two axes are swapped, cells beyond the first block have none.
    """
    if not operator.is_gradient:
        return
    pattern, tier = levels.patterns(operator)[0], levels.kind_tier(operator)
    rank = min(3, levels.axes(operator)[-1])
    for place in range(rank):
        axes = [Axis(_ALONE if place == i else 1) for i in range(rank)]
        axes = [axis._replace(output=axis.size) for axis in axes]
        yield case_of_axes(operator, (1, 1), axes, pattern, tier=tier, tags=("one axis alone",))


def deep_windows(operator: Operator) -> Iterator[CaseSpec]:
    """Yield a case of many channels with a large window, and with data that store small."""
    rank = 2 if operator.takes_axes(2) else operator.axes[0]
    side = ceil(_PLANE_OF_DEEP ** (1 / rank))
    dtype, pattern = "", "integers"
    if operator.forward is not None:  # as large as the data: the gradient tells channels apart
        dtype = levels.floats(operator)[0]
        pattern = "ones" if operator.forward.reduction.sums else "index"
    axes, tier = [Axis(side, side)] * rank, levels.kind_tier(operator)
    tags = ("many channels with a large window",)
    yield case_of_axes(operator, (1, _DEEP), axes, pattern, dtype, tier=tier, tags=tags)


def ladders(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases in which a dimension is large; types, words and padding take turns."""
    words = list(levels.word_choices(operator, "rounding", "include_pad"))
    for step, number in enumerate(RUNGS if operator.levels == "all" else RUNGS[1::4]):
        for place, (what, planes, axes) in enumerate(_rungs(operator, number, step)):
            turn = step + place
            cells = prod(axis.cells(operator) for axis in axes)
            types = _types(operator, cells, len(axes))
            if number > _NARROW:
                types = [name for name in types if dtype_of(name).itemsize <= 2] or types[:1]
            if not types or max(axis.output for axis in axes) > _MOST_WINDOWS:
                continue
            dtype = types[turn % len(types)]
            if prod((*planes, *sizes(axes))) * dtype_of(dtype).itemsize <= _MOST_BYTES:
                pattern = "names" if cells <= _DENSE else "edges"
                said, tags = words[turn // 2 % len(words)], (f"large: {what}, {number:,}",)
                yield case_of_axes(operator, planes, axes, pattern, dtype, said, tags=tags)


def _rungs(operator: Operator, n: int, step: int) -> Iterator[_Rung]:
    """Yield every dimension of an operator at `n`; `step` rotates what is left open."""
    grown, beside = _grown(operator)
    ranks = levels.axes(operator)
    padded = step % 2

    def small(rank: int) -> list[Axis]:
        few = [beside[(step + i) % 2] for i in range(rank)]
        return few if n <= _FEW else [*(Axis(1),) * (rank - 1), Axis(1 if n > _NARROW else 2)]

    few_ranks = n > _NARROW
    for rank in ranks[:3] if few_ranks else ranks:
        for (what, growing), place in product(grown.items(), range(rank)):
            axes = small(rank)
            axes[place] = growing(n, (step + place) % 2)
            yield f"{what} of axis {place + 1} of {rank}", (1, 1), axes
        if few_ranks and rank > ranks[0] + 1:
            continue
        for what in _OF_ALL_AXES:
            if what in grown and rank > 1:
                axes = [grown[what](side, padded) for side in _sides(n, rank)]
                yield f"{what} of {rank} axes", (1, 2 if n <= _FEW else 1), axes
        for what, more in (("rows", small(1)), ("elements", [])):
            batch, channels, *extents = _sides(n, rank + 2 - len(more))
            axes = [*map(_third, extents), *more]
            yield f"{what} of {rank} axes", (batch, channels), axes
    rank = ranks[step % len(ranks)]
    yield "batch", (n, 1), small(rank)
    yield "channels", (1, n), small(rank)


def _grown(operator: Operator) -> tuple[dict[str, _Grown], tuple[Axis, Axis]]:
    """Return what of an axis can grow, and small axes to stand beside it."""
    if operator.is_adaptive:
        return _BLOCKS, (Axis(3, output=2), Axis(4, output=3))
    if not operator.has_windows:
        return _PLANES, (Axis(3, 3), Axis(2, 2))
    grown = {
        what: line
        for what, line in _WINDOWS.items()
        if what == "positions" or operator.roles >= _ROLES.get(what, {what})
    }
    return grown, (Axis(3, 2), Axis(4, 3))


def _third(size: int) -> Axis:
    """Return an axis with a window for three cells, so that files stay small."""
    return Axis(size, min(size, 3), 3, output=size // 3 + 1)


def _sides(number: int, dimensions: int) -> tuple[int, ...]:
    """Return numbers about equal, the last one odd, whose product is `number` or a little more."""
    side = max(2, round(number ** (1 / dimensions)))
    last = ceil(number / side ** (dimensions - 1))
    return (*(side,) * (dimensions - 1), max(3, last | 1))


def _types(operator: Operator, cells: int, axes: int) -> Sequence[str]:
    """Return the element types for windows of so many cells: those whose bounds say something."""
    types = levels.types(operator) if cells <= _DENSE else levels.floats(operator)
    return levels.with_bounds(operator, types, cells, axes)
