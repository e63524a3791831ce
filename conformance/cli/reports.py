"""Reports as files: the options of several commands, and what they do."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.check.report import Report, Result
    from conformance.files import Target
    from conformance.vectorfile import VectorSet

_STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files that a report is written to, "-" for standard output, None for no file."""

    json: str | None = None
    junit: str | None = None
    markdown: str | None = None
    html: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that was asked for."""
        return tuple(filter(None, (self.json, self.junit, self.markdown, self.html)))

    @property
    def to_stdout(self) -> bool:
        """Whether standard output is taken: nothing else may be printed there."""
        return _STDOUT in self.paths

    def check(self) -> None:
        """Raise UsageError if some file cannot be written: before a run, not after it."""
        for option, path in (("--junit", self.junit), ("--html", self.html)):
            if path == _STDOUT:
                raise UsageError(f"{option} - is not possible: give a file; - is for --json")
        check_writable(self.paths)


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json, --junit, --markdown and --html; the command gets them as `outputs`."""

    @wraps(command)
    def with_outputs(**given: Any) -> Any:
        files = {name: given.pop(f"{name}_file") for name in ("json", "junit", "markdown", "html")}
        return command(**given, outputs=Outputs(**files))

    decorated: Callable[..., Any] = with_outputs
    for name, text in reversed(
        [
            ("json", "Write the report as JSON lines; - is standard output."),
            ("junit", "Write it as JUnit XML."),
            ("markdown", "Write it as Markdown, for a job summary; - is standard output."),
            ("html", "Write it as a web page that stands alone."),
        ]
    ):
        decorated = click.option(f"--{name}", f"{name}_file", metavar="FILE", help=text)(decorated)
    return decorated


def check_writable(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise UsageError unless each path can become a file, and no two are the same."""
    seen: set[str] = set()
    for given in paths:
        path = os.fspath(given)
        where = os.path.realpath(path) if path != _STDOUT else path
        folder = Path(where).parent
        if where in seen:
            raise UsageError(f"{path} is given for two reports")
        seen.add(where)
        if path == _STDOUT:
            continue
        if not folder.is_dir():
            raise UsageError(f"cannot write {path}: there is no directory {folder}")
        if Path(where).is_dir():
            raise UsageError(f"cannot write {path}: it is a directory")
        if not os.access(where if Path(where).exists() else folder, os.W_OK):
            raise UsageError(f"cannot write {path}: permission denied")


def write_reports(
    report: Report,
    outputs: Outputs,
    *,
    vectors: VectorSet | None = None,
    repro: Callable[[Result], str] | None = None,
) -> None:
    """Write a report to every file that was asked for.

    `vectors` are those of the run, open, for drawings; `repro` makes a script of a failure.
    """
    from conformance.files import write_text

    if outputs.json:
        from conformance.report import jsonl

        jsonl.write(report, _target(outputs.json))
    if outputs.junit:
        from conformance.report import junit

        write_text(junit.render(report), _target(outputs.junit))
    if outputs.markdown:
        from conformance.report import markdown

        write_text(markdown.render(report, repro=repro), _target(outputs.markdown))
    if outputs.html:
        from conformance.report.html import render

        write_text(render(report, vectors), _target(outputs.html))


def _target(path: str) -> Target:
    return sys.stdout.buffer if path == _STDOUT else path


def repro_of(files: VectorSet, backend: str) -> Callable[[Result], str]:
    """Return what makes a script out of a failing result; "" where its vector is not there."""
    from conformance.report.repro import script

    def repro(result: Result) -> str:
        try:
            file, vector = files.vector(result.operator, result.id)
        except KeyError:
            return ""
        return script(vector.case, result, backend=backend, path=str(file.path))

    return repro
