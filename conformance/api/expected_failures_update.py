"""An expected-failure file brought up to date with a report.

A line whose reason begins with "found:", and a heading that begins with ##, were written here and
may be dropped again. All else is somebody's: it stays, word for word, but for a ? that allows what
passes, and what is no longer true becomes a comment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from conformance.api.expected_failures import (
    CAUSE,
    INCONSISTENT,
    OPTIONAL,
    TOGETHER,
    ExpectedFailure,
    ExpectedFailures,
    faults_of,
    line_of,
    matched,
)
from conformance.api.patterns import few_patterns
from conformance.diagnosis.of_report import reproduced
from conformance.faults.catalogue import CATALOGUE
from conformance.files import write_text
from conformance.judging.failure_kinds import kind_of
from conformance.record.report import FAILURES, Report, Result
from conformance.text import without_unprintable
from conformance.vectorfile.sources import Vectors

_INTRODUCTION = """\
# Expected failures of {}.
# A line is a verdict, the id of a vector (* is any text, ? any character), # and why.
# What is "found:" was written by --write-expected-failures, and may be dropped by it. Write your
# own reason, the number of a bug for example, and the line is yours."""
_FOUND = "found: "
_HEADING = "## "
_FEWEST = 2
"""Failures that a cause explains before the file names it in their place."""


@dataclass(slots=True)
class Update:
    """The text of a file, and what was done to it.

    `done` counts lines, by what they are and what was done to them; `failures` are those of the
    run that the file did not announce.
    """

    text: str = ""
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: int = 0

    def describe(self, path: str | os.PathLike[str]) -> str:
        """Say what was written, on one line."""
        done = ", ".join(
            f"{number:,} {what}{'' if number == 1 else 's'}{how}"
            for (what, how), number in self.done.items()
        )
        new = (
            f"{self.failures:,} failure{'' if self.failures == 1 else 's'} that it did not announce"
        )
        return f"wrote {os.fspath(path)}: {done or 'no line'}; {new}"


@dataclass(slots=True)
class _Known:
    """What a run showed.

    `verdicts` are by id, `ids` those of all vectors there are, sorted, and `explained` the ids of
    the failures that each cause explains.
    """

    report: Report
    verdicts: Mapping[str, str]
    ids: Sequence[str]
    explained: Mapping[str, frozenset[str]]


def write_expected(
    path: str | os.PathLike[str],
    report: Report,
    ids: Iterable[str] = (),
    vectors: Vectors | None = None,
) -> str:
    """Write the failures of a report to a file, or bring one up to date; say what was written.

    See `updated`. With the `vectors` of the run, every failure is compared with the causes, also
    those in which none was searched for. The file is replaced in one step, or stays as it was.
    Raises UsageError where it is no expected-failure file or cannot be written.
    """
    old = ExpectedFailures.read(path) if Path(path).is_file() else None
    names = dict.fromkeys(TOGETHER.join(found.faults) for found in report.diagnoses if found.faults)
    names |= dict.fromkeys(old.of(CAUSE) if old else ())
    by_id = (
        reproduced(report, vectors, {name: faults_of(name) for name in names})
        if names and vectors is not None
        else {}
    )
    update = updated(old, report, ids, by_id)
    write_text(update.text, path)
    return update.describe(path)


def updated(
    old: ExpectedFailures | None,
    report: Report,
    ids: Iterable[str] = (),
    reproduced_by: Mapping[str, Sequence[str]] | None = None,
) -> Update:
    """Return a file under which a second run like this one has no problem.

    New failures are announced by cause where one explains several, by pattern where one matches
    just them, and else by id. `old` is the file as it was, if there is one, `ids` are all the
    vectors there are, and `reproduced_by` names by id the causes that reproduce a failure.
    """
    verdicts = {result.id: result.verdict for result in report.results}
    explained: dict[str, set[str]] = {}
    for diagnosis in report.diagnoses:
        if diagnosis.faults:
            explained.setdefault(TOGETHER.join(diagnosis.faults), set()).update(diagnosis.vectors)
    for vector_id, causes in (reproduced_by or {}).items():
        for cause in causes:
            explained.setdefault(cause, set()).add(vector_id)
    known = _Known(
        report,
        verdicts,
        sorted({*verdicts, *ids}),
        {cause: frozenset(found) for cause, found in explained.items()},
    )
    update = Update()
    if old is None:
        paragraphs = [_INTRODUCTION.format(without_unprintable(report.backend)).splitlines()]
        left: list[ExpectedFailure] = []
    else:
        paragraphs, left = _kept(old, known, update)
    new = _new_lines(known, left, update)
    for heading, lines in sorted(new.items()):
        under = next((paragraph for paragraph in paragraphs if heading in paragraph), None)
        if under is None:
            paragraphs.append([heading, *sorted(lines)])
        else:
            under += sorted(lines)
    update.text = "\n\n".join("\n".join(paragraph) for paragraph in paragraphs) + "\n"
    return update


