"""Clauses: where the documents need a ruling, and the readings of those that are disputed.

A *ruling* has one defensible answer: the pipelines follow it. A *disputed* clause has several
readings, each the replacement of a step; the first is the default. An *undefined* clause marks
elements or whole cases for which any value conforms. docs/clauses.md says the same for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from conformance.operators import pipeline as steps
from conformance.operators.clause import Clause, StepWrap
from conformance.operators.disputed import DISPUTED
from conformance.operators.operator import Operator
from conformance.operators.rulings import RULINGS, UNDEFINED

SHARED: tuple[Clause, ...] = (*DISPUTED, *UNDEFINED, *RULINGS)
"""Clauses of several documents, each concerning the operators that have what it needs."""


@cache
def clauses_of(operator: Operator) -> dict[str, Clause]:
    """Return the clauses that concern an operator: the shared ones, then its document's own."""
    shared = [clause for clause in SHARED if clause.needs.met_by(operator)]
    return {clause.name: clause for clause in (*shared, *operator.clauses)}


@cache
def disputed_of(operator: Operator) -> tuple[Clause, ...]:
    """Return the disputed clauses that concern an operator, in their order."""
    return tuple(clause for clause in clauses_of(operator).values() if clause.kind == "disputed")


def under(operator: Operator, readings: Mapping[str, str]) -> steps.Pipeline:
    """Return an operator's pipeline under readings; clauses not named keep their default.

    Readings of clauses that do not concern the operator change nothing. Where two readings
    replace one step, the later in the list of clauses wraps the earlier.
    """
    pipeline = operator.pipeline
    for clause in disputed_of(operator):
        if clause.name in readings:
            for step, wrap in clause.reading(readings[clause.name]).replaces.items():
                pipeline = pipeline.replace(**{step: _wrapped(wrap, getattr(pipeline, step))})
    return pipeline


@cache
def _wrapped(wrap: StepWrap, step: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a step, by one function however often: equal steps of two pipelines are one."""
    return wrap(step)
