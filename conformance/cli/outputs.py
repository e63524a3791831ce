"""The files that a command writes: the options for them, and whether they can be written.

Imports nothing heavier than click: `--help` needs this module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from conformance.errors import UsageError
from conformance.files import Target

STDOUT = "-"
"""Stands for standard output in place of a file."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files that are written: a path for each form, "-" for standard output."""

    files: Mapping[str, str]

    @property
    def to_stdout(self) -> bool:
        """Whether standard output is taken: nothing else may be printed there."""
        return STDOUT in self.files.values()

    def check(self, read: Iterable[str | os.PathLike[str]]) -> None:
        """Raise UsageError if some file cannot be written: before a run, not after it.

        `read` are the files that the command reads.
        """
        for form in ("junit", "html"):
            if self.files.get(form) == STDOUT:
                raise UsageError(f"--{form} - is not possible: give a file; - is for --json")
        check_writable(self.files.values(), read)

    def write(self, forms: Mapping[str, Callable[[Target], None]]) -> None:
        """Write each file by the function for its form; one that fails costs none of the others."""
        failed: Exception | None = None
        for form, path in self.files.items():
            try:
                forms[form](sys.stdout.buffer if path == STDOUT else path)
            except (UsageError, OSError) as error:
                failed = failed or error
        if failed:
            raise failed


def file_options(**forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an option for each form of output, with its help; the command gets them as `outputs`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_outputs(**options: Any) -> Any:
            paths = {form: options.pop(f"{form}_file") for form in forms}
            given = {form: path for form, path in paths.items() if path}
            return command(**options, outputs=Outputs(given))

        decorated: Callable[..., Any] = with_outputs
        for form, text in reversed(forms.items()):
            option = click.option(f"--{form}", f"{form}_file", metavar="FILE", help=text)
            decorated = option(decorated)
        return decorated

    return decorate


report_options = file_options(
    json="Write the report as JSON lines; - is standard output.",
    junit="Write it as JUnit XML.",
    markdown="Write it as Markdown, for a job summary; - is standard output.",
    html="Write it as a web page that stands alone.",
)
comparison_options = file_options(
    markdown="Also write it as a markdown page.",
    html="Also write it as a web page that stands alone.",
    json="Also write its values as JSON.",
)
reveal_options = file_options(
    json="Write it as JSON, with all evidence; - is standard output.",
    markdown="Write it as Markdown; - is standard output.",
    html="Write it as a web page that stands alone.",
)
history_options = file_options(
    markdown="Also write it as a markdown page.",
    html="Also write it as a web page that stands alone.",
)


def check_writable(
    paths: Iterable[str | os.PathLike[str]], read: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise UsageError unless each path can become a file, no two are the same, and none is read.

    `read` are the files that the command reads; there may be none at such a path.
    """
    inputs = [os.fspath(path) for path in read]
    seen: set[str] = set()
    for given in paths:
        path = os.fspath(given)
        try:
            where = os.path.realpath(path) if path != STDOUT else path
            if where in seen:
                raise UsageError(f"{path} is given for two reports")
            seen.add(where)
            if path != STDOUT:
                _check_place(path, Path(where), inputs)
        except OSError as error:  # a name that is too long, a directory that is gone
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _check_place(path: str, where: Path, inputs: Iterable[str]) -> None:
    if not where.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no directory {where.parent}")
    if where.is_dir():
        raise UsageError(f"cannot write {path}: it is a directory")
    # A terminal, say, may be both read and written.
    if where.is_file() and any(_same(where, other) for other in inputs):
        raise UsageError(f"cannot write {path}: this command reads it; name another file")
    if not os.access(where if where.exists() else where.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: permission denied")


def _same(where: Path, other: str) -> bool:
    with suppress(OSError, ValueError):
        return where.samefile(other)
    return False