def _kept(
    old: ExpectedFailures, known: _Known, update: Update
) -> tuple[list[list[str]], list[ExpectedFailure]]:
    """Return the paragraphs of a file as they are now, and the lines that still announce."""
    found = {entry.line: ids for entry, ids in old.matching(known.ids)}
    entries = {entry.line: entry for entry in old.entries}
    left: list[ExpectedFailure] = []
    paragraphs: list[list[str]] = []
    numbered = enumerate(old.text.split("\n"), 1)
    for blank, lines in groupby(numbered, key=lambda line: not line[1].strip()):
        if blank:
            continue
        paragraph: list[str] = []
        dropped = False
        for number, line in ((number, line.strip()) for number, line in lines):
            entry = entries.get(number)
            now = line if entry is None else _now(entry, line, found.get(number, ()), known)
            if entry is not None:
                update.done[_what_happened(line, now)] += 1
                dropped |= not now
            if now:
                paragraph.append(now)
            if now and entry is not None and not now.startswith("#"):
                left.append(entry)
        # A heading that was written here goes with the last of its lines.
        bare = all(line.startswith("#") for line in paragraph)
        if dropped and bare:
            paragraph = [line for line in paragraph if not line.startswith(_HEADING)]
        if paragraph:
            paragraphs.append(paragraph)
    return paragraphs, left


def _what_happened(before: str, now: str) -> tuple[str, str]:
    if now == before:
        return "line", " kept"
    if not now:
        return "line", " dropped"
    return "line", " made a comment" if now.startswith("#") else f" given a {OPTIONAL}"


def _now(entry: ExpectedFailure, line: str, ids: Sequence[str], known: _Known) -> str:
    """Return what becomes of a line, which matches some ids: nothing if it goes."""
    wrong = _wrong(entry, ids, known)
    if not wrong:
        return line
    if entry.reason.startswith(_FOUND):
        return ""
    actual = {known.verdicts.get(vector_id, entry.word) for vector_id in ids}
    if entry.word in actual:  # or was not run
        return line.replace(entry.word, entry.word + OPTIONAL, 1)
    return f"# {wrong}: {line}"


def _wrong(entry: ExpectedFailure, ids: Sequence[str], known: _Known) -> str:
    """Say why a run contradicts a line, which matches some ids; empty if it does not."""
    report = known.report
    if entry.word in FAILURES and not ids:
        return "matches no vector"
    if entry.may_pass:
        return ""
    if entry.word in FAILURES:
        actual = {known.verdicts.get(vector_id, entry.word) for vector_id in ids}
        if "conforms" in actual:
            return "passes now"
        otherwise = entry.word not in actual and actual.intersection(report.failing)
        return "fails otherwise now" if otherwise else ""
    if entry.word == INCONSISTENT:
        return "consistent now" if entry.pattern in report.consistent else ""
    whole = report.complete and not report.not_run
    return "explains nothing now" if whole and not known.explained.get(entry.pattern) else ""


def _new_lines(
    known: _Known, left: Sequence[ExpectedFailure], update: Update
) -> dict[str, list[str]]:
    """Return the lines of failures that are not announced yet, by the heading they belong under."""
    failing = _not_announced(known, left)
    update.failures = len(failing)
    new: dict[str, dict[str, None]] = {}
    for line in chain(
        _by_cause(known, failing), _by_pattern(known, failing), _of_clauses(known, left)
    ):
        lines = new.setdefault(without_unprintable(f"{_HEADING}{line.heading}"), {})
        lines[line_of(line.word, line.pattern, f"{_FOUND}{line.reason}")] = None
        update.done["new " + line.kind, ""] += 1
    return {heading: list(lines) for heading, lines in new.items()}


