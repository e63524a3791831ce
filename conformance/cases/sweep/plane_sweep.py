"""The sweeps of operators that slide no kernel: of a given output size, or of one value a plane."""

from __future__ import annotations

from functools import partial

from conformance.cases.sweep import levels
from conformance.cases.sweep.axis_geometry import WIDTHS, width_range
from conformance.cases.sweep.covering import Model, Row, constraint
from conformance.cases.sweep.sweep_model import ArraySpec, CaseSpec
from conformance.dtypes import FLOATS
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.reference.bound import is_meaningful

_PLANES: levels.Factors = {"batch": (1, 2, 3), "channels": (1, 5, 16, 17, 33, 48)}

Sizes = tuple[int, int]  # input d, output o

# Sizes at which index arithmetic in floating point goes wrong, or a window is longer than d / o
# rounded up; the last is longer than any vector.
_HARD = ("5-3", "10-3", "11-7", "14-13", "21-19", "191-3")
_RELATIONS: dict[str, tuple[Sizes, ...]] = {
    "divides": ((4, 2), (6, 3), (6, 2), (8, 4), (9, 3), (15, 5), (16, 8)),
    "rest": ((5, 2), (7, 3), (7, 5), (8, 3), (9, 4), (13, 5), (17, 8)),
    "identity": ((2, 2), (3, 3), (5, 5), (1, 1), (7, 7)),
    "one": ((2, 1), (3, 1), (5, 1), (9, 1)),
    "grow-multiple": ((2, 4), (3, 6), (1, 3), (2, 6), (4, 8)),
    "grow": ((2, 3), (3, 5), (5, 7), (4, 9), (7, 17), (5, 16)),
    **{pair: ((int(pair.split("-")[0]), int(pair.split("-")[1])),) for pair in _HARD},
}
_OTHER_RELATIONS: dict[str, tuple[Sizes, ...]] = {
    "down": ((4, 3), (6, 4), (5, 2), (6, 2), (7, 3)),
    "up": ((2, 3), (3, 4), (1, 2), (2, 5)),
    "same": ((2, 2), (3, 3), (1, 1)),
}
_OTHER_SIZES = {"none": (), "one": (1,), "small": (2, 3, 4), "medium": (5, 6, 7)}
"""Sizes of the axes before the last."""
_CELLS = 2048
"""Elements of a case, at most: the suite is shipped."""


def adaptive_arrays(operator: Operator) -> tuple[ArraySpec, ...]:
    """Return the covering array of an operator that takes its output size as an input."""
    geometry: levels.Factors = {
        "relation": tuple(_RELATIONS),
        "others": ("none", *_OTHER_RELATIONS),
        **_PLANES,
    }
    factors = levels.factors(operator, {"size_type": ("int32", "int64")}, geometry)
    constraints = [
        levels.OTHERS,
        levels.HELD,
        constraint(
            "size of the suite", lambda batch, channels: batch * channels <= 34 or batch == 1
        ),
        constraint(
            "size of the suite",
            lambda axes, relation, channels: (
                axes * axes * channels <= (9 if relation == "191-3" else 68)
            ),
        ),
        constraint(
            "the bound of hundreds of addends says nothing in bfloat16",
            lambda dtype, relation, axes, others: (
                dtype != "bfloat16" or relation != "191-3" or (axes == 1 or others == "same")
            ),
        ),
    ]
    return (
        ArraySpec(
            "all factors", Model(factors, constraints), partial(_case_of_relations, operator)
        ),
    )


def _case_of_relations(operator: Operator, row: Row, turn: int) -> CaseSpec:
    axes = levels.number(row, "axes")
    focus = turn % axes
    options = _RELATIONS[str(row["relation"])]
    chosen = [options[turn % len(options)]]
    others = _OTHER_RELATIONS.get(str(row["others"]), ())
    for i in range(1, axes):
        fresh = [pair for pair in others if pair not in chosen] or others
        chosen.append(fresh[(turn + i) % len(fresh)])
    pairs = chosen[1 : focus + 1] + chosen[:1] + chosen[focus + 1 :]
    return levels.case_of_row(operator, row, [Axis(d, output=o) for d, o in pairs])


def whole_arrays(operator: Operator) -> tuple[ArraySpec, ...]:
    """Return the covering array of an operator that has neither a kernel nor an output size."""
    geometry: levels.Factors = {
        "size": WIDTHS,
        "others": tuple(_OTHER_SIZES),
        **_PLANES,
    }
    constraints = [
        levels.OTHERS,
        levels.HELD,
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
    model = Model(levels.factors(operator, {}, geometry), constraints)
    return (ArraySpec("all factors", model, partial(_case_of_sizes, operator)),)


def _most_cells(axes: int, size: str, others: str) -> int:
    most: int = max(_OTHER_SIZES[others], default=1) ** (axes - 1)
    return width_range(size)[-1] * most


def _case_of_sizes(operator: Operator, row: Row, turn: int) -> CaseSpec:
    last, others = width_range(str(row["size"])), _OTHER_SIZES[str(row["others"])]
    sizes = [others[(turn + i) % len(others)] for i in range(levels.number(row, "axes") - 1)]
    axes = [Axis(size) for size in (*sizes, last[turn % len(last)])]
    return levels.case_of_row(operator, row, axes)
