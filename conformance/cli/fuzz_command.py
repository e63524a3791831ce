"""`conformance fuzz`: a search for what a backend gets wrong."""

from __future__ import annotations

import secrets
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


def run(
    backend: str,
    *,
    operators: tuple[str, ...],
    seconds: float | None,
    max_examples: int | None,
    max_causes: int,
    allow_extensions: bool,
    seed: int | None,
    target: Path | None,
    database: Path,
    workers: dict[str, Any],
) -> int:
    """Search for cases that a backend gets wrong."""
    if target is not None:
        check_name(target)
    with TemporaryDirectory() as home, progress_bar() as progress:
        # Hypothesis would keep notes of its own in a folder of the user's.
        set_hypothesis_home_dir(home)
        report = fuzz(
            backend,
            operators=operators or None,
            seconds=seconds,
            max_examples=max_examples,
            seed=secrets.randbelow(1 << 32) if seed is None else seed,
            max_causes=max_causes,
            allow_extensions=allow_extensions,
            database=database,
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
