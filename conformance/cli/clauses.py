"""`conformance clauses`: where the documents need a ruling."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from difflib import get_close_matches

import click

from conformance.cli.common import write
from conformance.errors import UsageError


@click.command("clauses")
@click.argument("name", required=False)
def explain_clauses(name: str | None) -> None:
    """Explain where the documents need a ruling.

    Lists the clauses, or says everything about the one called NAME.
    """
    from conformance.operators import CLAUSES
    from conformance.report.clauses import one_clause, table

    if name is not None and name not in CLAUSES:
        close = get_close_matches(name, CLAUSES, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"no clause {name!r}; {hint}there are {', '.join(CLAUSES)}")
    write(table(CLAUSES.values()) if name is None else one_clause(CLAUSES[name]))
