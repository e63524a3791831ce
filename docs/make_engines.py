"""Writes docs/engines*.md: `python docs/make_engines.py [ENGINE...]`, in about an hour.

It runs `conformance check` with each engine that has an adapter, or with those named, all of them
installed, and puts the reports side by side: on one page those of the operators whose sweep has all
levels, on the other one those of the newer ones. Reports stay in build/engines: one that is of the
same vectors and the same engine is not made again, so that the command can be stopped.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance import Report, open_vectors, read_report
from conformance.backends import engine_version
from conformance.check.comparison import Compared, Comparison
from conformance.errors import ReportFileError, UsageError
from conformance.operators import OPERATORS
from conformance.report import comparison_report, markdown

ROOT = Path(__file__).parents[1]
PAGES = {"engines": "all", "engines-newer": "few"}
"""Names of pages, and the levels of the operators on each."""
REPORTS = ROOT / "build" / "engines"
ENGINES = ("torch", "openvino", "onnxruntime", "onnx-reference", "jax", "paddle", "ncnn")


def report_of(
    engine: str, page: str, vectors: Mapping[str, str], *, tier: str = "standard"
) -> Report:
    """Return the report of an engine on vectors, given by operator and digest; run it if needed."""
    path = REPORTS / page / f"{engine}.jsonl"
    try:
        report = read_report(path)
    except (ReportFileError, UsageError):  # cut off, or not there
        report = None
    if report is None or not _is_of(report, vectors, tier):
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "conformance", "check", engine, "--tier", tier]
        command += [word for name in vectors for word in ("--operator", name)]
        done = subprocess.run(  # noqa: S603 - the command above
            [*command, "--max-shown", "0", "--json", str(path)], cwd=ROOT, check=False
        )
        if done.returncode > 1:
            raise SystemExit(done.returncode)
        report = read_report(path)
    return report


def _is_of(report: Report, vectors: Mapping[str, str], tier: str) -> bool:
    """Say whether a report is of all vectors of a tier, and of the engine that is installed."""
    same = {used.operator: used.digest for used in report.vectors} == vectors
    version = report.versions.get("engine", "") == engine_version(report.backend)
    return same and version and report.complete and report.tier == tier


def page(reports: Sequence[Report]) -> str:
    """Return the page that puts reports of the same vectors side by side."""
    first = reports[0]
    comparison = Comparison(
        backends=tuple(Compared.of(each, each.versions.get("engine", "")) for each in reports),
        vectors=first.vectors,
        tier=first.tier,
        count=len(first.results),
        started=min(each.started for each in reports),
        platform=f"{platform.system()} {platform.machine()}",
    )
    made = comparison_report.describe(comparison, command="python docs/make_engines.py")
    return markdown.render(made)


if __name__ == "__main__":
    engines = sys.argv[1:] or ENGINES
    with open_vectors() as files:
        digests = files.digests
    for name, levels in PAGES.items():
        of_page = {key: d for key, d in digests.items() if OPERATORS[key].levels == levels}
        if of_page:
            made = page([report_of(engine, name, of_page) for engine in engines])
            Path(__file__).with_name(f"{name}.md").write_text(made, encoding="utf-8")
