"""`conformance compare`: several backends side by side."""

from __future__ import annotations

import shlex
from itertools import chain
from pathlib import Path
from typing import Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import setting_options, worker_options
from conformance.cli.outputs import Outputs, comparison_options
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.files import write_text


@command("compare")
@click.argument("names", metavar="BACKEND... [VECTORS]", nargs=-1, required=True)
@setting_options("operators", tier="The largest tier to run.")
@setting_options("select", "skip", "allow_extensions", "diagnose")
@click.option(
    "--no-arithmetic",
    "arithmetic",
    flag_value=False,
    default=True,
    help="Do not reveal how each backend computes an average, which takes seconds.",
)
@worker_options("vector", 60.0)
@comparison_options
def compare_command(
    names: tuple[str, ...],
    *,
    operators: tuple[str, ...],
    tier: Any,
    select: str | None,
    skip: Path | None,
    allow_extensions: bool,
    diagnose: Any,
    arithmetic: bool,
    workers: dict[str, Any],
    outputs: Outputs,
) -> int:
    """Run several backends over the same vectors and show them side by side.

    Each BACKEND is one that `check` takes. VECTORS is a file or a directory, the shipped suite by
    default. Exits 0 if every backend was run, whatever it answered: `check` judges. Exits 2 if
    one could not be run; the others are compared all the same.
    """
    from conformance.api.compare import InterruptedComparison, compare
    from conformance.backends import parse_backend
    from conformance.report import comparison_report, html, markdown
    from conformance.report.json_documents import comparison_json

    backends, path = _split(names)
    if outputs.to_stdout:
        raise UsageError("- is not possible: the comparison is printed anyway; give a file")
    named = [parse_backend(name) for name in backends]
    for each in named:
        each.check()  # before seconds are spent on vectors
    with opened(path, operators) as vectors, progress_bar() as progress:
        read = chain((str(file.path) for file in vectors), *(each.paths for each in named))
        outputs.check([*read, *filter(None, [skip])])
        stopped = False
        try:
            comparison = compare(
                backends,
                vectors,
                operators=operators or None,
                select=select,
                skip=skip,
                tier=tier,
                allow_extensions=allow_extensions,
                diagnose=diagnose,
                arithmetic=arithmetic,
                progress=progress,
                **workers,
            )
        except InterruptedComparison as stop:
            comparison, stopped = stop.comparison, True
    page = outputs.files.get("markdown")
    changed = {
        "--tier": (tier, "standard"),
        "--diagnose": (diagnose, "proven"),
        "--select": (select or "", ""),
        "--skip": (str(skip or ""), ""),
    }
    made_by = _command(
        names,
        operators,
        changed,
        page,
        allow_extensions=allow_extensions,
        arithmetic=arithmetic,
    )
    document = comparison_report.describe(comparison, command=made_by)
    show(document)
    outputs.write(
        {
            "markdown": lambda file: write_text(markdown.render(document), file),
            "html": lambda file: write_text(html.render(document), file),
            "json": lambda file: write_text(comparison_json(comparison), file),
        }
    )
    if stopped:
        raise click.Abort
    if comparison.missing:
        missing = ", ".join(row.backend for row in comparison.missing)
        raise UsageError(
            f"{len(comparison.missing)} of {len(backends)} backends not run: {missing}"
        )
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
    changed: dict[str, tuple[str, str]],
    page: str | None,
    *,
    allow_extensions: bool,
    arithmetic: bool,
) -> str:
    """Return the command that makes the same page again; `changed` are values and defaults."""
    words = ["conformance", "compare", *names]
    for operator in operators:
        words += ["--operator", operator]
    for option, (value, default) in changed.items():
        words += [option, value] if value != default else []
    words += ["--allow-extensions"] if allow_extensions else []
    words += [] if arithmetic else ["--no-arithmetic"]
    words += ["--markdown", page] if page else []
    return shlex.join(words)
