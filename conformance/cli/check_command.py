"""`conformance check`: a backend against vectors."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import (
    PATH,
    max_shown_option,
    setting_options,
    vectors_argument,
    verbose_option,
    worker_options,
)
from conformance.cli.outputs import Outputs, check_writable, report_options
from conformance.cli.report_files import repro_of, write_reports
from conformance.cli.terminal import progress_bar, show, terminal_width
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.progress import counts_of
from conformance.settings import LARGE
from conformance.text import one_line


@command("check")
@click.argument("backend")
@vectors_argument
@setting_options(
    "operators",
    "tier",
    "select",
    "shard",
    "require",
    "profile",
    "allow_extensions",
    "diagnose",
    "diagnose_seconds",
    "variations",
)
@worker_options("vector", 60.0, memory=" Of a vector of tier large: all, by default what is free.")
@setting_options("cluster", "max_failures", "skip", "expected_failures")
@click.option(
    "--write-expected-failures",
    "expected_out",
    type=PATH,
    metavar="FILE",
    help="Write the failures of this run to such a file, or bring it up to date.",
)
@setting_options("min_supported", "baseline", "strict_unsupported")
@report_options
@max_shown_option
@verbose_option
def check_command(
    backend: str,
    vectors: Path | None,
    *,
    operators: tuple[str, ...],
    tier: str,
    require: dict[str, str],
    workers: dict[str, Any],
    cluster: str | None,
    expected_failures: Path | None,
    expected_out: Path | None,
    skip: Path | None,
    baseline: Path | None,
    outputs: Outputs,
    max_shown: int,
    verbose: bool,
    **options: Any,
) -> int:
    """Run a backend over vectors and report.

    BACKEND is a built-in name such as numpy or torch, module:attribute, path/to/file.py:attribute,
    exec:COMMAND for a program in any language, or results:PATH for outputs computed elsewhere.
    VECTORS is a file or a directory, the shipped suite by default. Exits 0 if the backend
    conforms, 1 if not.
    """
    from conformance.api.check import check
    from conformance.api.expected_failures import ExpectedFailures
    from conformance.api.expected_failures_update import write_expected
    from conformance.backends import parse_backend
    from conformance.cases.large import recipes
    from conformance.record.report import Interrupted
    from conformance.report import check_report

    if cluster is not None and not workers["isolate"]:
        raise UsageError("--cluster is for workers: not with --in-process")
    if tier == LARGE and vectors is not None:
        raise UsageError("tier large is made as it is run: leave out VECTORS")
    named = parse_backend(backend)
    if cluster is None:
        named.check()  # before seconds are spent on vectors
    with nullcontext(None) if tier == LARGE else opened(vectors, operators) as files:
        read = [*(str(file.path) for file in files or ()), *named.paths]
        read += map(str, filter(None, [baseline, skip]))
        outputs.check([*read, *([expected_failures] if expected_failures else [])])
        if expected_out is not None:
            check_writable([*outputs.files.values(), expected_out], read)
            if expected_out.exists():
                ExpectedFailures.read(expected_out)  # what is no such file is not written over
        stopped = False
        with progress_bar() as progress:
            try:
                report = check(
                    backend,
                    files,
                    operators=operators or None,
                    tier=tier,
                    require=require,
                    cluster=cluster,
                    expected_failures=expected_failures,
                    skip=skip,
                    baseline=baseline,
                    progress=counts_of(progress, backend),
                    found=None if progress is None else _tell,
                    name=backend,
                    **workers,
                    **options,
                )
            except Interrupted as interrupt:
                report, stopped = interrupt.report, True
        repro = repro_of(files, backend)
        write_reports(report, outputs, vectors=files, repro=repro)
        if expected_out is not None:
            ids = (
                (recipe.id for recipe in recipes())
                if files is None
                else (vector_id for file in files for vector_id in file.ids)
            )
            click.echo(write_expected(expected_out, report, ids, files), err=outputs.to_stdout)
        # Last, since its last line and the exit code say the same.
        if not outputs.to_stdout:
            described = check_report.describe(report, repro=repro)
            show(described, shown=max_shown, brief=not verbose)
    if stopped:
        raise click.Abort
    return 0 if report.ok else 1


def _tell(cause: str) -> None:
    """Tell somebody who waits of a cause, before the report does."""
    # Not by click, which would write over the bar: it keeps the stream that was there before.
    sys.stderr.write(one_line(f"found: {cause}", terminal_width()) + "\n")
