"""Whether a gradient and its forward operator follow readings that contradict each other."""

from __future__ import annotations

from conformance.judging.operator_votes import OperatorVotes, agreed
from conformance.judging.votes import ATTRIBUTES
from conformance.operators import Clause
from conformance.vector import forward_name

Side = tuple[Clause, OperatorVotes]
"""A clause, and the votes of one operator on it."""


def contradiction(forward: Side, gradient: Side) -> tuple[str, ...]:
    """Return two readings that contradict each other, the operator's first; () if none do.

    Readings of the same name agree, and one that the other clause does not have says nothing. Where
    an attribute separates the votes of both sides, it is enough that they agree for each value.
    """
    shared = {reading.name for reading in forward[0].readings}
    shared &= {reading.name for reading in gradient[0].readings}
    found: tuple[str, ...] = ()
    for attribute in ATTRIBUTES:
        one, other = (_explaining(*side, attribute) for side in (forward, gradient))
        if not all([*one.values(), *other.values()]):
            continue  # readings that differ with another attribute
        against = [
            (first[0], second[0])
            for value in one.keys() & other.keys()
            if (first := [name for name in one[value] if name in shared])
            and (second := [name for name in other[value] if name in shared])
            and not {*first} & {*second}
        ]
        if not against:
            return ()
        found = found or min(against)
    return found


def _explaining(clause: Clause, votes: OperatorVotes, attribute: str) -> dict[str, list[str]]:
    """Return the readings that explain all votes on a clause, for each value of an attribute.

    A gradient goes by the name of its forward operator.
    """
    values, _, readings = agreed([votes], clause.name, attribute)
    return {
        forward_name(value): [
            reading.name for reading, explains in zip(clause.readings, row, strict=True) if explains
        ]
        for value, row in zip(values, readings.tolist(), strict=True)
    }
