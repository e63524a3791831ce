"""What a document excludes of the numbers of an axis, though each alone is in its range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from conformance.operators.params import Params
from conformance.operators.windows import unpooled


class AxisNumbers(NamedTuple):
    """The numbers of one spatial axis by role, as `Params` has them for all.

    `fixed_output` is 0 where there is none.
    """

    size: int
    kernel: int
    strides: int
    pads_begin: int
    pads_end: int
    dilations: int
    fixed_output: int = 0


Numbers: TypeAlias = Any
"""`AxisNumbers`, or another named tuple with its fields."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule about the numbers of one axis: padding of at most half a kernel, for example.

    `says` is the rule in words, for axes that break it. `mended` returns numbers nearby that follow
    it, and those that do as they are; `broken` returns numbers nearby that do not. Under one that
    `leaves_no_rest`, the stride divides what the first window can slide. A case that breaks it is
    refused or, if it names a clause in `undefined`, undefined as a whole.
    """

    says: str
    section: str
    mended: Callable[[Numbers], Numbers]
    broken: Callable[[Numbers], Numbers]
    leaves_no_rest: bool = False
    undefined: str = ""

    def breaking(self, params: Params) -> Iterator[AxisNumbers]:
        """Yield the axes that break it, of an operator that has a kernel."""
        return (axis for axis in axes_of(params) if self.mended(axis) != axis)


def axes_of(params: Params) -> list[AxisNumbers]:
    """Return the numbers of each axis; ValueError for lists of different lengths."""
    lists = (params.sizes, params.kernel, params.strides, params.pads_begin, params.pads_end)
    given = params.fixed_output or (0,) * len(params.sizes)
    return [AxisNumbers(*numbers) for numbers in zip(*lists, params.dilations, given, strict=True)]


def inferred(axis: Numbers) -> int:
    """Return the output size of an unpooling on an axis where none is given."""
    return unpooled(axis.size, axis.kernel, axis.strides, axis.pads_begin, axis.pads_end)
