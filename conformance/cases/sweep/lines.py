"""The numbers of one spatial axis, for any operator: those of roles that it lacks are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conformance.operators.operator import Operator
from conformance.operators.params import UNSAID


class Line(NamedTuple):
    """The numbers of one axis: its size and the rest by role, of which operators have some."""

    size: int
    kernel: int = 1
    strides: int = 1
    pads_begin: int = 0
    pads_end: int = 0
    output: int = 1
    dilations: int = 1

    def is_sayable(self, operator: Operator) -> bool:
        """Say whether an operator with windows has attributes for these numbers."""
        return self == self.said(operator)

    def said(self, operator: Operator) -> Line:
        """Return the numbers that an operator is left with, for roles that it lacks."""
        if not operator.has_windows:
            return self
        unsaid = {role: value for role, value in UNSAID.items() if role not in operator.roles}
        return self._replace(**unsaid)

    def cells(self, operator: Operator) -> int:
        """Return the cells of a window, about, padding among them."""
        if operator.is_adaptive:
            return -(-self.size // self.output) + 1
        return self.kernel if operator.has_windows else self.size


def sizes(lines: Sequence[Line]) -> tuple[int, ...]:
    """Return the sizes of axes."""
    return tuple(line.size for line in lines)


def by_role(lines: Sequence[Line]) -> dict[str, tuple[int, ...]]:
    """Return the other numbers of axes by role, as `Params` has them."""
    columns = zip(Line._fields, zip(*lines, strict=True), strict=True)
    return {role: numbers for role, numbers in columns if role != "size"}
