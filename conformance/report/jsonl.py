"""A report as JSON lines: a header, a line for each result, a footer.

A file without its footer was cut off, and is not read as a shorter run. docs/reports.md describes
the lines, docs/report.schema.json one line for a validator.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from conformance.check.report import Report, Result, Verdict
from conformance.errors import ReportFileError, UsageError
from conformance.files import Target, writing
from conformance.report import encoding as coded

SCHEMA = "pooling-conformance-report"
VERSION = 1

_LONGEST = 1 << 26
"""Bytes of a line that is read."""


def write(report: Report, target: Target) -> None:
    """Write a report to a path, where it is complete or absent, or to a stream of bytes.

    Raises UsageError if the path cannot be written.
    """
    with writing(target) as stream:
        for line in lines(report):
            stream.write(line)


def lines(report: Report) -> Iterator[bytes]:
    """Yield the lines of a report, UTF-8 with their line ends."""
    yield _line(
        kind="header",
        schema=SCHEMA,
        version=VERSION,
        backend=report.backend,
        started=report.started,
        versions=coded.plain(report.versions),
        vectors=coded.plain(report.vectors),
        tier=report.tier,
        shard=report.shard,
        required=coded.plain(report.required),
    )
    for result in report.results:
        yield _line(kind="result", **coded.result_fields(result))
    yield _line(
        kind="footer",
        counts=coded.plain(report.counts),
        counts_by_operator=coded.plain(report.counts_by_operator),
        readings=coded.plain(report.readings),
        undefined=coded.plain(report.undefined),
        accuracy=coded.plain(report.accuracy),
        diagnoses=coded.plain(report.diagnoses),
        repeated=coded.plain(report.repeated),
        expectations=coded.plain(report.expectations),
        not_run=report.not_run,
        complete=report.complete,
        stopped=report.stopped,
        notes=report.notes,
        **({"outputs": coded.plain(report.outputs)} if report.outputs else {}),
        seconds=coded.plain(report.seconds),
        backend_seconds=coded.plain(report.backend_seconds),
        ok=report.ok,
        problems=report.problems,
    )


def _line(**fields: Any) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Half a surrogate pair, from an undecodable file name say, has no UTF-8 form.
    return text.encode("utf-8", "replace") + b"\n"


def read(path: str | os.PathLike[str]) -> Report:
    """Return a report that `write` wrote, with its results as a tuple.

    Raises ReportFileError, one line that names the file and the line in it, if it is cut off,
    broken or not such a report, and UsageError if there is no such file or it is a directory.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            return _Reading(path, stream).report()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give a report that --json wrote") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: a directory; give a report that --json wrote") from None
    except OSError as error:
        raise ReportFileError(f"{path}: cannot be read: {error.strerror}") from None


class _Reading:
    """A report file while it is read."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._number = 0
        self._results: list[Result] = []

    def report(self) -> Report:
        header = self._next()
        if header is None:
            raise ReportFileError(f"{self._path}: the file is empty")
        try:
            given = self._header(header)
            footer = self._to_footer()
            given |= self._footer(footer)
            report = Report(results=tuple(self._results), **given)
            self._agrees(report, coded.truth(footer, "ok"))
        except ValueError as error:
            raise self._broken(str(error)) from None
        if self._stream.read(1):
            self._number += 1
            raise self._broken("nothing may follow the footer")
        return report

    def _to_footer(self) -> dict[str, Any]:
        """Read the results; return the footer after them."""
        while (line := self._next()) is not None:
            kind = line.get("kind")
            if kind == "footer":
                return line
            if kind != "result":
                raise ValueError("kind is neither result nor footer")
            self._results.append(coded.result_of(line))
        count = len(self._results)
        ends = f"it ends after {count:,} result{'' if count == 1 else 's'}"
        raise ReportFileError(f"{self._path}: incomplete: {ends}")

    def _broken(self, why: str) -> ReportFileError:
        return ReportFileError(f"{self._path}: line {self._number:,}: {why}")

    def _next(self) -> dict[str, Any] | None:
        """Return the next line, None at the end, also where it ends within a line."""
        data = self._stream.readline(_LONGEST)
        self._number += 1
        if not data:
            return None
        try:
            line = json.loads(data, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            if not data.endswith(b"\n") and len(data) < _LONGEST and self._number > 1:
                return None
            if len(data) >= _LONGEST:
                raise self._broken(f"longer than {_LONGEST:,} bytes") from None
            if self._number == 1:
                raise ReportFileError(f"{self._path}: not a report that --json wrote") from None
            why = "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
            raise self._broken(why) from None
        if type(line) is not dict:
            raise self._broken("not an object")
        return line

    def _header(self, line: dict[str, Any]) -> dict[str, Any]:
        if line.get("kind") != "header" or line.get("schema") != SCHEMA:
            raise ReportFileError(f"{self._path}: not a report that --json wrote")
        version = coded.count(line, "version")
        if version != VERSION:
            raise ReportFileError(
                f"{self._path}: a report of version {version}; this program reads {VERSION}"
            )
        return {
            "backend": coded.text(line, "backend"),
            "started": coded.text(line, "started"),
            "versions": coded.texts_by_text(line, "versions"),
            "vectors": coded.each(line, "vectors", coded.used_of),
            "tier": coded.text(line, "tier"),
            "shard": coded.text(line, "shard"),
            "required": coded.texts_by_text(line, "required"),
        }

    def _footer(self, line: dict[str, Any]) -> dict[str, Any]:
        return {
            "counts": coded.counts(line, "counts"),
            "counts_by_operator": coded.counts_by_operator(line, "counts_by_operator"),
            "readings": coded.each(line, "readings", coded.clause_of),
            "undefined": coded.each(line, "undefined", coded.undefined_of),
            "accuracy": coded.each(line, "accuracy", coded.accuracy_of),
            "diagnoses": coded.each(line, "diagnoses", coded.diagnosis_of),
            "repeated": coded.optional(line, "repeated", coded.repeated_of),
            "expectations": coded.optional(line, "expectations", coded.expectations_of),
            "not_run": coded.count(line, "not_run"),
            "complete": coded.truth(line, "complete"),
            "stopped": coded.text(line, "stopped"),
            "notes": coded.texts(line, "notes"),
            "outputs": coded.each(line, "outputs", coded.output_of) if "outputs" in line else (),
            "seconds": coded.number(line, "seconds"),
            "backend_seconds": coded.number(line, "backend_seconds"),
        }

    def _agrees(self, report: Report, ok: bool) -> None:  # noqa: FBT001 - a field of the footer
        """Raise ValueError where the footer contradicts the lines before it."""
        counted: dict[str, Counter[Verdict]] = defaultdict(Counter)
        for result in report.results:
            counted[result.operator][result.verdict] += 1
        if {name: of for name, of in report.counts_by_operator.items() if +of} != counted:
            raise ValueError("counts_by_operator are not those of the results")
        if report.counts != sum(counted.values(), Counter()):
            raise ValueError("counts are not those of the results")
        if report.ok is not ok:
            raise ValueError("ok contradicts the rest of the report")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
