"""The files that a report is written to, in the forms that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.cli.outputs import Outputs
from conformance.files import write_text
from conformance.settings import LARGE

if TYPE_CHECKING:
    from conformance.record.report import Report, Result
    from conformance.vectorfile import VectorSet


def write_reports(
    report: Report,
    outputs: Outputs,
    *,
    vectors: VectorSet | None = None,
    repro: Callable[[Result], str] | None = None,
) -> None:
    """Write a report to every file that was asked for; one that fails costs none of the others.

    `vectors` are those of the run, open, for drawings; `repro` makes a script of a failure.
    """
    from conformance.record import jsonl
    from conformance.report import check_report, junit, markdown

    def summary() -> str:
        return markdown.render(check_report.describe(report, repro=repro))

    def page() -> str:
        from conformance.report.html import render_report

        return render_report(report, vectors)

    outputs.write(
        {
            "json": lambda file: jsonl.write(report, file),
            "junit": lambda file: write_text(junit.render(report), file),
            "markdown": lambda file: write_text(summary(), file),
            "html": lambda file: write_text(page(), file),
        }
    )


def repro_of(files: VectorSet | None, backend: str) -> Callable[[Result], str]:
    """Return what makes a script out of a failing result; "" where its vector is not there."""
    from conformance.report.repro import large_script, script

    def repro(result: Result) -> str:
        if result.tier == LARGE:
            return large_script(result, backend=backend)
        try:
            if files is None:
                return ""
            file, vector = files.vector(result.operator, result.id)
        except KeyError:
            return ""
        return script(vector.case, result, backend=backend, path=str(file.path))

    return repro
