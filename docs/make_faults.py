"""Writes docs/faults.md from the code, which a test compares: `python docs/make_faults.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.faults import CATALOGUE, Fault
from conformance.faults.fault import STEPS
from conformance.faults.known_bugs import KNOWN_BUGS, NOT_FAULTS
from conformance.operators.registry import OWN

PAGE = Path(__file__).with_name("faults.md")

HEAD = """\
# Faults

A *fault* is a wrong behaviour: the forbidden replacement of one step of an operator, sometimes of
two. The catalogue serves two ends. The *strength* of vectors is the share of these faults that
some vector catches; a *diagnosis* names the fault that reproduces what a backend returned. No
fault is equivalent to a right backend under any combination of readings, and no two are
equivalent to each other: tests show both by example.

This page is made from the code by [make_faults.py](make_faults.py).
"""

SECTIONS = {
    "validate": "Defaults, and calls that must be refused",
    "resolve": "Attributes misread",
    "pads": "The padding of same_\\*",
    "extent": "How many windows",
    "windows": "Where windows lie, and attributes refused",
    "gather": "Which cells are read, and data refused",
    "divide": "What sums are divided by",
    "reduce": "Values, and how they are stored",
    "further": "Outputs after the first",
}


def page() -> str:
    """Return the page as it should be."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    some = sum(any(map(fault.concerns, OWN)) for fault in CATALOGUE)
    yield f"There are {len(CATALOGUE)} faults; {some} concern operators of this suite, the others"
    yield "operators that installed packages add."
    for step in STEPS:
        here = [fault for fault in CATALOGUE if fault.step == step]
        yield f"\n## {SECTIONS[step]}\n"
        yield f"{len(here)} faults of the step `{step}`.\n"
        yield "| fault | what is wrong | concerns | reported |\n|---|---|---|---|"
        yield from map(_row, here)
    yield "\n## Reported behaviours that are no faults\n"
    yield "| behaviour | why | reported |\n|---|---|---|"
    for bug, why in NOT_FAULTS.items():
        yield f"| {bug} | {why} | {_links(KNOWN_BUGS[bug])} |"


def _row(fault: Fault) -> str:
    names = [operator.name for operator in OWN if fault.concerns(operator)]
    operators = "every operator" if len(names) == len(OWN) else ", ".join(names) or "none here"
    return f"| `{fault.name}` | {_cell(fault.summary)} | {operators} | {_links(fault.threads)} |"


def _links(threads: tuple[str, ...]) -> str:
    return " ".join(f"[{_short(thread)}]({thread})" for thread in threads)


def _short(thread: str) -> str:
    _, _, _, owner, name, *_, number = thread.split("/")
    return f"{owner}/{name}#{number}"


def _cell(text: str) -> str:
    """Keep Markdown from reading a text as anything but a text."""
    for sign in "*|<":
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
