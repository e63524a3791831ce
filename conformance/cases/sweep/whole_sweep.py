"""The sweep of operators without windows of their own: each plane becomes one value."""

from __future__ import annotations

from functools import partial

from conformance.cases.sweep import suited
from conformance.cases.sweep.axis_geometry import WIDTHS, width_range
from conformance.cases.sweep.covering import Model, Row, constraint
from conformance.cases.sweep.sweep_model import ArraySpec, CaseSpec
from conformance.dtypes import FLOATS
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.reference.bound import is_meaningful

_OTHERS = {"none": (), "one": (1,), "small": (2, 3, 4), "medium": (5, 6, 7)}
"""Sizes of the axes before the last."""
_CELLS = 2048
"""Elements of a case, at most: the suite is shipped."""


def whole_arrays(operator: Operator) -> tuple[ArraySpec, ...]:
    """Return the covering array of an operator that has neither a kernel nor an output size."""
    geometry: suited.Factors = {
        "size": WIDTHS,
        "others": tuple(_OTHERS),
        "batch": (1, 2, 3),
        "channels": (1, 5, 16, 17, 33, 48),
    }
    constraints = [
        suited.OTHERS,
        suited.HELD,
        constraint(
            "size of the suite",
            lambda axes, size, others, batch, channels: (
                _most_cells(axes, size, others) * batch * channels <= _CELLS
            ),
        ),
    ]
    if operator.reduction.sums:
        constraints.append(
            constraint(
                "the bound of hundreds of addends says nothing in half types",
                lambda dtype, axes, size, others: (
                    dtype not in FLOATS
                    or is_meaningful(_most_cells(axes, size, others), axes, dtype)
                ),
            )
        )
    model = Model(suited.factors(operator, {}, geometry), constraints)
    return (ArraySpec("all factors", model, partial(_case, operator)),)


def _most_cells(axes: int, size: str, others: str) -> int:
    most: int = max(_OTHERS[others], default=1) ** (axes - 1)
    return width_range(size)[-1] * most


def _case(operator: Operator, row: Row, turn: int) -> CaseSpec:
    last, others = width_range(str(row["size"])), _OTHERS[str(row["others"])]
    sizes = [others[(turn + i) % len(others)] for i in range(suited.number(row, "axes") - 1)]
    axes = [Axis(size) for size in (*sizes, last[turn % len(last)])]
    return suited.case_of_row(operator, row, axes)
