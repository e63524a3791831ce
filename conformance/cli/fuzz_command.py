"""`conformance fuzz`: a search for what a backend gets wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from hypothesis.configuration import set_hypothesis_home_dir

from conformance.cli.terminal import progress_bar, show
from conformance.errors import ConformanceError
from conformance.fuzz import Finding, fuzz, save
from conformance.fuzz.saving import check_name
from conformance.report import fuzz_report
from conformance.report.repro import script

_NOTES = "HYPOTHESIS_STORAGE_DIRECTORY"


def run(
    backend: str,
    *,
    operators: tuple[str, ...],
    seconds: float | None,
    max_examples: int | None,
    max_causes: int,
    allow_extensions: bool,
    seed: int | None,
    jobs: int,
    target: Path | None,
    database: Path,
    workers: dict[str, Any],
) -> int:
    """Search for cases that a backend gets wrong."""
    if target is not None:
        check_name(target)
    with _notes_elsewhere(), progress_bar() as progress:
        report = fuzz(
            backend,
            operators=operators or None,
            seconds=seconds,
            max_examples=max_examples,
            seed=secrets.randbelow(1 << 32) if seed is None else seed,
            max_causes=max_causes,
            allow_extensions=allow_extensions,
            database=database,
            jobs=jobs,
            progress=progress,
            **workers,
        )
    saved: list[Path] = []
    unsaved = report.unsaved
    try:
        saved = save(report, target) if target is not None else []
    except ConformanceError as error:  # a search may have taken an hour: its findings are shown
        unsaved = error

    def repro(finding: Finding) -> str:
        return script(finding.vector.case, finding.result, backend=backend)

    show(fuzz_report.describe(report, repro=repro, saved=saved))
    if unsaved is not None:
        raise unsaved
    if report.stopped == "interrupted":
        raise click.Abort
    return 0 if report.ok else 1


@contextmanager
def _notes_elsewhere() -> Iterator[None]:
    """Keep what Hypothesis notes for itself, here and in processes, out of a folder of the user."""
    with TemporaryDirectory() as home:
        set_hypothesis_home_dir(home)
        os.environ[_NOTES] = home
        try:
            yield
        finally:
            del os.environ[_NOTES]
