"""Expected failures: a file that announces them, and what a run makes of it.

One failure a line, its reason behind `#`; other lines are blank or begin with `#`:

    mismatch      AvgPool-1/float32/*ceil*  # 1234: our ceil windows start past the input
    inconsistent  overhang-divisor          # 1240: the two float16 kernels disagree
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import translate
from pathlib import Path
from typing import overload

from conformance.check.report import FAILURES, Expectations, Report, Result, Verdict
from conformance.errors import UsageError
from conformance.operators import CLAUSES

INCONSISTENT = "inconsistent"
WORDS: tuple[str, ...] = (*FAILURES, INCONSISTENT)
"""What a line may begin with."""

_MAX_BYTES = 1 << 24
_FORM = "a line is VERDICT PATTERN # REASON"
_ENTRY = re.compile(r"(\S+)(?:\s+(?!#)(\S+))?\s*(.*)")


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A line of the file, the `line`-th: what fails, how, and why that is known.

    `word` is one of `WORDS`. `pattern` is an id, in which `*` stands for any text and `?` for any
    one character, or the name of a clause where `word` is "inconsistent".
    """

    line: int
    word: str
    pattern: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """An expected-failure file: where it is, its text, and the failures it announces."""

    path: str
    text: str
    entries: tuple[ExpectedFailure, ...]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ExpectedFailures:
        """Read a file; UsageError, one line with path and line number, if it is not sound."""
        try:
            with Path(path).open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except OSError as error:
            raise UsageError(
                f"{path}: {error.strerror or error}: an expected-failure file"
            ) from error
        if len(data) > _MAX_BYTES:
            raise UsageError(f"{path}: more than {_MAX_BYTES >> 20} MiB: no expected-failure file")
        try:
            text = data.decode("utf-8-sig")
            bad = text.find("\0")
        except UnicodeDecodeError as error:
            text, bad = data.decode("latin-1"), error.start
        if bad >= 0:
            raise UsageError(f"{path}:{text.count(chr(10), 0, bad) + 1}: not text in UTF-8")
        return cls.parse(text, path=path)

    @classmethod
    def parse(cls, text: str, *, path: str | os.PathLike[str] = "") -> ExpectedFailures:
        """Return what the text of a file says; UsageError as in `read`."""
        entries: dict[tuple[str, str], ExpectedFailure] = {}
        wrong: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                continue
            try:
                entry = _entry(number, stripped)
            except ValueError as error:
                wrong.append(f"{path}:{number}: {error}")
                continue
            first = entries.setdefault((entry.word, entry.pattern), entry)
            if first is not entry:
                said = f"{entry.word} {_short(entry.pattern)} is already on line {first.line}"
                wrong.append(f"{path}:{number}: {said}")
        if wrong:
            rest = len(wrong) - 1
            more = f" (and {rest:,} more wrong {'line' if rest == 1 else 'lines'})" if rest else ""
            raise UsageError(wrong[0] + more)
        return cls(os.fspath(path), text, tuple(entries.values()))

    def matching(self, ids: Iterable[str]) -> Iterator[tuple[ExpectedFailure, Sequence[str]]]:
        """Yield each line about vectors with those of some ids that it matches."""
        ordered = sorted(set(ids))
        for entry in self.entries:
            if entry.word != INCONSISTENT:
                yield entry, _matched(entry.pattern, ordered)

    def reasons(self, ids: Iterable[str]) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
        """Return the ids that some line matches, each with its reason by verdict.

        And the patterns that match none of them.
        """
        found: dict[str, dict[str, str]] = {}
        unmatched: list[str] = []
        for entry, matched in self.matching(ids):
            for vector_id in matched:
                found.setdefault(vector_id, {}).setdefault(entry.word, entry.reason)
            if not matched:
                unmatched.append(entry.pattern)
        return found, tuple(unmatched)

    def applied(self, report: Report, ids: Iterable[str]) -> Report:
        """Return a report that knows which of its failures were expected.

        `ids` are those of all vectors there are, also of those that were not run.
        """
        reasons, unmatched = self.reasons(ids)
        met: Counter[Verdict] = Counter()
        passed: list[str] = []
        told: dict[str, str] = {}
        for result in report.results if reasons else ():
            expected = reasons.get(result.id, {})
            if expected and result.verdict == "conforms":
                passed.append(result.id)
            elif result.verdict in expected:
                met[result.verdict] += 1
                told[result.id] = expected[result.verdict]
        announced = [entry.pattern for entry in self.entries if entry.word == INCONSISTENT]
        status = {clause.clause: clause.status for clause in report.readings}
        fine = consistent(report)
        passed += [f"{INCONSISTENT} {clause}" for clause in announced if clause in fine]
        return replace(
            report,
            results=_Results(report.results, told),
            expectations=Expectations(
                path=self.path,
                met=met,
                inconsistent=tuple(c for c in announced if status.get(c) == INCONSISTENT),
                passed=tuple(passed),
                unmatched=unmatched,
                announced=tuple(announced),
            ),
        )


