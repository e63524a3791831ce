"""Writes docs/engines.md: `python docs/development/make_engines.py [ENGINE...]`, in about an hour.

It runs `conformance check` with each engine that is installed, or with those named, over all
shipped vectors, and puts the reports side by side. Engines that take a tenth of a second to compile
each case have parts of their own, of the smoke tier. Reports stay in build/engines: one that is of
the same vectors and the same engine is not made again, so that the command can be stopped, and
engines that cannot be installed together can each be run where they are. A part of the page
compares the engines with such a report; one without any stays as it is.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from conformance import Report, open_vectors, read_report
from conformance.api.compare import Comparison
from conformance.api.releases import Release
from conformance.backends import available, engine_version
from conformance.errors import ReportFileError, UsageError
from conformance.report import comparison_report, markdown
from conformance.report import document as doc
from conformance.vector import Tier

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engines.md"
PARTS: tuple[tuple[Tier, tuple[str, ...]], ...] = (
    (
        "standard",
        (
            *("torch", "openvino", "onnxruntime", "onnx-reference"),
            *("paddle", "ncnn", "tensorflow", "mnn", "mlx", "litert", "tflite-micro"),
            *("tract", "tosa-reference", "opencv", "keras"),
        ),
    ),
    ("smoke", ("jax", "tinygrad", "tvm", "iree")),
    ("smoke", ("torch:compile=true",)),
)
"""The tier and the engines of each part of the page."""
WORDS = """\
Causes are those that held-out cases have confirmed, with how many of them; for other failures, none
is named.

Readings are found over all vectors of a run. An exception or a result that one reading allows is
a failure where other operators show that the backend follows another, so that an operator may
have fewer failures in a run of its own.

For example, ONNX Runtime 1.32.0 refuses two vectors of ONNX-AveragePool-22 with dilations. In a
run of that operator alone, one of them conforms, since pads not below the undilated kernel may be
refused; here, other operators show that it accepts such pads."""
"""What a part says before its tables: what is left out, and why its counts differ from others."""
SLOW = {"torch:compile=true": "--jobs 2 --diagnose seen --variations none --timeout 120"}
"""Options for those that take seconds to compile each case: a quarter of an hour on two cores."""
REPORTS = ROOT / "build" / "engines"
_TITLE = re.compile(r"^(?=# )", re.MULTILINE)


def report_of(
    engine: str, path: Path, vectors: Mapping[str, str], *, tier: str = "standard"
) -> Report:
    """Return the report of an engine on vectors, given by operator and digest.

    It is that at `path`, made first unless it is of these vectors and this engine.
    """
    try:
        report = read_report(path)
    except (ReportFileError, UsageError):  # cut off, or not there
        report = None
    if report is None or not _is_of(report, vectors, tier):
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "conformance", "check", engine, "--tier", tier]
        command += [word for name in vectors for word in ("--operator", name)]
        # some hang, where several threads call them
        command += SLOW.get(engine, "--timeout 10").split()
        done = subprocess.run(  # noqa: S603 - the command above
            [*command, "--max-shown", "0", "--json", str(path)], cwd=ROOT, check=False
        )
        if done.returncode > 1:
            raise SystemExit(done.returncode)
        report = read_report(path)
    return report


def _path(tier: str, engine: str) -> Path:
    return REPORTS / tier / f"{engine.replace(':', '-')}.jsonl"


def _is_of(report: Report, vectors: Mapping[str, str], tier: str) -> bool:
    """Say whether a report is of all vectors of a tier, and of the engine that is installed."""
    same = {used.operator: used.digest for used in report.vectors} == vectors
    version = engine_version(report.backend)  # "" where it is not installed
    current = version in {"", report.versions.get("engine", "")}
    return same and current and report.complete and report.tier == tier


def _published(report: Report) -> Release:
    """Return what the page shows of a report: of its causes, those that are confirmed."""
    confirmed = tuple(cause for cause in report.diagnoses if cause.is_confirmed)
    return Release.of(replace(report, diagnoses=confirmed))


def part(reports: Sequence[Report]) -> str:
    """Return the part of a page that puts reports of the same vectors side by side."""
    first = reports[0]
    comparison = Comparison(
        backends=tuple(map(_published, reports)),
        vectors=first.vectors,
        tier=first.tier,
        count=len(first.results),
        started=min(each.started for each in reports),
        platform=f"{platform.system()} {platform.machine()}",
    )
    made = comparison_report.describe(comparison, command="python docs/development/make_engines.py")
    slow = [each.backend for each in reports if each.backend in SLOW]
    if slow:
        made = replace(made, title=f"{made.title}: {', '.join(slow)}")
    heading, *sections = made.sections
    options = (
        doc.Paragraph((doc.code(name), " was run with ", doc.code(SLOW[name]), "."))
        for name in slow
    )
    paragraphs = (doc.Paragraph(" ".join(each.split())) for each in WORDS.split("\n\n"))
    run = doc.Section("", (*paragraphs, *options))
    return markdown.render(replace(made, sections=(heading, run, *sections)))


def page(before: str, parts: Sequence[str]) -> str:
    """Return a page of some parts; one that is empty is that of the page before, if it has it."""
    old = [text.rstrip() for text in _TITLE.split(before) if text.strip()]
    old += [""] * len(parts)
    kept = (new.rstrip() or was for new, was in zip(parts, old, strict=False))
    return "\n\n".join(filter(None, kept)) + "\n"


if __name__ == "__main__":
    with open_vectors() as files:
        digests = files.digests
    parts = []
    for tier, engines in PARTS:
        for engine in sys.argv[1:] or engines:
            if engine in engines and available()[engine.partition(":")[0]].installed:
                report_of(engine, _path(tier, engine), digests, tier=tier)
        paths = [_path(tier, engine) for engine in engines]
        reports = [read_report(path) for path in paths if path.exists()]
        current = [report for report in reports if _is_of(report, digests, tier)]
        parts.append(part(current) if current else "")
    PAGE.write_text(page(PAGE.read_text("utf-8"), parts), encoding="utf-8")
