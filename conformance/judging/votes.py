"""Votes: what conforming vectors say of the readings that a backend follows, counted.

Whoever judges vectors counts their votes here, and `readings.settled` says what they come to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from conformance.operators import Attribute, operator_named
from conformance.operators.attributes import Role
from conformance.vector import forward_name


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
    """What a conforming vector says of readings, or an exception of other exceptions.

    `accepted` is the bit set of combinations under which the answer conforms, in the
    operator's space (reading_sets.py), and `clauses` are the disputed clauses that apply to
    the vector. An `excused` answer is an exception that conforms only because some element is
    undefined. Any exception is `raised`; where no reading allows it, `accepted` and `clauses`
    are empty.
    """

    accepted: int
    clauses: tuple[str, ...]
    excused: bool
    separators: Separators
    raised: bool = False

    @property
    def conforms(self) -> bool:
        """Whether some reading allows the answer."""
        return bool(self.accepted)

    @classmethod
    def error(cls, separators: Separators) -> Vote:
        """Return the vote of an exception that no reading allows."""
        return cls(0, (), excused=False, separators=separators, raised=True)


Votes = Counter[Vote]
"""How many vectors say the same; those of parts of a run add up."""


def without_say(votes: Iterable[Vote]) -> frozenset[Vote]:
    """Return the exceptions that say nothing of the readings followed, which may refute them.

    These are the excused ones, and those with another reason: like cases raise, too, although no
    reading allows it.
    """
    votes = list(votes)
    raising = {vote.separators for vote in votes if not vote.conforms}
    return frozenset(
        vote
        for vote in votes
        if vote.conforms and (vote.excused or (vote.raised and vote.separators in raising))
    )


def separators(operator: str, dtype: str, axes: int, given: Mapping[str, Any]) -> Separators:
    """Return what may separate the readings of a vector, given its attributes, from others.

    Attributes go by their roles, and their values by what these mean in every document. A gradient
    has the values of its forward operator, but for the name.
    """
    auto_pad, rounding, include_pad, divides = _attributes(forward_name(operator))
    excludes = {False: "true", True: "false"}
    return Separators(
        operator=operator,
        dtype=dtype,
        axes=str(axes),
        auto_pad=_meaning(auto_pad, given, {"explicit": "explicit"}),
        rounding_type=_meaning(rounding, given, {"floor": "floor"}),
        exclude_pad=_meaning(include_pad, given, excludes) if divides else "no divisor",
    )


@cache
def _attributes(operator: str) -> tuple[Attribute | None, Attribute | None, Attribute | None, bool]:
    """Return auto_pad, rounding_type and exclude_pad of an operator, and whether it divides."""
    document = operator_named(operator)
    roles: tuple[Role, Role, Role] = ("auto_pad", "rounding", "include_pad")
    auto_pad, rounding, include_pad = map(document.attribute, roles)
    return auto_pad, rounding, include_pad, document.reduction.sums


def _meaning(
    attribute: Attribute | None, given: Mapping[str, Any], texts: Mapping[Any, str]
) -> str:
    """Return the text of what a value means, the first one without an attribute.

    An invalid value stands for itself.
    """
    if attribute is None or (attribute.required and attribute.key not in given):
        return next(iter(texts.values()))
    value = given.get(attribute.key, attribute.default)
    try:
        meaning = attribute.values[value]
    except (KeyError, TypeError):
        return str(value)
    return texts.get(meaning, str(meaning))
