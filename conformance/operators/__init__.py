"""What the documents say: operators as pipelines of steps, their attributes, and clauses.

Pure functions and frozen values: no input or output, no randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.operators.attributes import AUTO_PADS, ROUNDINGS, Attribute
from conformance.operators.axis import Axis
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, Reading
from conformance.operators.clauses import clauses_of, disputed_of, under
from conformance.operators.examples import Example, Printed
from conformance.operators.needs import Needs
from conformance.operators.operator import (
    ALL_TYPES,
    Operator,
    Output,
    adaptive,
    sliding,
    unpooling,
    whole,
)
from conformance.operators.outcomes import answer, leaves_a_window, undefined_as_a_whole
from conformance.operators.params import Params
from conformance.operators.pipeline import Pipeline
from conformance.operators.pooling import Pooling, pooling_of
from conformance.operators.reduction import AVERAGE, MAXIMUM, NORM, Reduction
from conformance.operators.registry import (
    CLAUSES,
    OPERATORS,
    check_readings,
    concerned,
    disputed_clauses,
    in_short,
    operator_named,
    operators_named,
)
from conformance.operators.rule import Rule
from conformance.operators.unpooling import UNPOOLING, Scatter
from conformance.vector import Array, Case, Vector, as_returned, own_inputs

__all__ = [
    "ALL_TYPES",
    "AUTO_PADS",
    "AVERAGE",
    "CLAUSES",
    "MAXIMUM",
    "NORM",
    "OPERATORS",
    "ROUNDINGS",
    "UNPOOLING",
    "Attribute",
    "Axis",
    "CallConvention",
    "Clause",
    "Example",
    "Needs",
    "Operator",
    "Output",
    "Params",
    "Pipeline",
    "Pooling",
    "Printed",
    "Reading",
    "Reduction",
    "Rule",
    "Scatter",
    "adaptive",
    "as_called",
    "clauses_of",
    "concerned",
    "contradicts_document",
    "disputed_clauses",
    "disputed_of",
    "evaluate",
    "in_short",
    "operator_named",
    "operators_named",
    "pooling_of",
    "sliding",
    "under",
    "unpooling",
    "vector_of",
    "whole",
]


def vector_of(case: Case) -> Vector:
    """Return the case with every expected outcome: one or more, which differ by readings."""
    return answer(operator_named(case.operator), case)


def contradicts_document(vector: Vector) -> str:
    """Say in what a vector of a worked example differs from what the document prints, or "".

    That of a vector that is none is "".
    """
    case = vector.case
    if case.provenance != "printed":
        return ""
    example = operator_named(case.operator).example(case.source)
    if example is None:
        return f"{case.source!r} is no example of it"
    what = example.contradiction(vector)
    return f"example {case.source!r}: {what}" if what else ""


def as_called(case: Case) -> tuple[tuple[Array, ...], dict[str, Any]]:
    """Return the inputs and attributes that a backend gets for a case, as its document has them.

    They are those of the case, but for documents of another call convention: cases have channels
    second and every number among the attributes.
    """
    convention = operator_named(case.operator).convention_of(case.attributes)
    return convention.given(case.inputs, case.attributes)


def evaluate(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> Array | tuple[Array, ...]:
    """Compute an operator exactly: averages correctly rounded, maxima as they are.

    `inputs[0]` has shape (N, C, d1..dr); the result has shape (N, C, o1..or) and the same type. An
    operator with several outputs returns a tuple. A gradient, `NAME-backward`, takes that of the
    first output of NAME before the inputs of NAME, and returns that of the data. `readings` maps
    names of disputed clauses to names of readings; clauses that are not named have their default.
    Undefined elements are NaN in averages and gradients, -inf or the lowest integer in maxima, and
    the last of several values in unpoolings.
    Raises InvalidCase if attributes or inputs break a rule of the document, leave nothing to pool,
    or make a result of which nothing is known, UsageError for an unknown operator, clause or
    reading. Source: the operator's document and docs/clauses.md.
    """
    chosen = dict(readings or {})
    check_readings(chosen)
    definition = operator_named(operator)
    given = [np.asarray(array) for array in inputs]
    convention = definition.convention_of(attributes)
    arrays, attributes = convention.taken(given, attributes)
    params = definition.validate(arrays, attributes)
    if left_open := definition.left_open(attributes):
        raise InvalidCase(f"{', '.join(left_open)}: its document leaves such a call open")
    data, *others = own_inputs(operator, arrays)
    undefined = undefined_as_a_whole(definition, params, (data, *others))
    if undefined == "lp-signed":
        raise InvalidCase(
            f"p = {params.exponent} of a negative cell: its document leaves that open"
        )
    if undefined == "tosa-sum-overflow":
        raise InvalidCase("a sum that int32 does not hold: its document leaves the result open")
    if 0 in params.sizes or 0 in params.output:
        raise InvalidCase(
            f"sizes {list(params.sizes)} to {list(params.output)}: a size of 0 has no windows"
            if params.output
            else f"data of shape {data.shape}: a spatial size of 0 has no windows"
        )
    pipeline = under(definition, chosen)
    plan = pipeline.plan(params)
    if undefined == "kernel-past-padding" or not leaves_a_window(definition, plan.extent):
        raise InvalidCase(
            f"kernel {list(params.kernel)} is larger than the padded input: nothing to pool"
        )
    outputs = pipeline.values(data, plan, definition.gradient_or_indices(arrays))
    return as_returned(tuple(map(convention.array_given, outputs)))
