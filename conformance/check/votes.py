"""Votes: what conforming vectors say of the readings that a backend follows, counted.

Whoever judges vectors counts their votes here, and `readings.settled` says what they come to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from conformance.errors import InvalidCase
from conformance.operators import Operator, operator_named
from conformance.operators.attributes import Role


class Separators(NamedTuple):
    """What may separate the readings of a backend: the usual ways to choose between kernels."""

    operator: str
    dtype: str
    axes: str
    auto_pad: str
    rounding_type: str
    exclude_pad: str


ATTRIBUTES = Separators._fields


class Vote(NamedTuple):
    """What a conforming vector says of readings.

    `accepted` is the packed set of combinations under which the answer conforms, in the
    operator's space (reading_sets.py), and `touched` are the disputed clauses that touch the
    vector. An `excused` answer is an exception that conforms only because some element is
    undefined: it has no say in which readings are followed, and they may refute it.
    """

    accepted: bytes
    touched: tuple[str, ...]
    excused: bool
    separators: Separators


Votes = Counter[Vote]
"""How many vectors say the same; those of parts of a run add up."""


def separators(operator: str, dtype: str, axes: int, given: Mapping[str, Any]) -> Separators:
    """Return what may separate the readings of a vector, given its attributes, from others.

    Attributes go by their roles, and their values by what these mean in every document.
    """
    document = operator_named(operator)
    divisor = "no divisor"
    if document.reduction.sums:
        divisor = _meaning(document, "include_pad", given, default=False)
        divisor = {"False": "true", "True": "false"}.get(divisor, divisor)
    return Separators(
        operator=operator,
        dtype=dtype,
        axes=str(axes),
        auto_pad=_meaning(document, "auto_pad", given, default="explicit"),
        rounding_type=_meaning(document, "rounding", given, default="floor"),
        exclude_pad=divisor,
    )


def _meaning(operator: Operator, role: Role, given: Mapping[str, Any], *, default: object) -> str:
    """Return what the attribute of a role means, or its value as a text if that is invalid."""
    attribute = operator.attribute(role)
    if attribute is None:
        return str(default)
    if attribute.key not in given:
        return str(default if attribute.required else attribute.values[attribute.default])
    value = given[attribute.key]
    try:
        return str(attribute.values[attribute.check(value, 0)])
    except InvalidCase:
        return str(value)
