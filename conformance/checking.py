"""The public `check`: a run, here or in workers, and for its failures the likely causes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from conformance.backends import load_backend
from conformance.backends.external import External, launch_of
from conformance.backends.stored import Stored
from conformance.check import Interrupted, checker
from conformance.check.expected import ExpectedFailures
from conformance.check.isolated import Isolated
from conformance.check.report import Report
from conformance.check.runner import Backend, InProcess, Runner
from conformance.check.sources import Operators, Select, Source, Vectors, opened
from conformance.check.spread import Spread
from conformance.check.stored import LookedUp
from conformance.errors import UsageError
from conformance.executors import Machines

Progress = checker.Progress


def check(
    backend: Backend | str,
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    shard: str | None = None,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    diagnose: bool = True,
    isolate: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    jobs: int = 1,
    executor: Machines | None = None,
    max_failures: int | None = None,
    expected_failures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> Report:
    """Run a backend over vectors and report which of its answers conform, and why others do not.

    `backend` is a callable, or a text as `load_backend` takes it. `vectors` is a vector file, a
    directory of them, an open VectorFile or VectorSet, a sequence of Vector, or None for the
    suite this package ships. Of these, vectors of `operators`, with ids that `select` matches
    (part of an id, a glob over the whole id, several of them, or a function of the id), up to
    `tier` are run; `shard`, "i/n", leaves the i-th of n equal parts of them. `require` pins
    disputed clauses to a reading, `profile` many at once ("openvino", "onnx", "torch"); `require`
    wins.

    `isolate` calls the backend in a worker process, so that a crash or a hang is a verdict.
    `timeout`, seconds per vector, `memory`, bytes per worker, and `jobs`, the number of workers,
    need workers and ask for them by themselves. External programs always run apart. `executor`
    opens the machines that workers are started on, see `conformance.executors`; the backend is a
    text then, and the vectors are in files.

    `max_failures` stops the run early, which is then incomplete. `expected_failures` is a file of
    the failures that are known. `diagnose` searches the catalogue of faults for what reproduces
    the failures, which takes seconds where there are any. `progress(done, total)` is called now
    and then. `name` is what the report calls the backend.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, ResultFileError for stored results that are not, and Interrupted
    on Ctrl-C.
    """
    name = name or (backend if isinstance(backend, str) else checker.name_of(backend))
    expected = None if expected_failures is None else ExpectedFailures.read(expected_failures)
    if executor is not None:
        if not isinstance(backend, str) or backend.startswith("results:") or max_failures:
            raise UsageError(
                "an executor is for backends named by a text, not for stored results, "
                "and counts no failures: leave out max_failures"
            )
        calling: AbstractContextManager[Runner | Spread] = nullcontext(
            Spread(executor, backend, timeout, memory)
        )
    else:
        apart = isolate or timeout is not None or memory is not None or jobs != 1
        calling = runner_of(backend, timeout, memory, jobs, apart=apart)
    with calling as runner, opened(vectors) as sources:
        if isinstance(runner, Isolated):
            runner.ready()  # an engine's start is not the time of its vectors
        ids = [vector_id for source in sources for vector_id in source.ids] if expected else []
        reasons, _ = expected.reasons(ids) if expected else ({}, ())
        finish = partial(_finished, sources=sources, runner=runner, expected=expected, ids=ids)
        try:
            report = checker.run(
                runner,
                sources,
                name=name,
                operators=operators,
                select=select,
                tier=tier,
                shard=shard,
                require=require,
                profile=profile,
                max_failures=max_failures,
                expects=lambda vector_id, verdict: verdict in reasons.get(vector_id, {}),
                progress=progress,
            )
        except Interrupted as stop:
            raise Interrupted(finish(stop.report)) from None
        report = finish(report)
        if report.ok or not diagnose:
            return report
        from conformance.faults.explained import explained  # noqa: PLC0415 - only for failures

        try:
            return explained(report, sources, progress=progress)
        except KeyboardInterrupt:
            note = "the search for likely causes was interrupted"
            raise Interrupted(replace(report, notes=(*report.notes, note))) from None


@contextmanager
def runner_of(
    backend: Backend | str, timeout: float | None, memory: int | None, jobs: int, *, apart: bool
) -> Iterator[Runner]:
    """Yield what calls a backend: this process, workers, or nothing where results are stored.

    `apart` asks for workers. Raises UsageError for a backend that is none.
    """
    if isinstance(backend, str) and backend.startswith("results:"):
        with Stored(backend.removeprefix("results:")) as stored:
            yield LookedUp(stored)
        return
    if isinstance(backend, str) and (not apart or backend.startswith("exec:")):
        backend = load_backend(backend)
    if isinstance(backend, Stored):
        yield LookedUp(backend)
        return
    if not (apart or isinstance(backend, External)):
        if not callable(backend):
            raise UsageError(f"the backend is {type(backend).__name__}, not callable")
        yield InProcess(backend)
        return
    with Isolated(launch_of(backend), timeout=timeout, memory=memory, jobs=jobs) as workers:
        yield workers


def _finished(
    report: Report,
    *,
    sources: Sequence[Source],
    runner: Runner | Spread,
    expected: ExpectedFailures | None,
    ids: Sequence[str],
) -> Report:
    """Return a report with what is known beside the run; `ids` are those of all vectors."""
    if isinstance(runner, LookedUp):
        known = (vector_id for source in sources for vector_id in source.ids)
        if unused := runner.stored.unused(known):
            note = f"{len(unused):,} results are stored for no vector, {unused[0]} for one"
            report = replace(report, notes=(*report.notes, note))
    return report if expected is None else expected.applied(report, ids)
