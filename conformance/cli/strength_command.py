"""`conformance strength`: known wrong behaviours that vectors catch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.api.strength import strength
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.executors import usable_cpus
from conformance.progress import counts_of
from conformance.report import strength_report


def run(
    vectors: Path | None,
    operators: tuple[str, ...],
    tier: Any,
    jobs: int | None,
    *,
    every: bool,
    idle: bool,
) -> None:
    """Plant known wrong behaviours and count those that vectors catch."""
    with opened(vectors, operators) as files, progress_bar() as progress:
        measured = strength(
            files,
            operators=operators or None,
            tier=tier,
            idle=idle,
            jobs=jobs or usable_cpus(),
            progress=counts_of(progress, "faults"),
        )
    show(strength_report.describe(measured, every=every))
