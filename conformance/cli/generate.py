"""`conformance generate`: vector files from the documents."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.common import opened, operator_option, progress_bar, tier_option, write


@click.command("generate")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@operator_option
@tier_option("How many vectors; each tier holds the smaller ones.")
@click.option(
    "--strength",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Every combination of this many attribute levels is in some vector.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def generate_files(
    directory: Path, operators: tuple[str, ...], tier: Any, strength: int, seed: int
) -> None:
    """Write vector files, one per operator.

    They are made in DIR. The same arguments give the same content: compare the digests.
    """
    from conformance.generate import generate
    from conformance.report.listing import summary

    with progress_bar() as progress:
        paths = generate(
            directory,
            operators=operators or None,
            tier=tier,
            strength=strength,
            seed=seed,
            progress=progress,
        )
    for path in paths:
        with opened(path) as files:
            write(summary(files[0]))
