"""`conformance check`: a backend against vectors."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import (
    executor_option,
    opened,
    operator_option,
    progress_bar,
    select_option,
    tier_option,
    vectors_argument,
    write,
)
from conformance.cli.pins import readings_option
from conformance.cli.reports import (
    Outputs,
    check_writable,
    files_of,
    report_options,
    repro_of,
    write_reports,
)
from conformance.cli.workers import worker_options
from conformance.errors import UsageError


@click.command("check")
@click.argument("backend")
@vectors_argument
@operator_option
@tier_option("The largest tier to run.")
@select_option
@click.option("--shard", metavar="I/N", help="Run the I-th of N equal parts; see merge.")
@readings_option("--require", "require", "Accept only this reading of a clause; repeatable.")
@click.option("--profile", metavar="NAME", help="Require the readings of openvino, onnx or torch.")
@worker_options
@executor_option
@click.option(
    "--max-failures",
    type=click.IntRange(min=1),
    help="Stop after so many failures; the run is incomplete then.",
)
@click.option(
    "--expected-failures",
    "expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Failures that are known; others, and these where they pass, are not ok.",
)
@click.option(
    "--write-expected-failures",
    "expected_out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the failures of this run to such a file, or bring it up to date.",
)
@report_options
@click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Groups of failures to show with an example.",
)
def check_backend(
    backend: str,
    vectors: Path | None,
    *,
    operators: tuple[str, ...],
    require: dict[str, str],
    workers: dict[str, Any],
    executor: str | None,
    expected: Path | None,
    expected_out: Path | None,
    outputs: Outputs,
    max_shown: int,
    **options: Any,
) -> int:
    """Run a backend over vectors and report.

    BACKEND is a built-in name such as numpy or torch, module:attribute, path/to/file.py:attribute,
    exec:COMMAND for a program in any language, or results:PATH for outputs computed elsewhere.
    VECTORS is a file or a directory, the shipped suite by default. Exits 0 if the backend
    conforms, 1 if not.
    """
    from conformance.check import Interrupted
    from conformance.check.expected import ExpectedFailures
    from conformance.checking import check
    from conformance.executors import executor_named
    from conformance.report.console import render
    from conformance.report.expected import write_expected

    machines = None
    if executor is not None:
        if not workers.pop("isolate"):
            raise UsageError("--executor is for workers: not with --in-process")
        machines = executor_named(executor, workers.pop("jobs"))
    with opened(vectors) as files:
        read = [*(str(file.path) for file in files), *files_of(backend)]
        outputs.check([*read, *([expected] if expected else [])])
        if expected_out is not None:
            check_writable([*outputs.paths, expected_out], read)
            if expected_out.exists():
                ExpectedFailures.read(expected_out)  # what is no such file is not written over
        stopped = False
        with progress_bar() as step:
            try:
                report = check(
                    backend,
                    files,
                    operators=operators or None,
                    require=require,
                    executor=machines,
                    expected_failures=expected,
                    progress=step and partial(step, backend),
                    name=backend,
                    **workers,
                    **options,
                )
            except Interrupted as interrupt:
                report, stopped = interrupt.report, True
        repro = repro_of(files, backend)
        write_reports(report, outputs, vectors=files, repro=repro)
        if expected_out is not None:
            write_expected(
                expected_out, report, (vector_id for file in files for vector_id in file.ids)
            )
        # Last, since its last line and the exit code say the same.
        if not outputs.to_stdout:
            write(render(report, repro=repro, max_shown=max_shown))
    if stopped:
        raise click.Abort
    return 0 if report.ok else 1
