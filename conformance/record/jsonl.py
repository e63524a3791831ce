"""A report as JSON lines: a header, a line for each result, a footer.

What follows from the rest, such as `detail` or `counts`, is written for those who read the file
with other programs. A file without its footer was cut off, and is not read as a shorter run.
docs/reports.md describes the lines, docs/report.schema.json is their schema.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import numpy as np
from msgspec import Meta, Struct, structs

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.errors import ReportFileError, UsageError
from conformance.files import Target, open_regular, writing
from conformance.record.consistency import contradictions
from conformance.record.json_values import json_line
from conformance.record.report import (
    VERDICTS,
    Count,
    Footer,
    Header,
    Report,
    Result,
    Verdict,
    Worst,
)
from conformance.record.why import Differing, Raised, Told, Why, WrongElements
from conformance.text import cut

SCHEMA = "pooling-conformance-report"
VERSION = 1

Counts = Annotated[
    dict[Verdict, Count],
    Meta(extra_json_schema={"propertyNames": {"enum": list(VERDICTS)}}),
]


class Totals(Struct, frozen=True, tag_field="kind", tag="footer"):
    """What follows from the rest of a report, and is in its footer, too."""

    counts: Counts
    counts_by_operator: dict[str, Counts]
    complete: bool
    ok: bool
    problems: tuple[str, ...]


class Words(Struct, frozen=True):
    """What is read of the line of a result that has no fact: an earlier version wrote words."""

    detail: str


def _inserted(names: Collection[str], before: Mapping[str, str]) -> tuple[str, ...]:
    """Return names with others, each `before` one of them."""
    inserted = list(names)
    for name, other in before.items():
        inserted.insert(inserted.index(other), name)
    return tuple(inserted)


HEADER = tuple(field.name for field in fields(Header))
_NOT_SAVED = ("output", "first_outputs")
RESULT = _inserted(
    [name for name in Result.__struct_fields__ if name not in _NOT_SAVED], {"detail": "worst"}
)
FOOTER = (
    *_inserted(
        [field.name for field in fields(Footer)],
        {"counts": "readings", "counts_by_operator": "readings", "complete": "stopped"},
    ),
    "ok",
    "problems",
)
"""The names in each kind of line, in their order."""
RARE = frozenset(
    [
        *(field.name for field in structs.fields(Result) if not field.required),
        *(field.name for field in fields(Footer) if field.default is not MISSING),
    ]
)
"""Names that are left out of a result or footer where they say nothing."""

_REFUSED = ("conforms", "error", "unsupported")
"""Verdicts of which a detail is an exception."""
_MAX_DEPTH = 8
"""Lists within lists that the value of an attribute may be."""
_LONGEST = 1 << 26
"""Bytes of a line that is read."""
_LONGEST_REASON = 200
# Numbers that are not finite are texts, which it reads where it is not strict.
_LINE: msgspec.json.Decoder[Result | Totals] = msgspec.json.Decoder(Result | Totals, strict=False)
_RESULT = msgspec.json.Decoder(Result, strict=False)
_WORDS = msgspec.json.Decoder(Words)
_FOOTER = msgspec.json.Decoder(Footer, strict=False)
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
    header = {name: getattr(report, name) for name in HEADER}
    yield json_line({"kind": "header", "schema": SCHEMA, "version": VERSION} | header)
    yield from map(encoded, report.results)
    yield _encoded("footer", report, FOOTER)


def encoded(result: Result) -> bytes:
    """Return the line of a result, which has all of it but what is kept of outputs."""
    return _encoded("result", result, RESULT)


def _encoded(kind: str, value: Report | Result, names: Collection[str]) -> bytes:
    said = {name: item for name in names if (item := getattr(value, name)) or name not in RARE}
    return json_line({"kind": kind} | said)


def decoded(line: bytes) -> Result:
    """Return the result that `encoded` made a line of; ValueError if it did not."""
    return _checked(_RESULT.decode(line), line)


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
            if isinstance(line, Result):
                results.append(_checked(line, data))
                continue
            footer = _FOOTER.decode(data)
            report = Report(results=tuple(results), **vars(header), **vars(footer))
            _check_whole(report, line)
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
            f"{path}: a report of version {_shortened(version)}; this program reads {VERSION}"
        )
    return msgspec.convert(line, Header)


def _line(data: bytes) -> Result | Totals | None:
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


def _checked(result: Result, line: bytes) -> Result:
    """Return the result of a line; ValueError where an element has no such type, for one."""
    if result.dtype:
        _check_dtype(result.dtype)
    for name, value in result.attributes.items():
        _check_attribute(name, value, _MAX_DEPTH)
    if (worst := result.worst) is not None:
        _check_dtype(result.worst_dtype)
        for name in ("got", "expected", "first_got", "first_expected"):
            _check_element(name, getattr(worst, name), result.worst_dtype)
    if result.why is None and (why := told(result.verdict, _WORDS.decode(line).detail, worst)):
        return structs.replace(result, why=why)
    return result


def told(verdict: Verdict, detail: str, worst: Worst | None) -> Why | None:
    """Return the fact that is known of a result of a version that saved none."""
    if worst is not None:
        return WrongElements((Differing(worst.wrong, worst.total, worst.output),))
    if not detail:
        return None
    return Raised.parse(detail) if verdict in _REFUSED else Told(detail)


def _check_dtype(dtype: str) -> None:
    if dtype not in FLOATS and dtype not in INTEGERS:
        raise ValueError(f"dtype is {_shortened(dtype)}, not a known element type")


def _check_attribute(name: str, value: Any, depth: int) -> None:
    """Raise ValueError unless the value of an attribute is a scalar or lists of them."""
    if isinstance(value, list) and depth:
        for item in value:
            _check_attribute(name, item, depth - 1)
    elif isinstance(value, list | dict):
        kind = "an object" if isinstance(value, dict) else "nested too deeply"
        raise ValueError(f"attribute {_shortened(name)} is {kind}")


def _check_element(name: str, value: float, dtype: str) -> None:
    """Raise ValueError unless a number is an element of a type, as whatever prints it relies on."""
    if dtype in FLOATS:
        with suppress(OverflowError), np.errstate(all="ignore"):
            number = float(value)
            if np.isnan(number) or float(dtype_of(dtype).type(number)) == number:
                return
    elif isinstance(value, int):
        limits = np.iinfo(dtype_of(dtype))
        if limits.min <= value <= limits.max:
            return
    raise ValueError(f"{name} is {_shortened(value)}, not an element of {dtype}")


def _check_whole(report: Report, totals: Totals) -> None:
    """Raise ValueError where a report contradicts itself, or what its footer says follows."""
    for contradiction in contradictions(report):
        raise ValueError(contradiction)
    for name in ("counts", "complete", "ok"):
        if getattr(report, name) != getattr(totals, name):
            raise ValueError(f"{name} contradicts the rest of the report")


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


def _shortened(value: object) -> str:
    """Return the beginning of a value of unknown origin, on one line."""
    return cut(repr(value), 40)
