"""The judgement on a whole session of pytest: something was computed, by consistent readings.

It is made in one place, from the reports of the tests, so that their order and the processes
they ran in make no difference.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.api.expected_failures import INCONSISTENT
from conformance.api.merge import merge
from conformance.pytest_plugin.items import NAME, READINGS, RESULT, Item, VectorTests
from conformance.record.jsonl import decoded
from conformance.record.report import NOTHING_RUN, Report, Result, SkippedVector, Skips
from conformance.report import phrases
from conformance.testing import DoesNotConform

_SHOWN = 10
"""Lines of a kind that are shown."""


class Readings:
    """Collects the results of all vectors, wherever they ran, and runs a last test on them.

    A pytest plugin for the process that reports: the only one, or the controller of
    pytest-xdist. A session that was stopped, by -x for example, has failed and is not judged.
    """

    def __init__(self, tests: VectorTests) -> None:
        self._tests = tests
        self._results: dict[str, Result] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result of a vector off its report, which lives on until the summary."""
        line = vars(report).pop(RESULT, None)
        if line is not None:
            result = decoded(line)
            self._results[result.id] = result  # the last, where a test is run again

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run the last test behind the others, if there is anything to say."""
        outcome = yield
        tests = self._tests.tests
        results = [self._results[test.id] for test in tests if test.id in self._results]
        called = sum(not test.skipped for test in tests)
        if not results and called:
            return outcome
        problems, expected = problems_of(self._tests, results)
        # A part of the vectors proves nothing by being consistent.
        if problems or expected or len(results) == called:
            session.testscollected += 1
            item = ReadingsItem.from_parent(
                session,
                name=READINGS,
                nodeid=f"{NAME}::{READINGS}",
                problems=problems,
                expected=expected,
            )
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return outcome


class ReadingsItem(Item):
    """The last test: fails with the problems; with nothing but expected ones, it xfails."""

    def __init__(self, *, problems: Sequence[str], expected: Sequence[str], **others: Any) -> None:
        super().__init__(**others)
        self._problems = problems
        self._expected = expected

    def runtest(self) -> None:
        """Fail with every problem, or xfail where all are expected."""
        if self._expected and not self._problems:
            pytest.xfail("; ".join(self._expected))  # does nothing under --runxfail
        if problems := [*self._problems, *self._expected]:
            raise DoesNotConform("\n".join(problems))


def problems_of(tests: VectorTests, results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """Return the problems of some results as a whole: unexpected ones, and expected ones."""
    report = _report(tests, results)
    if tests.floors is not None:
        report = tests.floors.applied(report)
    merged = merge({"the session": report})
    inconsistent = {
        clause.clause: phrases.followed(clause)[0]
        for clause in merged.readings
        if clause.status == INCONSISTENT
    }
    announced = tests.expected_inconsistent
    expected = [f"{clause}: {announced[clause]}" for clause in inconsistent if clause in announced]
    none_right = merged.none_right if tests.tests[0].plan.expected else ""
    problems = [said] if (said := merged.vacuous or none_right) else []
    if merged.support is not None and merged.missed_floors:
        problems += [
            f"{floor}: {said}" for floor, said, kept in phrases.floors(merged) if kept is False
        ]
        problems += phrases.unsupported(merged, frozenset(merged.support.lost) or None)
        problems += _first([f"{lost} lost support" for lost in merged.support.lost])
    problems += [
        f"{clause} is {said}" for clause, said in inconsistent.items() if clause not in announced
    ]
    problems += [
        f"{clause} passed unexpectedly: announced as {INCONSISTENT}: {reason}"
        for clause, reason in announced.items()
        if clause in merged.consistent and f"{INCONSISTENT} {clause}" not in tests.may_pass
    ]
    errors = {test.id for test in tests.tests if "error" in test.announced}
    must_fail = {test.id for test in tests.tests if test.id in errors and test.must_fail}
    unexcused, passed = [], []
    for before, after in zip(results, merged.results, strict=True):
        refuted = before.verdict == "conforms" and after.verdict == "error"
        if refuted and before.id not in errors:
            unexcused.append(f"{after.id} raised what only another reading excuses: {after.detail}")
        if before.excused and not refuted and before.id in must_fail and merged.is_whole:
            passed.append(f"{after.id} passed unexpectedly: the readings excuse {after.detail}")
    return problems + _first(unexcused) + _first(passed), expected


def _report(tests: VectorTests, results: Sequence[Result]) -> Report:
    """Return some results as the report of the only shard of a run."""
    plan = tests.tests[0].plan
    skipped = tuple(
        SkippedVector(test.id, test.file.operator, test.skipped)
        for test in tests.tests
        if test.skipped
    )
    return replace(
        NOTHING_RUN,
        backend=tests.backend,
        results=results,
        required=plan.pins,
        allow_extensions=plan.settings.allow_extensions,
        operators=plan.settings.operators_asked,
        not_run=tests.all_vectors - len(results),
        stopped="" if len(results) + len(skipped) == len(tests.tests) else "incomplete",
        shard="1/1",
        skips=Skips(plan.skip.path, skipped) if plan.skip else None,
    )


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], *([f"and {more:,} more such vectors"] if more > 0 else [])]
