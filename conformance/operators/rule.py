"""What a document excludes of the numbers of an axis, though each alone is in its range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.operators.axis import Axis, axes_of
from conformance.operators.params import Params


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
    mended: Callable[[Axis], Axis]
    broken: Callable[[Axis], Axis]
    leaves_no_rest: bool = False
    undefined: str = ""

    def breaking(self, params: Params) -> Iterator[Axis]:
        """Yield the axes that break it, of an operator that has a kernel."""
        return (axis for axis in axes_of(params) if self.mended(axis) != axis)
