"""A vector in words: what it is, where it comes from, and which answers conform."""

from __future__ import annotations

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.dtypes import name_of
from conformance.errors import InvalidCase
from conformance.operators import CLAUSES, Operator
from conformance.operators.attributes import complete
from conformance.report import values as words
from conformance.vector import Array, Outcome, Vector


def heading(vector: Vector, operator: Operator) -> RenderableType:
    """Return id, operator, data, attributes (defaults too), origin and tags."""
    case = vector.case
    lines = [Text(case.id, "bold", no_wrap=True, overflow="ignore")]
    inputs = [f"{name_of(a.dtype)} {words.shape(a.shape)}" for a in case.inputs]
    if len(case.inputs) > 1:
        inputs[1:] = [f"output size {words.shape(case.inputs[1].ravel().tolist())}"]
    facts = [*inputs, f"pattern {case.pattern}" if case.pattern else "", f"tier {case.tier}"]
    lines.append(Text(f"{case.operator}: " + " · ".join(filter(None, facts))))
    if operator.attributes:
        lines.append(_attributes(vector, operator))
    origin = {
        "printed": "expected values printed in the document",
        "derived": "expected values derived from the document by hand",
        "computed": "expected values computed by the reference",
    }[case.provenance]
    lines.append(Text(" · ".join(filter(None, [origin, case.source])), "dim"))
    if case.tags:
        lines.append(Text(f"tags {', '.join(case.tags)}", "dim"))
    return Group(*lines)


def _attributes(vector: Vector, operator: Operator) -> Text:
    given = vector.case.attributes
    text = Text()
    for name, value in given.items():
        text.append(f"{words.attribute(name, value)}  ")
    try:
        axes = vector.case.inputs[0].ndim - 2
        every = complete(operator.attributes, given, axes)
    except InvalidCase:
        return text
    for name, value in every.items():
        if name not in given:
            text.append(f"{words.attribute(name, value)}  ", "dim italic")
    return text


def without_windows(vector: Vector, operator: Operator) -> Text:
    """Return why a case is invalid or undefined as a whole."""
    if vector.outcomes[0].kind == "anything":
        clause = next(iter(vector.clauses), "")
        why = f": {CLAUSES[clause].says}" if clause in CLAUSES else ""
        return Text(f"Undefined as a whole ({clause}){why}. Anything but a crash conforms.")
    why = "these attributes"
    try:
        operator.validate(vector.case.inputs, vector.case.attributes)
    except InvalidCase as error:
        why = str(error)
    return Text.assemble(("An exception is the right answer. ", "bold"), why)


def clauses(vector: Vector) -> RenderableType:
    """Return the clauses that touch a vector with their readings."""
    table = Table.grid(padding=(0, 2))
    table.title, table.title_justify, table.title_style = "Clauses that touch it", "left", "bold"
    for name, readings in vector.clauses.items():
        says = " or ".join(readings) if readings else "undefined"
        table.add_row(f"  {name}", says)
    return table


def answers(vector: Vector, drawn: Outcome | None) -> RenderableType:
    """List the answers, those with equal values as one, since arithmetic changes only the bound.

    `drawn` is the outcome to mark.
    """
    table = Table(title="Answers that conform", title_justify="left", title_style="bold")
    table.box, table.show_edge, table.pad_edge = None, False, False
    for header in ("", "answer", "under"):
        table.add_column(header, header_style="dim")
    alike: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in vector.outcomes:
        key = (outcome.kind, *((each.shape, each.tobytes()) for each in _values(outcome)))
        alike.setdefault(key, []).append(outcome)
    for outcomes in alike.values():
        readings = [combination for outcome in outcomes for combination in outcome.readings]
        answer = _answer(outcomes[0], vector.outcomes[0])
        where = words.combinations(readings, vector.clauses)
        table.add_row("▸" if drawn in outcomes else "", answer, where)
    return table


def _values(outcome: Outcome) -> list[Array]:
    return [expected.values for expected in outcome.outputs]


def _answer(outcome: Outcome, first: Outcome) -> str:
    """Say what an answer is, and in how many values it differs from the first one."""
    if not outcome.outputs:
        return "an exception" if outcome.kind == "raises" else "anything"
    shapes = dict.fromkeys(words.shape(values.shape) for values in _values(outcome))
    text = " and ".join(shapes)
    pairs = list(zip(_values(outcome), _values(first), strict=False))
    if first is outcome or not pairs or any(one.shape != other.shape for one, other in pairs):
        return text
    differing = sum(_differing(one, other) for one, other in pairs)
    return f"{text}, {words.count(differing, 'value')} differ"


def _differing(one: Array, other: Array) -> int:
    with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
        same = one == other
        if one.dtype.kind not in "iu":
            same |= np.isnan(one) & np.isnan(other)
    return int(np.count_nonzero(~same))
