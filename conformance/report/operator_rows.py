"""Rows of tables over operators: few, since an operator in which nothing is remarkable folds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.operators import OPERATORS
from conformance.record.report import Verdict
from conformance.report import values as words
from conformance.vector import BACKWARD

_UNREMARKABLE = ("conforms", "unsupported")
_OTHERS = "others"
"""Stands for the family of operators that are not installed here."""


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """A row about some operators and gradients, whose numbers are added up."""

    title: str
    operators: tuple[str, ...]


def outcome(counts: Mapping[Verdict, int]) -> Verdict | Literal["not run"] | None:
    """Return what happened to all vectors of an operator, None if that is worth a look."""
    given = [verdict for verdict, number in counts.items() if number]
    if not given:
        return "not run"
    return given[0] if len(given) == 1 and given[0] in _UNREMARKABLE else None


def operator_rows(outcomes: Mapping[str, Hashable]) -> list[OperatorRow]:
    """Return the rows of a table over operators.

    `outcomes` say in which one thing is true of all vectors, the same for equal values; None marks
    an operator that is worth a row of its own, which its gradient shares. Of the others, those of
    a family with the same outcome share a row.
    """
    rows: list[OperatorRow] = []
    folded: dict[tuple[Hashable, str], list[str]] = {}
    for name in outcomes:
        forward = name.removesuffix(BACKWARD)
        if forward != name and forward in outcomes:
            continue  # stands with its operator
        pair = [each for each in (name, name + BACKWARD) if each in outcomes]
        if any(outcomes[each] is None for each in pair):
            rows.append(_row(pair))
            continue
        for each in pair:
            folded.setdefault((outcomes[each], _family(forward)), []).append(each)
    return rows + [_row(names, family) for (_, family), names in folded.items()]


def _row(names: list[str], family: str = "") -> OperatorRow:
    gradients = sum(name.endswith(BACKWARD) for name in names)
    operators = len(names) - gradients
    if len(names) == 1:
        title = names[0]
    elif operators == gradients == 1 and names[1] == names[0] + BACKWARD:
        title = f"{names[0]} + gradient"
    else:
        counts = {"operator": operators, "gradient": gradients}
        said = [words.count(number, noun) for noun, number in counts.items() if number]
        title = f"{family}: {', '.join(said)}"
    return OperatorRow(title, tuple(names))


def _family(name: str) -> str:
    return OPERATORS[name].publisher if name in OPERATORS else _OTHERS
