"""`conformance clauses`: where the documents need a ruling."""

from __future__ import annotations

from difflib import get_close_matches

from conformance.cli.terminal import show
from conformance.errors import UsageError
from conformance.operators import CLAUSES
from conformance.report import clauses_report


def run(name: str | None) -> None:
    """Explain where the documents need a ruling."""
    if name is not None and name not in CLAUSES:
        close = get_close_matches(name, CLAUSES, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"no clause {name!r}; {hint}there are {', '.join(CLAUSES)}")
    if name is None:
        show(clauses_report.describe(CLAUSES.values()))
    else:
        show(clauses_report.describe_one(CLAUSES[name]))
