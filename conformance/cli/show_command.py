"""`conformance show`: one vector drawn."""

from __future__ import annotations

import os
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import integers, readings_option
from conformance.cli.terminal import show, terminal_width
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError, VectorFileError
from conformance.text import did_you_mean

if TYPE_CHECKING:
    from conformance.vectorfile import VectorFile, VectorSet

_MOST = 10


@command("show")
@click.argument("words", metavar="[VECTORS] CASE", nargs=-1, required=True)
@click.option(
    "--output",
    metavar="I,J",
    callback=integers,
    help="Outline the window of the output element at this spatial position.",
)
@click.option(
    "--plane",
    metavar="N,C",
    callback=integers,
    help="Batch, channel and, for data with more than two axes, positions on the first ones.",
)
@readings_option("--reading", "readings", "Draw the answer under this reading; repeatable.")
def show_command(
    words: tuple[str, ...],
    output: tuple[int, ...],
    plane: tuple[int, ...],
    readings: dict[str, str],
) -> None:
    """Draw one vector: windows, padding, partial last windows.

    VECTORS is a file or a directory, the shipped suite by default. CASE is an id, a part of one,
    or a pattern such as '*same_lower*' that one id matches.
    """
    from conformance.report.vector_report import describe
    from conformance.vectorfile.verify import misshapen

    *places, case = words
    if len(places) > 1:
        raise UsageError(f"{len(words)} arguments; give the vectors, or none, and one id")
    if not places and os.path.lexists(case):  # Path.exists raises where a name is too long
        raise UsageError(f"{case}: which vector of it? see conformance list {case} --ids")
    with opened(Path(places[0]) if places else None) as files:
        file, number = _find(files, case)
        vector = file.vector(number)
    if what := misshapen(vector):
        raise VectorFileError(f"{file.path}: {vector.case.id}: {what}")
    width = terminal_width()
    show(describe(vector, output=output, plane=plane, readings=readings, width=width))


def _find(files: VectorSet, case: str) -> tuple[VectorFile, int]:
    """Return the one vector meant by an id, a prefix or a pattern; else UsageError."""
    matching = files.matching(case)
    if len(matching) == 1:
        return next(iter(matching.values()))
    if matching:
        shown = "".join(f"\n  {name}" for name in islice(matching, _MOST))
        more = f"\n  … and {len(matching) - _MOST:,} more" if len(matching) > _MOST else ""
        click.echo(f"{shown}{more}".lstrip("\n"), err=True)
        raise UsageError(f"{case!r} matches {len(matching):,} vectors; name one of those above")
    ids = [name for file in files for name in file.ids]
    begin = max((_common_length(name, case) for name in ids), default=0)
    similar = [name for name in ids if name.startswith(case[:begin])]
    meant = did_you_mean(case, similar)
    raise UsageError(f"no vector {case!r} among {len(ids):,}{meant}: see conformance list --ids")


def _common_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
