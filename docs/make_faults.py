"""Writes docs/faults.md from the code, which a test compares: `python docs/make_faults.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.faults import CATALOGUE, Fault
from conformance.faults.fault import STEPS
from conformance.faults.known_bugs import KNOWN_BUGS, NOT_FAULTS
from conformance.operators import Operator, in_short
from conformance.operators.gradients import backward
from conformance.operators.registry import OWN
from conformance.text import markdown_escaped as escaped

PAGE = Path(__file__).with_name("faults.md")
GRADIENTS = tuple(filter(None, map(backward, OWN)))

HEAD = """\
# Faults

A *fault* is a wrong behaviour: one step of an operator, sometimes two, replaced in a way that its
document forbids. The catalogue has two uses:

- the *strength* of vectors is the share of these faults that at least one vector catches;
- a *diagnosis* names the fault that reproduces what a backend returned, also
  [for fresh cases](reports.md#likely-causes).

Every fault differs from a right backend, whichever readings that backend follows, and any two
faults differ from each other. Tests show both by example.

[make_faults.py](make_faults.py) makes this page from the code.
"""

SECTIONS = {
    "validate": "Defaults, and calls that must be refused",
    "resolve": "Attributes misread",
    "pads": "The padding of same_\\*",
    "extent": "The number of windows",
    "windows": "The positions of windows, and valid attributes refused",
    "gather": "The cells that are read, and valid data refused",
    "divide": "The divisor",
    "reduce": "Values, and how they are stored",
    "further": "Outputs after the first",
    "clamp": "Activations",
}


def page() -> str:
    """Return the page as it should be."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    count = sum(any(map(fault.concerns, (*OWN, *GRADIENTS))) for fault in CATALOGUE)
    yield f"There are {len(CATALOGUE)} faults. {count} concern operators of this suite or their"
    yield "gradients; what is left concerns operators that installed packages add. The last column"
    yield "links public reports of the same behaviour in other projects."
    for step in STEPS:
        of_step = [fault for fault in CATALOGUE if fault.step == step]
        yield f"\n## {SECTIONS[step]}\n"
        yield f"{len(of_step)} faults of the step `{step}`.\n"
        yield "| fault | what is wrong | concerns | reported |\n|---|---|---|---|"
        yield from map(_row, of_step)
    yield "\n## Reported behaviours that are not in the catalogue\n"
    yield "| behaviour | why | reported |\n|---|---|---|"
    for bug, why in NOT_FAULTS.items():
        yield f"| {bug} | {why} | {_links(KNOWN_BUGS[bug])} |"


def _row(fault: Fault) -> str:
    concerned = (
        _of(fault, OWN, "every operator")
        or _of(fault, GRADIENTS, "every gradient")
        or "added operators"
    )
    return f"| `{fault.name}` | {escaped(fault.summary)} | {concerned} | {_links(fault.threads)} |"


def _of(fault: Fault, operators: Sequence[Operator], every: str) -> str:
    """Return the names of those operators that a fault concerns."""
    names = [operator.name for operator in operators if fault.concerns(operator)]
    return in_short(names, [operator.name for operator in operators], every)


def _links(threads: tuple[str, ...]) -> str:
    return " ".join(f"[{_short(thread)}]({thread})" for thread in threads)


def _short(thread: str) -> str:
    _, _, _, owner, name, *_, number = thread.split("/")
    return f"{owner}/{name}#{number}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
