"""For each clause that an operator shares with its gradient: a case that tells its readings apart.

A backend that follows one reading forward and another one backward is seen by the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes
from conformance.operators import OPERATORS, vector_of
from conformance.operators.axis import Axis
from conformance.operators.clauses import disputed_of
from conformance.operators.operator import Operator
from conformance.vector import ARITHMETIC, BACKWARD, Combination, Vector

_AXES = (
    Axis(5, 3, 2, 1),  # overhangs where the number of windows is rounded up
    Axis(4, 1, 3),  # same_* would crop, and a window may start past the input
    Axis(2, 1, 2),
    Axis(6, 3, 2),  # valid may round up
    Axis(3, 2, 1, 2),  # padding of a whole kernel
    Axis(6, 2, 1, 2, dilations=3),
    Axis(6, 2, 2, 0, 2, dilations=3),
    Axis(2, 2, 3, 1),  # the last window starts past the input, not past its padding
    Axis(3, 2, 2, 1, 1),
    Axis(1, 1, 2, 1),
    Axis(5, 2, 4, 1, 1),
    Axis(7, 2, 3),
    Axis(8, 6, 6, 5),
)


def clause_probes(operator: Operator) -> Iterator[CaseSpec]:
    """Yield, in the smoke tier, the first cases that do."""
    wanted = shared_with_gradient(operator)
    for spec in _specs(operator):
        if not wanted:
            return
        told = wanted & told_by(vector_of(build(spec, seed=0)))
        if told:
            wanted -= told
            yield spec


def shared_with_gradient(operator: Operator) -> set[str]:
    """Return the disputed clauses of an operator and its gradient, but for those of arithmetic.

    Those of values are left out for the operator, whose other cases show them.
    """
    other = operator.forward or OPERATORS.get(operator.name + BACKWARD)
    if other is None:
        return set()
    both = (
        {
            clause.name
            for clause in disputed_of(each)
            if operator.is_gradient or not clause.is_of_values
        }
        for each in (operator, other)
    )
    return set.intersection(*both) - set(ARITHMETIC)


def told_by(vector: Vector) -> set[str]:
    """Return the clauses whose readings have different outcomes, those of others at default."""
    defaults = {clause: names[0] for clause, names in vector.clauses.items() if names}

    def outcome(readings: Combination) -> int:
        """Return the number of the outcome under readings."""
        return next(
            number
            for number, each in enumerate(vector.outcomes)
            if any(named.items() <= readings.items() for named in each.readings)
        )

    return {
        clause
        for clause in defaults
        if len({outcome({**defaults, clause: name}) for name in vector.clauses[clause]}) > 1
    }


def _specs(operator: Operator) -> Iterator[CaseSpec]:
    if not operator.has_windows:
        return
    choices = list(levels.word_choices(operator, "rounding", "auto_pad"))
    counted = {"include_pad": True} if "include_pad" in operator.roles else {}
    for axis, words in product(_AXES, choices):
        if axis.is_sayable(operator):
            said, tags = {**words, **counted}, ("readings told apart",)
            plain = operator, (1, 2), (axis,), "index"
            yield case_of_axes(*plain, words=said, tier="smoke", tags=tags)
