"""`conformance report`: a saved report, rendered again."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.common import opened, write
from conformance.cli.reports import Outputs, report_options, repro_of, write_reports
from conformance.errors import UsageError, VectorFileError

if TYPE_CHECKING:
    from conformance.check.report import Report
    from conformance.vectorfile import VectorSet


@click.command("report")
@click.argument("saved", metavar="REPORT", type=click.Path(path_type=Path))
@click.option(
    "--vectors",
    type=click.Path(path_type=Path),
    help="The vectors of the run, for drawings and scripts; the shipped suite if it was that.",
)
@report_options
@click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Groups of failures to show with an example.",
)
def render_report(saved: Path, vectors: Path | None, outputs: Outputs, max_shown: int) -> None:
    """Show a report that --json wrote, or write it in other forms.

    REPORT is the file. No backend is run. Exits 0 whatever the report says.
    """
    from conformance.report import jsonl
    from conformance.report.console import render

    outputs.check([saved])
    report = jsonl.read(saved)
    with _vectors_of(report, vectors) as files:
        outputs.check(file.path for file in files or ())
        repro = repro_of(files, report.backend) if files else None
        write_reports(report, outputs, vectors=files, repro=repro)
        if not outputs.paths:
            write(render(report, repro=repro, max_shown=max_shown))


@contextmanager
def _vectors_of(report: Report, path: Path | None) -> Iterator[VectorSet | None]:
    """Open the vectors of a run.

    The paths in a report are not followed, since it may be a stranger's: without `path`, yields
    the shipped suite if the run used that, else None.
    """
    try:
        with opened(path) as files:
            held = {file.operator: file.digest for file in files}
            other = [used for used in report.vectors if held.get(used.operator) != used.digest]
            if other and path is not None:
                raise UsageError(f"{path}: not the {other[0].operator} vectors of this report")
            yield None if other else files
    except VectorFileError:
        if path is not None:
            raise
        yield None
