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
from conformance.operators.clause import Clause, Reading, StepWrap
from conformance.operators.disputed import DISPUTED
from conformance.operators.operator import Operator
from conformance.operators.rulings import RULINGS, UNDEFINED

__all__ = ["CLAUSES", "DISPUTED", "GEOMETRIC", "Clause", "Reading", "StepWrap", "under"]

CLAUSES: dict[str, Clause] = {clause.name: clause for clause in (*DISPUTED, *UNDEFINED, *RULINGS)}
GEOMETRIC = ("same-output-size", "same-with-ceil", "ceil-window-past-input", "overhang-divisor")
"""The disputed clauses whose readings replace steps of the geometry."""


def under(operator: Operator, readings: Mapping[str, str]) -> steps.Pipeline:
    """Return an operator's pipeline under readings; clauses not named keep their default.

    Readings of clauses that do not concern the operator change nothing. Where two readings
    replace one step, the later in the list of clauses wraps the earlier.
    """
    pipeline = operator.pipeline
    for clause in DISPUTED:
        if clause.name in readings and operator.name in clause.operators:
            for step, wrap in clause.reading(readings[clause.name]).replaces.items():
                pipeline = pipeline.replace(**{step: _wrapped(wrap, getattr(pipeline, step))})
    return pipeline


@cache
def _wrapped(wrap: StepWrap, step: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a step, by one function however often: equal steps of two pipelines are one."""
    return wrap(step)
