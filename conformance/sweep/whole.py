"""The sweep of operators without windows of their own: each plane becomes one value."""

from __future__ import annotations

from functools import partial

from conformance.dtypes import FLOATS
from conformance.operators.operator import Operator
from conformance.reference.bound import is_meaningful
from conformance.sweep import suited
from conformance.sweep.covering import Constraint, Level, Model, Row
from conformance.sweep.geometry import WIDTHS
from conformance.sweep.model import Blueprint, Sweep, blueprint

_OTHERS = {"none": (), "one": (1,), "small": (2, 3, 4), "medium": (5, 6, 7)}
"""Sizes of the axes before the last."""
_CELLS = 2048
"""Elements of a case, at most: the suite is shipped."""


def whole_sweep(operator: Operator) -> Sweep:
    """Return the sweep of an operator that has neither a kernel nor an output size."""
    factors: dict[str, tuple[Level, ...]] = {
        "axes": suited.axes(operator),
        "dtype": suited.types(operator),
        **suited.word_factors(operator),
        "size": WIDTHS,
        "others": tuple(_OTHERS),
        "batch": (1, 2, 3),
        "channels": (1, 5, 16, 17, 33, 48),
        "pattern": suited.patterns(operator),
    }
    constraints = [
        Constraint(
            ("axes", "others"),
            lambda axes, others: (axes == 1) == (others == "none"),
            "one axis has no others",
        ),
        suited.HELD,
        Constraint(
            ("axes", "size", "others", "batch", "channels"),
            lambda axes, size, others, batch, channels: (
                _most_cells(axes, size, others) * batch * channels <= _CELLS
            ),
            "size of the suite",
        ),
    ]
    if operator.reduction.sums:
        constraints.append(
            Constraint(
                ("dtype", "axes", "size", "others"),
                lambda dtype, axes, size, others: (
                    dtype not in FLOATS
                    or is_meaningful(_most_cells(axes, size, others), axes, dtype)
                ),
                "the bound of hundreds of addends says nothing in half types",
            )
        )
    return Sweep(operator.name, Model(factors, constraints), partial(_case, operator))


def _range(size: str) -> range:
    low, _, high = size.partition("-")
    return range(int(low), int(high or low) + 1)


def _most_cells(axes: int, size: str, others: str) -> int:
    most: int = max(_OTHERS[others], default=1) ** (axes - 1)
    return _range(size)[-1] * most


def _case(operator: Operator, row: Row, turn: int) -> Blueprint:
    last, others = _range(str(row["size"])), _OTHERS[str(row["others"])]
    sizes = [others[(turn + i) % len(others)] for i in range(int(str(row["axes"])) - 1)]
    shape = (int(str(row["batch"])), int(str(row["channels"])), *sizes, last[turn % len(last)])
    words = suited.words_of(row)
    return blueprint(operator, shape, words, str(row["dtype"]), str(row["pattern"]))
