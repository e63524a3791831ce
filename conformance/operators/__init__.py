"""What the documents say: operators as pipelines of steps, attributes and their rules, clauses.

Pure functions and frozen values; no files and no randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.errors import InvalidCase, UsageError
from conformance.operators.attributes import AUTO_PADS, ROUNDINGS, Attribute
from conformance.operators.clause import Clause, Reading
from conformance.operators.clauses import clauses_of, disputed_of, under
from conformance.operators.needs import Needs
from conformance.operators.operator import (
    ALL_TYPES,
    Example,
    Operator,
    Output,
    adaptive,
    sliding,
)
from conformance.operators.outcomes import answer, undefined_as_a_whole
from conformance.operators.params import Params
from conformance.operators.pipeline import Pipeline
from conformance.operators.reduction import AVERAGE, MAXIMUM, Reduction
from conformance.operators.registry import CLAUSES, OPERATORS, concerned, operator_named
from conformance.vector import Array, Case, Vector, as_returned

__all__ = [
    "ALL_TYPES",
    "AUTO_PADS",
    "AVERAGE",
    "CLAUSES",
    "MAXIMUM",
    "OPERATORS",
    "ROUNDINGS",
    "Attribute",
    "Clause",
    "Example",
    "Needs",
    "Operator",
    "Output",
    "Params",
    "Pipeline",
    "Reading",
    "Reduction",
    "adaptive",
    "clauses_of",
    "concerned",
    "disputed_of",
    "evaluate",
    "operator_named",
    "sliding",
    "under",
    "vector_of",
]


def vector_of(case: Case) -> Vector:
    """Return the case with every outcome that conforms under some combination of readings."""
    return answer(operator_named(case.operator), case)


def evaluate(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> Array | tuple[Array, ...]:
    """Compute an operator exactly: averages correctly rounded, maxima as they are.

    `inputs[0]` has shape (N, C, d1..dr); the result (N, C, o1..or) has its type. An operator with
    several outputs gives a tuple. `readings` maps
    disputed clauses to readings, the default elsewhere. Undefined elements are NaN (averages),
    -inf or the lowest integer (maxima). Raises InvalidCase where attributes or inputs break a
    rule of the document or leave nothing to pool, UsageError for an unknown operator, clause or
    reading. Source: the operator's document and docs/clauses.md.
    """
    found = operator_named(operator)
    chosen = dict(readings or {})
    disputed = {name: each for name, each in CLAUSES.items() if each.kind == "disputed"}
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
    return as_returned(pipeline.values(arrays[0], pipeline.plan(params)))
