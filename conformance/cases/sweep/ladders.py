"""Ladders: one dimension after the other grows from 17 to 65,537, and the others stay small.

Each rung is one more than a power of two: what is counted, tiled or indexed in so many bits or
blocks is one too many there. What can grow follows from the roles of an operator's attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, prod
from typing import NamedTuple

from conformance.cases.axis import Axis, by_role, sizes
from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_spec
from conformance.dtypes import dtype_of
from conformance.operators.operator import Operator
from conformance.vector import Case

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


_LONG_ROWS: tuple[tuple[tuple[int, int], tuple[Axis, ...]], ...] = (
    ((1, 1), (Axis(4113, 2, output=4110),)),
    ((1, 2), (Axis(4099, 3, 1, 1, 1, output=4098),)),
    ((2, 1), (Axis(4609, 2, 1, 1, output=4612),)),
    ((1, 1), (Axis(2, 2, output=1), Axis(4101, 3, 1, 1, output=4101))),
    ((1, 1), (Axis(3, 2, output=2), Axis(4222, 2, output=4200))),
)
"""Batch and channels, and each axis: rows of more than 4,096 outputs."""


class _Rung(NamedTuple):
    """A dimension that has reached a number: the shape (N, C) and each spatial axis."""

    what: str
    planes: tuple[int, ...]
    lines: list[Axis]


def ladders(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases in which a dimension is large."""
    for spec in ladder_specs(operator):
        yield build(spec, seed=seed)


def long_rows(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield cases with more outputs in a row than the rungs have, for operators that have rows."""
    if operator.is_gradient or not {"kernel", "output"} & operator.roles:
        return
    dtype, fewest = suited.floats(operator)[0], operator.axes[0]
    for planes, lines in _LONG_ROWS:
        every = [line.said(operator) for line in ((Axis(1),) * (fewest - len(lines)) + lines)]
        words = next(suited.word_choices(operator))
        shape, tags = (*planes, *sizes(every)), ("large: a row of more than 4,096 outputs",)
        numbers = {**by_role(every), **words}
        yield build(case_spec(operator, shape, numbers, dtype, "names", tags=tags), seed=seed)


def ladder_specs(operator: Operator) -> Iterator[CaseSpec]:
    """Yield them without data; element types, words and padding take turns."""
    words = list(suited.word_choices(operator, "rounding", "include_pad"))
    for step, number in enumerate(RUNGS if operator.levels == "all" else RUNGS[1::4]):
        for place, (what, planes, lines) in enumerate(_rungs(operator, number, step)):
            turn = step + place
            cells = prod(line.cells(operator) for line in lines)
            types = _types(operator, cells, len(lines))
            if number > _NARROW:
                types = [name for name in types if dtype_of(name).itemsize <= 2] or types[:1]
            if not types or max(line.output for line in lines) > _MOST_WINDOWS:
                continue
            dtype, shape = types[turn % len(types)], (*planes, *sizes(lines))
            if prod(shape) * dtype_of(dtype).itemsize > _MOST_BYTES:
                continue
            yield case_spec(
                operator,
                shape,
                {**by_role(lines), **words[turn // 2 % len(words)]},
                dtype,
                "names" if cells <= _DENSE else "edges",
                tags=(f"large: {what}, {number:,}",),
            )


def _rungs(operator: Operator, n: int, step: int) -> Iterator[_Rung]:
    """Yield every dimension of an operator at `n`; `step` rotates what is left open."""
    grown, beside = _grown(operator)
    ranks = suited.axes(operator)
    padded = step % 2

    def small(axes: int) -> list[Axis]:
        few = [beside[(step + i) % 2] for i in range(axes)]
        return few if n <= _FEW else [*(Axis(1),) * (axes - 1), Axis(1 if n > _NARROW else 2)]

    few_ranks = n > _NARROW
    for axes in ranks[:3] if few_ranks else ranks:
        for (what, line), axis in ((each, axis) for each in grown.items() for axis in range(axes)):
            lines = small(axes)
            lines[axis] = line(n, (step + axis) % 2).said(operator)
            yield _Rung(f"{what} of axis {axis + 1} of {axes}", (1, 1), lines)
        if few_ranks and axes > ranks[0] + 1:
            continue
        for what in _OF_ALL_AXES:
            if what in grown and axes > 1:
                sides = [grown[what](side, padded).said(operator) for side in _sides(n, axes)]
                yield _Rung(f"{what} of {axes} axes", (1, 2 if n <= _FEW else 1), sides)
        for what, more in (("rows", small(1)), ("elements", [])):
            dimensions = _sides(n, axes + 2 - len(more))
            some = [_third(size).said(operator) for size in dimensions[2:]]
            yield _Rung(f"{what} of {axes} axes", dimensions[:2], [*some, *more])
    axes = ranks[step % len(ranks)]
    yield _Rung("batch", (n, 1), small(axes))
    yield _Rung("channels", (1, n), small(axes))


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
    types = suited.types(operator) if cells <= _DENSE else suited.floats(operator)
    return suited.with_bounds(operator, types, cells, axes)
