"""`conformance faults`: the wrong behaviours that vectors are measured against."""

from __future__ import annotations

import click

from conformance.cli.lazy_group import command
from conformance.cli.terminal import show


@command("faults")
@click.argument("name", required=False)
def faults_command(name: str | None) -> None:
    """Explain the wrong behaviours that vectors are measured against.

    Lists the faults of the catalogue, or says everything about the one called NAME, which a report
    or a file of expected failures may name.
    """
    from conformance.faults import CATALOGUE, fault_named
    from conformance.report import faults_report

    if name is None:
        show(faults_report.describe(CATALOGUE))
    else:
        show(faults_report.describe_one(fault_named(name)))
