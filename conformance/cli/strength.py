"""`conformance strength`: which wrong behaviours vectors catch."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import (
    opened,
    operator_option,
    progress_bar,
    tier_option,
    vectors_argument,
    write,
)


@click.command("strength")
@vectors_argument
@operator_option
@tier_option("The largest tier to count.")
@click.option("--all", "every", is_flag=True, help="List every fault, not only those missed.")
@click.option("--idle", is_flag=True, help="Also find the vectors that add nothing (slow).")
def measure_strength(
    vectors: Path | None, operators: tuple[str, ...], tier: Any, *, every: bool, idle: bool
) -> None:
    """Plant known wrong behaviours and count those that vectors catch.

    VECTORS is a file or a directory, the shipped suite by default. Each fault of the catalogue
    (docs/faults.md) is planted alone in each operator that may have it.
    """
    from conformance.faults.strength import strength
    from conformance.report.strength import render

    with opened(vectors) as files, progress_bar() as step:
        measured = strength(
            files,
            operators=operators or None,
            tier=tier,
            idle=idle,
            progress=step and partial(step, "faults"),
        )
    write(render(measured, every=every))
