"""The sweep of AdaptiveAvgPool-8: how input and output sizes relate, axis by axis."""

from __future__ import annotations

from math import prod
from typing import Any

from conformance.dtypes import FLOATS
from conformance.operators.windows import ceil_div
from conformance.sweep.covering import Constraint, Model, Row
from conformance.sweep.model import Blueprint, Sweep
from conformance.sweep.patterns import AVERAGE_PATTERNS

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
_OTHERS: dict[str, tuple[Sizes, ...]] = {
    "down": ((4, 3), (6, 4), (5, 2), (6, 2), (7, 3)),
    "up": ((2, 3), (3, 4), (1, 2), (2, 5)),
    "same": ((2, 2), (3, 3), (1, 1)),
}


def adaptive_sweep() -> Sweep:
    """Return the sweep of AdaptiveAvgPool-8."""
    factors: dict[str, tuple[Any, ...]] = {
        "axes": (1, 2, 3),
        "dtype": FLOATS,
        "size_type": ("int32", "int64"),
        "relation": tuple(_RELATIONS),
        "others": ("none", *_OTHERS),
        "batch": (1, 2, 3),
        "channels": (1, 5, 16, 17, 33, 48),
        "pattern": AVERAGE_PATTERNS,
    }
    constraints = [
        Constraint(
            ("axes", "others"),
            lambda axes, others: (axes == 1) == (others == "none"),
            "one axis has no others",
        ),
        Constraint(
            ("dtype", "pattern"),
            lambda dtype, pattern: dtype != "bfloat16" or pattern != "overflow",
            "float32 is no wider than bfloat16",
        ),
        Constraint(
            ("batch", "channels"),
            lambda batch, channels: batch * channels <= 34 or batch == 1,
            "size of the suite",
        ),
        Constraint(
            ("axes", "relation", "channels"),
            lambda axes, relation, channels: (
                axes * axes * channels <= (9 if relation == "191-3" else 68)
            ),
            "size of the suite",
        ),
        Constraint(
            ("dtype", "relation", "axes", "others"),
            lambda dtype, relation, axes, others: (
                dtype != "bfloat16" or relation != "191-3" or (axes == 1 or others == "same")
            ),
            "the bound of hundreds of addends says nothing in bfloat16",
        ),
    ]
    return Sweep("AdaptiveAvgPool-8", Model(factors, constraints), _case)


def _case(row: Row, turn: int) -> Blueprint:
    level = {name: str(value) for name, value in row.items()}
    axes = int(level["axes"])
    focus = turn % axes
    options = _RELATIONS[level["relation"]]
    chosen = [options[turn % len(options)]]
    others = _OTHERS.get(level["others"], ())
    for i in range(1, axes):
        fresh = [pair for pair in others if pair not in chosen]
        chosen.append(fresh[(turn + i) % len(fresh)])
    pairs = chosen[1 : focus + 1] + chosen[:1] + chosen[focus + 1 :]
    return blueprint(
        (int(level["batch"]), int(level["channels"])),
        pairs,
        level["dtype"],
        level["pattern"],
        size_type=level["size_type"],
    )


def blueprint(
    planes: tuple[int, int],
    pairs: list[Sizes],
    dtype: str,
    pattern: str,
    *,
    size_type: str = "int64",
    tags: tuple[str, ...] = (),
) -> Blueprint:
    """Return the plan of a case from its batch and channels and (d, o) per axis."""
    return Blueprint(
        "AdaptiveAvgPool-8",
        {},
        (*planes, *(d for d, _ in pairs)),
        dtype,
        pattern,
        volume=prod(ceil_div(d, max(1, o)) + 1 for d, o in pairs),
        output_size=(tuple(o for _, o in pairs), size_type),
        tags=tags,
    )
