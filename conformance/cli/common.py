"""Options, files and terminals that several commands share."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from conformance.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.vectorfile import VectorFile, VectorSet

TIERS = ("smoke", "standard", "exhaustive")
"""As in conformance.vector, which imports numpy."""

Step = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and the total (0 if unknown)."""

vectors_argument = click.argument("vectors", required=False, type=click.Path(path_type=Path))
operator_option = click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    help="Only this operator, AvgPool-1 for example; repeatable.",
)
select_option = click.option(
    "--select", metavar="GLOB", help="Only vectors with an id like this, '*ceil*' for example."
)


def tier_option(text: str) -> Callable[[Any], Any]:
    """Return the option --tier with a help text."""
    return click.option(
        "--tier", type=click.Choice(TIERS), default="standard", show_default=True, help=text
    )


@contextmanager
def opened(path: Path | None) -> Iterator[VectorSet]:
    """Open vector files, the shipped suite for None; a path that does not exist is wrong usage."""
    from conformance.vectorfile import open_vectors

    if path is not None and not path.exists():
        raise UsageError(f"{path}: no such file or directory; give a vector file or a directory")
    with open_vectors(path) as files:
        yield files


def of_operators(files: VectorSet, operators: tuple[str, ...]) -> list[VectorFile]:
    """Return the files of some operators, all for none; UsageError for one that is not there."""
    from conformance.operators import operator_named

    for name in operators:
        operator_named(name)
        if name not in files.operators:
            raise UsageError(f"no vectors of {name}; there are {', '.join(files.operators)}")
    return [file for file in files if not operators or file.operator in operators]


def selected(file: VectorFile, glob: str | None) -> list[int]:
    """Return the numbers of the vectors whose id is like `glob`; all for None."""
    from fnmatch import fnmatchcase

    return [n for n, each in enumerate(file.ids) if glob is None or fnmatchcase(each, glob)]


def console(*, err: bool = False) -> Console:
    """Return a console on standard output or error; wide as the terminal, 80 without one."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Piped(file=sys.stderr if err else sys.stdout, highlight=False, emoji=False, markup=False)


@contextmanager
def progress_bar() -> Iterator[Step | None]:
    """Yield a callable that draws a progress bar on a terminal; None where there is none."""
    screen = console(err=True)
    if not screen.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("", total=None)

        def step(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total or None)

        yield step
