"""`conformance list`: what vector files hold."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import (
    TIERS,
    opened,
    operator_option,
    select_option,
    vectors_argument,
    write,
)


@click.command("list")
@vectors_argument
@operator_option
@select_option
@click.option("--ids", is_flag=True, help="Print the ids alone, one per line.")
def list_vectors(
    vectors: Path | None, operators: tuple[str, ...], select: str | None, *, ids: bool
) -> None:
    """Say what vector files hold.

    VECTORS is a file or a directory, the shipped suite by default.
    """
    from conformance.check.sources import chosen
    from conformance.report.listing import summary

    with opened(vectors) as files:
        by_operator = {file.operator: file for file in files}
        for selection in chosen(files.files, operators or None, select, TIERS[-1]):
            file, numbers = by_operator[selection.source.operator], selection.numbers.tolist()
            if ids:
                click.echo("".join(f"{file.ids[number]}\n" for number in numbers), nl=False)
            elif numbers:
                write(summary(file, None if select is None else numbers))
