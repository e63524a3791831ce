"""Every kind of number in every element type of every operator, in small and plain windows.

The covering arrays of operators with few levels hold some kinds in some types. What is missing
follows from the reduction and the types; what no covering array holds, such as numbers far apart in
neighbouring windows, is here for every operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, product
from typing import Any

from conformance.cases.sweep import levels
from conformance.cases.sweep.patterns import FURTHER_PATTERNS
from conformance.cases.sweep.sweep_model import CaseSpec, Geometry, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

_GEOMETRIES: tuple[Geometry, ...] = (
    ((1, 3), (Axis(7, 2, 2, 0, 1, 3), Axis(9, 2, 2, 1, 0, 4))),
    ((2, 2), (Axis(6, 3, 1, 1, 0, 2), Axis(7, 2, 1, 0, 1, 3))),
    ((1, 3), (Axis(9, 3, 2, 1, 0, 4), Axis(8, 3, 2, 0, 1, 3))),
    ((2, 3), (Axis(11, 4, 2, 1, 2, 3),)),
    ((1, 2), (Axis(3, 2, 2, 0, 1, 2), Axis(4, 1, 1, 0, 0, 4), Axis(5, 2, 3, 1, 0, 2))),
    ((3, 7), (Axis(2, 2), Axis(3, 2, 2, 1, 0, 2))),
)
"""2x2 and 3x3 with stride 2, overlaps, a line, a volume."""
_OFTEN = {"nan": 3, "nan-encodings": 2, "extremes": 3, "lowest": 2, "negative": 2, "contrasts": 3}
"""Patterns that are in so many places, also where the covering arrays have them: what goes wrong
with such a number may do so in windows of some sizes alone."""
FURTHER_GRADIENTS = (
    *(
        "contrasts",
        "magnitudes",
        "lossy",
        "spikes",
        "tiny",
        "ties",
        "minus-infinity",
        "both-infinities",
    ),
    *("infinities", "nan-encodings"),
)
_FAR_APART = ("float64",) * 8 + ("float32",) * 4
"""Types of more norms, and gradients of norms, of numbers far apart: types of so wide a range alone
show whether these are scaled by more than their window before powers are taken."""
_ROUNDED_ONCE = {"all": {"float16": 9, "bfloat16": 9}, "few": {"float16": 30}}
"""Averages of two cells, by how many levels an operator has: with those of its covering arrays
enough for judging/bias.py to exclude chance. Of float32, the arrays have enough."""
_BESIDE = {
    "average": ("normals",),
    "maximum": ("lossy", "ties", "lowest", "nan-encodings", "contrasts", "infinities", "tiny"),
    "norm": ("contrasts", "lossy", "contrasts"),
}
"""Patterns of gradients that the covering arrays lack, and of the data beside them."""


_ODD_EXPONENTS: tuple[tuple[int, str], ...] = (
    (1, "float32"),
    (3, "float32"),
    (3, "float64"),
    (5, "float32"),
    (1, "float16"),
)
_EVEN_EXPONENTS: tuple[tuple[int, str], ...] = ((4, "float32"), (6, "float64"))


def value_kinds(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases, but for norms whose bound says nothing."""
    kinds = _of_gradients(operator) if operator.is_gradient else _kinds(operator)
    for turn, kind in enumerate(kinds):
        yield _spec(operator, turn, *kind, if_judgeable=operator.reduction.powers)
    yield from _rounded_once(operator)
    if not operator.is_gradient and "float16" in operator.dtypes:
        yield _spec(operator, 2, "float16", "nan", tier="smoke")


