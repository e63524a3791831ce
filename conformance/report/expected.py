"""An expected-failure file made of a report: every failure announced, with its reason.

A file that is there already is kept as far as it is right: its comments, patterns, reasons and
order. Lines that are not are dropped and new failures are added, so that a change of it is short.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from conformance.check.expected import INCONSISTENT, ExpectedFailure, ExpectedFailures, consistent
from conformance.check.report import FAILURES, Report, Result, Verdict
from conformance.faults.catalogue import CATALOGUE
from conformance.files import write_text
from conformance.report.groups import kind_of

_REASON = 160


def written(
    report: Report, *, kept: ExpectedFailures | None = None, ids: Iterable[str] = ()
) -> str:
    """Return the text of a file under which a second run like this one has no problem.

    Failures are named by id, under a heading for each likely cause, or for each kind of failure
    where none is known. `kept` is the file to begin with. Of it, a line is dropped that matches
    none of `ids`, all the vectors there are; a vector that conforms; or only such as fail with
    another verdict.
    """
    verdicts = {result.id: result.verdict for result in report.results}
    right = list(_right(kept, report, verdicts, ids)) if kept else []
    covered = {(entry.word, vector_id) for entry, matched in right for vector_id in matched}
    inconsistent = {entry.pattern for entry, _ in right if entry.word == INCONSISTENT}
    new = _new(report, covered, inconsistent)
    if kept is None:
        blocks = [[*_introduction(report)]]
    else:
        blocks = _blocks(kept, {entry.line for entry, _ in right})
    for heading, lines in sorted(new.items()):
        home = next((block for block in blocks if heading in block), None)
        if home is None:
            blocks.append([heading, *sorted(lines)])
        else:
            home += sorted(lines)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def write_expected(path: str | os.PathLike[str], report: Report, ids: Iterable[str] = ()) -> None:
    """Write the failures of a report to a file, beginning with what is there; see `written`.

    The file is replaced in one step, or stays as it was. Raises UsageError where it is no
    expected-failure file or cannot be written.
    """
    kept = ExpectedFailures.read(path) if Path(path).is_file() else None
    write_text(written(report, kept=kept, ids=ids), path)


def _right(
    kept: ExpectedFailures, report: Report, verdicts: Mapping[str, Verdict], ids: Iterable[str]
) -> Iterator[tuple[ExpectedFailure, Collection[str]]]:
    """Yield the lines of a file that are right, with the ids they match."""
    passed = consistent(report)
    for entry in kept.entries:
        if entry.word == INCONSISTENT and entry.pattern not in passed:
            yield entry, ()
    for entry, matched in kept.matching({*verdicts, *ids}):
        found = {verdicts[vector_id] for vector_id in matched if vector_id in verdicts}
        wrong = "conforms" in found or (entry.word not in found and found.intersection(FAILURES))
        if matched and not wrong:
            yield entry, matched


def _new(
    report: Report, covered: Collection[tuple[str, str]], inconsistent: Collection[str]
) -> dict[str, list[str]]:
    """Return the lines of failures that are not covered yet, by the heading they belong under."""
    causes = _causes(report)
    found: dict[str, list[str]] = {}
    for result in report.results:
        if result.verdict in FAILURES and (result.verdict, result.id) not in covered:
            cause = causes.get(result.id, ())
            heading = _heading(cause) or f"# {result.operator}: {kind_of(result)}"
            detail = _tidy(result.detail) or kind_of(result)
            reason = f"{' + '.join(cause)}: {detail}" if cause else detail
            line = _line(result.verdict, _pattern(result), reason)
            found.setdefault(_tidy(heading), []).append(line)
    for clause in report.readings:
        if clause.status == INCONSISTENT and clause.clause not in inconsistent:
            counts = ", ".join(f"{reading} {n:,}" for reading, n in clause.counts.items())
            line = _line(INCONSISTENT, clause.clause, f"vectors that need each reading: {counts}")
            found.setdefault("# Readings that no attribute separates", []).append(line)
    return {heading: [*dict.fromkeys(lines)] for heading, lines in found.items()}


def _causes(report: Report) -> dict[str, tuple[str, ...]]:
    """Return the names of the faults that reproduce each failure, where there are any."""
    found: dict[str, tuple[str, ...]] = {}
    for diagnosis in report.diagnoses:
        for vector_id in diagnosis.vectors if diagnosis.faults else ():
            found.setdefault(vector_id, diagnosis.faults)
    return found


def _heading(cause: tuple[str, ...]) -> str:
    known = {fault.name: fault.summary for fault in CATALOGUE}
    said = ", together with: ".join(known.get(name, name) for name in cause)
    return f"# Likely cause: {said}" if said else ""


def _introduction(report: Report) -> Iterator[str]:
    yield _tidy(f"# Expected failures of {report.backend}.")
    yield "# A line is a verdict, the id of a vector (* is any text, ? any character), # and why."


def _blocks(kept: ExpectedFailures, right: Collection[int]) -> list[list[str]]:
    """Return the paragraphs of a file without the lines that are not right."""
    blocks: list[list[str]] = []
    numbered = enumerate(kept.text.split("\n"), 1)
    for blank, lines in groupby(numbered, key=lambda each: not each[1].strip()):
        paragraph = [(number, line.strip()) for number, line in lines]
        block = [line for number, line in paragraph if line.startswith("#") or number in right]
        # A heading goes with the last of its lines.
        emptied = len(block) < len(paragraph) and all(line.startswith("#") for line in block)
        if not blank and not emptied:
            blocks.append(block)
    return blocks


def _line(word: str, pattern: str, reason: str) -> str:
    shortened = reason if len(reason) <= _REASON else f"{reason[: _REASON - 3]}..."
    return _tidy(f"{word} {pattern} # {shortened}")


def _pattern(result: Result) -> str:
    """Return the id, with ? for what a line cannot hold."""
    pattern = "".join("?" if c.isspace() or not c.isprintable() else c for c in result.id)
    return f"?{pattern[1:]}" if pattern.startswith("#") else pattern


def _tidy(line: str) -> str:
    """Return a text on one line, without what a terminal would not show."""
    return " ".join("".join(c if c.isprintable() else " " for c in line).split())
