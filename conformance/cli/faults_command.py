"""`conformance faults`: the wrong behaviours that vectors are measured against."""

from __future__ import annotations

from conformance.cli.terminal import show
from conformance.errors import UsageError
from conformance.faults import CATALOGUE, fault_named
from conformance.report import faults_report
from conformance.text import did_you_mean, quoted


def run(name: str | None) -> None:
    """List the faults of the catalogue, or say everything about one."""
    if name is None:
        show(faults_report.describe(CATALOGUE))
        return
    try:
        fault = fault_named(name)
    except UsageError:
        meant = did_you_mean(name, [each.name for each in CATALOGUE])
        raise UsageError(f"no fault {quoted(name)}{meant}: see conformance faults") from None
    show(faults_report.describe_one(fault))
