"""The search itself: cases drawn one by one, and a cause shrunk where one fails."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from hypothesis import Phase

from conformance.backends import Backend
from conformance.backends.runner import Stopped
from conformance.cases.minimize import polished
from conformance.errors import ConformanceError, UsageError
from conformance.fuzz.caller import Called
from conformance.fuzz.causes import Cause, Causes
from conformance.fuzz.drawing import GROUP, Drawing, Place, Prepared, first_failing, group_at
from conformance.fuzz.examiner import Examiner, Failure
from conformance.fuzz.findings import Finding, FuzzReport
from conformance.fuzz.followed_readings import size_of
from conformance.fuzz.saving import Corpus
from conformance.operators import OPERATORS, operators_named
from conformance.progress import Progress
from conformance.settings import Settings
from conformance.vector import Case

SECONDS = 60.0
_FIRST, _LARGEST = 12, 200  # groups of one operator in a row
_SHRINKING = 2000
"""Cases that are examined to make one failure smaller, at most: several times what it mostly takes.

Where there is a limit of seconds, one failure takes at most twice that."""
_FEW = 64  # cases that conform, to tell causes by
_KEPT = 400  # failures on the way to the smallest, kept to find their cause


def fuzz(
    backend: Backend | str,
    *,
    operators: Sequence[str] | None = None,
    seconds: float | None = None,
    max_examples: int | None = None,
    seed: int = 0,
    max_causes: int = 10,
    allow_extensions: bool = False,
    database: str | os.PathLike[str] | None = None,
    isolate: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    name: str | None = None,
) -> FuzzReport:
    """Search for cases that a backend gets wrong, and shrink one for each cause.

    The search ends after `seconds`, after `max_examples` cases, or with `max_causes` causes; after
    a minute if neither of the first two is given. Making a failure smaller counts as neither: it
    ends by itself, and after twice the `seconds` for one failure. Without `seconds`, all work is
    counted: the same seed, number of examples and database give the same findings. `database` is a
    directory of failures to try first and to keep for the next time. `allow_extensions` is as for
    `check`: what a document excludes may be answered, and is counted apart. `isolate`, `timeout`
    and `memory` are as for `check` too: without a worker, a crash ends the search and this process.
    So many `jobs` draw cases ahead, in processes of their own if there are several; the backend is
    called as without them, and the findings are the same. `progress(what, done, total)` is called
    now and then.

    Raises UsageError for an argument that is wrong. A KeyboardInterrupt ends the search, and so
    does a backend that cannot be started again after a crash: the report says so. It also says
    where failures could not be stored in the database.
    """
    names = operators_named(operators)
    for option, value in {
        "seconds": seconds,
        "max_examples": max_examples,
        "max_causes": max_causes,
    }.items():
        if value is not None and not (
            isinstance(value, int | float) and value > 0
        ):  # NaN is neither
            raise UsageError(f"{option}={value}: must be above 0")
    if seconds is None and max_examples is None:
        seconds = SECONDS
    corpus = Corpus(None if database is None else Path(database))
    workers = Settings(isolate=isolate, timeout=timeout, memory=memory)
    with Called(backend, timeout, memory, apart=workers.apart) as called, Drawing(jobs) as drawing:
        examiner = Examiner(called, allow_extensions=allow_extensions)
        search = _Search(
            examiner, seconds, max_examples, seed, max_causes, corpus, progress, drawing
        )
        return search.report(names, name or called.name)


class _Broken(BaseException):
    """Carries an error of the harness out of Hypothesis, which would shrink it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@dataclass(slots=True, eq=False)
class _Shrinking:
    """A failure that is made smaller, and what else failed on the way to the smallest.

    `readings` are those followed as far as was known when it failed.
    """

    kind: tuple[str, ...]
    readings: Mapping[str, str]
    failures: list[Failure]
    began: float = field(default_factory=perf_counter)
    examined: int = 0
    polishing: bool = False
    cut_short: bool = False


