"""Clauses: all of them by kind, or one in full."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.operators import Clause, concerned, in_short
from conformance.report import document as doc
from conformance.text import listed

_KINDS = {
    "disputed": "Disputed: every reading is accepted, the report names the one followed",
    "undefined": "Undefined: anything but a crash conforms, the report says what happened",
    "ruling": "Rulings: one defensible answer, which the expected values follow",
}


def describe(clauses: Iterable[Clause]) -> doc.Document:
    """Return the clauses by kind, one line each."""
    clauses = list(clauses)
    sections = []
    for kind, title in _KINDS.items():
        rows = tuple(
            (clause.name, " | ".join(reading.name for reading in clause.readings) or clause.answer)
            for clause in clauses
            if clause.kind == kind
        )
        sections.append(doc.Section(title, (doc.Facts(rows),), name=kind))
    hint = doc.Paragraph(doc.Span("conformance clauses NAME says everything about one.", "quiet"))
    return doc.Document("Clauses", (*sections, doc.Section("", (hint,), name="hint")))


def describe_one(clause: Clause) -> doc.Document:
    """Return a clause in full: what the document says, the answer, the evidence, the readings."""
    facts = doc.Facts(
        (
            ("document", f"{clause.document}, {clause.section}"),
            ("it says", clause.says),
            ("in dispute" if clause.kind == "disputed" else "answer", clause.answer),
            ("evidence", clause.evidence),
            ("operators", in_short(concerned(clause))),
        )
    )
    sections = [doc.Section(f"{clause.name} ({clause.kind})", (facts,), name="clause")]
    for number, reading in enumerate(clause.readings):
        blocks = [doc.Paragraph(reading.summary)]
        if reading.followed_by:
            engines = f"followed by {listed(reading.followed_by)}"
            blocks.append(doc.Paragraph(doc.Span(engines, "quiet")))
        default = " (default)" if number == 0 else ""
        title = f"{clause.name}={reading.name}{default}"
        sections.append(doc.Section(title, tuple(blocks), name=reading.name))
    return doc.Document(clause.name, tuple(sections))