def further_exponents(operator: Operator) -> Iterator[CaseSpec]:
    """Yield norms of exponents that the sweep lacks.

    Where a document leaves odd ones open of negative numbers, those of positive ones; else even
    ones above 2 of gradients, which have the sign of a cell all the same.
    """
    exponent = operator.attribute("exponent")
    if exponent is None or any(p % 2 for p in exponent.samples):
        return
    is_gradient = operator.is_gradient
    axes = (Axis(7, 3, 2), Axis(4, 2, 2), Axis(2, 2, 1))[: levels.axes(operator)[-1]]
    if exponent.samples:
        planes, pattern, kinds = (1, 2), "index", _ODD_EXPONENTS[: 3 if is_gradient else None]
    else:
        planes, pattern, kinds = (1, 1), "integers", _EVEN_EXPONENTS if is_gradient else ()
        axes = axes[1:]
    for turn, (p, dtype) in enumerate(kinds):
        yield case_of_axes(
            *(operator, planes, axes[turn % 2 :] + axes[: turn % 2], pattern, dtype),
            {"exponent": p},
            tier="smoke" if turn < 2 and not is_gradient else "standard",
            tags=(f"{'odd' if p % 2 else 'even'} exponent",),
        )


def _rounded_once(operator: Operator) -> Iterator[CaseSpec]:
    """Yield averages of two cells each, of another shape each time."""
    takes_sizes = operator.has_windows or operator.is_adaptive
    if operator.reduction.name != "average" or not takes_sizes:
        return
    counts = _ROUNDED_ONCE["all" if operator.levels == "all" else "few"]
    for dtype in (name for name in counts if name in operator.dtypes):
        for output in range(5, 5 + counts[dtype]):
            axes = (Axis(2 * output, 2, 2, output=output),)
            tags = ("rounded once",)
            yield case_of_axes(operator, (1, 2), axes, "normals", dtype, tags=tags)


def _kinds(operator: Operator) -> Iterator[tuple[str, str]]:
    """Yield types and patterns that the covering arrays lack, or that are wanted often."""
    swept = levels.factors(operator, {}, {})
    further = ("overflow",) if operator.reduction.sums and not operator.reduction.powers else ()
    patterns = dict.fromkeys(
        (*levels.patterns(operator), *further, "nan-encodings", "infinities", *FURTHER_PATTERNS)
    )
    types = levels.settled_types(operator)
    for pattern, dtype in product(patterns, types):
        is_swept = dtype in swept["dtype"] and pattern in swept["pattern"]
        if levels.holds(dtype, pattern):
            for _ in range(_OFTEN.get(pattern, not is_swept)):
                yield dtype, pattern
    if operator.reduction.powers:
        yield from ((dtype, "contrasts") for dtype in _FAR_APART if dtype in types)


def _of_gradients(operator: Operator) -> Iterator[tuple[str, str, str]]:
    assert operator.forward is not None
    beside = _BESIDE[operator.forward.reduction.name]
    swept = levels.factors(operator, {}, {})["gradient"]
    lacking = (name for name in levels.GRADIENTS if name not in swept)
    kinds, types = (*lacking, *FURTHER_GRADIENTS), levels.floats(operator)
    is_brief = levels.is_brief(operator)
    every = zip(kinds, cycle(types)) if is_brief else product(kinds, types)  # or each in a type
    for turn, (gradient, dtype) in enumerate(every):
        yield dtype, beside[(turn + turn // 4) % len(beside)], gradient
    if operator.forward.reduction.powers:
        for dtype in _FAR_APART[:: 4 if is_brief else 1]:
            if dtype in operator.dtypes:
                yield dtype, "contrasts", "names"


def _spec(
    operator: Operator, turn: int, dtype: str, pattern: str, gradient: str = "names", **others: Any
) -> CaseSpec:
    """Return a case in one place after the other, with words and scalars that take turns."""
    fewest, most = operator.axes
    geometries = [each for each in _GEOMETRIES if most is None or len(each[1]) <= most]
    planes, axes = geometries[turn % len(geometries)]
    words = list(levels.word_choices(operator, "rounding", "include_pad"))
    scalars: dict[str, Any] = {}
    for role, attribute in levels.scalars(operator).items():
        values = levels.scalar_values(attribute, max(fewest, len(axes)))
        scalars[role] = values[turn // len(geometries) % len(values)]
    said, tags = {**scalars, **words[turn // 2 % len(words)]}, ("kind of number",)
    numbers = operator, planes, axes, pattern, dtype, said
    return case_of_axes(*numbers, tags=tags, gradient=gradient, **others)
