"""Vectors as tests in a test file of your own, for pytest.

from conformance.testing import vectors

@vectors("AvgPool-1", tier="smoke")
def test_my_kernel(vector):
    vector.check(my_backend)
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from conformance.api.check import CheckPlan, run
from conformance.api.expected_failures import CAUSE
from conformance.api.reasoned_lines import of_no_vector
from conformance.backends import Backend
from conformance.backends.python_callable import check_signature
from conformance.backends.runner import InProcess, Runner
from conformance.diagnosis.laboratory import samples_from
from conformance.diagnosis.likely_causes import diagnose
from conformance.diagnosis.of_report import reproduced
from conformance.diagnosis.statements import caused
from conformance.errors import UsageError
from conformance.record.report import RETURNED, Announced, Report, Result
from conformance.report import phrases
from conformance.report.repro import script
from conformance.settings import NONE, Settings
from conformance.vector import Vector, outputs_of
from conformance.vectorfile import VectorFile, VectorSet, open_vectors
from conformance.vectorfile.sources import chosen

_EXPLAINED = 5
"""Failures whose cause is searched for: a search may take a second."""
_EVIDENCE = 60
"""Conforming vectors that a cause is held against."""


class DoesNotConform(AssertionError):  # noqa: N818 - a verdict on the backend, not on the program
    """A backend's answer to a vector is wrong; the text says where, why, and how to see it."""


