"""Writes docs/clauses.md from the code, which a test compares: `python docs/make_clauses.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.operators import CLAUSES, OPERATORS, Clause, concerned

PAGE = Path(__file__).with_name("clauses.md")

HEAD = """\
# Clauses: where the documents need a ruling

A *clause* is a place where a document is silent, contradicts itself or is ill-defined. Each has a
name, and the vectors it touches carry that name. `conformance clauses` prints this page in short,
`conformance clauses NAME` one clause in full.

- [Disputed](#disputed): several *readings* are defensible. Expected outputs exist for each, all
  are accepted, and the report names the one a backend follows. `check --require CLAUSE=READING`
  accepts only one; `--profile` requires the readings an engine is known to follow.
- [Undefined](#undefined): any value, an exception or no array at all conforms. The report says
  what the backend did. Only these elements are exempt; the rest of an output is judged as ever.
- [Rulings](#rulings): there is one defensible answer. The expected values follow it.

Per spatial axis, d is the input size, k the kernel, s the stride, begin and end the pads, t =
d + begin + end - k, o the output size. Which engine follows what was observed in public sources
and by running OpenVINO 2026.4, ONNX Runtime 1.31, PyTorch 2.13 and JAX 0.10 on the CPU.

This page is made from the code by [make_clauses.py](make_clauses.py).
"""

SECTIONS = {
    "disputed": ("Disputed", "In dispute"),
    "undefined": ("Undefined", "Undefined is"),
    "ruling": ("Rulings", "The ruling"),
}


def page() -> str:
    """Return the page as it should be."""
    lines = [HEAD]
    for kind, (title, label) in SECTIONS.items():
        lines.append(f"## {title}\n")
        for clause in CLAUSES.values():
            if clause.kind == kind:
                lines.extend(_clause(clause, label))
    return "\n".join(lines).rstrip() + "\n"


def _clause(clause: Clause, label: str) -> Iterator[str]:
    yield f"### {clause.name}\n"
    yield f"- **The document** ({clause.document}, {clause.section}): {_cell(clause.says)}."
    yield f"- **{label}**: {_cell(clause.answer)}."
    yield f"- **Evidence**: {_cell(clause.evidence)}."
    yield f"- **Concerns** {_operators(concerned(clause))}.\n"
    if clause.readings:
        yield "| reading | meaning | followed by |\n|---|---|---|"
        for number, reading in enumerate(clause.readings):
            name = f"`{reading.name}`{' (default)' if number == 0 else ''}"
            engines = ", ".join(reading.followed_by)
            yield f"| {name} | {_cell(reading.summary)} | {engines} |"
        yield ""


def _operators(names: Iterable[str]) -> str:
    return "every operator" if set(names) == set(OPERATORS) else ", ".join(names)


def _cell(text: str) -> str:
    """Keep Markdown from reading a text as anything but a text."""
    for sign in "*|<":
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
