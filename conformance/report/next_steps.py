"""The commands that help most after a run that failed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.api.failure_groups import FailureGroup
from conformance.backends.named_backend import parse_backend
from conformance.errors import UsageError
from conformance.record.report import Report
from conformance.vectorfile import shipped_suite


def commands(report: Report, groups: Sequence[FailureGroup]) -> list[str]:
    """Return what to type to see the first failure, and to find more like it.

    Where the readings of a clause are all that is wrong, that is its explanation.
    """
    if groups:
        return [shlex.join(["conformance", *words]) for words in _of_failure(report, groups[0])]
    return [shlex.join(["conformance", "clauses", name]) for name in sorted(report.inconsistent)]


def _of_failure(report: Report, group: FailureGroup) -> Iterator[list[str]]:
    example = group.example
    path = next((used.path for used in report.vectors if used.operator == example.operator), "")
    if path:
        shipped = Path(path).is_relative_to(shipped_suite())
        yield ["show", *([] if shipped else [path]), example.id]
    try:
        can_be_called = parse_backend(report.backend).kind != "results"
    except UsageError:  # a callable given in Python may have any name
        can_be_called = False
    if can_be_called:
        yield ["fuzz", report.backend, "--operator", example.operator]
