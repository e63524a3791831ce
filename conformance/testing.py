"""Vectors as tests in a test file of your own, for pytest.

from conformance.testing import vectors

@vectors("AvgPool-1", tier="smoke")
def test_my_kernel(vector):
    vector.check(my_backend)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from conformance.backends import Backend
from conformance.batch import Batch
from conformance.check.checker import run
from conformance.check.expected import ExpectedFailures
from conformance.check.profiles import pins_of
from conformance.check.report import Report, Result
from conformance.check.runner import Answers, InProcess, Runner
from conformance.check.sources import Select, chosen
from conformance.errors import UsageError
from conformance.faults.diagnosis import diagnose
from conformance.report import sentences
from conformance.report.repro import script
from conformance.vector import Vector, outputs_of
from conformance.vectorfile import VectorFile, VectorSet, open_vectors

_EXPLAINED = 5
"""Failures whose cause is searched for: a search may take a second."""
_EVIDENCE = 60
"""Conforming vectors that a cause is held against."""


class DoesNotConform(AssertionError):  # noqa: N818 - a verdict on the backend, not on the program
    """A backend's answer to a vector is wrong; the text says where, why, and how to see it."""


def vectors(
    *operators: str,
    select: Select = None,
    tier: str = "standard",
    path: str | os.PathLike[str] | None = None,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    expected_failures: str | os.PathLike[str] | None = None,
) -> pytest.MarkDecorator:
    """Return a decorator that runs a test once for each vector, its argument `vector`.

    The id of the vector is that of the test. Each vector is judged alone: whether readings are
    consistent is not. Without operators all there are; `path` is a vector file or a directory of
    them, None the suite this package ships; the others are as in `conformance.check`. Raises
    UsageError where they are wrong or choose nothing.
    """
    tests = selected(
        _opened(None if path is None else Path(path).resolve()),
        operators=operators,
        select=select,
        tier=tier,
        require=require,
        profile=profile,
        expected=ExpectedFailures.read(expected_failures) if expected_failures else None,
    )
    return pytest.mark.parametrize("vector", tests, ids=[test.id for test in tests])


@cache
def _opened(path: str | os.PathLike[str] | None) -> VectorSet:
    return open_vectors(path)


class Causes:
    """What some tests have in common: the vectors that conform speak for or against a cause."""

    def __init__(self) -> None:
        self._conforming: list[VectorTest] = []
        self._left = _EXPLAINED

    def conforms(self, test: VectorTest) -> None:
        """Remember a vector that conforms."""
        self._conforming.append(test)

    def likely(self, test: VectorTest, result: Result) -> list[str]:
        """Return the likely causes of a mismatch, none if they are not known."""
        if result.verdict != "mismatch" or result.output is None or not self._left:
            return []
        self._left -= 1
        others = [each for each in self._conforming if each.file is test.file]
        sample = [each.vector for each in others[:: -(-len(others) // _EVIDENCE) or 1]]
        found = diagnose([(test.vector, outputs_of(result.output))], sample, {})
        causes = [each for each in found if each.faults and not each.contradicted]
        return [each.summary.partition(" by: ")[2] for each in causes]


@dataclass(frozen=True, slots=True, eq=False)
class VectorTest:
    """A vector to be checked.

    `file` holds it as vector `number`. `pins` are the readings required, `expected` the reasons,
    by verdict, for which it may fail. `causes` is one for all tests of a backend.
    """

    file: VectorFile
    number: int
    pins: Mapping[str, str]
    expected: Mapping[str, str]
    causes: Causes

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

        Raises DoesNotConform if it is wrong. The test is skipped if the backend says that it does
        not support the case, and xfails if the failure is expected.
        """
        __tracebackhide__ = True
        caller = _Caller(backend)
        report = self.report(InProcess(caller), getattr(backend, "__name__", "backend"))
        raised = caller.raised and caller.raised.with_traceback(caller.trace)
        if isinstance(raised, _OUTCOMES):
            raise raised
        self.conclude(report, cause=raised)

    def report(self, runner: Runner, name: str) -> Report:
        """Run the vector alone and return the report, of one result.

        Raises UsageError if the backend does not work, or no longer.
        """
        report = run(_Once(runner), [self.vector], name=name, require=self.pins)
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
            if self.expected and not (result.excused and "error" in self.expected):
                reasons = "; ".join(f"{word}: {why}" for word, why in self.expected.items())
                raise DoesNotConform(f"passed unexpectedly: announced as {reasons}")
            return
        if result.verdict in self.expected:
            # Does nothing under --runxfail: then the failure is one.
            pytest.xfail(f"{result.verdict}: {self.expected[result.verdict]}")
        lines = [f"{result.verdict}: {result.detail}"]
        likely = [("likely", cause) for cause in self.causes.likely(self, result)]
        lines += [f"  {name:<10}  {text}" for name, text in (*_facts(result), *likely)]
        if backend:
            case, path = self.vector.case, str(self.file.path)
            lines += ["# to see it again", script(case, result, backend=backend, path=path)]
        raise DoesNotConform("\n".join(lines)) from cause


def selected(
    files: VectorSet,
    *,
    operators: Sequence[str] = (),
    select: Select = None,
    tier: str = "standard",
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    expected: ExpectedFailures | None = None,
) -> list[VectorTest]:
    """Return the tests of some vectors; see `vectors` for the options and for UsageError."""
    pins = pins_of(profile, require)
    reasons, unmatched = expected.reasons(_ids(files)) if expected else ({}, ())
    if expected and unmatched:
        raise UsageError(f"{expected.path}: no vector matches {sentences.named(unmatched)}")
    by_operator = {file.operator: file for file in files}
    causes = Causes()
    return [
        VectorTest(file, number, pins, reasons.get(file.ids[number], {}), causes)
        for selection in chosen(files.files, operators or None, select, tier)
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


class _Once:
    """A runner whose vectors are called once: alone, a second call would follow the same one."""

    repeatable = False

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Run a batch; see `Runner.run`."""
        del order  # it is for second calls
        self._runner.run(batch, answers, tick)


def _facts(result: Result) -> list[tuple[str, str]]:
    """Return what to show below the first line; what was printed is captured anyway."""
    return [fact for fact in sentences.facts(result) if fact[0] not in {"what", "printed"}]
