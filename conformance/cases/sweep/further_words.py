"""Cases of an activation, and of sums that are asked for in the type of the data.

What these do has little to do with windows, so that the other cases leave them out: here are small
windows, some of one cell, and data on either side of each limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.sweep.sweep_model import Layout, build, case_of_axes
from conformance.operators.attributes import Role
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_LAYOUTS: tuple[Layout, ...] = (
    ((1, 2), (Axis(4, 2, 2), Axis(5))),
    ((2, 1), (Axis(3), Axis(6, 2, 2))),
    ((1, 3), (Axis(3, 2), Axis(4, 2))),
    ((1, 2), (Axis(5, 3, 2, 1, 1), Axis(3))),
)


class _Row(NamedTuple):
    """A row of a table: the element type, a pattern of data, and what is said beside windows."""

    dtype: str
    pattern: str
    word: str
    same: bool = False
    scale: float | None = None
    zero_point: int | None = None

    def said(self, role: str) -> dict[str, Any]:
        """Return what attributes say, by role, of which `role` has the word."""
        said = {role: self.word, "input_scale": self.scale, "input_zero_point": self.zero_point}
        said["auto_pad"] = "same_upper" if self.same else "valid"
        return {key: value for key, value in said.items() if value is not None}


_ACTIVATIONS = (
    _Row("float32", "integers", "relu6"),
    _Row("int8", "integers", "relu6", scale=0.75, zero_point=-3),
    _Row("float32", "integers", "relu_n1_to_1", same=True),
    _Row("float32", "normals", "relu"),
    _Row("int8", "negative", "none", scale=0.25, zero_point=3),
    _Row("uint8", "index", "relu6", scale=0.75, zero_point=9),
    _Row("float32", "nan", "relu6", same=True),
    _Row("int8", "integers", "relu_n1_to_1", scale=0.25, zero_point=3),
    _Row("int16", "integers", "relu6"),
    _Row("float32", "infinities", "relu_n1_to_1"),
    _Row("uint8", "integers", "relu", scale=0.75, zero_point=3),
    _Row("float32", "large", "relu", same=True),
    _Row("int8", "extremes", "relu6", scale=5 / 128, zero_point=-128),
    _Row("int16", "extremes", "relu", same=True, scale=0.25),
    _Row("uint8", "integers", "relu_n1_to_1"),
    _Row("int8", "integers", "relu", scale=0.25, zero_point=-3),
)
_ACCUMULATORS = tuple(
    _Row("float16", pattern, "element-type")
    for pattern in (
        *("normals", "integers", "lossy", "ties", "nan", "subnormals"),
        *("overflow", "cancellation", "infinities"),
    )
)

_LIMITED = {"relu6": 6.0, "relu_n1_to_1": 1.0}
"""Activations with limits at some distance of zero: that, and for one of them its negative."""


def _limits_beyond() -> Iterator[_Row]:
    """Yield rows whose limits lie beyond each type of integers, by half of what it holds."""
    for dtype, (word, limit) in product(("int8", "uint8", "int16"), _LIMITED.items()):
        ends = np.iinfo(dtype)
        middle = (int(ends.max) + int(ends.min) + 1) // 2
        steps = 3 * (int(ends.max) + 1 - middle) // 2
        scale = float(np.float32(limit / steps))
        yield _Row(dtype, "extremes", word, scale=scale, zero_point=middle)


_ROWS: dict[Role, tuple[_Row, ...]] = {
    "activation": (*_ACTIVATIONS, *_limits_beyond()),
    "accumulator": _ACCUMULATORS,
}
_SMOKE = 4


def further_words(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases of each role that an operator has, of its element types."""
    for role, rows in _ROWS.items():
        if operator.attribute(role) is None:
            continue
        for turn, row in enumerate(each for each in rows if each.dtype in operator.dtypes):
            planes, axes = _LAYOUTS[turn % len(_LAYOUTS)]
            said, tags = row.said(role), (role,)
            spec = case_of_axes(operator, planes, axes, said, row.dtype, row.pattern, tags=tags)
            yield build(spec, seed=seed, tier="smoke" if turn < _SMOKE else "standard")
