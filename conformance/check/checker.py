"""The run itself: batch by batch, call the backend, judge, keep what the report needs."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from conformance import __version__
from conformance.batch import Batch, Ints
from conformance.check.accuracy import AccuracyTally
from conformance.check.combinations import Packed
from conformance.check.explain import output_of
from conformance.check.judge import CONFORMS, Bools, Judged, judge
from conformance.check.profiles import pins_of
from conformance.check.readings import readings_followed, refuted
from conformance.check.repeats import First, Repeats
from conformance.check.report import (
    FAILURES,
    KEPT_OUTPUT,
    VERDICTS,
    ClauseReport,
    Report,
    UndefinedReport,
    Verdict,
)
from conformance.check.results import Part, Results
from conformance.check.runner import NOT_RUN, Answers, Backend, InProcess, Runner, Stopped
from conformance.check.sources import (
    Operators,
    Select,
    Selection,
    Source,
    Vectors,
    chosen,
    opened,
)
from conformance.errors import UsageError
from conformance.operators import CLAUSES
from conformance.vector import Array

Progress = Callable[[int, int], None]
Expects = Callable[[str, Verdict], bool]
_PORTION = 256  # vectors between two looks at the number of failures
_PACKAGES = ("numpy", "ml_dtypes", "h5py")


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `report` holds what was done and says it is incomplete."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


def check(backend: Backend, vectors: Vectors = None, **options: Any) -> Report:
    """Run a backend in this process; options are those of `run`, and all else that of `run`."""
    if not callable(backend):
        raise UsageError(f"the backend is {type(backend).__name__}, not callable")
    return run(InProcess(backend), vectors, **{"name": name_of(backend), **options})


def run(
    runner: Runner,
    vectors: Vectors = None,
    *,
    name: str,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    shard: str | None = None,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    max_failures: int | None = None,
    expects: Expects | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run vectors and report which of the answers conform.

    The options are those of `conformance.check`, which see. `name` is what the report calls the
    backend that `runner` calls, and `expects(id, verdict)` says whether a failure does not count
    for `max_failures`.
    """
    if max_failures is not None and max_failures < 1:
        raise UsageError(f"max_failures is {max_failures}; it must be at least 1")
    pins = pins_of(profile, require)
    started, clock = datetime.now(UTC), perf_counter()
    with opened(vectors) as sources:
        selections = chosen(sources, operators, select, tier, shard)
        total = sum(len(selection.numbers) for selection in selections)
        going = _Run(runner, pins, total, progress)
        going.limit(max_failures, expects)
        interrupted = going.all(selections)
    readings = going.readings()
    counts = going.counts()
    report = Report(
        backend=name,
        vectors=tuple(selection.used for selection in selections),
        results=Results(going.parts),
        counts=sum(counts.values(), Counter()),
        counts_by_operator=counts,
        readings=readings,
        undefined=going.undefined(),
        accuracy=going.accuracy.reports(),
        repeated=going.repeats.report(),
        required=pins,
        tier=tier,
        shard=shard or "",
        not_run=sum(map(len, sources)) - going.done,
        complete=not going.stopped,
        stopped=going.stopped,
        started=started.isoformat(timespec="seconds"),
        seconds=perf_counter() - clock,
        backend_seconds=going.backend_seconds,
        versions=_versions(),
    )
    if interrupted:
        raise Interrupted(report)
    return report


