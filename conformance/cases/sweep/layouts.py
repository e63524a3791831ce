"""Cases of a layout that an attribute chooses: arrays with channels last, in various windows.

The layout changes no value, so that the other cases leave it out. A kernel of a layout is mostly
code of its own: here are windows of each kind, channels that fill no vector register, every element
type, and shapes that are the same in either layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case


class Row(NamedTuple):
    """A row of a table: batch and channels, the numbers of the axes, and words.

    A layout of None is left out.
    """

    planes: tuple[int, int]
    axes: tuple[Axis, ...]
    ceil: bool = False
    channels_last: bool | None = None

    @property
    def words(self) -> dict[str, Any]:
        """What attributes say in words, by role."""
        words: dict[str, Any] = {"rounding": "ceil" if self.ceil else "floor"}
        if self.channels_last is not None:
            words["channels_last"] = self.channels_last
        return words


_WINDOWS = (
    Row((1, 3), (Axis(4, 2, 2), Axis(6, 2, 2))),
    Row((1, 2), (Axis(6, 3, 2, 1, 1), Axis(5, 3, 2, 1, 0)), ceil=True),
    Row((2, 4), (Axis(4, 3, 1, 1, 1), Axis(4, 3, 1, 1, 1))),  # of one shape in either layout
    Row((2, 3), (Axis(5, 2, 1, 0, 1), Axis(3, 1, 2))),
    Row((1, 5), (Axis(5, 2, 2, 1, 0, dilations=2), Axis(6, 3, 1, 0, 2, dilations=3))),
    Row((1, 7), (Axis(2, 2), Axis(3, 3))),
    Row((1, 17), (Axis(3, 2, 1, 1), Axis(2, 2, 2, 0, 1))),
    Row((2, 6), (Axis(1, 1), Axis(7, 4, 2)), ceil=True),
)
_PLANE = Row((1, 3), (Axis(2), Axis(5)))
"""A shape whose window is the plane where all lists are left out."""
_SMOKE = 4
_PATTERNS = ("index", "normals", "negative", "nan")


def layouts(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases, of an operator whose caller chooses the layout."""
    if operator.attribute("channels_last") is not None:
        for turn, spec in enumerate(_specs(operator)):
            yield build(spec, seed=seed, tier="smoke" if turn < _SMOKE else "standard")


def _specs(operator: Operator) -> Iterator[CaseSpec]:
    numbers = Axis._fields[1:]
    rows = [
        *((row._replace(channels_last=True), numbers) for row in _WINDOWS),
        *((_PLANE._replace(channels_last=last), ()) for last in (True, False)),
        *((row._replace(channels_last=False), numbers) for row in _WINDOWS[1:2]),
    ]
    for turn, (row, roles) in enumerate(rows):
        dtype = operator.dtypes[turn % len(operator.dtypes)]
        shifts = row.channels_last and all(axis.pads_begin for axis in row.axes)
        yield case_of_axes(
            operator,
            row.planes,
            row.axes,
            row.words,
            dtype,
            suited.pattern_for(_PATTERNS[turn // 2 % len(_PATTERNS)], dtype),
            roles=roles,
            tags=("gradient in a layout",) if operator.is_gradient and shifts else ("layout",),
        )
