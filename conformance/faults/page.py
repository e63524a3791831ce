"""The catalogue as a page for people: docs/faults.md."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import STEPS, Fault
from conformance.faults.known_bugs import KNOWN_BUGS, NOT_FAULTS

_STEPS = {
    "validate": "Defaults and calls that must be refused",
    "resolve": "Attributes misread",
    "pads": "The padding of same_*",
    "extent": "How many windows",
    "windows": "Where windows lie, and valid calls refused",
    "gather": "Which cells are read",
    "divide": "What sums are divided by",
    "reduce": "Values and how they are stored",
}

_HEAD = """# Faults

A fault is a wrong behaviour: the forbidden replacement of one step of an operator, sometimes of
two. The catalogue serves two ends. The *strength* of vectors is the share of these faults that some
vector catches; a *diagnosis* names the fault that reproduces what a backend returned. No fault
is equivalent to a right backend under any combination of readings, and no two are equivalent to
each other; tests show both by example.

This page is generated from `conformance/faults` by `python -m conformance.faults.page`.
"""


def page() -> str:
    """Return the page as markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield f"There are {len(CATALOGUE)} faults."
    for step in STEPS:
        here = [fault for fault in CATALOGUE if fault.step == step]
        yield f"\n## {_STEPS[step]}\n"
        yield f"{len(here)} faults of the step `{step}`.\n"
        yield "| fault | what is wrong | operators | reported |"
        yield "|---|---|---|---|"
        yield from map(_row, here)
    yield "\n## Reported behaviours that are no faults\n"
    yield "| behaviour | why | reported |"
    yield "|---|---|---|"
    for bug, why in NOT_FAULTS.items():
        yield f"| {bug} | {why} | {_links(KNOWN_BUGS[bug])} |"


def _row(fault: Fault) -> str:
    summary = fault.summary.replace("|", "\\|").replace("*", "\\*")
    operators = ", ".join(fault.operators)
    return f"| `{fault.name}` | {summary} | {operators} | {_links(fault.threads)} |"


def _links(threads: tuple[str, ...]) -> str:
    return " ".join(f"[{_short(thread)}]({thread})" for thread in threads)


def _short(thread: str) -> str:
    _, _, _, owner, name, *_, number = thread.split("/")
    return f"{owner}/{name}#{number}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
