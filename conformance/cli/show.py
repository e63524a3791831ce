"""`conformance show`: one vector drawn."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import os
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.common import opened, terminal_width, write
from conformance.cli.pins import readings_option
from conformance.errors import UsageError, VectorFileError

if TYPE_CHECKING:
    from conformance.vectorfile import VectorFile, VectorSet

_MOST = 10


def _integers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(item) for item in value.split(",")) if value else ()
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of integers like 0,2") from None


@click.command("show")
@click.argument("words", metavar="[VECTORS] CASE", nargs=-1, required=True)
@click.option(
    "--output",
    metavar="I,J",
    callback=_integers,
    help="Outline the window of the output element at this spatial position.",
)
@click.option(
    "--plane",
    metavar="N,C",
    callback=_integers,
    help="Batch, channel and, for data with more than two axes, positions on the first ones.",
)
@readings_option("--reading", "readings", "Draw the answer under this reading; repeatable.")
def show_vector(
    words: tuple[str, ...],
    output: tuple[int, ...],
    plane: tuple[int, ...],
    readings: dict[str, str],
) -> None:
    """Draw one vector: windows, padding, overhang.

    VECTORS is a file or a directory, the shipped suite by default. CASE is an id, a part of one,
    or a pattern such as '*same_lower*' that one id matches.
    """
    from conformance.report.drawing import draw
    from conformance.verify import misshapen

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
    write(draw(vector, output=output, plane=plane, readings=readings, width=width))


def _find(files: VectorSet, case: str) -> tuple[VectorFile, int]:
    """Return the one vector meant by an id, a prefix or a pattern; else UsageError."""
    known = {each: (file, n) for file in files for n, each in enumerate(file.ids)}
    if case in known:
        return known[case]
    matching = [each for each in known if each.startswith(case)]
    matching = matching or [each for each in known if fnmatchcase(each, case) or case in each]
    if len(matching) == 1:
        return known[matching[0]]
    if matching:
        shown = "".join(f"\n  {each}" for each in matching[:_MOST])
        more = f"\n  … and {len(matching) - _MOST:,} more" if len(matching) > _MOST else ""
        click.echo(f"{shown}{more}".lstrip("\n"), err=True)
        raise UsageError(f"{case!r} matches {len(matching):,} vectors; name one of those above")
    begin = max((_common_length(each, case) for each in known), default=0)
    alike = [each for each in known if each.startswith(case[:begin])]
    close = get_close_matches(case, alike, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "see conformance list --ids"
    raise UsageError(f"no vector {case!r} among {len(known):,}; {hint}")


def _common_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
