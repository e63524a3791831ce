"""Vectors of MinimumPool-1, the operator in tests/outside, and backends of its two outputs."""

from typing import Any

import numpy as np

from conformance.operators import evaluate, vector_of
from conformance.vector import Array, Case, Outputs, Vector

NAME = "MinimumPool-1"
PAIRS = {"window": [2, 2], "step": [2, 2]}


def minimum_case(name: str, attributes: dict[str, Any], data: Array) -> Case:
    """Return a case called MinimumPool-1/`name`."""
    return Case(f"{NAME}/{name}", NAME, attributes, (data,), source="Minimum Pooling 1")


def minimum_cases() -> list[Case]:
    """Return cases: plain, disputed, with undefined elements, of integers, invalid."""
    data = (np.arange(16).reshape(1, 1, 4, 4) * 7 % 11).astype(np.float32)
    with_nan = data.copy()
    with_nan[0, 0, 1, 1] = np.nan
    return [
        minimum_case("plain", PAIRS, data),
        minimum_case("nan", PAIRS, with_nan),
        minimum_case("empty", {"window": [1, 1], "pads": [0, 0, 0, 1]}, data),
        minimum_case("integers", PAIRS, data.astype(np.int8)),
        minimum_case("invalid", {"window": [0, 2]}, data),
    ]


def minimum_vectors() -> list[Vector]:
    """Return their vectors; the operator has to be installed."""
    return [vector_of(case) for case in minimum_cases()]


def both(*case: Any) -> Outputs:
    """Return the right outputs."""
    minimum, cells = evaluate(*case)
    return minimum, cells


def first_only(*case: Any) -> Array:
    """Return the first output alone."""
    return both(*case)[0]


def miscounting(*case: Any) -> Outputs:
    """Return a second output that is one too high in its last element."""
    minimum, cells = both(*case)
    cells = cells.copy()
    cells.flat[-1] += 1
    return minimum, cells
