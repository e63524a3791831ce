"""Faults: all of them by the step that they replace, or one in full."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.faults import Fault
from conformance.faults.fault import STEPS
from conformance.operators import in_short
from conformance.report import document as doc
from conformance.text import listed

_STEPS = {
    "validate": "Defaults, and calls that must be refused",
    "resolve": "Attributes misread",
    "pads": "The padding of same_*",
    "extent": "The number of windows",
    "windows": "The positions of windows, and valid attributes refused",
    "gather": "The cells that are read, and valid data refused",
    "divide": "The divisor",
    "reduce": "Values, and how they are stored",
    "further": "Outputs after the first",
    "clamp": "Activations",
}


def describe(faults: Sequence[Fault]) -> doc.Document:
    """Return the faults by step, one line each."""
    sections = []
    for step in STEPS:
        rows = tuple((fault.name, fault.summary) for fault in faults if fault.step == step)
        sections.append(doc.Section(f"{_STEPS[step]} ({len(rows)})", (doc.Facts(rows),), name=step))
    hint = doc.Paragraph(doc.Span("conformance faults NAME says everything about one.", "quiet"))
    return doc.Document("Faults", (*sections, doc.Section("", (hint,), name="hint")))


def describe_one(fault: Fault) -> doc.Document:
    """Return a fault in full: what is wrong, in which step, who may have it, public reports."""
    rows = [
        ("what is wrong", fault.summary),
        ("in the step" if len(fault.replaces) == 1 else "in the steps", listed([*fault.replaces])),
        ("operators", in_short(list(fault.operators))),
    ]
    if fault.remembers:
        rows.append(("depends on", "earlier calls"))
    if fault.threads:
        rows.append(("reported", " ".join(fault.threads)))
    return doc.Document(
        fault.name, (doc.Section(fault.name, (doc.Facts(tuple(rows)),), name="fault"),)
    )
