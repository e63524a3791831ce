"""What `pytest --conformance-backend` collects: an item per vector, and one for the readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.check.expected import INCONSISTENT, ExpectedFailures, consistent
from conformance.check.isolated import Isolated
from conformance.check.report import Report, Result, Verdict
from conformance.check.runner import Runner
from conformance.checking import runner_of
from conformance.errors import ConformanceError, UsageError
from conformance.report import sentences
from conformance.report.merge import merge
from conformance.testing import DoesNotConform, VectorTest, selected
from conformance.vectorfile import open_vectors

NAME = "conformance"
READINGS = "readings"
_TIMEOUT = 60.0


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn our errors into those that pytest shows in one line."""
    try:
        yield
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from error


class VectorTests:
    """The tests of a backend in a session, registered as a plugin of pytest.

    `options` are those that were given, by name without `--conformance-`. Raises
    pytest.UsageError where one is wrong or the backend cannot be loaded.
    """

    def __init__(self, config: pytest.Config, options: Mapping[str, Any]) -> None:
        self.backend: str = options["backend"]
        self.results: list[Result] = []
        self.distributed = hasattr(config, "workerinput")
        stack = ExitStack()
        config.add_cleanup(stack.close)
        with usage_errors():
            files = stack.enter_context(open_vectors(options.get("vectors")))
            path = options.get("expected_failures")
            expected = ExpectedFailures.read(path) if path else None
            self.tests = selected(
                files,
                operators=options.get("operator", ()),
                tier=options.get("tier", "standard"),
                require=dict(map(_pin, options.get("require", ()))),
                profile=options.get("profile"),
                expected=expected,
            )
            self.announced = {
                each.pattern: each.reason
                for each in (expected.entries if expected else ())
                if each.word == INCONSISTENT
            }
            self.all_vectors = sum(map(len, files))
            self._named = _named(config, {test.id for test in self.tests} | {READINGS})
            self.runner = None if config.option.collectonly else _runner(options, stack)
        if not self.distributed and getattr(config.option, "dist", "no") != "no":
            stack.close()  # the backend was seen to load: the workers of pytest-xdist run it

    def report(self) -> Report:
        """Return the vectors that were run so far as the report of a shard."""
        counts: dict[str, Counter[Verdict]] = {}
        for result in self.results:
            counts.setdefault(result.operator, Counter())[result.verdict] += 1
        return Report(
            backend=self.backend,
            vectors=(),
            results=self.results,
            counts=sum(counts.values(), Counter()),
            counts_by_operator=counts,
            required=self.tests[0].pins,
            not_run=self.all_vectors - len(self.results),
            shard="1/1",
        )

    @pytest.hookimpl(tryfirst=True)  # before what deselects, by -k for example
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the tests behind those of test files."""
        collector = Vectors.from_parent(session, name=NAME, nodeid=NAME, run=self)
        found = session.genitems(collector)
        items += [item for item in found if not self._named or item.name in self._named]


class Vectors(pytest.Collector):
    """The collector called "conformance"."""

    def __init__(self, *, run: VectorTests, **others: Any) -> None:
        super().__init__(**others)
        self._run = run

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items, in the order of the files, so that every worker has the same."""
        for test in self._run.tests:
            nodeid = f"{NAME}::{test.id}"
            yield VectorItem.from_parent(
                self, name=test.id, nodeid=nodeid, run=self._run, test=test
            )
        yield ReadingsItem.from_parent(
            self, name=READINGS, nodeid=f"{NAME}::{READINGS}", run=self._run
        )