class _Search:
    def __init__(
        self,
        examiner: Examiner,
        seconds: float | None,
        max_examples: int | None,
        seed: int,
        max_causes: int,
        corpus: Corpus,
        progress: Progress | None,
        drawing: Drawing,
    ) -> None:
        self._examiner = examiner
        self._causes = Causes(examiner.called.runner, seed)
        self._seconds = seconds
        self._max_examples = max_examples
        self._seed = seed
        self._max_causes = max_causes
        self._corpus = corpus
        self._progress = progress
        self._drawing = drawing
        self._started = perf_counter()
        self._groups = dict.fromkeys(OPERATORS, 0)
        self._drawn = self._shrinking = self._avoided = 0
        self._paused = 0.0
        self._states: dict[str, tuple[bool, bool]] = {}

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
        unsaved = self._store(names, whole=not stopped)
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
            extensions=self._examiner.extensions,
            seconds=perf_counter() - self._started,
            stopped=stopped,
            unsaved=unsaved,
        )

    def _store(self, names: Sequence[str], *, whole: bool) -> ConformanceError | None:
        """Store what failed for the next search; return what keeps it from that."""
        failing = [cause.failure.vector for cause in self._causes.found]
        try:
            for operator in names:
                of_it = [vector for vector in failing if vector.case.operator == operator]
                self._corpus.store(operator, of_it, whole=whole)
        except ConformanceError as error:
            return error
        return None

    def _all(self, names: Sequence[str]) -> None:
        """Try what failed before, then go round the operators, with more cases each time."""
        for operator in names:
            for case in self._corpus.cases(operator):
                if len(self._causes.found) < self._max_causes:
                    self._again(case)
        left = list(names)
        for turn in count():
            groups = range(min(_FIRST << turn, _LARGEST))
            places = [self._following(operator, nth) for operator in left for nth in groups]
            for place, group in zip(places, self._drawing.all_prepared(places), strict=True):
                if len(self._causes.found) >= self._max_causes or self._is_over():
                    return
                self._next_group(place, group)
            left = [name for name in left if self._is_supported(name)] or left

    def _again(self, case: Case) -> None:
        """Try a case that failed before."""
        failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
        if failure is None or self._causes.explain(failure, {}):
            return
        # A search that was cut short, or an older version, may not have made it the smallest.
        this = _Shrinking(failure.kind, {}, [failure])
        with self._adding_what_is_left(this):
            smallest = polished(case, partial(self._fails_alike, case.operator, this))
            self._add(self._examiner.examine(smallest) or failure, this)

    def _following(self, operator: str, nth: int) -> Place:
        """Return the place of one of the next groups of an operator."""
        return Place(self._seed, operator, self._groups[operator] + nth)

    def _next_group(self, place: Place, group: Sequence[Prepared]) -> None:
        """Try cases; find the cause of the first failure that no known cause explains."""
        self._groups[place.operator] += 1
        if self._max_examples is not None:
            group = group[: self._max_examples - self._drawn]
        self._tell(place.operator)
        try:
            self._examine(group)
        except (KeyboardInterrupt, Stopped):
            if (this := self._new_failure(group)) is not None:
                self._add_smallest(this)
            raise
        if (this := self._new_failure(group)) is None:
            return
        if this.kind[1] == "timed-out":
            self._examiner.called.hurry()
        with self._adding_what_is_left(this):
            fails = partial(self._fails_alike, place.operator, this)
            shrunk = first_failing(place, _unbroken(fails), Phase.generate, Phase.shrink)
            if shrunk is not None:
                this.polishing = True
                failure = self._examiner.examine(polished(shrunk, fails))
                assert failure is not None
                self._add(failure, this)

    def _examine(self, group: Sequence[Prepared]) -> None:
        """Examine the cases of a group that are not like a crash or hang found before."""
        harmless = [each for each in group if not self._causes.is_deadly(each.case)]
        self._avoided += len(group) - len(harmless)
        self._examiner.examine_all(harmless, until=self._is_over)
        examined = sum(self._examiner.knows(each.case) for each in harmless)
        self._drawn += len(group) - len(harmless) + examined

    def _new_failure(self, group: Sequence[Prepared]) -> _Shrinking | None:
        """Return the first failure of a group that no known cause explains."""
        known = [self._examiner.examine(case) for case, _ in group if self._examiner.knows(case)]
        failures = [failure for failure in known if failure is not None]
        readings = self._examiner.votes.followed() if failures and self._causes.found else {}
        for failure in failures:
            if not self._causes.explain(failure, readings):
                return _Shrinking(failure.kind, readings, [failure])
        return None

    @contextmanager
    def _adding_what_is_left(self, this: _Shrinking) -> Iterator[None]:
        """Add the smallest failure so far of a round that is interrupted.

        What follows the first failure does not count as time of the search.
        """
        try:
            yield
        except (KeyboardInterrupt, Stopped, _Broken):
            self._add_smallest(this)
            raise
        finally:
            self._examiner.called.take_time()
            self._paused += perf_counter() - this.began

    def _add_smallest(self, this: _Shrinking) -> None:
        this.cut_short = True
        smallest = min(this.failures, key=lambda failure: size_of(failure.vector))
        self._add(smallest, this, calling=False)

    def _fails_alike(self, operator: str, this: _Shrinking, case: Case) -> bool:
        """Say whether a case fails as the one drawn does, and of no cause known before it."""
        self._tell(f"{operator}: shrinking a failure")
        if not self._examiner.knows(case):
            if self._is_late(this):
                return False
            if self._causes.is_deadly(case):
                self._avoided += 1
                return False
            self._shrinking += 1
            this.examined += 1
        failure = self._examiner.examine(case)
        if failure is None or failure.kind != this.kind:
            return False
        if self._causes.explain(failure, this.readings):
            return False
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
        readings = self._examiner.votes.followed()
        self._causes.add(failure, others, conforming, readings, calling=calling)

    def _gather(self, operator: str) -> list[Failure]:
        """Examine the next cases, to see what conforms; return those that do not."""
        failures: list[Failure] = []
        for nth in range(_FEW // GROUP):
            for case in group_at(self._following(operator, nth)):
                failure = None if self._causes.is_deadly(case) else self._examiner.examine(case)
                if failure is not None:
                    failures.append(failure)
                    if failure.result.verdict in {"crashed", "timed-out"}:
                        return failures
        return failures

    def _tell(self, what: str) -> None:
        """Tell how far the search is."""
        if self._progress is not None:
            self._progress(what, self._drawn, self._max_examples or 0)

    def _is_late(self, this: _Shrinking) -> bool:
        """Say whether a failure is not to be made smaller any more."""
        # Hypothesis would wait for a hundred hangs; the last steps alone need few.
        hung = this.kind[1] == "timed-out" and not this.polishing
        late = self._seconds is not None and perf_counter() - this.began > 2 * self._seconds
        if late or this.examined >= _SHRINKING:
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
                shown = smallest or failure
                yield Finding(shown.vector, shown.result, None, steady=smallest is not None)

    def _is_refuted(self, case: Case) -> bool:
        return self._examiner.refute(case) is not None

    def _finding(self, cause: Cause) -> Finding:
        failure = cause.failure
        steady, smallest = self._states[failure.vector.case.id]
        return Finding(failure.vector, failure.result, cause.diagnosis, steady, smallest)


def _unbroken(fails: Callable[[Case], bool]) -> Callable[[Case], bool]:
    """Return a condition whose errors pass through Hypothesis."""

    def condition(case: Case) -> bool:
        try:
            return fails(case)
        except Exception as error:
            raise _Broken(error) from error

    return condition
