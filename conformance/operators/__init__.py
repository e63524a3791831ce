"""What the documents say: operators as pipelines of steps, attributes and their rules, clauses.

Pure functions and frozen values; no files and no randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.errors import InvalidCase, UsageError
from conformance.operators.adaptive_avg_pool import ADAPTIVE_AVG_POOL
from conformance.operators.avg_pool import AVG_POOL
from conformance.operators.clauses import CLAUSES, DISPUTED, Clause, Reading, under
from conformance.operators.max_pool import MAX_POOL
from conformance.operators.ngraph_avg_pool import NGRAPH_AVG_POOL
from conformance.operators.operator import Operator
from conformance.operators.outcomes import answer, undefined_as_a_whole
from conformance.vector import Array, Case, Vector

__all__ = [
    "CLAUSES",
    "DISPUTED",
    "OPERATORS",
    "Clause",
    "Operator",
    "Reading",
    "evaluate",
    "operator_named",
    "vector_of",
]

OPERATORS: dict[str, Operator] = {
    operator.name: operator for operator in (AVG_POOL, MAX_POOL, ADAPTIVE_AVG_POOL, NGRAPH_AVG_POOL)
}


def operator_named(name: str) -> Operator:
    """Return an operator by name; UsageError lists the names there are."""
    if name not in OPERATORS:
        raise UsageError(f"unknown operator {name!r}; there are {', '.join(OPERATORS)}")
    return OPERATORS[name]


def vector_of(case: Case) -> Vector:
    """Return the case with every outcome that conforms under some combination of readings."""
    return answer(operator_named(case.operator), case)


def evaluate(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> Array:
    """Compute an operator exactly: averages correctly rounded, maxima as they are.

    `inputs[0]` has shape (N, C, d1..dr); the result (N, C, o1..or) has its type. `readings` maps
    disputed clauses to readings, the default elsewhere. Undefined elements are NaN (averages),
    -inf or the lowest integer (maxima). Raises InvalidCase where attributes or inputs break a
    rule of the document or leave nothing to pool, UsageError for an unknown operator, clause or
    reading. Source: the operator's document and docs/clauses.md.
    """
    found = operator_named(operator)
    chosen = dict(readings or {})
    disputed = {clause.name: clause for clause in DISPUTED}
    for clause, reading in chosen.items():
        if clause not in disputed:
            raise UsageError(f"unknown disputed clause {clause!r}; there are {', '.join(disputed)}")
        names = [known.name for known in disputed[clause].readings]
        if reading not in names:
            raise UsageError(f"clause {clause} has no reading {reading!r}; it has {names}")
    arrays = [np.asarray(array) for array in inputs]
    params = found.validate(arrays, attributes)
    if undefined_as_a_whole(found, params, arrays[0]) == "kernel-past-padding":
        raise InvalidCase(
            f"kernel {list(params.kernel)} is larger than the padded input: nothing to pool"
        )
    if 0 in params.sizes or 0 in params.output:
        raise InvalidCase(
            f"sizes {list(params.sizes)} to {list(params.output)}: a size of 0 has no windows"
            if params.output
            else f"data of shape {arrays[0].shape}: a spatial size of 0 has no windows"
        )
    pipeline = under(found, chosen)
    return pipeline.values(arrays[0], pipeline.plan(params))
