"""The terminal: what is printed, and the progress that is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from conformance.progress import Progress
from conformance.text import masked

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.report.document import Document

_NARROWEST = 40
"""Columns below which nothing can be read; some systems say that a terminal has none."""


def show(document: Document, *, shown: int | None = None, brief: bool = False) -> None:
    """Print a document, as wide as the terminal; of a series, at most `shown` parts.

    In `brief`, what is seldom asked for is left out. There are colours on a terminal that wants
    them.
    """
    from rich.segment import Segment, Segments

    from conformance.report.console import render

    console = _console(sys.stdout)
    rendered = render(document, shown=shown, width=console.width, brief=brief)
    with console.capture() as captured:
        # A file may be a stranger's: its texts must not steer the terminal.
        clean = [Segment(masked(s.text), s.style) for s in console.render(rendered)]
        console.print(Segments(clean), crop=False, end="")
    lines = [line.rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(lines), color=True)


def terminal_width() -> int:
    """Return the width of the terminal, 80 without one."""
    return _console(sys.stdout).width


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    console.width = max(console.width, _NARROWEST)
    return console


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Yield a callable that draws a progress bar on a terminal; None where there is none."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as RichProgress

    screen = _console(sys.stderr)
    if not screen.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with RichProgress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("", total=None)

        def step(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total or None)

        yield step
