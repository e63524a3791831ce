"""`conformance fuzz`: a search for what a backend gets wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import COUNT, PATH, SECONDS, setting_options, worker_options
from conformance.cli.terminal import progress_bar, show
from conformance.errors import ConformanceError

if TYPE_CHECKING:
    from conformance.fuzz import Finding

_NOTES = "HYPOTHESIS_STORAGE_DIRECTORY"


@command("fuzz")
@click.argument("backend")
@setting_options("operators")
@click.option(
    "--seconds",
    type=SECONDS,
    help="How long to search.  [default: 60, or no limit with --max-examples]",
)
@click.option("--max-examples", type=COUNT, help="How many cases to draw.")
@click.option("--max-causes", type=COUNT, default=10, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same cases again.")
@click.option(
    "--save",
    "target",
    type=PATH,
    metavar="FILE.h5",
    help="Write what is found to a vector file, or add it to one.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".conformance", "fuzz"),
    show_default=True,
    metavar="DIR",
    help="Failures to try first, and to keep for the next time.",
)
@setting_options("allow_extensions")
@click.option(
    "--jobs", type=COUNT, default=1, show_default=True, help="Processes that draw the cases."
)
@worker_options("case", 10.0, several=False)
def fuzz_command(
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
    """Search for cases that a backend gets wrong.

    BACKEND is as for check, but for results:PATH. Cases are drawn at random, far beyond those of
    the vector files; of each cause of failures, the smallest case is shown. Exits 0 if nothing
    was found, 1 if something was.
    """
    from conformance.fuzz import fuzz, save
    from conformance.fuzz.saving import check_name
    from conformance.report import fuzz_report
    from conformance.report.repro import script

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
    from hypothesis.configuration import set_hypothesis_home_dir

    with TemporaryDirectory() as home:
        set_hypothesis_home_dir(home)
        os.environ[_NOTES] = home
        try:
            yield
        finally:
            del os.environ[_NOTES]
