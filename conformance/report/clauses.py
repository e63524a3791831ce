"""Clauses for the terminal: a table of all, or one in full."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.operators import Clause, concerned
from conformance.report import values as words

_KINDS = {
    "disputed": "Disputed: every reading is accepted, the report names the one followed",
    "undefined": "Undefined: anything but a crash conforms, the report says what happened",
    "ruling": "Rulings: one defensible answer, which the expected values follow",
}


def table(clauses: Iterable[Clause]) -> RenderableType:
    """Return the clauses by kind, one line each."""
    parts: list[RenderableType] = []
    every = list(clauses)
    for kind, title in _KINDS.items():
        grid = Table.grid(padding=(0, 2))
        for clause in every:
            if clause.kind == kind:
                readings = " | ".join(reading.name for reading in clause.readings)
                grid.add_row(Text(f"  {clause.name}", no_wrap=True), readings or clause.answer)
        parts += [Text(title, "bold"), grid, Text()]
    return Group(*parts, Text("conformance clauses NAME says everything about one.", "dim"))


def one_clause(clause: Clause) -> RenderableType:
    """Return a clause in full: what the document says, the answer, the evidence, the readings."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_row("document", f"{clause.document}, {clause.section}")
    facts.add_row("it says", clause.says)
    facts.add_row("in dispute" if clause.kind == "disputed" else "answer", clause.answer)
    facts.add_row("evidence", clause.evidence)
    facts.add_row("operators", words.list_of(concerned(clause)))
    parts: list[RenderableType] = [
        Text.assemble((clause.name, "bold"), f" ({clause.kind})"),
        Padding(facts, (0, 0, 0, 2), expand=False),
    ]
    for number, reading in enumerate(clause.readings):
        name = Text.assemble("\n", (f"  {clause.name}={reading.name}", "bold"))
        if number == 0:
            name.append(" (default)", "dim")
        parts += [name, Padding(Text(reading.summary), (0, 0, 0, 4))]
        if reading.followed_by:
            engines = f"followed by {words.list_of(reading.followed_by)}"
            parts.append(Padding(Text(engines, "dim"), (0, 0, 0, 4)))
    return Group(*parts)
