"""The numbers of one spatial axis by role, for any operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from conformance.operators import windows
from conformance.operators.params import UNSAID, Params

if TYPE_CHECKING:  # whose rules are about axes
    from conformance.operators.operator import Operator


class Axis(NamedTuple):
    """The numbers of one axis, in cells: its size and the rest by role, as `Params` has them.

    An operator has some of these roles. `fixed_output` is 0 where none is given. `auto_pad` says
    below how pads come about, as in `Params`; "same" stands for same_upper and same_lower, which
    differ in no number of windows.
    """

    size: int
    kernel: int = 1
    strides: int = 1
    pads_begin: int = 0
    pads_end: int = 0
    output: int = 1
    dilations: int = 1
    fixed_output: int = 0

    @property
    def inferred(self) -> int:
        """The output size of an unpooling where none is given."""
        return windows.unpooled(
            self.size, self.kernel, self.strides, self.pads_begin, self.pads_end
        )

    @property
    def unpooled(self) -> int:
        """The output size of an unpooling: the one that is given, or else as it is inferred."""
        return self.fixed_output or self.inferred

    @property
    def of_windows(self) -> dict[str, int]:
        """The size and the numbers by role but for `output`, which is of no windows."""
        return {role: number for role, number in self._asdict().items() if role != "output"}

    @property
    def span(self) -> int:
        """Cells from the first to the last of a window."""
        return windows.span_of(self.kernel, self.dilations)

    def padding(self, auto_pad: str) -> int:
        """Return the cells of padding at both ends that are given and not ignored."""
        return self.pads_begin + self.pads_end if auto_pad == "explicit" else 0

    def slack(self, auto_pad: str) -> int:
        """Return how many cells the first window can slide, under explicit or valid pads."""
        return windows.slack(self.size, self.span, self.padding(auto_pad), 0)

    def extent(self, auto_pad: str) -> int:
        """Return the number of windows, rounded down."""
        if auto_pad.startswith("same"):
            return windows.ceil_div(self.size, self.strides)
        return windows.extent(self.slack(auto_pad), self.strides, ceil=False)

    def least_size(self, extent: int, auto_pad: str) -> int:
        """Return the smallest size with so many windows; 0 or less where pads alone hold them."""
        if auto_pad.startswith("same"):
            return (extent - 1) * self.strides + 1
        return (extent - 1) * self.strides + self.span - self.padding(auto_pad)

    def is_sayable(self, operator: Operator) -> bool:
        """Say whether an operator with windows has attributes for these numbers."""
        return self == self.said(operator)

    def said(self, operator: Operator) -> Axis:
        """Return the numbers that an operator is left with, for roles that it lacks.

        Those that its document refuses are changed to others nearby.
        """
        unsaid = {"kernel": 1, "output": 1, **UNSAID}
        lacking = {role: value for role, value in unsaid.items() if role not in operator.roles}
        return self._replace(**lacking).allowed(operator)

    def allowed(self, operator: Operator) -> Axis:
        """Return these numbers, or others nearby where a rule of a document refuses them."""
        axis = self
        if operator.pads_both_ends:
            larger = max(self.pads_begin, self.pads_end)
            axis = self._replace(pads_begin=larger, pads_end=larger)
        for rule in operator.rules:
            axis = rule.mended(axis)
        return axis

    def is_allowed(self, operator: Operator) -> bool:
        """Say whether a document refuses none of these numbers."""
        return self == self.allowed(operator)

    def cells(self, operator: Operator) -> int:
        """Return the cells of a window, about, padding among them."""
        if operator.is_adaptive:
            return windows.ceil_div(self.size, self.output) + 1
        if operator.scatters:
            return 1
        return self.kernel if operator.has_windows else self.size


def axes_of(params: Params) -> list[Axis]:
    """Return the axes of windows; ValueError for lists of different lengths."""
    windows_of = (params.kernel, params.strides, params.pads_begin, params.pads_end)
    given = params.fixed_output or (0,) * len(params.sizes)
    lists = zip(params.sizes, *windows_of, params.dilations, given, strict=True)
    return [
        Axis(d, k, s, begin, end, dilations=n, fixed_output=output)
        for d, k, s, begin, end, n, output in lists
    ]


def sizes(axes: Iterable[Axis]) -> tuple[int, ...]:
    """Return the sizes of axes."""
    return tuple(axis.size for axis in axes)


def by_role(axes: Iterable[Axis]) -> dict[str, tuple[int, ...]]:
    """Return the other numbers of axes by role, as `Params` has them."""
    columns = zip(Axis._fields, zip(*axes, strict=True), strict=True)
    return {role: numbers for role, numbers in columns if role != "size"}
