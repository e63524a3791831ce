"""The search itself: cases drawn one by one, and a cause shrunk where one fails."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from conformance.check.runner import Backend, Stopped
from conformance.errors import UsageError
from conformance.fuzz.calling import Called
from conformance.fuzz.causes import Cause, Causes
from conformance.fuzz.examine import Examiner, Failure
from conformance.fuzz.memory import Memory
from conformance.fuzz.polish import polished
from conformance.fuzz.readings import size_of
from conformance.fuzz.report import Finding, FuzzReport
from conformance.operators import OPERATORS, operator_named
from conformance.strategies import cases, invalid_cases
from conformance.vector import Case

Progress = Callable[[str, int, int], None]

SECONDS = 60.0
_FIRST, _LARGEST = 100, 1600  # cases of one operator in a row
_SHRINKING = 120.0  # seconds for one failure
_FEW = 60  # cases that conform, to tell causes by
_KEPT = 400  # failures on the way to the smallest, kept to find their cause
_USUAL, _BROKEN = 18, 4  # cases that break a rule for so many usual ones, and for one large
_LARGE = 1 << 17  # elements: positions that need more than 16 bits


_OPTIONS = settings(
    deadline=None,
    database=None,
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)


def fuzz(
    backend: Backend | str,
    *,
    operators: Sequence[str] | None = None,
    seconds: float | None = None,
    max_examples: int | None = None,
    seed: int = 0,
    max_causes: int = 10,
    database: str | os.PathLike[str] | None = None,
    isolate: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> FuzzReport:
    """Search for cases that a backend gets wrong, and shrink one for each cause.

    The search ends after `seconds`, after `max_examples` cases, or with `max_causes` causes; after
    a minute if neither of the first two is given. Making a failure smaller counts as neither.
    The same seed, number of examples and database give the same findings. `database` is a
    directory of failures to try first and to keep for the next time. `isolate`, `timeout` and
    `memory` are as for `check`: without a worker, a crash ends the search and this process.
    `progress(what, done, total)` is called now and then.

    Raises UsageError for an argument that is wrong. A KeyboardInterrupt ends the search, and so
    does a backend that cannot be started again after a crash: the report says so.
    """
    names = list(dict.fromkeys(operators or OPERATORS))
    for each in names:
        operator_named(each)
    for option, value in {
        "seconds": seconds,
        "max_examples": max_examples,
        "max_causes": max_causes,
    }.items():
        if value is not None and value <= 0:
            raise UsageError(f"{option}={value}: must be above 0")
    if seconds is None and max_examples is None:
        seconds = SECONDS
    memory_of = Memory(None if database is None else Path(database))
    apart = isolate or timeout is not None or memory is not None
    with Called(backend, timeout, memory, apart=apart) as called:
        search = _Search(called, seconds, max_examples, seed, max_causes, memory_of, progress)
        return search.report(names, name or called.name)


class _Enough(BaseException):
    """Ends a look at some cases, since it would take too long."""


class _Broken(BaseException):
    """Carries an error of the harness out of Hypothesis, which would shrink it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@dataclass(slots=True, eq=False)
class _Shrinking:
    """A drawn case and, if it fails, what else failed on the way to the smallest.

    `readings` are those followed as far as was known when it failed.
    """

    kind: tuple[str, ...] | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    began_shrinking: float = 0.0
    polishing: bool = False
    cut_short: bool = False


