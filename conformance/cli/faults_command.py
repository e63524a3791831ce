"""`conformance faults`: the wrong behaviours that vectors are measured against."""

from __future__ import annotations

from conformance.cli.terminal import show
from conformance.faults import CATALOGUE, fault_named
from conformance.report import faults_report


def run(name: str | None) -> None:
    """List the faults of the catalogue, or say everything about one."""
    if name is None:
        show(faults_report.describe(CATALOGUE))
    else:
        show(faults_report.describe_one(fault_named(name)))
