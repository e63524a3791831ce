"""`conformance generate`: vector files from the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from conformance.cli.lazy_group import command
from conformance.cli.options import COUNT, PATH, processes_option, setting_options
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.executors import usable_cpus


@command("generate")
@click.argument("directory", metavar="DIR", type=PATH)
@setting_options("operators", tier="How many vectors; each tier holds the smaller ones.")
@click.option(
    "--strength",
    type=COUNT,
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
    help="Instead: the pooling layers of a model (.xml, .onnx), or of well-known ones (networks), "
    "and their neighbours; repeatable.",
)
@click.option(
    "--max-shapes",
    type=COUNT,
    help="Instead: so many shapes per operator, each with many values; for engines that compile.",
)
@click.option("--resume", is_flag=True, help="Keep files that are there, sound and the same.")
@setting_options(cluster="Make files on the workers of this Dask cluster, tcp://HOST:PORT.")
@processes_option("make files, each one at a time")
@click.option("-v", "--verbose", is_flag=True, help="Say what each file holds, as list does.")
def generate_command(
    directory: Path,
    operators: tuple[str, ...],
    tier: Any,
    strength: int,
    seed: int,
    models: tuple[str, ...],
    max_shapes: int | None,
    *,
    resume: bool,
    cluster: str | None,
    jobs: int | None,
    verbose: bool,
) -> None:
    """Write vector files, one per operator.

    They are made in DIR. The same arguments give the same content: compare the digests that
    --verbose or list prints.
    """
    from conformance.cases.from_model import generate_like
    from conformance.cases.generate import generate
    from conformance.operators import operators_named
    from conformance.report import model_report, vectors_report

    options: dict[str, Any] = {"operators": operators or None, "tier": tier, "seed": seed}
    if models:
        context = click.get_current_context()
        for name in ("strength", "max_shapes", "resume", "cluster", "jobs"):
            if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise UsageError(
                    f"--{name.replace('_', '-')} is for the sweep, which --like does not use"
                )
        with progress_bar() as progress:
            layers = generate_like(directory, models, progress=progress, **options)
        show(model_report.describe(layers))
        click.echo()
        paths = layers.paths
    else:
        several_files = tier == "exhaustive" or len(operators_named(operators or None)) > 1
        here = usable_cpus() if several_files and cluster is None else 1
        with progress_bar() as progress:
            paths = generate(
                directory,
                strength=strength,
                max_shapes=max_shapes,
                resume=resume,
                jobs=jobs or here,
                cluster=cluster,
                progress=progress,
                **options,
            )
    if verbose:
        for path in paths:
            with opened(path) as files:
                show(vectors_report.describe(files[0]))
                click.echo()
    show(vectors_report.describe_files(directory, paths))