class _Line(NamedTuple):
    """A line that is new: its parts, its heading, and what its pattern is."""

    heading: str
    word: str
    pattern: str
    reason: str
    kind: str


def _by_cause(known: _Known, failing: dict[str, Result]) -> Iterator[_Line]:
    """Yield a line for each cause of several failures, which are taken out of `failing`."""
    for cause, explained in known.explained.items():
        ids = [vector_id for vector_id in failing if vector_id in explained]
        if len(ids) >= _FEWEST:
            reason = f"{len(ids):,} failures, {ids[0]} for one"
            yield _Line(_heading(cause.split(TOGETHER)), CAUSE, cause, reason, "cause")
            for vector_id in ids:
                del failing[vector_id]


def _by_pattern(known: _Known, failing: Mapping[str, Result]) -> Iterator[_Line]:
    """Yield lines with patterns that match just the failures of a kind, and with ids."""
    faults = known.report.faults
    groups: dict[tuple[str, str, str], dict[str, Result]] = {}
    for result in failing.values():
        names = faults.get(result.id)
        heading = _heading(names) if names else f"{result.operator}: {kind_of(result)}"
        groups.setdefault((heading, result.operator, result.verdict), {})[result.id] = result
    for (heading, _, verdict), results in groups.items():
        # A pattern may match what is unsupported: that is neither a failure nor a pass.
        unlike = [name for name in known.ids if name not in results]
        passing = [name for name in unlike if known.verdicts.get(name) == "conforms"]
        others = [
            name for name in unlike if known.verdicts.get(name) not in {"conforms", "unsupported"}
        ]
        for pattern, ids, passes in few_patterns([*results], passing, others, matched):
            word = verdict + OPTIONAL if passes else verdict
            reason = f"{len(ids):,} vectors, {_reason(results[ids[0]], faults)}"
            yield _Line(heading, word, pattern, reason, "pattern")
            for vector_id in ids:
                del results[vector_id]
        for result in results.values():
            yield _Line(heading, verdict, _pattern(result), _reason(result, faults), "id")


def _of_clauses(known: _Known, left: Sequence[ExpectedFailure]) -> Iterator[_Line]:
    announced = {entry.pattern for entry in left if entry.word == INCONSISTENT}
    heading = "Readings that no attribute separates"
    for clause in known.report.readings:
        if clause.status == INCONSISTENT and clause.clause not in announced:
            counts = ", ".join(f"{reading} {n:,}" for reading, n in clause.counts.items())
            reason = f"vectors that need each reading: {counts}"
            yield _Line(heading, INCONSISTENT, clause.clause, reason, "clause")


def _not_announced(known: _Known, left: Sequence[ExpectedFailure]) -> dict[str, Result]:
    """Return the failures that no line of a file announces, by id."""
    announced: set[tuple[str, str]] = set()
    explained: set[str] = set()
    for entry in left:
        if entry.word == CAUSE:
            explained |= known.explained.get(entry.pattern, frozenset())
        elif entry.word in FAILURES:
            announced |= {(entry.word, name) for name in matched(entry.pattern, known.ids)}
    return {
        result.id: result
        for result in known.report.results
        if result.verdict in known.report.failing
        and (result.verdict, result.id) not in announced
        and result.id not in explained
    }


def _reason(result: Result, faults: Mapping[str, Sequence[str]]) -> str:
    detail = without_unprintable(result.detail) or kind_of(result)
    names = faults.get(result.id)
    return f"{TOGETHER.join(names)}: {detail}" if names else detail


def _heading(names: Sequence[str]) -> str:
    summaries = {fault.name: fault.summary for fault in CATALOGUE}
    together = ", together with: ".join(summaries.get(name, name) for name in names)
    return f"Likely cause: {together}"


def _pattern(result: Result) -> str:
    """Return the id, with ? for what a line cannot hold."""
    pattern = "".join("?" if c.isspace() or not c.isprintable() else c for c in result.id)
    return f"?{pattern[1:]}" if pattern.startswith("#") else pattern
