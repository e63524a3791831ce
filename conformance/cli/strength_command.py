"""`conformance strength`: known wrong behaviours that vectors catch."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import (
    processes_option,
    setting_options,
    vectors_argument,
)
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.executors import usable_cpus
from conformance.progress import counts_of


@command("strength")
@vectors_argument
@setting_options("operators", tier="The largest tier to count.")
@click.option("--all", "every", is_flag=True, help="List every fault, not only those missed.")
@click.option("--idle", is_flag=True, help="Also find the vectors that add nothing (slow).")
@click.option(
    "--enumerated",
    is_flag=True,
    help="Plant all that atoms enumerate, not the catalogue (some minutes per operator).",
)
@click.option(
    "--draws",
    type=click.IntRange(0),
    default=0,
    help="With --enumerated: random cases that look for what vectors miss.",
)
@processes_option("plant faults, each in one operator at a time")
def strength_command(
    vectors: Path | None,
    operators: tuple[str, ...],
    tier: Any,
    jobs: int | None,
    *,
    every: bool,
    idle: bool,
    enumerated: bool,
    draws: int,
) -> None:
    """Plant known wrong behaviours and count those that vectors catch.

    VECTORS is a file or a directory, the shipped suite by default. Each fault of the catalogue
    (see conformance faults) is planted alone in each operator that may have it.

    With --enumerated it is every fault that can be said of a step of an operator, some thousands,
    and what counts is in how many shapes it is caught.
    """
    if enumerated and idle:
        raise click.UsageError("--idle is about the catalogue: leave it out with --enumerated")
    if draws and not enumerated:
        raise click.UsageError("--draws goes with --enumerated")
    from conformance.api.enumerated_strength import enumerated_strength
    from conformance.api.strength import strength
    from conformance.report import strength_report

    measure: Any = partial(strength, idle=idle)
    describe: Any = strength_report.describe
    if enumerated:
        measure = partial(enumerated_strength, draws=draws)
        describe = strength_report.describe_enumerated
    with opened(vectors, operators) as files, progress_bar() as progress:
        measured = measure(
            files,
            operators=operators or None,
            tier=tier,
            jobs=jobs or usable_cpus(),
            progress=counts_of(progress, "operators" if enumerated else "faults"),
        )
    show(describe(measured, every=every))
