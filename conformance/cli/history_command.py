"""`conformance history`: the releases of an engine."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import COUNT, PATH, setting_options
from conformance.cli.outputs import Outputs, history_options
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.files import write_text

if TYPE_CHECKING:
    from conformance.history import History


@command("history")
@click.argument("backend")
@click.argument("versions", metavar="[VERSION]...", nargs=-1)
@click.option(
    "--releases", "count", type=COUNT, metavar="N", help="Also the N newest ones that pip knows."
)
@click.option("--bisect", is_flag=True, help="Run only releases that place a change.")
@click.option(
    "--package", default="", metavar="NAME", help="What has versions, for a backend of your own."
)
@click.option(
    "--with",
    "extra",
    multiple=True,
    metavar="REQUIREMENT",
    help="Also install this in every environment; repeatable.",
)
@click.option(
    "--reports",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".conformance", "history"),
    show_default=True,
    metavar="DIR",
    help="The report of each release, as JSON lines; one that is there is not made again.",
)
@click.option("--vectors", type=PATH, help="A file or a directory.  [default: the shipped suite]")
@setting_options("operators", tier="The largest tier to run.")
@setting_options("diagnose")
@history_options
def history_command(
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
    """Say in which release of an engine each failure came or went.

    BACKEND is a built-in name such as onnxruntime, or a callable as for `check`, with --package.
    Each VERSION is installed in an environment of its own, checked there and removed again; what
    does not install is said. Exits 0 if some release was run, whatever it answered: `check` judges.
    """
    from conformance.backends import parse_backend
    from conformance.history import Checked, history, newest
    from conformance.history.api import package_of
    from conformance.history.versions import in_order
    from conformance.operators import operators_named
    from conformance.vectorfile.suite import shipped_suite

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
    from conformance.history.history_report import describe
    from conformance.report import html, markdown

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
