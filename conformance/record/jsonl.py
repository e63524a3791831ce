"""A report as JSON lines: a header, a line for each result, a footer.

A file without its footer was cut off, and is not read as a shorter run. docs/reports.md describes
the lines, docs/report.schema.json is their schema.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from conformance.errors import ReportFileError, UsageError
from conformance.files import Target, open_regular, writing
from conformance.record.json_values import json_line
from conformance.record.line_types import (
    SCHEMA,
    VERSION,
    Footer,
    Header,
    ResultLine,
    footer_line,
    header_line,
    report_of,
    result_line,
    result_of,
    shortened,
)
from conformance.record.report import Report, Result
from conformance.text import cut

_LONGEST = 1 << 26
"""Bytes of a line that is read."""
_LONGEST_REASON = 200
_LINE: msgspec.json.Decoder[ResultLine | Footer] = msgspec.json.Decoder(ResultLine | Footer)
_RESULT = msgspec.json.Decoder(ResultLine)
_PLACE = re.compile(r"(.*) - at (?:`key` in )?`\$\.?(.*)`", re.DOTALL)
"""How msgspec says what is wrong, and in which field."""


def write(report: Report, target: Target) -> None:
    """Write a report to a path, where it is complete or absent, or to a stream of bytes.

    Raises UsageError if the path cannot be written.
    """
    with writing(target) as stream:
        for line in lines(report):
            stream.write(line)


def lines(report: Report) -> Iterator[bytes]:
    """Yield the lines of a report, UTF-8 with their line ends."""
    yield json_line(header_line(report))
    yield from map(encoded, report.results)
    yield json_line(footer_line(report))


def encoded(result: Result) -> bytes:
    """Return the line of a result."""
    return json_line(result_line(result))


def decoded(line: bytes) -> Result:
    """Return the result that `encoded` made a line of; ValueError if it did not."""
    return result_of(_RESULT.decode(line))


def read(path: str | os.PathLike[str]) -> Report:
    """Return a report that `write` wrote, with its results as a tuple.

    Raises ReportFileError, one line that names the file and the line in it, if it is cut off,
    broken or not such a report, and UsageError if there is no such file or it is a directory.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise UsageError(f"{path}: a directory; give a report that --json wrote")
        with open_regular(path) as stream:
            return _read(path, stream)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give a report that --json wrote") from None
    except OSError as error:
        raise ReportFileError(f"{path}: cannot be read: {error.strerror}") from None


def _read(path: Path, stream: BinaryIO) -> Report:
    results: list[Result] = []
    number = 1
    try:
        header = _header(path, stream.readline(_LONGEST))
        for data in iter(partial(stream.readline, _LONGEST), b""):
            number += 1
            line = _line(data)
            if line is None:
                break
            if isinstance(line, ResultLine):
                results.append(result_of(line))
                continue
            report = report_of(header, results, line)
            _check_end(stream)
            return report
    except (ValueError, RecursionError) as error:
        raise ReportFileError(f"{path}: line {number:,}: {_reason(error)}") from None
    ends = f"it ends after {len(results):,} result{'' if len(results) == 1 else 's'}"
    raise ReportFileError(f"{path}: incomplete: {ends}")


def _header(path: Path, data: bytes) -> Header:
    """Return the first line; ReportFileError if it is not that of a report of this version."""
    if not data:
        raise ReportFileError(f"{path}: the file is empty")
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or (line.get("kind"), line.get("schema")) != ("header", SCHEMA):
        raise ReportFileError(f"{path}: not a report that --json wrote")
    version = line.get("version")
    if version != VERSION:
        raise ReportFileError(
            f"{path}: a report of version {shortened(version)}; this program reads {VERSION}"
        )
    return msgspec.convert(line, Header)


def _line(data: bytes) -> ResultLine | Footer | None:
    """Return a line behind the first, None if the file was cut off within it."""
    try:
        return _LINE.decode(data)
    except msgspec.ValidationError:
        raise
    except (ValueError, RecursionError):
        if len(data) >= _LONGEST:
            raise ValueError(f"longer than {_LONGEST:,} bytes") from None
        if not data.endswith(b"\n"):
            return None
        raise


def _check_end(stream: BinaryIO) -> None:
    if stream.read(1):
        raise ValueError("nothing may follow the footer")


def _reason(error: Exception) -> str:
    """Say on one line what is wrong with a line."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        text = _PLACE.sub(r"\2: \1", text)
    elif isinstance(error, msgspec.DecodeError | UnicodeDecodeError):
        text = "not JSON"
    return cut(text, _LONGEST_REASON)
