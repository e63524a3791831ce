"""Cases of an activation, and of sums that are asked for in the type of the data.

What these do has little to do with windows, so that the other cases leave them out: here are small
windows, some of one cell, and data on either side of each limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from conformance.cases.sweep.sweep_model import CaseSpec, Geometry, case_of_axes
from conformance.operators.attributes import Role
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

_GEOMETRIES: tuple[Geometry, ...] = (
    ((1, 2), (Axis(4, 2, 2), Axis(5))),
    ((2, 1), (Axis(3), Axis(6, 2, 2))),
    ((1, 3), (Axis(3, 2), Axis(4, 2))),
    ((1, 2), (Axis(5, 3, 2, 1, 1), Axis(3))),
)

_Said = tuple[str, str, str, str, *tuple[float, ...]]
"""Element type and pattern of the data, the word, the padding, and any scale and zero point."""

_ACTIVATIONS: tuple[_Said, ...] = (
    ("float32", "integers", "relu6", "valid"),
    ("int8", "integers", "relu6", "valid", 0.75, -3),
    ("float32", "integers", "relu_n1_to_1", "same_upper"),
    ("float32", "normals", "relu", "valid"),
    ("int8", "negative", "none", "valid", 0.25, 3),
    ("uint8", "index", "relu6", "valid", 0.75, 9),
    ("float32", "nan", "relu6", "same_upper"),
    ("int8", "integers", "relu_n1_to_1", "valid", 0.25, 3),
    ("int16", "integers", "relu6", "valid"),
    ("float32", "infinities", "relu_n1_to_1", "valid"),
    ("uint8", "integers", "relu", "valid", 0.75, 3),
    ("float32", "large", "relu", "same_upper"),
    ("int8", "extremes", "relu6", "valid", 5 / 128, -128),
    ("int16", "extremes", "relu", "same_upper", 0.25),
    ("uint8", "integers", "relu_n1_to_1", "valid"),
    ("int8", "integers", "relu", "valid", 0.25, -3),
)
_SUMMED = (
    *("normals", "integers", "lossy", "ties", "nan", "subnormals"),
    *("overflow", "cancellation", "infinities"),
)
_LIMITED = {"relu6": 6.0, "relu_n1_to_1": 1.0}
"""Activations with limits at some distance of zero: that, and for one of them its negative."""


def _limits_beyond() -> Iterator[_Said]:
    """Yield rows whose limits lie beyond each type of integers, by half of what it holds."""
    for dtype, (word, limit) in product(("int8", "uint8", "int16"), _LIMITED.items()):
        ends = np.iinfo(dtype)
        middle = (int(ends.max) + int(ends.min) + 1) // 2
        steps = 3 * (int(ends.max) + 1 - middle) // 2
        yield dtype, "extremes", word, "valid", float(np.float32(limit / steps)), middle


_ROWS: dict[Role, tuple[_Said, ...]] = {
    "activation": (*_ACTIVATIONS, *_limits_beyond()),
    "accumulator": tuple(("float16", pattern, "element-type", "valid") for pattern in _SUMMED),
}
_SMOKE = 4


def activations(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases of each role that an operator has, of its element types."""
    for role in operator.of_roles(_ROWS):
        rows = (row for row in _ROWS[role] if row[0] in operator.dtypes)
        for turn, (dtype, pattern, word, padding, *encoding) in enumerate(rows):
            planes, axes = _GEOMETRIES[turn % len(_GEOMETRIES)]
            numbers = dict(zip(("input_scale", "input_zero_point"), encoding, strict=False))
            words = {role: word, **numbers, "auto_pad": padding}
            tier = "smoke" if turn < _SMOKE else "standard"
            yield case_of_axes(
                operator, planes, axes, pattern, dtype, words, tier=tier, tags=(role,)
            )
