"""The judgement on a whole session of pytest: something was computed, by consistent readings.

It is made in one place, from the reports of the tests, so that their order and the processes
they ran in make no difference.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from conformance.check.expected import INCONSISTENT, consistent
from conformance.check.report import Report, Result, Verdict
from conformance.pytest_items import NAME, READINGS, RESULT, Item, VectorTests
from conformance.report import sentences
from conformance.report.encoding import result_of
from conformance.report.merge import merge
from conformance.testing import DoesNotConform

_SHOWN = 10
"""Lines of a kind that are shown."""


class Readings:
    """Collects what came of the vectors, wherever they ran, and runs a last test, the judgement.

    A plugin of pytest, for the process that reports: the only one, or the controller of
    pytest-xdist. A session that was stopped, by -x for example, has failed and is not judged.
    """

    def __init__(self, tests: VectorTests) -> None:
        self._tests = tests
        self._found: dict[str, Result] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what came of a vector off its report, which lives on until the summary."""
        text = vars(report).pop(RESULT, None)
        if text is not None:
            result = result_of(json.loads(text))
            self._found[result.id] = result  # the last, where a test is run again

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run the last test behind the others, if there is anything to say."""
        result = yield
        tests = self._tests.tests
        results = [self._found[test.id] for test in tests if test.id in self._found]
        if not results:
            return result
        problems, known = judged(self._tests, results)
        # A part of the vectors proves nothing by being consistent.
        if problems or known or len(results) == len(tests):
            session.testscollected += 1
            item = ReadingsItem.from_parent(
                session,
                name=READINGS,
                nodeid=f"{NAME}::{READINGS}",
                problems=problems,
                known=known,
            )
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return result


class ReadingsItem(Item):
    """The last test, which fails with the problems, or else xfails with those that are known."""

    def __init__(self, *, problems: Sequence[str], known: Sequence[str], **others: Any) -> None:
        super().__init__(**others)
        self._problems = problems
        self._known = known

    def runtest(self) -> None:
        """Say what was found."""
        if self._known and not self._problems:
            pytest.xfail("; ".join(self._known))  # does nothing under --runxfail
        if found := [*self._problems, *self._known]:
            raise DoesNotConform("\n".join(found))


def judged(tests: VectorTests, results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """Return what is wrong with some results as a whole, and what is but was expected."""
    merged = merge({"the session": _report(tests, results)})
    inconsistent = {
        each.clause: sentences.followed(each)[0]
        for each in merged.readings
        if each.status == INCONSISTENT
    }
    announced = tests.announced
    known = [f"{clause}: {announced[clause]}" for clause in inconsistent if clause in announced]
    problems = [merged.vacuous] if merged.vacuous else []
    problems += [
        f"{clause} is {said}" for clause, said in inconsistent.items() if clause not in announced
    ]
    problems += [
        f"{clause} passed unexpectedly: announced as {INCONSISTENT}: {reason}"
        for clause, reason in announced.items()
        if clause in consistent(merged)
    ]
    errors = {test.id for test in tests.tests if "error" in test.expected}
    unexcused, passed = [], []
    for before, after in zip(results, merged.results, strict=True):
        refuted = before.verdict == "conforms" and after.verdict == "error"
        if refuted and before.id not in errors:
            unexcused.append(f"{after.id} raised what only another reading excuses: {after.detail}")
        if before.excused and not refuted and before.id in errors and not merged.not_run:
            passed.append(f"{after.id} passed unexpectedly: the readings excuse {after.detail}")
    return problems + _first(unexcused) + _first(passed), known


def _report(tests: VectorTests, results: Sequence[Result]) -> Report:
    """Return some results as the report of the only shard of a run."""
    counts: dict[str, Counter[Verdict]] = {}
    for result in results:
        counts.setdefault(result.operator, Counter())[result.verdict] += 1
    return Report(
        backend=tests.backend,
        vectors=(),
        results=results,
        counts=sum(counts.values(), Counter()),
        counts_by_operator=counts,
        required=tests.tests[0].pins,
        not_run=tests.all_vectors - len(results),
        shard="1/1",
    )


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], *([f"and {more:,} more such vectors"] if more > 0 else [])]
