"""`conformance generate`: vector files from the documents."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from conformance.cli.common import (
    executor_option,
    opened,
    operator_option,
    progress_bar,
    tier_option,
    write,
)
from conformance.errors import UsageError

_SHOWN = 4  # files: the smaller tiers of every operator


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
@click.option(
    "--like",
    "models",
    multiple=True,
    metavar="MODEL",
    type=click.Path(path_type=Path),
    help="Instead: the pooling layers of a model (.xml, .onnx) and their neighbours; repeatable.",
)
@click.option("--resume", is_flag=True, help="Keep files that are there, sound and the same.")
@executor_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.pass_context
def generate_files(
    ctx: click.Context,
    directory: Path,
    operators: tuple[str, ...],
    tier: Any,
    strength: int,
    seed: int,
    models: tuple[Path, ...],
    *,
    resume: bool,
    executor: str | None,
    jobs: int,
) -> None:
    """Write vector files, one per operator.

    They are made in DIR. The same arguments give the same content: compare the digests.
    """
    from conformance.executors import executor_named
    from conformance.generate import generate
    from conformance.report.listing import summary

    given: dict[str, Any] = {"operators": operators or None, "tier": tier, "seed": seed}
    if models:
        for name in ("strength", "resume", "executor", "jobs"):
            if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise UsageError(f"--{name} is for the sweep, which --like does not use")
        from conformance.models import generate_like
        from conformance.report.likeness import likeness

        with progress_bar() as progress:
            made = generate_like(directory, models, progress=progress, **given)
        write(likeness(made))
        paths = made.paths
    else:
        if jobs > 1 or executor:
            given["executor"] = executor_named(executor or "process", jobs)
        with progress_bar() as progress:
            paths = generate(
                directory, strength=strength, resume=resume, progress=progress, **given
            )
    for path in paths[:_SHOWN]:
        with opened(path) as files:
            write(summary(files[0]))
    if len(paths) > _SHOWN:
        click.echo(f"and {len(paths) - _SHOWN:,} files with a part of the exhaustive tier each")