def vectors(
    *operators: str,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> pytest.MarkDecorator:
    """Return a decorator that runs a test once for each vector, its argument `vector`.

    The id of the vector is that of the test. Each vector is judged alone: whether readings are
    consistent is not. It is called once, and then in the `variations` of the call that are named.
    Without `operators`, vectors of every operator are run. `path` is a vector
    file or a directory of vector files, None the suite this package ships. Of the `options` of
    `conformance.check`, these make a difference: select, tier, shard, require, profile,
    allow_extensions, expected_failures, skip, variations. Raises UsageError where they are wrong or
    choose nothing.
    """
    settings = Settings.of(Settings(operators=operators or None, variations=NONE), options)
    tests = selected(
        _opened(None if path is None else Path(path).resolve()), CheckPlan.of(settings)
    )
    return pytest.mark.parametrize("vector", tests, ids=[test.id for test in tests])


@cache
def _opened(path: str | os.PathLike[str] | None) -> VectorSet:
    # Vectors of an operator are checked before their first use.
    files = open_vectors(path, unchecked=True)
    atexit.register(files.close)
    return files


class Causes:
    """Likely causes of failures, held against the vectors that conform in the same session."""

    def __init__(self) -> None:
        self._conforming: list[VectorTest] = []
        self._left = _EXPLAINED

    def conforms(self, test: VectorTest) -> None:
        """Remember a vector that conforms."""
        self._conforming.append(test)

    def likely(self, test: VectorTest, result: Result) -> list[str]:
        """Return the likely causes of a mismatch, none if they are not known."""
        if result.verdict not in RETURNED or result.output is None or not self._left:
            return []
        self._left -= 1
        same_file = [other for other in self._conforming if other.file is test.file]
        step = -(-len(same_file) // _EVIDENCE) or 1
        sample = [other.vector for other in same_file[::step]]
        diagnoses = diagnose(samples_from([(test.vector, outputs_of(result.output))]), sample, {})
        return [
            caused(diagnosis)
            for diagnosis in diagnoses
            if diagnosis.faults and not diagnosis.contradicted
        ]


@dataclass(frozen=True, slots=True, eq=False)
class VectorTest:
    """A vector to be checked.

    `file` holds it as vector `number`. `plan` is what is asked of all tests of a backend, and
    `announced` says, by verdict, how this one may fail and why; it may not conform if it
    `must_fail`. `causes` is one for all tests of a backend. `skipped` is the reason for which it is
    not called, "" if it is.
    """

    file: VectorFile
    number: int
    plan: CheckPlan
    announced: Mapping[str, Announced]
    causes: Causes
    must_fail: bool
    skipped: str = ""

    @property
    def id(self) -> str:
        """The id of the vector."""
        return self.file.ids[self.number]

    @property
    def vector(self) -> Vector:
        """The vector itself, with its case and the answers that conform."""
        return self.file.vector(self.number)

    def __repr__(self) -> str:
        return f"<vector {self.id}>"

    def check(self, backend: Backend) -> None:
        """Call a backend, in this process, and judge its answer.

        Raises DoesNotConform if it is wrong. The test is skipped if a file says so, if the backend
        does not support the case or extends the document where that is allowed, and xfails if the
        failure is expected.
        """
        __tracebackhide__ = True
        self.skip_or_go_on()
        check_signature(backend, "the backend")
        caller = _Caller(backend)
        report = self.report(InProcess(caller), getattr(backend, "__name__", "backend"))
        raised = caller.raised and caller.raised.with_traceback(caller.trace)
        if isinstance(raised, _OUTCOMES):
            raise raised
        self.conclude(report, cause=raised)

    def skip_or_go_on(self) -> None:
        """Skip the test where the vector is not to be called."""
        __tracebackhide__ = True
        if self.skipped:
            pytest.skip(f"skipped: {self.skipped}")

    def report(self, runner: Runner, name: str) -> Report:
        """Run the vector alone and return the report, of one result.

        Raises UsageError if the backend does not work, or no longer.
        """
        report = run(runner, [self.vector], self.plan.alone, name=name)
        if not report.results:
            raise UsageError(report.stopped)
        return report

    def conclude(
        self, report: Report, *, backend: str = "", cause: BaseException | None = None
    ) -> None:
        """End a test as a report of its vector says: pass, skip, xfail or DoesNotConform.

        `backend` is what load_backend takes, if it is known: then a script comes with a failure.
        """
        __tracebackhide__ = True
        (result,) = report.results
        if result.verdict == "unsupported":
            pytest.skip(f"unsupported: {result.detail}")
        if result.verdict == "conforms":
            self.causes.conforms(self)
            # Whether an exception is excused is known when all vectors have been run.
            if self.must_fail and not (result.excused and "error" in self.announced):
                reasons = "; ".join(f"{word}: {of.reason}" for word, of in self.announced.items())
                raise DoesNotConform(f"passed unexpectedly: announced as {reasons}")
            return
        announced = self.announced.get(result.verdict)
        if announced and announced.is_of(result.answer):
            # Does nothing under --runxfail: then the failure is one.
            pytest.xfail(f"{result.verdict}: {announced.reason}")
        if result.verdict not in report.failing:
            pytest.skip(f"extension: {result.detail}")
        for name in self._reproducing(report):
            reason = self._expected_causes[name]
            pytest.xfail(f"{result.verdict}: cause {name}: {reason}")
        lines = [f"{result.verdict}: {result.detail}"]
        if announced:
            lines.append(
                f"  announced with another answer than {result.answer}: {announced.reason}"
            )
        likely = [("likely", cause) for cause in self.causes.likely(self, result)]
        lines += [f"  {name:<10}  {text}" for name, text in (*_facts(result), *likely)]
        if backend:
            case, path = self.vector.case, str(self.file.path)
            lines += ["# to reproduce", script(case, result, backend=backend, path=path)]
        raise DoesNotConform("\n".join(lines)) from cause

    @property
    def _expected_causes(self) -> Mapping[str, str]:
        """The causes whose failures are expected, each with the reason."""
        return self.plan.expected.of(CAUSE) if self.plan.expected else {}

    def _reproducing(self, report: Report) -> Sequence[str]:
        """Return the causes, of those whose failures are expected, that reproduce this one."""
        causes = self._expected_causes
        return reproduced(report, [self.vector], causes).get(self.id, ()) if causes else ()


def selected(files: VectorSet, plan: CheckPlan) -> list[VectorTest]:
    """Return the tests of some vectors; see `vectors` for the settings and for UsageError."""
    settings, expected = plan.settings, plan.expected
    announced, unmatched = expected.announced(_ids(files)) if expected else ({}, ())
    if settings.operators_asked:
        unmatched = of_no_vector(unmatched, [file.operator for file in files])
    if expected and unmatched:
        raise UsageError(f"{expected.path}: no vector matches {phrases.named(unmatched)}")
    must_fail = expected.must_fail(_ids(files)) if expected else frozenset()
    by_operator = {file.operator: file for file in files}
    causes = Causes()
    selections = chosen(
        files.files, settings.operators, settings.select, settings.tier, settings.shard
    )
    _, skips = plan.without_skipped(files.files, selections)
    if skips and skips.unmatched:
        raise UsageError(f"{skips.path}: no vector matches {phrases.named(skips.unmatched)}")
    skipped = {each.id: each.reason for each in skips.vectors} if skips else {}
    return [
        VectorTest(
            file,
            number,
            plan,
            announced.get(file.ids[number], {}),
            causes,
            file.ids[number] in must_fail,
            skipped.get(file.ids[number], ""),
        )
        for selection in selections
        for file in [by_operator[selection.source.operator]]
        for number in selection.numbers.tolist()
    ]


def _ids(files: VectorSet) -> Iterator[str]:
    return chain.from_iterable(file.ids for file in files)


_OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception)
"""What a test raises to end itself: raised in a backend, it is no answer."""


class _Caller:
    """A backend that keeps what it raised, and where."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.raised: BaseException | None = None
        self.trace: TracebackType | None = None

    def __call__(self, *case: Any) -> Any:
        try:
            return self._backend(*case)
        except BaseException as error:
            trace = error.__traceback__
            self.raised, self.trace = error, trace and trace.tb_next
            raise


def _facts(result: Result) -> list[tuple[str, str]]:
    """Return what to show below the first line; what was printed is captured anyway."""
    return [fact for fact in phrases.facts(result) if fact[0] not in {"what", "printed"}]
