"""`conformance merge`: the reports of shards joined to that of their run."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import write
from conformance.cli.reports import Outputs, report_options, write_reports
from conformance.errors import UsageError


@click.command("merge")
@click.argument(
    "shards", metavar="REPORT...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@report_options
@click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Groups of failures to show with an example.",
)
def merge_reports(shards: tuple[Path, ...], outputs: Outputs, max_shown: int) -> int:
    """Join the reports of the shards of one run.

    Each REPORT was written by check --shard i/n --json. Readings and counts are those of the whole
    run. Exits 0 if the backend conforms, 1 if not or if a shard is missing.
    """
    from conformance.report import jsonl
    from conformance.report.console import render
    from conformance.report.merge import merge

    outputs.check(shards)
    for path in shards:
        if shards.count(path) > 1:
            raise UsageError(f"{path} is given twice")
    report = merge({str(path): jsonl.read(path) for path in shards})
    write_reports(report, outputs)
    if not outputs.to_stdout:
        write(render(report, max_shown=max_shown))
    return 0 if report.ok else 1
