"""The run itself: batch by batch, call the backend, judge, keep what the report needs."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import numpy as np

from conformance import __version__
from conformance.batch import Batch
from conformance.check.accuracy import AccuracyTally
from conformance.check.combinations import Packed
from conformance.check.explain import output_of
from conformance.check.judge import CONFORMS, Bools, judge
from conformance.check.profiles import pins_of
from conformance.check.readings import readings_followed, refuted
from conformance.check.report import (
    KEPT_OUTPUT,
    VERDICTS,
    ClauseReport,
    Report,
    UndefinedReport,
    Verdict,
)
from conformance.check.results import Part, Results
from conformance.check.runner import NOT_RUN, Answers, Backend, InProcess, Runner
from conformance.check.sources import Operators, Select, Selection, Vectors, chosen, opened
from conformance.errors import UsageError
from conformance.operators import CLAUSES
from conformance.vector import Array

Progress = Callable[[int, int], None]
_PACKAGES = ("numpy", "ml_dtypes", "h5py")


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `report` holds what was done and says it is incomplete."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


def check(
    backend: Backend,
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    isolate: bool = False,
    timeout: float | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> Report:
    """Run a backend over vectors and report which of its answers conform.

    `vectors` is a vector file, a directory of them, an open VectorFile or VectorSet, a sequence
    of Vector, or None for the suite this package ships. Of these, vectors of `operators`, with
    ids that `select` matches (part of an id, a glob over the whole id, several of them, or a
    function of the id), up to `tier` are run. `require` pins disputed clauses to a reading,
    `profile` many at once ("openvino", "onnx", "torch"); `require` wins. `progress(done, total)`
    is called now and then. `name` is what the report calls the backend.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, and Interrupted on Ctrl-C.
    """
    if not callable(backend):
        raise UsageError(f"the backend is {type(backend).__name__}, not callable")
    if isolate or timeout is not None:
        raise UsageError("isolate and timeout are not available yet")
    pins = pins_of(profile, require)
    started = perf_counter()
    with opened(vectors) as sources:
        selections = chosen(sources, operators, select, tier)
        run = _Run(InProcess(backend), pins, sum(len(s.numbers) for s in selections), progress)
        complete = run.all(selections)
    readings = run.readings()
    counts = run.counts()
    report = Report(
        backend=name or _name(backend),
        vectors=tuple(selection.used for selection in selections),
        results=Results(run.parts),
        counts=sum(counts.values(), Counter()),
        counts_by_operator=counts,
        readings=readings,
        undefined=run.undefined(),
        accuracy=run.accuracy.reports(),
        required=pins,
        tier=tier,
        not_run=sum(map(len, sources)) - run.done,
        complete=complete,
        seconds=perf_counter() - started,
        backend_seconds=run.backend_seconds,
        versions=_versions(),
    )
    if not complete:
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
        self._behaviours: Counter[tuple[str, str]] = Counter()
        self._room = KEPT_OUTPUT

    def all(self, selections: Sequence[Selection]) -> bool:
        """Run what is selected; False if the user stopped it."""
        try:
            for selection in selections:
                for batch in selection.source.batches(selection.numbers):
                    self._batch(batch)
        except KeyboardInterrupt:
            return False
        return True

    def readings(self) -> tuple[ClauseReport, ...]:
        """Return which readings explain the vectors that conform.

        An exception that only another reading would excuse is an error from here on.
        """
        voters = self._voters()
        if any(part.judged.excused[vector] for part, vector in voters):
            excused = np.array([part.judged.excused[vector] for part, vector in voters])
            wrong = refuted(*_columns(voters), excused)
            for index in np.flatnonzero(wrong).tolist():
                part, vector = voters[index]
                part.judged.refute(vector, part.clauses[vector])
            voters = [voter for voter, no in zip(voters, wrong.tolist(), strict=True) if not no]
        if not voters:
            return ()
        return readings_followed(
            *_columns(voters), lambda name: [part.value(vector, name) for part, vector in voters]
        )

    def counts(self) -> dict[str, Counter[Verdict]]:
        """Return how many vectors of each operator got each verdict."""
        counts: dict[str, Counter[Verdict]] = {}
        for part in self.parts:
            of_part = np.bincount(part.judged.verdict, minlength=len(VERDICTS)).tolist()
            counts.setdefault(part.operator, Counter()).update(
                dict(zip(VERDICTS, of_part, strict=True))
            )
        return {operator: +count for operator, count in counts.items()}

    def undefined(self) -> tuple[UndefinedReport, ...]:
        """Return what was done where nothing is defined, in the order of the clauses."""
        found: dict[str, dict[str, int]] = {name: {} for name in CLAUSES}
        for (clause, behaviour), count in self._behaviours.most_common():
            found.setdefault(clause, {})[behaviour] = count
        return tuple(UndefinedReport(name, counts) for name, counts in found.items() if counts)

    def _batch(self, batch: Batch) -> None:
        answers = Answers.none_yet(len(batch))
        before = self.done
        stopped = False
        started = perf_counter()
        try:
            self._runner.run(batch, answers, lambda done: self._tick(before + done))
        except KeyboardInterrupt:
            stopped = True
        self.backend_seconds += perf_counter() - started
        count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
        judged = judge(batch, answers, self._pins, self.accuracy)
        self._behaviours += judged.behaviours
        self.parts.append(Part.of(batch, judged, self._kept(judged.explanations, answers), count))
        self.done += count
        if stopped:
            raise KeyboardInterrupt
        self._tick(self.done)

    def _voters(self) -> list[tuple[Part, int]]:
        """Return the conforming vectors that a disputed clause touches."""
        return [
            (part, vector)
            for part in self.parts
            for vector in np.flatnonzero(
                (part.judged.verdict == CONFORMS) & part.judged.touched.any(axis=1)
            ).tolist()
        ]

    def _tick(self, done: int) -> None:
        if self._progress:
            self._progress(done, self._total)

    def _kept(self, vectors: Mapping[int, Any], answers: Answers) -> dict[int, Array]:
        """Return the outputs of mismatches, as long as there is room."""
        kept: dict[int, Array] = {}
        for vector in vectors:
            output = output_of(answers, vector)
            if output is not None and output.nbytes <= self._room:
                kept[vector] = output
                self._room -= output.nbytes
        return kept


def _columns(voters: Sequence[tuple[Part, int]]) -> tuple[Packed, Bools]:
    return (
        np.array([part.judged.accepted[vector] for part, vector in voters]),
        np.array([part.judged.touched[vector] for part, vector in voters]),
    )


def _name(backend: Any) -> str:
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
