"""Clauses: where the documents need a ruling, and the readings of those that are disputed.

A *ruling* has one defensible answer, which the pipelines follow. A *disputed* clause has several
readings, each of which replaces steps; the first is the default. An *undefined* clause marks
elements or whole cases for which any value conforms. docs/clauses.md lists all clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from conformance.operators import pipeline as steps
from conformance.operators.clause import Clause
from conformance.operators.gradient_clauses import DISPUTED as OF_GRADIENTS
from conformance.operators.gradient_clauses import OTHERS as OTHERS_OF_GRADIENTS
from conformance.operators.needs import meets
from conformance.operators.operator import Operator
from conformance.operators.rulings import RULINGS, UNDEFINED
from conformance.operators.shared_clauses import DISPUTED
from conformance.operators.wraps import StepWrap

SHARED: tuple[Clause, ...] = (
    *DISPUTED,
    *OF_GRADIENTS,
    *UNDEFINED,
    *RULINGS,
    *OTHERS_OF_GRADIENTS,
)
"""Clauses that several documents share; each concerns the operators that meet its needs."""


@cache
def clauses_of(operator: Operator) -> dict[str, Clause]:
    """Return the clauses that concern an operator: the shared ones, then its document's own."""
    settled = {clause.settles for clause in operator.clauses if not clause.of_types}
    shared = [
        clause for clause in SHARED if meets(operator, clause.needs) and clause.name not in settled
    ]
    return {clause.name: clause for clause in (*shared, *operator.clauses)}


@cache
def clauses_of_type(operator: Operator, dtype: str) -> dict[str, Clause]:
    """Return the same but for those that the operator's document settles for an element type."""
    settled = {clause.settles for clause in operator.clauses if dtype in clause.of_types}
    return {name: clause for name, clause in clauses_of(operator).items() if name not in settled}


@cache
def disputed_of(operator: Operator) -> tuple[Clause, ...]:
    """Return the disputed clauses that concern an operator, in their order."""
    return tuple(clause for clause in clauses_of(operator).values() if clause.kind == "disputed")


def under(operator: Operator, readings: Mapping[str, str]) -> steps.Pipeline:
    """Return an operator's pipeline under readings, names of readings by names of clauses.

    Clauses that are not named keep their default, and readings of clauses that do not concern the
    operator change nothing. Where two readings replace one step, the replacement by the later
    clause is made from that by the earlier.
    """
    named = [(c.name, readings[c.name]) for c in disputed_of(operator) if c.name in readings]
    return _under(operator, tuple(named))


@lru_cache(maxsize=1024)
def _under(operator: Operator, readings: tuple[tuple[str, str], ...]) -> steps.Pipeline:
    pipeline = operator.pipeline
    for name, reading in readings:
        for step, wrap in clauses_of(operator)[name].reading(reading).replaces.items():
            pipeline = pipeline.replace(**{step: _wrapped(wrap, getattr(pipeline, step))})
    return pipeline


@cache
def _wrapped(wrap: StepWrap, step: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a step; cached, so that pipelines with the same replacement share one function."""
    return wrap(step)
