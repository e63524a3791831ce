"""`conformance verify`: is a vector file whole, and does it say what the documents say."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import opened, printable, progress_bar
from conformance.errors import VectorFileError

_MAX_SHOWN = 20


@click.command("verify")
@click.argument("vectors", type=click.Path(path_type=Path))
def verify_vectors(vectors: Path) -> None:
    """Recompute what vector files hold.

    Checks digest, structure and every expected value of VECTORS. Exits 3 if anything differs.
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
            click.echo(f"{file.path}: {len(file):,} vectors recomputed, digest {file.digest}")
    if found:
        what = f"{count(found, 'difference')} in {count(checked, 'vector')}"
        raise VectorFileError(f"{vectors}: {what}")
    click.echo(f"VERIFIED: {checked:,} of {checked:,} vectors are what the documents say")