class _Search:
    def __init__(
        self,
        called: Called,
        seconds: float | None,
        max_examples: int | None,
        seed: int,
        max_causes: int,
        memory: Memory,
        progress: Progress | None,
    ) -> None:
        self._examiner = Examiner(called)
        self._causes = Causes()
        self._seconds = seconds
        self._max_examples = max_examples
        self._seed = seed
        self._max_causes = max_causes
        self._memory = memory
        self._progress = progress
        self._started = perf_counter()
        self._numbers = dict.fromkeys(OPERATORS, 0)
        self._drawn = self._shrinking = self._avoided = 0
        self._paused = 0.0
        self._states: dict[str, tuple[bool, bool]] = {}
        self._strategies = {name: _strategy(name) for name in OPERATORS}

    def report(self, names: Sequence[str], name: str) -> FuzzReport:
        """Search in some operators, and say what was found."""
        stopped = ""
        try:
            self._all(names)
        except _Broken as broken:
            if not isinstance(broken.error, Stopped):
                raise broken.error from None
            stopped = str(broken.error)
        except Stopped as stop:
            stopped = str(stop)
        except KeyboardInterrupt:
            stopped = "interrupted"
        if not stopped and len(self._causes.found) >= self._max_causes:
            stopped = f"{self._max_causes} causes found"
        for operator in names:
            failing = [each.failure.vector for each in self._causes.found]
            of_it = [vector for vector in failing if vector.case.operator == operator]
            self._memory.keep(operator, of_it, whole=not stopped)
        votes = self._examiner.votes
        readings = votes.reports()
        return FuzzReport(
            backend=name,
            seed=self._seed,
            findings=(*map(self._finding, self._causes.found), *self._refuted()),
            readings=readings,
            witnesses={
                clause.clause: votes.witnesses(clause.clause)
                for clause in readings
                if clause.status == "inconsistent"
            },
            examples=self._drawn,
            shrinking=self._shrinking,
            unjudged=self._examiner.unjudged,
            avoided=self._avoided,
            counts=self._examiner.counts,
            seconds=perf_counter() - self._started,
            stopped=stopped,
        )

    def _all(self, names: Sequence[str]) -> None:
        """Try what failed before, then go round the operators, with more cases each time."""
        for operator in names:
            for case in self._memory.cases(operator):
                if len(self._causes.found) < self._max_causes:
                    self._again(case)
        left = list(names)
        for turn in count():
            for operator in left:
                for _ in range(min(_FIRST << turn, _LARGEST)):
                    if len(self._causes.found) >= self._max_causes or self._is_over():
                        return
                    self._next(operator)
            left = [name for name in left if self._is_supported(name)] or left

    def _again(self, case: Case) -> None:
        """Try a case that failed before."""
        failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
        if failure is None or self._causes.explain(failure, {}):
            return
        # A search that was cut short, or an older version, may not have made it the smallest.
        this = _Shrinking(failure.kind, {}, [failure], perf_counter())
        with self._adding_what_is_left(this):
            smallest = polished(case, partial(self._fails_anew, case.operator, this))
            self._add(self._examiner.examine(smallest) or failure, this)

    def _next(self, operator: str) -> None:
        """Draw a case; if it fails, and no cause known explains it, find the cause."""
        this = _Shrinking()
        number = self._numbers[operator]
        self._numbers[operator] += 1
        self._drawn += 1
        with self._adding_what_is_left(this):
            fails = partial(self._fails_anew, operator, this)
            found = self._draw(operator, number, fails, Phase.generate, Phase.shrink)
            if found is not None:
                this.polishing = True
                failure = self._examiner.examine(polished(found, fails))
                assert failure is not None
                self._add(failure, this)

    def _draw(
        self, operator: str, number: int, fails: Callable[[Case], bool], *phases: Phase
    ) -> Case | None:
        """Return what is found from the case of a number on; None if it does not fail.

        One case at a time: of many in a row, Hypothesis draws most as mutants of each other.
        """

        def condition(case: Case | None) -> bool:
            try:
                return case is not None and fails(case)
            except Exception as error:
                raise _Broken(error) from error

        # The first example is always the simplest, nothing.
        options = settings(_OPTIONS, max_examples=2, phases=phases)
        random = Random(f"{self._seed}/{operator}/{number}")  # noqa: S311 - no secrets
        try:
            return find(self._strategies[operator], condition, settings=options, random=random)
        except NoSuchExample:
            return None

    @contextmanager
    def _adding_what_is_left(self, this: _Shrinking) -> Iterator[None]:
        """Add the smallest failure so far of a round that is interrupted.

        What follows the first failure does not count as time of the search.
        """
        try:
            yield
        except (KeyboardInterrupt, Stopped, _Broken):
            if this.failures:
                this.cut_short = True
                smallest = min(this.failures, key=lambda each: size_of(each.vector))
                self._add(smallest, this, calling=False)
            raise
        finally:
            self._examiner.called.take_time()
            if this.kind is not None:
                self._paused += perf_counter() - this.began_shrinking

    def _fails_anew(self, operator: str, this: _Shrinking, case: Case) -> bool:
        """Say whether a case fails as the one drawn does, and of no cause known before it."""
        self._tell(operator, this)
        if not self._examiner.knows(case):
            if self._is_late(this):
                return False
            if self._causes.is_deadly(case):
                self._avoided += 1
                return False
            self._shrinking += this.kind is not None
        failure = self._examiner.examine(case)
        if failure is None or (this.kind is not None and failure.kind != this.kind):
            return False
        if this.kind is None and self._causes.found:
            this.readings = self._examiner.votes.followed()
        if self._causes.explain(failure, this.readings):
            return False
        if this.kind is None:
            this.kind, this.began_shrinking = failure.kind, perf_counter()
            if failure.result.verdict == "timed-out":
                self._examiner.called.hurry()
        if len(this.failures) < _KEPT:
            this.failures.append(failure)
        return True

    def _add(self, failure: Failure, this: _Shrinking, *, calling: bool = True) -> None:
        """Add the cause of the smallest failure of a round; `calling` the backend may help."""
        operator, others = failure.vector.case.operator, this.failures
        steady = True
        if calling:
            self._examiner.called.take_time()
            if len(self._examiner.conforming(operator)) < _FEW:
                others = [*others, *self._gather(operator)]
            # In a hurry, what is slow was taken for a hang: the first failure had its time.
            tries = (self._examiner.again(each) for each in (failure, *this.failures[:1]))
            again = next(filter(None, tries), None)
            failure, steady = again or failure, again is not None
        self._states[failure.vector.case.id] = (steady, not this.cut_short)
        conforming = self._examiner.conforming(operator)
        self._causes.add(failure, others, conforming, self._examiner.votes.followed())

    def _gather(self, operator: str) -> list[Failure]:
        """Look at the next cases, to see what conforms; return those that do not."""
        found: list[Failure] = []

        def look(case: Case) -> bool:
            failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
            if failure is not None and failure.result.verdict in {"crashed", "timed-out"}:
                raise _Enough
            found.extend([] if failure is None else [failure])
            return False

        with suppress(_Enough):
            for number in range(self._numbers[operator], self._numbers[operator] + _FEW):
                self._draw(operator, number, look, Phase.generate)
        return found

    def _tell(self, operator: str, this: _Shrinking) -> None:
        """Tell how far the search is."""
        if self._progress is not None and self._examiner.run % 16 == 0:
            what = operator if this.kind is None else f"{operator}: shrinking a failure"
            self._progress(what, self._drawn, self._max_examples or 0)

    @staticmethod
    def _is_late(this: _Shrinking) -> bool:
        """Say whether a failure is not to be made smaller any more."""
        if this.kind is None:
            return False
        # Hypothesis would wait for a hundred hangs; the last steps alone need few.
        hung = this.kind[1] == "timed-out" and not this.polishing
        if perf_counter() - this.began_shrinking > _SHRINKING:
            this.cut_short = True
        return hung or this.cut_short

    def _is_over(self) -> bool:
        if self._max_examples is not None and self._drawn >= self._max_examples:
            return True
        searched = perf_counter() - self._started - self._paused
        return self._seconds is not None and searched > self._seconds

    def _is_supported(self, operator: str) -> bool:
        counts = self._examiner.by_operator.get(operator, Counter())
        return any(verdict != "unsupported" for verdict in counts)

    def _refuted(self) -> Iterator[Finding]:
        """Yield the smallest of the exceptions that only a reading not followed would excuse."""
        seen: set[tuple[str, ...]] = set()
        readings = self._examiner.votes.followed()
        for failure in self._examiner.refuted():
            if failure.kind not in seen and not self._causes.explain(failure, readings):
                seen.add(failure.kind)
                smallest = self._examiner.refute(polished(failure.vector.case, self._is_refuted))
                found = smallest or failure
                yield Finding(found.vector, found.result, None, steady=smallest is not None)

    def _is_refuted(self, case: Case) -> bool:
        return self._examiner.refute(case) is not None

    def _finding(self, cause: Cause) -> Finding:
        failure = cause.failure
        steady, smallest = self._states[failure.vector.case.id]
        return Finding(failure.vector, failure.result, cause.diagnosis, steady, smallest)


def _strategy(operator: str) -> st.SearchStrategy[Case | None]:
    """Return valid cases, and a few that are large or break a rule; the simplest is nothing."""
    usual = cases(operator)
    large = cases(operator, max_elements=_LARGE, mixes=["integers"])  # for their positions
    kinds = [st.none(), *[usual] * _USUAL, large, *[invalid_cases(operator)] * _BROKEN]
    return st.sampled_from(range(len(kinds))).flatmap(kinds.__getitem__)
