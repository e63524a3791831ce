"""Writes docs/clauses.md from the code, which a test compares: `make_clauses.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.operators import CLAUSES, Clause
from conformance.text import markdown_escaped as escaped

PAGE = Path(__file__).parents[1] / "clauses.md"

HEAD = """\
# Clauses: where the documents need a ruling

A *clause* is a place where a document is silent, contradicts itself or is ill-defined. Each clause
has a name, and the vectors it concerns are tagged with that name. `conformance clauses NAME` says
of one what the document says, what is known of it, which operators it concerns, what each of its
readings means, and which engines follow it.

- [Disputed](#disputed): several answers, called *readings*, are defensible. A vector has expected
  outputs for each reading, all are accepted, and the report names the reading that a backend
  follows. `check --require CLAUSE=READING` accepts that reading alone; `--profile` requires the
  readings that a given engine follows, and none where it follows none: `onnx` leaves
  same-never-crops open. The formula that ONNX prints can be negative, and no text says that this
  crops, or that it does not. ONNX Runtime does one with SAME_UPPER and the other with SAME_LOWER,
  and refuses in some kernels of MaxPool.
  An operator and its gradient have one reading of a clause about windows, divisors or sums, and of
  equal maxima the cell that the index names is the one that gets the gradient: a gradient is that
  of what was computed. Where the two [contradict each
  other](reports.md#gradients-that-contradict-their-operator), the clause is inconsistent, and the
  backend does not conform.
- [Undefined](#undefined): any value, an exception or no array at all conforms. The report says what
  the backend did. This holds for the elements concerned; all others are judged as usual.
- [Rulings](#rulings): one answer is defensible. The expected values follow it.

The first reading is the default. Per spatial axis, d is the input size, k the kernel, s the
stride, begin and end the pads, o the output size, and t = d + begin + end - k the slack of the
first window. What each engine follows was found in public sources and by running OpenVINO 2026.4,
ONNX Runtime 1.32, PyTorch 2.13 and JAX 0.10 on the CPU.

[make_clauses.py](development/make_clauses.py) makes this page from the code.
"""

SECTIONS = {
    "disputed": ("Disputed", "In dispute"),
    "undefined": ("Undefined", "Undefined"),
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
    names = [reading.name for reading in clause.readings]
    readings = f" {', '.join(f'`{name}`' for name in names)}." if names else ""
    yield f"{label}: {escaped(clause.answer)}.{readings}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
