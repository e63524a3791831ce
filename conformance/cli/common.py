"""Options, files and terminals that several commands share."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from conformance.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from conformance.vectorfile import VectorSet

TIERS = ("smoke", "standard", "exhaustive")
"""As in conformance.vector, which imports numpy."""

_NARROWEST = 40
"""Columns below which nothing can be read; some systems say that a terminal has none."""

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
    "--select",
    metavar="GLOB",
    help="Only vectors whose id holds this text, or matches it if it has a * or ?.",
)


executor_option = click.option(
    "--executor",
    metavar="NAME",
    help="Where work runs: process, with --jobs of them, or dask:ADDRESS, a cluster.",
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


def printable(text: str) -> str:
    """Return text with a mark for each character that is not printable; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def terminal_width() -> int:
    """Return the width of the terminal, 80 without one."""
    return _console(sys.stdout).width


def write(*content: RenderableType) -> None:
    """Print to standard output, with colours on a terminal that wants them."""
    from rich.segment import Segment, Segments

    console = _console(sys.stdout)
    with console.capture() as captured:
        for each in content:
            # A file may be a stranger's: its texts must not steer the terminal.
            clean = [Segment(printable(s.text), s.style) for s in console.render(each)]
            console.print(Segments(clean), crop=False, end="")
    lines = [line.rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(lines), color=True)


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    console.width = max(console.width, _NARROWEST)
    return console


@contextmanager
def progress_bar() -> Iterator[Step | None]:
    """Yield a callable that draws a progress bar on a terminal; None where there is none."""
    screen = _console(sys.stderr)
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
