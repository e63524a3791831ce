"""`conformance diff`: what changed between two saved reports."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import write


@click.command("diff")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def diff_reports(before: Path, after: Path, *, as_json: bool) -> int:
    """Say what got better and what got worse.

    BEFORE and AFTER are reports that check --json wrote. Exits 0 if nothing got worse, 1 if
    something did: a verdict, a clause that became inconsistent, a run that is incomplete.
    """
    from conformance.report import jsonl
    from conformance.report.diff import compare
    from conformance.report.diff_texts import render, to_json

    difference = compare(jsonl.read(before), jsonl.read(after))
    if as_json:
        click.echo(to_json(difference))
    else:
        write(render(difference))
    return 1 if difference.worse else 0