def consistent(report: Report) -> frozenset[str]:
    """Return the disputed clauses that a report shows to be consistent.

    None unless every vector was run: fewer may just not show what is inconsistent.
    """
    if report.not_run or not report.complete:
        return frozenset()
    return frozenset(each.clause for each in report.readings if each.status != INCONSISTENT)


class _Results(Sequence[Result]):
    """Results, made when they are looked at, with the reasons of those that were expected."""

    def __init__(self, results: Sequence[Result], reasons: Mapping[str, str]) -> None:
        self._results = results
        self._reasons = reasons

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self._with_reason(result) for result in self._results[index]]
        return self._with_reason(self._results[index])

    def __iter__(self) -> Iterator[Result]:
        return map(self._with_reason, self._results)

    def __repr__(self) -> str:
        return f"<{len(self)} results, {len(self._reasons)} failures of them expected>"

    def _with_reason(self, result: Result) -> Result:
        reason = self._reasons.get(result.id)
        return replace(result, expected=reason) if reason else result


def _entry(number: int, line: str) -> ExpectedFailure:
    """Return what a line says, or raise ValueError with what is wrong about it."""
    found = _ENTRY.fullmatch(line)
    word, pattern, rest = found.groups() if found else (line, None, "")
    if word not in WORDS:
        close = get_close_matches(word, WORDS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise ValueError(f"no verdict {_short(word)}{hint}; {_FORM}, with {', '.join(WORDS)}")
    if not pattern:
        raise ValueError(f"{word} of what? {_FORM}")
    reason = " ".join("".join(c if c.isprintable() else " " for c in rest[1:]).split())
    if rest and not rest.startswith("#"):
        raise ValueError(f"{_short(rest)} is no reason, which begins with #; {_FORM}")
    if not reason:
        raise ValueError(f"{_short(pattern)} has no reason; {_FORM}")
    if word == INCONSISTENT and getattr(CLAUSES.get(pattern), "kind", "") != "disputed":
        disputed = [name for name, clause in CLAUSES.items() if clause.kind == "disputed"]
        close = get_close_matches(pattern, disputed, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise ValueError(
            f"no disputed clause {_short(pattern)}{hint}; there are {', '.join(disputed)}"
        )
    return ExpectedFailure(number, word, pattern, reason)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _matched(pattern: str, ordered: Sequence[str]) -> Sequence[str]:
    """Return those of some ids, in order and each once, that match a pattern."""
    literal = re.split(r"[*?]", pattern, maxsplit=1)[0]
    first = bisect_left(ordered, literal)
    if literal == pattern:
        return ordered[first : first + 1] if ordered[first : first + 1] == [pattern] else ()
    last = bisect_right(ordered, literal, first, key=lambda each: each[: len(literal)])
    matches = re.compile(translate(pattern.replace("[", "[[]"))).match
    return [vector_id for vector_id in ordered[first:last] if matches(vector_id)]
