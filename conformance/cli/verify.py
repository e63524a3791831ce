"""`conformance verify`: is a vector file whole, and does it say what the documents say."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import opened, printable, progress_bar, vectors_argument
from conformance.errors import VectorFileError

_MAX_SHOWN = 20


@click.command("verify")
@vectors_argument
def verify_vectors(vectors: Path | None) -> None:
    """Recompute what vector files hold.

    Checks digest, structure and every expected value of VECTORS, a file or a directory, the
    shipped suite by default. Exits 3 if anything differs.
    """
    from conformance.report.values import count
    from conformance.verify import verify

    checked = found = 0
    with opened(vectors) as files:
        for file in files:
            with progress_bar() as progress:
                for difference in verify(file, progress=progress):
                    found += 1
                    if found <= _MAX_SHOWN:
                        click.echo(printable(f"{file.path}: {difference.id}: {difference.what}"))
            checked += len(file)
            whole = f"{count(len(file), 'vector')} recomputed, digest {file.digest}"
            click.echo(f"{file.path}: {whole}")
    if found:
        what = f"{count(found, 'difference')} in {count(checked, 'vector')}"
        raise VectorFileError(f"{vectors or 'the shipped suite'}: {what}")
    click.echo(f"VERIFIED: {checked:,} of {checked:,} vectors are what the documents say")
