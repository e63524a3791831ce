"""`conformance report`, `merge` and `diff`: what is made of saved reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from conformance.api.diff import diff
from conformance.api.merge import merge
from conformance.cli.outputs import Outputs
from conformance.cli.report_files import repro_of, write_reports
from conformance.cli.terminal import show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError, VectorFileError
from conformance.record import jsonl
from conformance.record.report import Report
from conformance.report import check_report, diff_report
from conformance.report.json_documents import difference_json
from conformance.vectorfile import VectorSet


def show_report(saved: Path, vectors: Path | None, outputs: Outputs, max_shown: int) -> None:
    """Show a report that --json wrote, or write it in other forms."""
    outputs.check([saved])
    report = jsonl.read(saved)
    with _vectors_of(report, vectors) as files:
        outputs.check(file.path for file in files or ())
        repro = repro_of(files, report.backend)
        write_reports(report, outputs, vectors=files, repro=repro)
        if not outputs.files:
            show(check_report.describe(report, repro=repro), shown=max_shown)


def merge_reports(shards: tuple[Path, ...], outputs: Outputs, max_shown: int) -> int:
    """Join the reports of the shards of one run."""
    outputs.check(shards)
    for path in shards:
        if shards.count(path) > 1:
            raise UsageError(f"{path} is given twice")
    report = merge({str(path): jsonl.read(path) for path in shards})
    write_reports(report, outputs)
    if not outputs.to_stdout:
        show(check_report.describe(report), shown=max_shown)
    return 0 if report.ok else 1


def compare_reports(before: Path, after: Path, *, as_json: bool) -> int:
    """Say what got better and what got worse."""
    difference = diff(jsonl.read(before), jsonl.read(after))
    if as_json:
        click.echo(difference_json(difference), nl=False)
    else:
        show(diff_report.describe(difference))
    return 1 if difference.worse else 0


@contextmanager
def _vectors_of(report: Report, path: Path | None) -> Iterator[VectorSet | None]:
    """Open the vectors of a run.

    The paths in a report are not followed, since it may be a stranger's: without `path`, yields
    the shipped suite if the run used that, else None.
    """
    try:
        with opened(path, unchecked=True) as files:
            held = files.digests
            other = [used for used in report.vectors if held.get(used.operator) != used.digest]
            if other and path is not None:
                raise UsageError(f"{path}: not the {other[0].operator} vectors of this report")
            yield None if other else files
    except VectorFileError:
        if path is not None:
            raise
        yield None
