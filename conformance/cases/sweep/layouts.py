"""Cases of what an attribute says that changes no value: the layout, and the number of windows.

The other cases leave it out, and small ones are there in the other layout, too (`kernel_paths`). A
kernel of a layout is mostly code of its own: here are windows of
each kind, channels that fill no vector register, every element type, and shapes that are the same
in either layout. A number of windows (`outputSizes` of WebNN) is smaller than the stride, but for
one: whether others are valid is in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.cases.sweep import levels
from conformance.cases.sweep.rules import NO_WINDOWS
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

_LISTS = Axis._fields[1:]
_ROUNDED_UP = ("ceil", (1, 2), (Axis(6, 3, 2, 1, 1), Axis(5, 3, 2, 1, 0)))
_WINDOWS = (
    ("floor", (1, 3), (Axis(4, 2, 2), Axis(6, 2, 2))),
    _ROUNDED_UP,
    ("floor", (2, 4), (Axis(4, 3, 1, 1, 1), Axis(4, 3, 1, 1, 1))),  # of one shape in either layout
    ("floor", (2, 3), (Axis(5, 2, 1, 0, 1), Axis(3, 1, 2))),
    ("floor", (1, 5), (Axis(5, 2, 2, 1, 0, dilations=2), Axis(6, 3, 1, 0, 2, dilations=3))),
    ("floor", (1, 7), (Axis(2, 2), Axis(3, 3))),
    ("floor", (1, 17), (Axis(3, 2, 1, 1), Axis(2, 2, 2, 0, 1))),
    ("ceil", (2, 6), (Axis(1, 1), Axis(7, 4, 2))),
)
_PLANE = ("floor", (1, 3), (Axis(2), Axis(5)))
"""A shape whose window is the plane where all lists are left out."""
_ROWS = (
    *((row, True, _LISTS) for row in _WINDOWS),
    *((_PLANE, last, ()) for last in (True, False)),
    (_ROUNDED_UP, False, _LISTS),
)
_SMOKE = 4
_PATTERNS = ("index", "normals", "negative", "nan")

_DOWN = Axis(9, 3, 4, 1, 0, fixed_output=2)
_UP = _DOWN._replace(fixed_output=3)
_EXACT = Axis(10, 2, 4, fixed_output=3)
_PADDED = Axis(5, 2, 4, 1, 0, fixed_output=2)  # rounded up where no padding counts
_DILATED = Axis(9, 2, 6, 0, 1, dilations=2, fixed_output=2)
_DENSE = Axis(4, 2, 1, fixed_output=3)  # not smaller than the stride
_SIZED = (
    ("ceil", (1, 1), (_DOWN, _EXACT)),
    ("floor", (1, 1), (_UP, _UP)),
    ("floor", (1, 2), (_EXACT, _UP)),
    ("floor", (1, 1), (_EXACT, _EXACT._replace(size=6, fixed_output=2))),
    ("floor", (1, 1), (_DILATED, _PADDED)),
    ("floor", (1, 1), (_DENSE, _DENSE)),
    ("ceil", (1, 1), (_DOWN, _DOWN)),
)
_SIZED_CHANNELS_LAST = 2


def layouts(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases, of an operator whose caller chooses the layout."""
    if operator.attribute("channels_last") is None:
        return
    for turn, ((rounding, planes, axes), last, roles) in enumerate(_ROWS):
        dtype = operator.dtypes[turn % len(operator.dtypes)]
        pattern = levels.pattern_for(_PATTERNS[turn // 2 % len(_PATTERNS)], dtype)
        words = {"rounding": rounding, "channels_last": last}
        shifts = operator.is_gradient and last and all(axis.pads_begin for axis in axes)
        yield case_of_axes(
            *(operator, planes, axes, pattern, dtype, words),
            roles=roles,
            tier="smoke" if turn < _SMOKE else "standard",
            tags=("gradient in a layout" if shifts else "layout",),
        )


def output_sizes(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases, of an operator with windows whose caller may say their number."""
    attribute = operator.attribute("fixed_output")
    if attribute is None or not operator.has_windows:
        return
    for turn, (rounding, planes, axes) in enumerate(_SIZED):
        dtype = operator.dtypes[turn % len(operator.dtypes)]
        pattern = levels.pattern_for(("index", "normals")[turn // 2 % 2], dtype)
        words: dict[str, Any] = {"rounding": rounding}
        if turn == _SIZED_CHANNELS_LAST:
            words["channels_last"] = True
        tags, tier = ("output sizes",), "standard" if turn else "smoke"
        # The first tells whether padding counts.
        spec = case_of_axes(operator, planes, axes, pattern, dtype, words, tier=tier, tags=tags)
        yield spec
    yield replace(
        spec,
        attributes={**spec.attributes, attribute.key: [_DOWN.fixed_output, _UP.fixed_output]},
        inputs=build(spec, seed=0).inputs,
        pattern="invalid",
        source=f"{operator.document}, {attribute.section}",
        tags=("invalid", f"{attribute.key}: {NO_WINDOWS}"),
    )
