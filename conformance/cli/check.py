"""`conformance check`: a backend against vectors."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.common import (
    opened,
    operator_option,
    progress_bar,
    select_option,
    tier_option,
    vectors_argument,
    write,
)
from conformance.cli.pins import readings_option

if TYPE_CHECKING:
    from conformance.check.report import Result
    from conformance.vectorfile import VectorSet


@click.command("check")
@click.argument("backend")
@vectors_argument
@operator_option
@tier_option("The largest tier to run.")
@select_option
@readings_option("--require", "require", "Accept only this reading of a clause; repeatable.")
@click.option("--profile", metavar="NAME", help="Require the readings of openvino, onnx or torch.")
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
    operators: tuple[str, ...],
    tier: Any,
    select: str | None,
    require: dict[str, str],
    profile: str | None,
    max_shown: int,
) -> int:
    """Run a backend over vectors and report.

    BACKEND is a built-in name such as numpy or torch, module:attribute, or
    path/to/file.py:attribute. VECTORS is a file or a directory, the shipped suite by default.
    Exits 0 if the backend conforms, 1 if not.
    """
    from conformance.backends import load_backend
    from conformance.check import Interrupted
    from conformance.checking import check
    from conformance.report.console import render

    with opened(vectors) as files:
        stopped = False
        with progress_bar() as step:
            try:
                report = check(
                    load_backend(backend),
                    files,
                    operators=operators or None,
                    select=select,
                    tier=tier,
                    require=require,
                    profile=profile,
                    progress=step and partial(step, backend),
                    name=backend,
                )
            except Interrupted as interrupt:
                report, stopped = interrupt.report, True
        write(render(report, repro=_repro(files, backend), max_shown=max_shown))
    if stopped:
        raise click.Abort
    return 0 if report.ok else 1


def _repro(files: VectorSet, backend: str) -> Callable[[Result], str]:
    """Return what makes a script out of a failing result."""
    from conformance.report.repro import script

    by_operator = {file.operator: file for file in files}

    def repro(result: Result) -> str:
        file = by_operator[result.operator]
        case = file.vector(file.index_of(result.id)).case
        return script(case, result, backend=backend, path=str(file.path))

    return repro
