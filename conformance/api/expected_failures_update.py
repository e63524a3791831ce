"""An expected-failure file made of a report, or brought up to date with one.

A line for each confirmed cause that says what is returned, for each failure that none of these
reproduces, and for each clause with inconsistent readings. A line about a mismatch has the digest
of its answer, unless a second call showed that answers vary. Reasons begin with "found:", and the
next update renews such lines. All else in the file is somebody's and stays, word for word; a line
that is no longer true becomes a comment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from conformance.api.expected_failures import (
    CAUSE,
    INCONSISTENT,
    OPTIONAL,
    SKIP,
    ExpectedFailures,
    line_of,
)
from conformance.api.reasoned_lines import ReasonedLine, matched
from conformance.errors import ConformanceError
from conformance.files import write_text
from conformance.record.report import FAILURES, Announced, Report, Result
from conformance.text import without_unprintable
from conformance.vectorfile.sources import Vectors

_INTRODUCTION = """\
# Expected failures of {}.
# A line is a verdict, the id of a vector (* is any text, ? any character), # and why.
# Lines with "found:" are renewed by --write-expected-failures. Write your own reason, the number of
# a bug for example, and the line is yours.

"""
_FOUND = "found:"
_UNTRUE = "# no longer true: "
_VARIES = "; whatever is returned, as answers vary"


class Update(NamedTuple):
    """The text of a file, and how many of its lines were added, kept, removed, made comments."""

    text: str
    done: Counter[str]

    def describe(self, path: str | os.PathLike[str]) -> str:
        """Say what was written, on one line."""
        done = ", ".join(
            f"{number:,} line{'' if number == 1 else 's'} {what}"
            for what, number in self.done.items()
        )
        return f"wrote {os.fspath(path)}: {done or 'no line'}"


def write_expected(
    path: str | os.PathLike[str],
    report: Report,
    ids: Iterable[str] = (),
    vectors: Vectors | None = None,
) -> str:
    """Write the failures of a report to a file, or bring one up to date; say what was written.

    See `updated`. Without the `vectors` of the run, no cause is written. The file is replaced in
    one step, or stays as it was. Raises UsageError where it is no expected-failure file or cannot
    be written.
    """
    old = ExpectedFailures.read(path) if Path(path).is_file() else None
    causes = {
        found.named
        for found in report.diagnoses
        if found.named and found.proof is not None and not found.proof.missing
    }
    # Expected failures are not diagnosed again: their causes are in the file alone.
    causes.update(old.of(CAUSE) if old else ())
    by_id: Mapping[str, Sequence[str]] = {}
    if causes and vectors is not None:
        from conformance.diagnosis.of_report import reproduced  # noqa: PLC0415 - only for causes

        by_id = reproduced(report, vectors, sorted(causes))
    update = updated(old, report, ids, by_id)
    write_text(update.text, path)
    return update.describe(path)


def updated(
    old: ExpectedFailures | None,
    report: Report,
    ids: Iterable[str] = (),
    reproduced_by: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Update:
    """Return a file with which a second run like this one is ok, if failures are all its problems.

    `old` is the file as it was, if there is one, `ids` are all the vectors there are, and
    `reproduced_by` names by id the causes that reproduce a failure.
    """
    if old is None:
        old = ExpectedFailures.parse(_INTRODUCTION.format(without_unprintable(report.backend)))
    run = _Run(report, sorted({*ids, *(result.id for result in report.results)}))
    for vector_id, causes in reproduced_by.items():
        for cause in causes:
            run.causes.setdefault(cause, set()).add(vector_id)
    theirs = (entry for entry in old.entries if not entry.reason.startswith(_FOUND))
    new = run.lines([entry for entry in theirs if not run.contradicts(entry)])
    entries = {entry.line: entry for entry in old.entries}
    lines: list[str] = []
    done: Counter[str] = Counter()
    for number, line in enumerate(old.text.split("\n"), 1):
        if number not in entries:
            lines.append(line)
            continue
        what, now = _renewed(entries[number], line, run, new)
        done[what] += 1
        lines += [now] if now else []
    text = "\n".join(lines)
    if text and not text.endswith("\n"):
        text += "\n"
    if new:
        done["added"] = len(new)
    text += "".join(f"{line}\n" for line in new.values())
    if left := run.not_announced(ExpectedFailures.parse(text).entries):
        raise ConformanceError(f"no line was found that announces the failure of {min(left)}")
    return Update(text, done)


def _renewed(
    entry: ReasonedLine, line: str, run: _Run, new: dict[tuple[str, str], str]
) -> tuple[str, str]:
    """Say what becomes of a line, and return it as it is now; what takes its place is not new."""
    untrue = run.contradicts(entry)
    if not entry.reason.startswith(_FOUND):
        return ("made a comment", f"{_UNTRUE}{line}") if untrue else ("kept", line)
    if again := new.pop((entry.word, entry.pattern), ""):
        return "kept", again
    ran = not run.verdicts.keys().isdisjoint(run.matched(entry))
    return ("removed", "") if untrue or ran else ("kept", line)


class _Run:
    """What a run showed.

    `ids` are those of all vectors there are, sorted, `causes` the failures that each reproduces.
    """

    def __init__(self, report: Report, ids: Sequence[str]) -> None:
        self.report = report
        self.ids = ids
        self.causes: dict[str, set[str]] = {}
        # Whether an unsupported vector fails is as unknown as it is of one that was not run.
        self.verdicts = {r.id: r.verdict for r in report.results if r.verdict != "unsupported"}
        differing = {*report.repeated.differing} if report.repeated else set()
        differing.update(*(each.vectors for each in report.diagnoses if each.kind == "state"))
        self._varying = {each.operator for each in report.results if each.id in differing}

    def matched(self, entry: ReasonedLine) -> Sequence[str]:
        """Return the vectors that a line is about; none where it is about a clause or a cause."""
        return matched(entry.pattern, self.ids) if entry.word in FAILURES else ()

    def contradicts(self, entry: ReasonedLine) -> bool:
        """Say whether the run is not ok with this line; of what is skipped, it tells nothing."""
        if entry.word == SKIP:
            return False
        if entry.word in FAILURES:
            found = self.matched(entry)
            passes = any(self.verdicts.get(name) == "conforms" for name in found)
            return not found or (passes and not entry.may_pass)
        if entry.may_pass:
            return False
        if entry.word == INCONSISTENT:
            return entry.pattern in self.report.consistent
        return self.report.is_whole and entry.pattern not in self.causes

    def not_announced(self, announced: Iterable[ReasonedLine]) -> dict[str, Result]:
        """Return the failures that no line announces, by id."""
        failing = {r.id: r for r in self.report.results if r.verdict in self.report.failing}
        for entry in announced:
            for name in self.matched(entry):
                found = failing.get(name)
                line = Announced(entry.reason, entry.answer)
                if found and found.verdict == entry.word and line.is_of(found.answer):
                    del failing[name]
            if entry.word == CAUSE:
                for name in self.causes.get(entry.pattern, ()):
                    failing.pop(name, None)
        return failing

    def lines(self, announced: Sequence[ReasonedLine]) -> dict[tuple[str, str], str]:
        """Return lines for all that is not announced, by word and pattern.

        The cause that reproduces most comes first.
        """
        failing = self.not_announced(announced)
        lines: dict[tuple[str, str], str] = {}
        for cause in sorted(self.causes, key=lambda name: (-len(self.causes[name]), name)):
            if explained := sorted(failing.keys() & self.causes[cause]):
                reason = f"{_FOUND} explains {len(explained):,}, {explained[0]} for one"
                lines[CAUSE, cause] = line_of(CAUSE, cause, reason)
                for name in explained:
                    del failing[name]
        known = {entry.pattern for entry in announced if entry.word == INCONSISTENT}
        for clause in self.report.readings:
            if clause.status != INCONSISTENT or clause.clause in known:
                continue
            counts = ", ".join(f"{reading} {number:,}" for reading, number in clause.counts.items())
            reason = f"{_FOUND} vectors that need each reading: {counts}"
            lines[INCONSISTENT, clause.clause] = line_of(INCONSISTENT, clause.clause, reason)
        conforming = {each.id for each in self.report.results if each.verdict == "conforms"}
        for name, result in sorted(failing.items()):
            pattern = _pattern(name)
            # It may match more than its own id.
            passes = "?" in pattern and not conforming.isdisjoint(matched(pattern, self.ids))
            word = f"{result.verdict}{OPTIONAL}" if passes else result.verdict
            varies = bool(result.answer) and self._varies(result)
            reason = f"{_FOUND} {result.detail}{_VARIES * varies}"
            answer = "" if varies or "?" in pattern else result.answer
            lines[result.verdict, pattern] = line_of(word, pattern, reason, answer)
        return lines

    def _varies(self, result: Result) -> bool:
        """Say whether another run may return something else: where a second call did."""
        return bool(result.variations) or result.only_again or result.operator in self._varying


def _pattern(vector_id: str) -> str:
    """Return an id, with ? for what a line cannot hold as it is."""
    pattern = "".join(
        "?" if c == "*" or c.isspace() or not c.isprintable() else c for c in vector_id
    )
    return f"?{pattern[1:]}" if pattern.startswith("#") else pattern
