"""`conformance history`: the releases of an engine."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import click

from conformance.backends import parse_backend
from conformance.cli.outputs import Outputs
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.files import write_text
from conformance.history import Checked, History, history, newest
from conformance.history.api import package_of
from conformance.history.history_report import describe
from conformance.history.versions import in_order
from conformance.operators import operators_named
from conformance.report import html, markdown
from conformance.vectorfile.suite import shipped_suite


def run(
    backend: str,
    versions: tuple[str, ...],
    *,
    count: int | None,
    package: str,
    vectors: Path | None,
    operators: tuple[str, ...],
    tier: str,
    diagnose: Any,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Run the suite over releases and say what came and went."""
    if outputs.to_stdout:
        raise UsageError("- is not possible: the history is printed anyway; give a file")
    name = package_of(backend, package)
    if count is not None:
        versions = (*versions, *newest(name, count))
    ordered = in_order(versions)
    if not ordered:
        raise UsageError("no version is given; --releases 6 means the newest six")
    with opened(vectors, unchecked=True) as files:
        outputs.check(chain((str(file.path) for file in files), parse_backend(backend).paths))
        digests = files.digests
    chosen = {held: digests[held] for held in operators_named(operators or None, list(digests))}
    checked = Checked(backend, vectors or shipped_suite(), chosen, tier, diagnose)
    with progress_bar() as progress:
        made = history(checked, ordered, package=name, progress=progress or _line, **options)
    _show(made, outputs)


def _line(what: str, done: int, total: int) -> None:
    """Say which release is installed and checked now: each takes minutes."""
    of = f" of {total}" if total else ""
    click.echo(f"{what}: installing and checking, {done + 1}{of}", err=True)


def _show(made: History, outputs: Outputs) -> None:
    document = describe([made])
    show(document)
    outputs.write(
        {
            "markdown": lambda file: write_text(markdown.render(document), file),
            "html": lambda file: write_text(html.render(document), file),
        }
    )
    if not made.ran:
        raise UsageError(f"no release of {made.package} was run: see above")
