"""`conformance clauses`: where the documents need a ruling."""

from __future__ import annotations

import click

from conformance.cli.lazy_group import command
from conformance.cli.terminal import show
from conformance.errors import UsageError
from conformance.text import did_you_mean, quoted


@command("clauses")
@click.argument("name", required=False)
def clauses_command(name: str | None) -> None:
    """Explain where the documents need a ruling.

    Lists the clauses, or says everything about the one called NAME.
    """
    from conformance.operators import CLAUSES
    from conformance.report import clauses_report

    if name is not None and name not in CLAUSES:
        meant = did_you_mean(name, CLAUSES)
        raise UsageError(f"no clause {quoted(name)}{meant}: see conformance clauses")
    if name is None:
        show(clauses_report.describe(CLAUSES.values()))
    else:
        show(clauses_report.describe_one(CLAUSES[name]))