class _Item(pytest.Item):
    """An item whose failures are texts for people, without a traceback."""

    def __init__(self, *, run: VectorTests, **others: Any) -> None:
        super().__init__(**others)
        self._run = run

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the test is: nowhere in a file, so that its name says it all."""
        return self.path, None, self.nodeid

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        """Return our own errors as their text."""
        if isinstance(excinfo.value, ConformanceError | DoesNotConform):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args)


class VectorItem(_Item):
    """The test of one vector."""

    def __init__(self, *, test: VectorTest, **others: Any) -> None:
        super().__init__(**others)
        self._test = test

    def runtest(self) -> None:
        """Run the vector and judge the answer."""
        run = self._run
        assert run.runner is not None
        try:
            report = self._test.report(run.runner, run.backend)
        except UsageError as error:
            self.session.shouldstop = str(error)  # the backend does not work at all
            raise
        (result,) = report.results
        run.results.append(replace(result, output=None))
        if result.printed:
            self.add_report_section("call", "backend", result.printed)
        self._test.conclude(report, backend=run.backend)


class ReadingsItem(_Item):
    """The test of all vectors together: something was computed, by one reading of each clause."""

    def runtest(self) -> None:
        """Find what was computed, and the readings that the vectors run so far follow."""
        run = self._run
        if run.distributed:
            pytest.skip("no worker of pytest-xdist sees all vectors: run without -n for readings")
        if not run.results:
            pytest.skip("no vector was run")
        merged = merge({"the session": run.report()})
        inconsistent = {
            each.clause: sentences.followed(each)[0]
            for each in merged.readings
            if each.status == INCONSISTENT
        }
        known = [
            f"{clause}: {run.announced[clause]}"
            for clause in inconsistent
            if clause in run.announced
        ]
        problems = [merged.vacuous] if merged.vacuous else []
        problems += [
            f"{clause} is {said}"
            for clause, said in inconsistent.items()
            if clause not in run.announced
        ]
        problems += [
            f"{clause} passed unexpectedly: announced as {INCONSISTENT}: {reason}"
            for clause, reason in run.announced.items()
            if clause in consistent(merged)
        ]
        announced = {test.id for test in run.tests if "error" in test.expected}
        first = {result.id: result for result in run.results}
        for after in merged.results:
            before = first[after.id]
            refuted = before.verdict == "conforms" and after.verdict == "error"
            if refuted and before.id not in announced:
                problems.append(
                    f"{after.id} raised what only another reading excuses: {after.detail}"
                )
            if before.excused and not refuted and before.id in announced and not merged.not_run:
                problems.append(
                    f"{after.id} passed unexpectedly: the readings excuse {after.detail}"
                )
        if known and not problems:
            pytest.xfail("; ".join(known))
            problems = known  # under --runxfail, which makes nothing of the line above
        if problems:
            raise DoesNotConform("\n".join(problems))


def _pin(text: str) -> tuple[str, str]:
    clause, equals, reading = text.partition("=")
    if not (clause and equals and reading):
        raise UsageError(f"--conformance-require {text!r} is not CLAUSE=READING")
    return clause, reading


def _named(config: pytest.Config, known: set[str]) -> set[str]:
    """Take ids of our tests out of the arguments, where pytest would look for files."""
    prefix = f"{NAME}::"
    named = {arg.removeprefix(prefix) for arg in config.args if arg.startswith(prefix)}
    if missing := sorted(named - known):
        raise UsageError(f"no test {prefix}{missing[0]}: no such vector is among those to run")
    others = [arg for arg in config.args if not arg.startswith(prefix)]
    if NAME in others and not Path(NAME).exists():
        others.remove(NAME)
        named = set()
    config.args[:] = others
    return named


def _runner(options: Mapping[str, Any], stack: ExitStack) -> Runner:
    """Return what calls the backend, closed with the stack; raises UsageError if it cannot."""
    name, here = options["backend"], options.get("in_process", False)
    if here and "timeout" in options:
        raise UsageError("--conformance-timeout is for workers: not with --conformance-in-process")
    timeout = None if here else options.get("timeout", _TIMEOUT)
    runner = stack.enter_context(runner_of(name, timeout, None, 1, apart=not here))
    if isinstance(runner, Isolated):
        runner.ready()
    return runner
