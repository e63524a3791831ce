"""What `pytest --conformance-backend` collects: an item per vector."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from conformance.api.check import CheckPlan
from conformance.api.expected_failures import INCONSISTENT
from conformance.backends.choose_runner import runner_of
from conformance.backends.named_backend import parsed
from conformance.backends.runner import Runner
from conformance.errors import ConformanceError, UsageError
from conformance.pytest_plugin import SETTINGS
from conformance.record.jsonl import encoded
from conformance.record.report import Result
from conformance.settings import NONE, Settings, readings_of
from conformance.testing import DoesNotConform, VectorTest, selected
from conformance.vectorfile import open_vectors

NAME = "conformance"
READINGS = "readings"
RESULT = "conformance"
"""The attribute of a pytest report that holds the result of a vector, as JSON.

A worker of pytest-xdist sends its reports at once, so that one that crashes later loses none.
"""
_TIMEOUT = 60.0


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn our errors into those that pytest shows in one line."""
    try:
        yield
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from error


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a worker of pytest-xdist, which reports to another process."""
    return hasattr(config, "workerinput")


class VectorTests:
    """The tests of a backend in a session, registered as a plugin of pytest.

    `options` are those that were given, by name without `--conformance-`. Raises
    pytest.UsageError where one is wrong.
    """

    def __init__(self, config: pytest.Config, options: Mapping[str, Any]) -> None:
        self.backend: str = options["backend"]
        self._calling = _calling(options)
        self._stack = ExitStack()
        config.add_cleanup(self._stack.close)
        with usage_errors():
            files = self._stack.enter_context(
                open_vectors(options.get("vectors"), options.get("operators"))
            )
            plan = CheckPlan.of(_settings(options))
            expected, self.floors = plan.expected, plan.floors
            self.tests = selected(files, plan)
            self.expected_inconsistent = expected.of(INCONSISTENT) if expected else {}
            """Clauses whose readings are announced as inconsistent, with the reasons."""
            self.may_pass = expected.may_pass if expected else ()
            """Lines about clauses that need not come true."""
            if self.floors:
                ids: dict[str, list[str]] = {}
                for test in self.tests:
                    ids.setdefault(test.file.operator, []).append(test.id)
                self.floors.check(ids)
            self.all_vectors = sum(map(len, files))
            self._selected_ids = _take_ids(config, {test.id for test in self.tests})

    @cached_property
    def runner(self) -> Runner:
        """What calls the backend, started for the first vector; raises UsageError if it cannot."""
        runner = self._stack.enter_context(self._calling())
        runner.ready()
        return runner

    @pytest.hookimpl(tryfirst=True)  # before what deselects, by -k for example
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the tests behind those of test files."""
        collector = Vectors.from_parent(session, name=NAME, nodeid=NAME, run=self)
        items += [
            item
            for item in session.genitems(collector)
            if not self._selected_ids or item.name in self._selected_ids
        ]

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Try the backend once where workers of pytest-xdist will run it: their errors say less."""
        option = session.config.option
        if getattr(option, "dist", "no") != "no" and not is_worker(session.config):
            with usage_errors():
                _ = self.runner
            self._stack.close()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start the backend before the first test, so that one that cannot be is wrong usage."""
        option = session.config.option
        has_vectors = any(isinstance(item, VectorItem) for item in session.items)
        if has_vectors and not option.collectonly and not is_worker(session.config):
            with usage_errors():
                _ = self.runner

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the result of the vector to the report of its test."""
        report = yield
        if call.when == "call" and isinstance(item, VectorItem) and item.result is not None:
            setattr(report, RESULT, encoded(item.result))
        return report


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


class Item(pytest.Item):
    """An item whose failures are texts for people, without a traceback."""

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the test is: nowhere in a file, so that its name says it all."""
        return self.path, None, self.nodeid

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        """Return our own errors as their text."""
        if isinstance(excinfo.value, ConformanceError | DoesNotConform):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args)


class VectorItem(Item):
    """The test of one vector; `result` is None until it has run."""

    def __init__(self, *, run: VectorTests, test: VectorTest, **others: Any) -> None:
        super().__init__(**others)
        self.result: Result | None = None
        self._run = run
        self._test = test

    def runtest(self) -> None:
        """Run the vector and judge the answer."""
        self._test.skip_or_go_on()
        run = self._run
        try:
            report = self._test.report(run.runner, run.backend)
        except UsageError as error:
            self.session.shouldstop = str(error)  # no other vector would fare better
            raise
        (result,) = report.results
        self.result = structs.replace(result, printed="")
        if result.printed:
            self.add_report_section("call", "backend", result.printed)
        self._test.conclude(report, backend=run.backend)


def _settings(options: Mapping[str, Any]) -> Settings:
    """Return what the options of pytest ask for; a vector is called once by default."""
    asked = {name: options[name] for name in SETTINGS if name in options}
    if "require" in asked:
        asked["require"] = readings_of(asked["require"])
    return Settings(**{"variations": NONE} | asked)


def _take_ids(config: pytest.Config, ids: set[str]) -> set[str]:
    """Remove the ids of our tests from the arguments, where pytest would look for files.

    Returns those that were named, none where all tests are to run.
    """
    named, others = set(), []
    for arg in config.args:
        where, _, vector_id = arg.partition("::")
        # From below its root directory pytest shows an id as ../conformance::ID.
        if vector_id and Path(where).name == NAME:
            named.add(vector_id)
        else:
            others.append(arg)
    if missing := sorted(named - ids - {READINGS}):
        raise UsageError(f"no test {NAME}::{missing[0]}: no such vector is among those to run")
    if READINGS in named:  # those of all vectors
        named = set()
    if NAME in others and not Path(NAME).exists():
        others.remove(NAME)
        named = set()
    config.args[:] = others
    return named


def _calling(options: Mapping[str, Any]) -> Callable[[], AbstractContextManager[Runner]]:
    """Return what starts and stops the backend; raises pytest.UsageError for a wrong option."""
    in_process = options.get("in_process", False)
    if in_process and "timeout" in options:
        raise pytest.UsageError(
            "--conformance-timeout is for workers: not with --conformance-in-process"
        )
    timeout = None if in_process else options.get("timeout", _TIMEOUT)
    return lambda: runner_of(parsed(options["backend"]), timeout, None, 1, apart=not in_process)
