"""The search itself: rounds of drawing cases, each ending with one cause shrunk or with nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from conformance.check.runner import Backend
from conformance.errors import UsageError
from conformance.fuzz.calling import Called
from conformance.fuzz.causes import Cause, Causes
from conformance.fuzz.examine import Examiner, Failure
from conformance.fuzz.memory import Memory
from conformance.fuzz.polish import polished
from conformance.fuzz.report import Finding, FuzzReport
from conformance.operators import OPERATORS, operator_named
from conformance.strategies import cases, invalid_cases
from conformance.vector import Case

Progress = Callable[[str, int, int], None]

SECONDS = 60.0
_FIRST, _LARGEST = 100, 1600  # cases of a round
_SHRINKING = 120.0  # seconds for one failure
_FEW = 60  # cases that conform, to tell causes by
_KEPT = 400  # failures of a round kept to find their cause
_TURNS = 8  # one in so many cases breaks a rule


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

    Raises UsageError for an argument that is wrong. A KeyboardInterrupt ends the search, and the
    report says so.
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


class _TimeIsUp(BaseException):
    """Ends a round of Hypothesis, which would take an Exception for a failure."""


class _Enough(BaseException):
    """Ends a look at some cases, since it would take too long."""


class _Broken(BaseException):
    """Carries an error of the harness out of Hypothesis, which would shrink it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@dataclass(slots=True, eq=False)
class _Round:
    """One round: what failed in it, and when the first failure came."""

    kind: tuple[str, ...] | None = None
    failures: list[Failure] = field(default_factory=list)
    began_shrinking: float = 0.0
    polishing: bool = False


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
        self._drawn = self._shrinking = self._avoided = 0
        self._paused = 0.0
        self._steady: dict[str, bool] = {}
        self._strategies = {name: _strategy(name) for name in OPERATORS}

    def report(self, names: Sequence[str], name: str) -> FuzzReport:
        """Search in some operators, and say what was found."""
        stopped = ""
        try:
            self._all(names)
        except _TimeIsUp:
            pass
        except _Broken as broken:
            raise broken.error from None
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
            size = min(_FIRST << turn, _LARGEST)
            for operator in left:
                self._operator(operator, size, turn)
                if len(self._causes.found) >= self._max_causes or self._is_over():
                    return
            left = [name for name in left if self._is_supported(name)] or left

    def _operator(self, operator: str, size: int, turn: int) -> None:
        """Draw so many cases of an operator, and go on after each cause found."""
        for again in count():
            if self._max_examples is not None:
                size = min(size, self._max_examples - self._drawn)
            if size <= 0 or len(self._causes.found) >= self._max_causes:
                return
            drawn = self._drawn
            random = Random(f"{self._seed}/{operator}/{turn}/{again}")  # noqa: S311 - no secrets
            if not self._round(operator, size, random):
                # Cases that came before were drawn again: they count all the same.
                self._drawn = max(self._drawn, drawn + size)
                return
            size -= self._drawn - drawn

    def _again(self, case: Case) -> None:
        """Try a case that failed before."""
        failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
        if failure is not None and not self._causes.explain(failure, {}):
            self._add(failure, [])

    def _round(self, operator: str, size: int, random: Random) -> bool:
        """Look for one cause; say whether there was a failure that none known explains."""
        this = _Round()
        readings = self._examiner.votes.followed() if self._causes.found else {}

        def fails(case: Case) -> bool:
            try:
                return self._fails_anew(operator, case, this, readings)
            except Exception as error:
                raise _Broken(error) from error

        phases = (Phase.generate, Phase.shrink)
        options = settings(_OPTIONS, max_examples=size, phases=phases)
        try:
            with self._examiner.called.unhurried():
                found = find(self._strategies[operator], fails, settings=options, random=random)
                this.polishing = True
                found = polished(found, fails)
        except NoSuchExample:
            return False
        finally:
            if this.kind is not None:
                self._paused += perf_counter() - this.began_shrinking
        failure = self._examiner.examine(found)
        assert failure is not None
        self._add(failure, this.failures)
        return True

    def _fails_anew(
        self, operator: str, case: Case, this: _Round, readings: Mapping[str, str]
    ) -> bool:
        """Say whether a case fails as the others of a round do, of no cause known before it."""
        self._tick(operator, this)
        if not self._examiner.knows(case) and self._is_late(this):
            return False
        if not self._examiner.knows(case) and self._causes.is_deadly(case):
            self._avoided += 1
            return False
        failure = self._examiner.examine(case)
        if failure is None or (this.kind is not None and failure.kind != this.kind):
            return False
        if self._causes.explain(failure, readings):
            return False
        if this.kind is None:
            this.kind, this.began_shrinking = failure.kind, perf_counter()
            if failure.result.verdict == "timed-out":
                self._examiner.called.hurry()
        if len(this.failures) < _KEPT:
            this.failures.append(failure)
        return True

    def _add(self, failure: Failure, others: Sequence[Failure]) -> None:
        began = perf_counter()
        operator = failure.vector.case.operator
        if len(self._examiner.conforming(operator)) < _FEW:
            others = [*others, *self._gather(operator)]
        self._steady[failure.vector.case.id] = self._examiner.fails_again(failure)
        conforming = self._examiner.conforming(operator)
        self._causes.add(failure, others, conforming, self._examiner.votes.followed())
        self._paused += perf_counter() - began

    def _gather(self, operator: str) -> list[Failure]:
        """Draw some cases, to see what conforms; return those that do not."""
        found: list[Failure] = []

        def look(case: Case) -> bool:
            failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
            if failure is not None and failure.result.verdict in {"crashed", "timed-out"}:
                raise _Enough
            found.extend([] if failure is None else [failure])
            return False

        options = settings(_OPTIONS, max_examples=_FEW, phases=(Phase.generate,))
        with suppress(NoSuchExample, _Enough):
            find(self._strategies[operator], look, settings=options, random=Random(self._seed))  # noqa: S311
        return found

    def _tick(self, operator: str, this: _Round) -> None:
        """Count a case, end a round that is out of time, and tell how far the search is."""
        if this.kind is not None:
            self._shrinking += 1
            what = f"{operator}: shrinking a failure"
        else:
            if self._is_over():
                raise _TimeIsUp
            self._drawn += 1
            what = operator
        if self._progress is not None and self._examiner.run % 16 == 0:
            self._progress(what, self._drawn, self._max_examples or 0)

    @staticmethod
    def _is_late(this: _Round) -> bool:
        """Say whether a failure is not to be made smaller any more."""
        if this.kind is None:
            return False
        # Hypothesis would wait for a hundred hangs; the last steps alone need few.
        hung = this.kind[1] == "timed-out" and not this.polishing
        return hung or perf_counter() - this.began_shrinking > _SHRINKING

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
        return Finding(
            vector=cause.failure.vector,
            result=cause.failure.result,
            diagnosis=cause.diagnosis,
            steady=self._steady[cause.failure.vector.case.id],
        )


def _strategy(operator: str) -> st.SearchStrategy[Case]:
    """Return valid cases, and a few that break a rule."""
    valid, broken = cases(operator), invalid_cases(operator)
    return st.sampled_from(range(_TURNS)).flatmap(
        lambda turn: broken if turn == _TURNS - 1 else valid
    )
