"""Pairs of cases that a careless key takes for one: numbers joined, sorted, added or swapped.

What a backend keeps of a call (a plan, a buffer, a compiled kernel) comes back in the next one like
it. So a case is followed by its like and comes again with other data, and once all pairs were
called, they are called again in the opposite order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import (
    CaseSpec,
    Geometry,
    build,
    case_of_axes,
    plain_type,
    required_words,
)
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Array

_Lists = Mapping[str, tuple[int, int]]
_ROLES = ("kernel", "strides", "dilations", "pads_begin", "pads_end", "output")
_PLAIN: _Lists = {"planes": (1, 2), "sizes": (6, 5), "kernel": (2, 2), "output": (3, 2)}

_LOW_BYTE = "of the same low byte"

# Two numbers of one list.
_ALIKE = {
    "sorted": ((2, 3), (3, 2)),
    "joined": ((1, 12), (11, 2)),
    "of one sum": ((2, 4), (3, 3)),
    "of one product": ((2, 6), (3, 4)),
    _LOW_BYTE: ((2, 5), (2, 261)),
}


def _swapped(**lists: tuple[int, int]) -> tuple[str, tuple[_Lists, _Lists]]:
    """Return lists, and the same lists with the numbers of the first two swapped, by name."""
    one, other, *_ = lists
    return f"{one} and {other}", (lists, lists | {one: lists[other], other: lists[one]})


# Numbers of two lists.
_SWAPPED: dict[str, tuple[_Lists, _Lists]] = dict(
    (
        _swapped(kernel=(2, 2), strides=(3, 3)),
        _swapped(pads_begin=(1, 0), pads_end=(0, 2), kernel=(3, 3)),
        _swapped(strides=(1, 2), pads_begin=(2, 1), kernel=(3, 3)),
        _swapped(strides=(3, 2), dilations=(2, 3), sizes=(9, 8)),
        _swapped(sizes=(3, 5), output=(5, 3)),
        (
            "channels and height",
            ({"planes": (2, 3), "sizes": (4, 5)}, {"planes": (2, 4), "sizes": (3, 5)}),
        ),
        (
            "batch and width",
            ({"planes": (3, 2), "sizes": (4, 5)}, {"planes": (5, 2), "sizes": (4, 3)}),
        ),
        _swapped(planes=(2, 3), sizes=(5, 4)),
    )
)
_PADDED_OTHERWISE: Sequence[_Lists] = [
    {"sizes": (size, size), "kernel": (3, 3), "strides": (2, 2)} for size in (5, 6)
]
# Element types of one width.
_TYPES = (("float16", "bfloat16"), ("float32", "int32"), ("float64", "int64"), ("int8", "uint8"))
_ONE_CHECKSUM: tuple[Geometry, ...] = (
    ((1, 2), (Axis(8, 2, 2, output=3),)),
    ((2, 1), (Axis(7, 3, output=4),)),
    ((1, 3), (Axis(6, 3, 3, output=2),)),
    ((3, 2), (Axis(5, 2, output=2),)),
    ((2, 3), (Axis(9, 2, 3, output=5),)),
)
_DATA = ("names", "negative", "integers")


def key_collisions(operator: Operator) -> Iterator[CaseSpec]:
    """Yield each pair in turn, then all from the last to the first; each call has other data.

    Where an operator has few levels, each pair once.
    """
    pairs = list(_pairs(operator))
    first, second, third = _DATA
    calls = [call for a, b in pairs for call in ((a, first), (b, first), (a, second))]
    if operator.levels != "all":
        calls = [call for a, b in pairs for call in ((a, first), (b, second))]
    else:
        calls += [call for a, b in pairs[::-1] for call in ((b, second), (a, third), (b, third))]
    for spec, pattern in calls:
        yield replace(spec, pattern=pattern)


def of_one_checksum(operator: Operator) -> Iterator[CaseSpec]:
    """Yield pairs whose numbers are the same in another order, but for the first and the last.

    A result that is kept under a sum of the numbers, or some of them, is taken for the other.
    """
    few = operator.is_gradient and operator.levels != "least"
    for number, (planes, axes) in enumerate(_ONE_CHECKSUM):
        tier = "standard" if number or few else "smoke"
        tags = ("taken for one another: numbers in another order",)
        spec = case_of_axes(operator, planes, axes, "names", tier=tier, tags=tags)
        yield replace(spec, inputs=build(spec, seed=0).inputs)
        yield replace(spec, inputs=tuple(map(_inner_reversed, build(spec, seed=0).inputs)))


def _inner_reversed(array: Array) -> Array:
    if array.ndim < 3:  # an output size
        return array
    turned = array.copy()
    turned.flat[1:-1] = array.flat[-2:0:-1]
    return turned


def _pairs(operator: Operator) -> Iterator[tuple[CaseSpec, CaseSpec]]:
    """Yield the pairs that an operator can tell apart."""
    if not operator.takes_axes(max(2, operator.axes[0])):
        return
    told = {"planes", "sizes", *operator.roles}
    dtype = plain_type(operator)
    for role in ("planes", "sizes", *_ROLES):
        for how, numbers in _ALIKE.items():
            # A key of low bytes shows in one list; large numbers of others take most room of all.
            is_spare = how == _LOW_BYTE and role != "sizes" and operator.rank is not None
            if role in told and not is_spare:
                both = [_beside(role, numbers) | {role: each} for each in numbers]
                yield _specs(operator, f"{role} {how}", both, (dtype, dtype))
    for what, lists in _SWAPPED.items():
        if set(lists[0]) <= told:
            yield _specs(operator, f"{what} swapped", lists, (dtype, dtype))
    if "auto_pad" in told and operator.levels != "all" and not operator.is_gradient:
        # Of the same attributes; where all levels are crossed there are some anyhow.
        what, words = "sizes that same_* pads otherwise", {"auto_pad": "same_upper"}
        said = required_words(operator) | words
        yield _specs(operator, what, _PADDED_OTHERWISE, (dtype, dtype), said)
    for types in _TYPES:
        if set(types) <= set(levels.types(operator)):
            yield _specs(operator, "types of one width", ({}, {}), types)


def _beside(role: str, numbers: Sequence[tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return other lists, with room for the largest numbers of a role."""
    high, wide = (max(each) for each in zip(*numbers, strict=True))
    if role in {"kernel", "strides", "dilations"}:
        return {"sizes": (high + 4, wide + 3)}
    if role in {"pads_begin", "pads_end"}:
        return {"kernel": (high + 1, wide + 1), "sizes": (high + 3, wide + 2)}
    return {"kernel": (1, 1)} if role == "sizes" else {}


def _specs(
    operator: Operator,
    what: str,
    both: Sequence[_Lists],
    types: Sequence[str],
    words: Mapping[str, Any] | None = None,
) -> tuple[CaseSpec, CaseSpec]:
    """Return a pair of cases that differ in some lists, or in their types, of two axes or more.

    `words` are those of `case_of_axes`.
    """
    tags = (f"taken for one another: {what}",)

    def spec(lists: _Lists, dtype: str) -> CaseSpec:
        numbers = {**_PLAIN, **lists}
        planes, extents = numbers.pop("planes"), numbers.pop("sizes")
        axes = [
            Axis(extents[place], **{role: values[place] for role, values in numbers.items()})
            for place in range(len(extents))
        ]
        return case_of_axes(operator, planes, axes, "", dtype, words, roles=_ROLES, tags=tags)

    one, other = map(spec, both, types)
    return one, other
