"""What suits an operator, asked by roles and traits: types, patterns, words, numbers of axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from conformance.dtypes import FLOATS
from conformance.operators.attributes import MEANINGS, WORDS, Attribute, Role
from conformance.operators.operator import Operator
from conformance.operators.params import UNSAID
from conformance.sweep.covering import Constraint, Level
from conformance.sweep.model import ABSENT
from conformance.sweep.patterns import AVERAGE_PATTERNS, INTEGER_PATTERNS, MAXIMUM_PATTERNS

_INTEGERS = ("int8", "uint8", "int32", "int64")
_MOST_AXES = 4  # where a document sets no limit
PLAIN = {**UNSAID, "pads": 0}
"""What lists of numbers are, by role, where a document has no attribute for them."""


def axes(operator: Operator) -> tuple[int, ...]:
    """Return the numbers of spatial axes that are swept."""
    fewest, most = operator.axes
    return tuple(range(fewest, max(fewest, min(most or _MOST_AXES, _MOST_AXES)) + 1))


def floats(operator: Operator) -> tuple[str, ...]:
    """Return the floating-point types of an operator; all its types if it has none."""
    return tuple(name for name in FLOATS if name in operator.dtypes) or operator.dtypes


def types(operator: Operator) -> tuple[str, ...]:
    """Return the element types that are swept; averages of integers are special cases."""
    integers = () if operator.reduction.sums else _INTEGERS
    also = (name for name in integers if name in operator.dtypes)
    return tuple(dict.fromkeys((*floats(operator), *also)))


def plain_type(operator: Operator) -> str:
    """Return the element type of cases that are not about types."""
    return "float32" if "float32" in operator.dtypes else operator.dtypes[0]


def patterns(operator: Operator) -> tuple[str, ...]:
    """Return the data patterns that can show a fault of a reduction."""
    return AVERAGE_PATTERNS if operator.reduction.sums else MAXIMUM_PATTERNS


def pattern_for(wanted: str, dtype: str) -> str:
    """Return a pattern that a type can hold: the one wanted, or else small integers."""
    return wanted if dtype in FLOATS or wanted in INTEGER_PATTERNS else "integers"


def positions(operator: Operator) -> str:
    """Return the pattern that shows which cells are read, with a narrow bound if they sum."""
    return "impulses" if operator.reduction.sums else "index"


def holds(dtype: str, pattern: str) -> bool:
    """Say whether an element type can hold a pattern."""
    if dtype not in FLOATS:
        return pattern in INTEGER_PATTERNS
    return pattern != "extremes" and (dtype != "bfloat16" or pattern != "overflow")


HELD = Constraint(
    ("dtype", "pattern"),
    holds,
    "patterns an element type can hold; float32 is no wider than bfloat16",
)


def may_be_absent(attribute: Attribute) -> bool:
    """Say whether the covering arrays leave an attribute out: not if its default is unusual."""
    if attribute.required or attribute.role not in (*PLAIN, *MEANINGS):
        return False
    return not attribute.is_list or attribute.default == PLAIN[attribute.role]


def words(operator: Operator) -> dict[str, Attribute]:
    """Return the attributes with a few values, by role."""
    return {a.role: a for role in MEANINGS if (a := operator.attribute(role)) is not None}


def word_factors(operator: Operator) -> dict[str, tuple[Level, ...]]:
    """Return a factor for each word: its meanings, and that it is left out where it may be."""
    known = words(operator)
    return {
        role: (*((ABSENT,) if may_be_absent(known[role]) else ()), *_declared(known[role]))
        for role in WORDS
        if role in known
    }


def _declared(attribute: Attribute) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(attribute.values.values()))


def words_of(row: dict[str, Level]) -> dict[str, Any]:
    """Return the words that a row of a covering array gives, by role."""
    return {role: row[role] for role in MEANINGS if row.get(role, ABSENT) != ABSENT}


def word_choices(operator: Operator, *varied: Role) -> Iterator[dict[str, Any]]:
    """Yield meanings of words by role: every choice of those varied, defaults first.

    Of the other words, those that are required have their first meaning.
    """
    known = words(operator)
    fixed = {role: each.meanings[0] for role, each in known.items() if each.required}
    free = [role for role in varied if role in known]
    for chosen in product(*(known[role].meanings for role in free)):
        given = {**fixed, **dict(zip(free, chosen, strict=True))}
        yield {role: given[role] for role in MEANINGS if role in given}
