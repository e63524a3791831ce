"""`conformance export`: vectors for those without HDF5."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import (
    opened,
    operator_option,
    printable,
    progress_bar,
    select_option,
    tier_option,
    vectors_argument,
)


@click.command("export")
@click.argument("form", metavar="FORMAT", type=click.Choice(("npy", "onnx")))
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@vectors_argument
@operator_option
@tier_option("The largest tier to write.")
@select_option
def export_vectors(
    form: str,
    directory: Path,
    vectors: Path | None,
    operators: tuple[str, ...],
    tier: Any,
    select: str | None,
) -> None:
    """Write vectors for those without HDF5.

    FORMAT npy writes a folder of .npy files and a case.json for each vector, onnx a model and its
    test data for each vector that ONNX can express, as its backend test runners read them. DIR is
    a new folder. VECTORS is a file or a directory, the shipped suite by default.
    """
    from conformance.export import export

    with opened(vectors) as files, progress_bar() as step:
        done = export(
            form,
            directory,
            files,
            operators=operators or None,
            select=select,
            tier=tier,
            progress=step and partial(step, f"export {form}"),
        )
    click.echo(printable(f"{directory}: {done.written:,} vectors written"))
    if done.left_out:
        click.echo(f"{len(done.left_out):,} left out, see left_out.tsv:")
        for why, count in Counter(done.left_out.values()).most_common():
            click.echo(printable(f"  {count:,} {why}"))
