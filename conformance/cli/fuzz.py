"""`conformance fuzz`: a search for what a backend gets wrong."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.common import operator_option, progress_bar, write
from conformance.cli.sizes import size
from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.fuzz import Finding

_TIMEOUT = 10.0
_DATABASE = Path(".conformance", "fuzz")


@click.command("fuzz")
@click.argument("backend")
@operator_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="How long to search.  [default: 60, or no limit with --max-examples]",
)
@click.option("--max-examples", type=click.IntRange(min=1), help="How many cases to draw.")
@click.option("--max-causes", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same cases again.")
@click.option(
    "--save",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE.h5",
    help="Write what is found to a vector file, or add it to one.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path, file_okay=False),
    default=_DATABASE,
    show_default=True,
    metavar="DIR",
    help="Failures to try first, and to keep for the next time.",
)
@click.option("--in-process", is_flag=True, help="Call the backend in this process, to debug it.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help=f"How long one case may take.  [default: {_TIMEOUT:.0f}]",
)
@click.option(
    "--memory", metavar="SIZE", callback=size, help="Address space of the worker: 2G, 500M."
)
def fuzz_backend(
    backend: str,
    *,
    operators: tuple[str, ...],
    seconds: float | None,
    max_examples: int | None,
    max_causes: int,
    seed: int | None,
    target: Path | None,
    database: Path,
    in_process: bool,
    timeout: float | None,
    memory: int | None,
) -> int:
    """Search for cases that a backend gets wrong.

    BACKEND is as for check, but for results:PATH. Cases are drawn at random, far beyond those of
    the vector files; of each cause of failures, the smallest case is shown. Exits 0 if nothing
    was found, 1 if something was.
    """
    from conformance.fuzz import fuzz, save
    from conformance.fuzz.saving import check_name
    from conformance.report.fuzz import render
    from conformance.report.repro import script

    if in_process and (timeout, memory) != (None, None):
        raise UsageError("--timeout and --memory are for workers: not with --in-process")
    if target is not None:
        check_name(target)
    with progress_bar() as step:
        report = fuzz(
            backend,
            operators=operators or None,
            seconds=seconds,
            max_examples=max_examples,
            seed=secrets.randbelow(1 << 32) if seed is None else seed,
            max_causes=max_causes,
            database=database,
            isolate=not in_process,
            timeout=None if in_process else timeout or _TIMEOUT,
            memory=memory,
            progress=step,
        )
    saved = save(report, target) if target is not None else []

    def repro(finding: Finding) -> str:
        return script(finding.vector.case, finding.result, backend=backend)

    write(render(report, repro=repro, saved=saved))
    if report.stopped == "interrupted":
        raise click.Abort
    return 0 if report.ok else 1
