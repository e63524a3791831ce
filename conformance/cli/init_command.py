"""`conformance init`: a starting adapter, a workflow and a file of expected failures."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from shutil import which

import click

from conformance.api.check import Interrupted, check
from conformance.api.expected_failures_update import write_expected
from conformance.backends import parse_backend
from conformance.cli.starting_files import (
    EXPECTED,
    WORKFLOW,
    StartingAdapter,
    starting_adapter,
    workflow,
)
from conformance.cli.terminal import progress_bar
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.progress import counts_of
from conformance.record.report import Report
from conformance.report import phrases
from conformance.vectorfile import VectorSet

_SECONDS = 60.0
"""How long one vector may take, as in `check`."""


def run(backend: str, *, language: str | None, tier: str) -> int:
    """Write what is missing for a backend, run it once, and write what makes that run green."""
    if not backend.isprintable():
        raise UsageError("a workflow cannot name a backend that holds line breaks")
    named = parse_backend(backend)
    adapter = starting_adapter(named)
    if adapter is not None and language not in {None, adapter.language}:
        raise UsageError(f"{backend}: names a program in {adapter.language}, not in {language}")
    _refuse_to_overwrite([*(adapter.files if adapter else ()), EXPECTED, WORKFLOW])
    if adapter is not None:
        _write_adapter(adapter)
    with opened(None, ()) as files:
        report = _first_run(backend, tier, files)
        click.echo(f"{backend}: {phrases.verdict(report)}")
        if not report.complete or report.vacuous:
            why = report.stopped or report.vacuous
            raise UsageError(f"{backend}: {why}: no workflow was written")
        ids = (vector_id for file in files for vector_id in file.ids)
        click.echo(write_expected(EXPECTED, report, ids, files))
    supported, _ = report.supported()
    WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
    _write(WORKFLOW, workflow(named, tier, supported))
    click.echo(f"wrote {WORKFLOW}: it fails where a run is worse than this one")
    click.echo(_next(backend, tier, adapter))
    return 0


def _next(backend: str, tier: str, adapter: StartingAdapter | None) -> str:
    """Say what to do with what was written."""
    if adapter is None or not adapter.files:
        return f"what fails, and why: conformance check {shlex.quote(backend)} --tier {tier}"
    source = next(iter(adapter.files))
    compiled = ", compile it" if adapter.build else ""
    made = f"remove {EXPECTED} and {WORKFLOW}"
    return f"next: call your engine in {source}{compiled}, {made}, and run this again"


def _first_run(backend: str, tier: str, files: VectorSet) -> Report:
    with progress_bar() as progress:
        try:
            return check(
                backend,
                files,
                tier=tier,
                isolate=True,
                timeout=_SECONDS,
                name=backend,
                progress=counts_of(progress, backend),
            )
        except Interrupted:
            raise click.Abort from None


def _write_adapter(adapter: StartingAdapter) -> None:
    """Write the files of an adapter and compile it if that is needed."""
    if adapter.build and which(adapter.build[0]) is None:
        raise UsageError(f"no compiler {adapter.build[0]} to make a program of {adapter.language}")
    for path, text in adapter.files.items():
        _write(path, text)
        click.echo(f"wrote {path}")
    if adapter.build:
        click.echo(shlex.join(adapter.build))
        done = subprocess.run(  # noqa: S603 - our own words, and the name that the user gave
            adapter.build, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UsageError(f"{shlex.join(adapter.build)}: {done.stderr.strip() or 'failed'}")


def _refuse_to_overwrite(paths: list[Path]) -> None:
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise UsageError(f"{', '.join(there)}: there already, and init writes over nothing")
    for path in paths:
        if path is not WORKFLOW and not path.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no directory {path.parent}")


def _write(path: Path, text: str) -> None:
    """Write a new file; UsageError where it cannot be, also since it is there by now."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
