"""Cases of a layout that an attribute chooses: arrays with channels last, in various windows.

The layout changes no value, so that the other cases leave it out. A kernel of a layout is mostly
code of its own: here are windows of each kind, channels that fill no vector register, every element
type, and shapes that are the same in either layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.cases.axis import Axis
from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes
from conformance.operators.operator import Operator
from conformance.vector import Case


class _Row(NamedTuple):
    """A row of the table: batch and channels, and the numbers of the axes."""

    planes: tuple[int, int]
    axes: tuple[Axis, ...]
    ceil: bool = False


_WINDOWS = (
    _Row((1, 3), (Axis(4, 2, 2), Axis(6, 2, 2))),
    _Row((1, 2), (Axis(6, 3, 2, 1, 1), Axis(5, 3, 2, 1, 0)), ceil=True),
    _Row((2, 4), (Axis(4, 3, 1, 1, 1), Axis(4, 3, 1, 1, 1))),  # of one shape in either layout
    _Row((2, 3), (Axis(5, 2, 1, 0, 1), Axis(3, 1, 2))),
    _Row((1, 5), (Axis(5, 2, 2, 1, 0, dilations=2), Axis(6, 3, 1, 0, 2, dilations=3))),
    _Row((1, 7), (Axis(2, 2), Axis(3, 3))),
    _Row((1, 17), (Axis(3, 2, 1, 1), Axis(2, 2, 2, 0, 1))),
    _Row((2, 6), (Axis(1, 1), Axis(7, 4, 2)), ceil=True),
)
_PLANE = _Row((1, 3), (Axis(2), Axis(5)))
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
        *((row, True, numbers) for row in _WINDOWS),
        *((_PLANE, last, ()) for last in (True, False)),
        *((row, False, numbers) for row in _WINDOWS[1:2]),
    ]
    for turn, (row, last, roles) in enumerate(rows):
        dtype = operator.dtypes[turn % len(operator.dtypes)]
        yield case_of_axes(
            operator,
            row.planes,
            row.axes,
            {"rounding": "ceil" if row.ceil else "floor", "channels_last": last},
            dtype,
            suited.pattern_for(_PATTERNS[turn // 2 % len(_PATTERNS)], dtype),
            roles=roles,
            tags=("layout",),
        )
