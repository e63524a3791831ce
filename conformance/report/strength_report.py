"""How strong vectors are: the faults that they catch and miss."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.api.enumerated_strength import SHAPES, EnumeratedStrength
from conformance.api.strength import Catch, Strength
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.vectors_report import coverage_lines


def describe(strength: Strength, *, every: bool = False) -> doc.Document:
    """Return what was caught and missed per operator; for `every` fault, by which vector."""
    caught, faults = strength.faults
    coverage = [
        doc.Paragraph(doc.Span(f"{operator}  {line}", "quiet"))
        for operator, stored in strength.coverage.items()
        for line in coverage_lines(stored)
    ]
    missed = doc.listing(f"{catch.fault}, {catch.operator}" for catch in strength.missed)
    return doc.Document(
        footer=doc.FOOTER,
        title="Strength of vectors",
        conclusion=doc.Conclusion(
            f"{caught:,} of {faults:,} faults caught in every operator that may have them"
        ),
        tone="good" if caught == faults else "warn",
        sections=(
            doc.Section("", (_counts(strength),), name="counts"),
            doc.Section("", tuple(coverage), name="coverage"),
            doc.Section("", (_catches(strength),) if every else (), name="faults"),
            doc.Section("Missed", (missed,), name="missed"),
            _idle(strength),
        ),
    )


def describe_enumerated(
    counted: Sequence[EnumeratedStrength], *, every: bool = False
) -> doc.Document:
    """Return in how many shapes enumerated faults are caught; by name, if `every` is to be said."""
    columns = (
        "operator",
        doc.Column("vectors"),
        doc.Column("faults"),
        doc.Column(f"in {SHAPES} shapes"),
        doc.Column("in fewer", tone="warn"),
        doc.Column("by draws alone", tone="warn"),
        doc.Column("by nothing"),
    )
    rows = [
        (
            each.operator,
            *(f"{count:,}" for count in (each.vectors, len(each.shapes), each.well)),
            *(f"{count:,}" for count in (len(each.thinly), len(each.missed), each.unseen)),
        )
        for each in counted
    ]
    missed = [f"{fault}, {each.operator}" for each in counted for fault in each.missed]
    thinly = [f"{fault}, {each.operator}" for each in counted for fault in each.thinly]
    well = sum(each.well for each in counted)
    shown = well + len(missed) + len(thinly)
    return doc.Document(
        footer=doc.FOOTER,
        title="Strength of vectors",
        conclusion=doc.Conclusion(
            f"{well:,} of {shown:,} enumerated faults that some case catches are caught in "
            f"{SHAPES} shapes or more"
        ),
        tone="good" if not missed else "warn",
        sections=(
            doc.Section("", (doc.table(columns, rows),), name="counts"),
            doc.Section(
                "Caught in fewer shapes", (doc.listing(thinly),) if every else (), name="faults"
            ),
            doc.Section("Missed", (doc.listing(missed),), name="missed"),
        ),
    )


def _counts(strength: Strength) -> doc.Table:
    columns = (
        "operator",
        doc.Column("vectors"),
        doc.Column("caught"),
        doc.Column("missed", tone="warn"),
    )
    rows = []
    for operator, vectors in strength.vectors.items():
        caught, faults = strength.of_operator(operator)
        missed = f"{faults - caught:,}"
        rows.append((operator, f"{vectors:,}", f"{caught:,} of {faults:,}", missed))
    return doc.table(columns, rows)


def _catches(strength: Strength) -> doc.Table:
    """Return the smallest vector that catches each fault, and how many cells it has."""
    columns = ("fault, operator", doc.Column("cells"), "smallest vector that catches it")
    rows = (
        (f"{catch.fault}, {catch.operator}", f"{catch.cells:,}", doc.code(_caught_by(catch)))
        for catch in strength.catches
    )
    return doc.table(columns, rows)


def _caught_by(catch: Catch) -> str:
    if catch.vector is not None:
        return catch.vector
    return f"inconsistent in {catch.inconsistent}" if catch.inconsistent else "missed"


def _idle(strength: Strength) -> doc.Section | None:
    if strength.idle is None:
        return None
    total = words.count(sum(strength.vectors.values()), "vector")
    said = (
        f"{len(strength.idle):,} of {total} catch no fault that a smaller vector does not catch. "
        "Faults that nobody has thought of may still need them."
    )
    return doc.Section("", (doc.Paragraph(said),), name="idle")
