"""Votes: what conforming vectors say of the readings that a backend follows, counted.

Whoever judges vectors counts their votes here, and `readings.settled` says what they come to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

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
    auto_pad, rounding, divisor = _spellings(operator)
    return Separators(
        operator, dtype, str(axes), auto_pad.of(given), rounding.of(given), divisor.of(given)
    )


class _Spelling(NamedTuple):
    """How a document spells an attribute: its key, "" if it has none, and what values mean."""

    key: str
    meanings: Mapping[Any, str]
    default: str

    def of(self, given: Mapping[str, Any]) -> str:
        """Return what a value means, in a text; an invalid value stands for itself."""
        if self.key not in given:
            return self.default
        value = given[self.key]
        try:
            return self.meanings[value]
        except (KeyError, TypeError):
            return str(value)


@cache
def _spellings(operator: str) -> tuple[_Spelling, _Spelling, _Spelling]:
    """Return the spellings of auto_pad, rounding_type and exclude_pad."""
    document = operator_named(operator)
    excluded = _spelling(document, "include_pad", {False: "true", True: "false"})
    return (
        _spelling(document, "auto_pad", {"explicit": "explicit"}),
        _spelling(document, "rounding", {"floor": "floor"}),
        excluded if document.reduction.sums else _Spelling("", {}, "no divisor"),
    )


def _spelling(operator: Operator, role: Role, texts: Mapping[Any, str]) -> _Spelling:
    """Return how an operator spells a role; the first of `texts` is for what has no attribute."""
    attribute = operator.attribute(role)
    default = next(iter(texts.values()))
    if attribute is None:
        return _Spelling("", {}, default)
    meanings = {
        value: texts.get(meaning, str(meaning)) for value, meaning in attribute.values.items()
    }
    return _Spelling(
        attribute.key, meanings, default if attribute.required else meanings[attribute.default]
    )
