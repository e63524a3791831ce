"""`conformance report`, `merge` and `diff`: what is made of saved reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import PATH, max_shown_option, verbose_option
from conformance.cli.outputs import Outputs, report_options
from conformance.cli.report_files import repro_of, write_reports
from conformance.cli.terminal import show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError, VectorFileError

if TYPE_CHECKING:
    from conformance.record.report import Report
    from conformance.vectorfile import VectorSet


@command("report")
@click.argument("saved", metavar="REPORT", type=PATH)
@click.option(
    "--vectors",
    type=PATH,
    help="The vectors of the run, for drawings and scripts; the shipped suite if it was that.",
)
@report_options
@max_shown_option
@verbose_option
def report_command(
    saved: Path, vectors: Path | None, outputs: Outputs, max_shown: int, *, verbose: bool
) -> None:
    """Show a report that --json wrote, or write it in other forms.

    REPORT is the file. No backend is run. Exits 0 whatever the report says.
    """
    from conformance.record import jsonl
    from conformance.report import check_report

    outputs.check([saved])
    report = jsonl.read(saved)
    with _vectors_of(report, vectors) as files:
        outputs.check(file.path for file in files or ())
        repro = repro_of(files, report.backend)
        write_reports(report, outputs, vectors=files, repro=repro)
        if not outputs.files:
            described = check_report.describe(report, repro=repro)
            show(described, shown=max_shown, brief=not verbose)


@command("merge")
@click.argument("shards", metavar="REPORT...", nargs=-1, required=True, type=PATH)
@report_options
@max_shown_option
@verbose_option
def merge_command(
    shards: tuple[Path, ...], outputs: Outputs, max_shown: int, *, verbose: bool
) -> int:
    """Join the reports of the shards of one run.

    Each REPORT was written by check --shard i/n --json. Readings and counts are those of the whole
    run. Exits 0 if the backend conforms, 1 if not or if a shard is missing.
    """
    from conformance.api.merge import merge
    from conformance.record import jsonl
    from conformance.report import check_report

    outputs.check(shards)
    for path in shards:
        if shards.count(path) > 1:
            raise UsageError(f"{path} is given twice")
    report = merge({str(path): jsonl.read(path) for path in shards})
    write_reports(report, outputs)
    if not outputs.to_stdout:
        show(check_report.describe(report), shown=max_shown, brief=not verbose)
    return 0 if report.ok else 1


@command("diff")
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def diff_command(before: Path, after: Path, *, as_json: bool) -> int:
    """Say what got better and what got worse.

    BEFORE and AFTER are reports that check --json wrote. Exits 0 if nothing got worse, 1 if
    something did: a verdict, a clause that became inconsistent, a run that is incomplete.
    """
    from conformance.api.diff import diff
    from conformance.record import jsonl
    from conformance.report import diff_report
    from conformance.report.json_documents import difference_json

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
