"""Reports as files: the options of several commands, and what they do."""

# ruff: noqa: PLC0415 - `conformance --help` must not wait for numpy
from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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

    def check(self, read: Iterable[str | os.PathLike[str]]) -> None:
        """Raise UsageError if some file cannot be written: before a run, not after it.

        `read` are the files that the command reads.
        """
        for option, path in (("--junit", self.junit), ("--html", self.html)):
            if path == _STDOUT:
                raise UsageError(f"{option} - is not possible: give a file; - is for --json")
        check_writable(self.paths, read)


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


def check_writable(
    paths: Iterable[str | os.PathLike[str]], read: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise UsageError unless each path can become a file, no two are the same, and none is read.

    `read` are the files that the command reads; there may be none at such a path.
    """
    inputs = [os.fspath(each) for each in read]
    seen: set[str] = set()
    for given in paths:
        path = os.fspath(given)
        try:
            where = os.path.realpath(path) if path != _STDOUT else path
            if where in seen:
                raise UsageError(f"{path} is given for two reports")
            seen.add(where)
            if path != _STDOUT:
                _check_place(path, Path(where), inputs)
        except OSError as error:  # a name that is too long, a directory that is gone
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _check_place(path: str, where: Path, inputs: Iterable[str]) -> None:
    if not where.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no directory {where.parent}")
    if where.is_dir():
        raise UsageError(f"cannot write {path}: it is a directory")
    # A terminal, say, may be both read and written.
    if where.is_file() and any(_same(where, each) for each in inputs):
        raise UsageError(f"cannot write {path}: this command reads it; name another file")
    if not os.access(where if where.exists() else where.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: permission denied")


def _same(where: Path, other: str) -> bool:
    with suppress(OSError, ValueError):
        return where.samefile(other)
    return False


def files_of(backend: str) -> Sequence[str]:
    """Return what may be paths in the name of a backend: of results, Python, a program."""
    kind, _, rest = backend.partition(":")
    if kind == "results":
        return (rest,)
    if kind == "exec":
        with suppress(ValueError):  # an open quote: said when the backend is loaded
            return shlex.split(rest)
    return (backend.rpartition(":")[0],)


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
    if not outputs.paths:
        return
    from conformance.files import write_text
    from conformance.report import html, jsonl, junit, markdown

    forms: tuple[tuple[str | None, Callable[[Target], None]], ...] = (
        (outputs.json, lambda file: jsonl.write(report, file)),
        (outputs.junit, lambda file: write_text(junit.render(report), file)),
        (outputs.markdown, lambda file: write_text(markdown.render(report, repro=repro), file)),
        (outputs.html, lambda file: write_text(html.render(report, vectors), file)),
    )
    failed: Exception | None = None
    for path, write in forms:
        try:
            if path:
                write(_target(path))
        except (UsageError, OSError) as error:
            failed = failed or error
    if failed:
        raise failed


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