class _Run:
    """A run while it goes on."""

    def __init__(
        self, runner: Runner, pins: Mapping[str, str], total: int, progress: Progress | None
    ) -> None:
        self.parts: list[Part] = []
        self.accuracy = AccuracyTally()
        self.done = 0
        self.backend_seconds = 0.0
        self._runner = runner
        self._pins = pins
        self._total = total
        self._progress = progress
        self.repeats = Repeats(runner)
        self.stopped = ""
        self._behaviours: Counter[tuple[str, str]] = Counter()
        self._room = KEPT_OUTPUT
        self._most: float = inf
        self._expects: Expects = lambda *_: False

    def limit(self, failures: int | None, expects: Expects | None) -> None:
        """Stop after some failures that are not expected."""
        self._most = inf if failures is None else failures
        self._expects = expects or self._expects

    def all(self, selections: Sequence[Selection]) -> bool:
        """Run what is selected, some of it twice; True if the user interrupted it."""
        firsts: list[tuple[Source, list[First]]] = []
        try:
            for selection in selections:
                source = selection.source
                firsts.append((source, []))
                for numbers in self._portions(selection.numbers):
                    for batch in source.batches(numbers):
                        firsts[-1][1].append(self._batch(source, batch))
            if getattr(self._runner, "repeatable", True):
                for source, each in reversed(firsts):
                    self._again(source, each)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            return True
        except Stopped as stop:
            self.stopped = str(stop)
        return False

    def readings(self) -> tuple[ClauseReport, ...]:
        """Return which readings explain the vectors that conform.

        An exception that only another reading would excuse is an error from here on.
        """
        voters = self._voters()
        excused = _joined([part.judged.excused[each] for part, each in voters])
        if excused.any():
            wrong = refuted(*_columns(voters), excused)
            for (part, each), no in zip(voters, np.split(wrong, _ends(voters)), strict=True):
                for vector in each[no].tolist():
                    part.judged.refute(vector)
            voters = self._voters()
        if not len(excused):
            return ()
        return readings_followed(
            *_columns(voters),
            lambda name: [value for part, each in voters for value in part.values(each, name)],
        )

    def counts(self) -> dict[str, Counter[Verdict]]:
        """Return how many vectors of each operator got each verdict."""
        counts: dict[str, Counter[Verdict]] = {}
        for part in self.parts:
            of_part = np.bincount(part.judged.verdict, minlength=len(VERDICTS)).tolist()
            counts.setdefault(part.source.operator, Counter()).update(
                dict(zip(VERDICTS, of_part, strict=True))
            )
        return {operator: +count for operator, count in counts.items()}

    def undefined(self) -> tuple[UndefinedReport, ...]:
        """Return what was done where nothing is defined, in the order of the clauses."""
        found: dict[str, dict[str, int]] = {name: {} for name in CLAUSES}
        for (clause, behaviour), count in self._behaviours.most_common():
            found.setdefault(clause, {})[behaviour] = count
        return tuple(UndefinedReport(name, counts) for name, counts in found.items() if counts)

    def _portions(self, numbers: Ints) -> Sequence[Ints]:
        """Return what is run before failures are counted again."""
        if self._most == inf:
            return (numbers,)
        return np.split(numbers, range(_PORTION, len(numbers), _PORTION))

    def _batch(self, source: Source, batch: Batch) -> First:
        answers = Answers.none_yet(len(batch))
        before = self.done
        stop: BaseException | None = None
        started = perf_counter()
        try:
            self._runner.run(batch, answers, lambda done: self._tick(before + done))
        except (KeyboardInterrupt, Stopped) as caught:
            stop = caught
        self.backend_seconds += perf_counter() - started
        count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
        judged = judge(batch, answers, self._pins, self.accuracy)
        self._behaviours += judged.behaviours
        part = Part(
            source,
            batch.numbers[:count],
            judged.first(count),
            outputs=self._kept(judged, answers),
            printed={v: text for v, text in answers.printed.items() if v in judged.explanations},
            whole=batch if count == len(batch) == len(source) else None,
        )
        self.parts.append(part)
        self.done += count
        if stop is not None:
            raise stop
        self._tick(self.done)
        self._count_failures(batch, part)
        return First.of(batch, answers, part)

    def _again(self, source: Source, firsts: Sequence[First]) -> None:
        """Call some vectors of a source again."""
        for first in firsts:
            for batch in source.batches(np.array(list(first.answers), np.int64)):
                started = perf_counter()
                again = self.repeats.answers(batch)
                self.backend_seconds += perf_counter() - started
                if vectors := self.repeats.differing(batch, again, first):
                    judged = judge(batch, again, self._pins, AccuracyTally())
                    self.repeats.refute(batch, vectors, judged, first)

    def _count_failures(self, batch: Batch, part: Part) -> None:
        if self._most == inf:
            return
        verdicts = [VERDICTS[code] for code in part.judged.verdict]
        failures = sum(
            verdict in FAILURES and not self._expects(vector, verdict)
            for vector, verdict in zip(batch.ids, verdicts, strict=True)
        )
        self._most -= failures
        if self._most <= 0:
            raise Stopped("as many failures as were allowed")

    def _voters(self) -> list[tuple[Part, Ints]]:
        """Return the conforming vectors that a disputed clause touches."""
        return [
            (
                part,
                np.flatnonzero((part.judged.verdict == CONFORMS) & part.judged.touched.any(axis=1)),
            )
            for part in self.parts
        ]

    def _tick(self, done: int) -> None:
        if self._progress:
            self._progress(done, self._total)

    def _kept(self, judged: Judged, answers: Answers) -> dict[int, Array]:
        """Return the outputs of mismatches, as long as there is room."""
        kept: dict[int, Array] = {}
        for vector in judged.explanations:
            output = output_of(answers, vector)
            if output is not None and output.nbytes <= self._room:
                kept[vector] = output
                self._room -= output.nbytes
        return kept


def _columns(voters: Sequence[tuple[Part, Ints]]) -> tuple[Packed, Bools]:
    return (
        np.concatenate([part.judged.accepted[each] for part, each in voters]),
        np.concatenate([part.judged.touched[each] for part, each in voters]),
    )


def _joined(columns: Sequence[Bools]) -> Bools:
    return np.concatenate([np.zeros(0, np.bool_), *columns])


def _ends(voters: Sequence[tuple[Part, Ints]]) -> Ints:
    """Return where each part's voters end, but for the last."""
    return np.cumsum([len(each) for _, each in voters])[:-1]


def name_of(backend: Any) -> str:
    """Return what a report calls a backend that has no other name."""
    found = backend if hasattr(backend, "__qualname__") else type(backend)
    return f"{found.__module__}:{found.__qualname__}"


@cache
def _versions() -> dict[str, str]:
    found = {"conformance": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a source tree on the path, say
            continue
    return found
