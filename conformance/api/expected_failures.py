"""Expected failures: the file that lists them, and a report compared with it.

One failure a line, its reason behind `#`; other lines are blank or begin with `#`:

    mismatch      AvgPool-1/float32/*ceil*  # 1234: our ceil windows start past the input
    mismatch      AvgPool-1/float32/one answer=0123456789ab  # 1235: this answer and no other
    inconsistent  overhang-divisor          # 1240: the two float16 kernels disagree
    cause         same-lower-as-upper       # 1251: whatever this fault of the catalogue explains
    timed-out?    AvgPool-1/float64/*       # 1260: on a slow machine; ? allows what conforms
    skip          MaxPool-8/float64/*       # 1234: never called, since it hangs the device
    skip          cause=same-lower-as-upper # 1240: nor where this fault changes the answer
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from msgspec import structs

from conformance.api.reasoned_lines import (
    ReasonedLine,
    digest_of,
    lines_in,
    matched,
    of_no_vector,
    reason_in,
    split,
    text_of,
)
from conformance.operators import disputed_clauses
from conformance.record.report import FAILURES, Announced, Expectations, Report, Result, Verdict
from conformance.text import cut, did_you_mean, quoted, without_unprintable

MISMATCH = "mismatch"
INCONSISTENT = "inconsistent"
CAUSE = "cause"
SKIP = "skip"
WORDS: tuple[str, ...] = (*FAILURES, INCONSISTENT, CAUSE, SKIP)
"""What a line may begin with."""
OPTIONAL = "?"
"""Behind the word: what the line announces need not happen."""

_LONGEST_REASON = 160
"""Characters of a reason that is written; one that is read may have any number."""
_ANSWER = "answer="
OF_CAUSE = "cause="
"""What a pattern of vectors to skip begins with that names a cause."""
_FORM = "a line is VERDICT PATTERN # REASON"


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """An expected-failure file: where it is, its text, and the lines that announce something.

    The word of an entry is one of `WORDS`. Its pattern is of ids; where the word is "inconsistent"
    it is the name of a clause, where it is "cause" what `conformance.diagnosis.named_causes` reads,
    and so it is of vectors to skip, behind "cause=".
    """

    path: str
    text: str
    entries: tuple[ReasonedLine, ...]

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], what: str = "expected-failure file"
    ) -> ExpectedFailures:
        """Read a file; UsageError, one line with path and line number, if it is not sound."""
        return cls.parse(text_of(path, what), path=path)

    @classmethod
    def parse(cls, text: str, *, path: str | os.PathLike[str] = "") -> ExpectedFailures:
        """Return what the text of a file says; UsageError as in `read`."""
        return cls(os.fspath(path), text, lines_in(text, path, _entry))

    def matching(self, ids: Iterable[str]) -> Iterator[tuple[ReasonedLine, Sequence[str]]]:
        """Yield the lines about vectors, each with the ids that it matches, of those given."""
        ordered = sorted(set(ids))
        for entry in self.entries:
            if entry.word in FAILURES:
                yield entry, matched(entry.pattern, ordered)

    def announced(
        self, ids: Iterable[str]
    ) -> tuple[dict[str, dict[str, Announced]], tuple[str, ...]]:
        """Return the ids that some line matches, each with what is announced by verdict.

        And the patterns that match none of them. Of several lines, the first counts that allows
        any answer, or else the first.
        """
        announced: dict[str, dict[str, Announced]] = {}
        unmatched: list[str] = []
        for entry, found in self.matching(ids):
            line = Announced(entry.reason, entry.answer)
            for vector_id in found:
                by_verdict = announced.setdefault(vector_id, {})
                if by_verdict.setdefault(entry.word, line).answer and not line.answer:
                    by_verdict[entry.word] = line
            if not found:
                unmatched.append(entry.pattern)
        return announced, tuple(unmatched)

    def must_fail(self, ids: Iterable[str]) -> frozenset[str]:
        """Return the ids that a line matches which does not say that they may pass."""
        lines = self.matching(ids)
        return frozenset(chain.from_iterable(found for entry, found in lines if not entry.may_pass))

    def of(self, word: str) -> dict[str, str]:
        """Return the patterns of the lines with a word, each with its reason."""
        return {entry.pattern: entry.reason for entry in self.entries if entry.word == word}

    @property
    def may_pass(self) -> tuple[str, ...]:
        """The lines about clauses and causes, without reasons, that need not come true."""
        return tuple(
            f"{entry.word} {entry.pattern}"
            for entry in self.entries
            if entry.may_pass and entry.word in {INCONSISTENT, CAUSE}
        )

    def applied(
        self,
        report: Report,
        ids: Iterable[str],
        reproduced: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> Report:
        """Return a report with its `expectations`, and a reason with each expected failure.

        `ids` are those of all vectors there are, also of those that were not run. `reproduced`
        names, by id, the causes of the file that reproduce a failure.
        """
        ids, causes = list(ids), self.of(CAUSE)
        announced, unmatched = self.announced(ids)
        if report.operators:
            unmatched = of_no_vector(unmatched, [used.operator for used in report.vectors])
        changed = tuple(
            result.id
            for result in report.results
            if result.id not in reproduced
            and (line := announced.get(result.id, {}).get(result.verdict))
            and not line.is_of(result.answer)
        )
        for vector_id, (first, *_) in reproduced.items():
            by_verdict = announced.setdefault(vector_id, {})
            for word in FAILURES:
                if word not in by_verdict or by_verdict[word].answer:
                    by_verdict[word] = Announced(f"cause {first}: {causes[first]}")
        explained = Counter(chain.from_iterable(reproduced.values()))
        expectations = Expectations(
            self.path,
            unmatched=unmatched,
            announced=tuple(self.of(INCONSISTENT)),
            causes={cause: explained[cause] for cause in causes},
            may_pass=self.may_pass,
            changed=changed,
            digest=digest_of(self.text),
        )
        results = tuple(_with_reason(result, announced) for result in report.results)
        report = replace(report, results=results)
        return with_expectations(report, expectations, self.must_fail(ids))


def _with_reason(result: Result, announced: Mapping[str, Mapping[str, Announced]]) -> Result:
    known = announced.get(result.id, {}).get(result.verdict)
    if known is None or not known.is_of(result.answer):
        return result
    return structs.replace(result, expected=known.reason)


def with_expectations(report: Report, announced: Expectations, must_fail: Container[str]) -> Report:
    """Return a report, with reasons in its results, with its `expectations`.

    `announced` is what the file says, to which is added what of it came true; `must_fail` are the
    ids of the vectors that may not conform.
    """
    met: Counter[Verdict] = Counter()
    passed: list[str] = []
    for result in report.results:
        if result.expected:
            met[result.verdict] += 1
        elif result.verdict == "conforms" and result.id in must_fail:
            passed.append(result.id)
    untrue = [f"{INCONSISTENT} {name}" for name in announced.announced if name in report.consistent]
    # A part of the vectors may have no failure of a cause, or none whose output was kept.
    if report.is_whole:
        untrue += [f"{CAUSE} {name}" for name, number in announced.causes.items() if not number]
    passed += [line for line in untrue if line not in announced.may_pass]
    inconsistent = tuple(name for name in announced.announced if name in report.inconsistent)
    return replace(
        report,
        expectations=replace(announced, met=met, inconsistent=inconsistent, passed=tuple(passed)),
    )


def line_of(word: str, pattern: str, reason: str, answer: str = "") -> str:
    """Return the line of a file that says this, with a reason that is not too long."""
    named = f"{word} {pattern} {_ANSWER}{answer}" if answer else f"{word} {pattern}"
    return without_unprintable(f"{named} # {cut(reason, _LONGEST_REASON)}")


def _entry(number: int, line: str) -> ReasonedLine:
    """Return what a line says, or raise ValueError with what is wrong about it."""
    word, pattern, rest = split(line)
    may_pass, word = word.endswith(OPTIONAL), word.removesuffix(OPTIONAL)
    if may_pass and word == SKIP:
        raise ValueError(f"{SKIP}{OPTIONAL}: what is skipped is not called, and cannot pass")
    if word not in WORDS:
        meant = did_you_mean(word, WORDS)
        raise ValueError(f"no verdict {quoted(word)}{meant}; {_FORM}, with {', '.join(WORDS)}")
    if not pattern:
        raise ValueError(f"{word} of what? {_FORM}")
    answer = ""
    if word == MISMATCH and rest.startswith(_ANSWER):
        answer, _, rest = rest.removeprefix(_ANSWER).partition(" ")
    reason = reason_in(rest.strip(), pattern, _FORM)
    if word == INCONSISTENT and pattern not in (disputed := disputed_clauses()):
        meant = did_you_mean(pattern, disputed)
        raise ValueError(f"no disputed clause {quoted(pattern)}{meant}: see conformance clauses")
    is_skipped = word == SKIP and pattern.startswith(OF_CAUSE)
    if word == CAUSE or is_skipped:
        from conformance.diagnosis.named_causes import cause_named  # noqa: PLC0415 - only for these

        cause = pattern.removeprefix(OF_CAUSE)
        if not cause_named(cause).faults and is_skipped:
            raise ValueError(f"{cause!r} says nothing of vectors that were never called")
    return ReasonedLine(number, word, pattern, reason, may_pass, answer)
