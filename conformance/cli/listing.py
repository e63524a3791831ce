"""`conformance list`: what vector files hold."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import (
    console,
    of_operators,
    opened,
    operator_option,
    select_option,
    selected,
    vectors_argument,
)
from conformance.errors import UsageError


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
    with opened(vectors) as files:
        chosen = [(file, selected(file, select)) for file in of_operators(files, operators)]
        if select is not None and not any(numbers for _, numbers in chosen):
            total = sum(len(file) for file, _ in chosen)
            raise UsageError(f"--select {select!r} matches none of {total:,} ids")
        if ids:
            for file, numbers in chosen:
                click.echo("".join(f"{file.ids[number]}\n" for number in numbers), nl=False)
            return
        from conformance.report.listing import summary

        out = console()
        for file, numbers in chosen:
            if numbers or select is None:
                out.print(summary(file, None if select is None else numbers), crop=False)
