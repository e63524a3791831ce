"""`conformance compare`: several backends side by side."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import shlex
from itertools import chain
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import (
    operator_option,
    progress_bar,
    select_option,
    terminal_width,
    tier_option,
    write,
)
from conformance.cli.reports import check_writable, files_of
from conformance.cli.workers import worker_options
from conformance.errors import UsageError


@click.command("compare")
@click.argument("names", metavar="BACKEND... [VECTORS]", nargs=-1, required=True)
@operator_option
@tier_option("The largest tier to run.")
@select_option
@worker_options
@click.option("--markdown", metavar="FILE", help="Also write it as a markdown page.")
@click.option("--html", metavar="FILE", help="Also write it as a web page that stands alone.")
@click.option("--json", metavar="FILE", help="Also write its values as JSON.")
def compare_backends(
    names: tuple[str, ...],
    *,
    operators: tuple[str, ...],
    tier: Any,
    select: str | None,
    workers: dict[str, Any],
    markdown: str | None,
    html: str | None,
    json: str | None,
) -> int:
    """Run several backends over the same vectors and show them side by side.

    Each BACKEND is one that `check` takes. VECTORS is a file or a directory, the shipped suite by
    default. Exits 0 if every backend was run, whatever it answered: `check` judges. Exits 2 if
    one could not be run; the others are compared all the same.
    """
    from conformance.cli.common import opened
    from conformance.compare import InterruptedComparison, compare
    from conformance.files import write_text
    from conformance.report import compare_console, compare_html, compare_json, compare_markdown

    backends, path = _split(names)
    files = list(filter(None, (markdown, html, json)))
    if "-" in files:
        raise UsageError("- is not possible: the comparison is printed anyway; give a file")
    with opened(path) as vectors, progress_bar() as progress:
        read = chain((str(file.path) for file in vectors), *map(files_of, backends))
        check_writable(files, read)
        stopped = False
        try:
            found = compare(
                backends,
                vectors,
                operators=operators or None,
                select=select,
                tier=tier,
                progress=progress,
                **workers,
            )
        except InterruptedComparison as stop:
            found, stopped = stop.comparison, True
    write(compare_console.render(found, width=terminal_width()))
    command = _command(names, operators, tier, select, markdown)
    for file, text in (
        (markdown, compare_markdown.render(found, command=command)),
        (html, compare_html.render(found, command=command)),
        (json, compare_json.render(found)),
    ):
        if file is not None:
            write_text(text, file)
    if stopped:
        raise click.Abort
    if found.missing:
        missing = ", ".join(each.backend for each in found.missing)
        raise UsageError(f"{len(found.missing)} of {len(backends)} backends not run: {missing}")
    return 0


def _split(names: tuple[str, ...]) -> tuple[list[str], Path | None]:
    """Return the backends and the path to vectors, which only the last name can be."""
    from conformance.backends import available, refuse_unknown

    plain = [name for name in names if ":" not in name and name not in available()]
    *before, last = names
    if plain == [last] and before:
        path = Path(last)
        if not path.exists():
            refuse_unknown(last, or_else="a path to vectors that exists")
        return before, path
    for name in plain:
        refuse_unknown(name)
    return [*names], None


def _command(
    names: tuple[str, ...],
    operators: tuple[str, ...],
    tier: str,
    select: str | None,
    markdown: str | None,
) -> str:
    """Return the command that makes the same page again."""
    words = ["conformance", "compare", *names]
    for operator in operators:
        words += ["--operator", operator]
    words += ["--tier", tier] if tier != "standard" else []
    words += ["--select", select] if select else []
    words += ["--markdown", markdown] if markdown else []
    return shlex.join(words)
