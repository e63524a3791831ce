"""The public `check`: a run, here or in workers, and for its failures the likely causes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from time import perf_counter
from typing import Literal, Unpack, get_args

from conformance.api.expected_failures import CAUSE, ExpectedFailures, faults_of
from conformance.api.floors import Floored
from conformance.api.large import check_large, fitting
from conformance.backends import Backend
from conformance.backends.choose_runner import runner_of
from conformance.backends.fresh_starts import fresh_starts_of
from conformance.backends.named_backend import name_of, parse_backend
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import Runner
from conformance.backends.variations import NONE, SAMPLE, Wanted, wanted_variations
from conformance.cases.large import large_sources
from conformance.errors import UsageError
from conformance.judging.distributed import Distributed
from conformance.judging.profiles import pins_of
from conformance.judging.run import Run
from conformance.judging.run_settings import Floors, Keywords, Selection, Workers, grouped
from conformance.judging.tally import INTERRUPTED, vectors_used
from conformance.progress import Counts, from_counts
from conformance.record.report import Report, failing
from conformance.vector import LARGE
from conformance.vectorfile.sources import Selected, Source, Vectors, chosen, opened

Diagnosing = Literal["none", "seen", "proven"]
DIAGNOSING: tuple[Diagnosing, ...] = get_args(Diagnosing)


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of `check` that say nothing of the backend, each looked at."""

    selection: Selection
    workers: Workers
    floored: Floored | None
    pins: Mapping[str, str]
    diagnosing: Diagnosing
    max_failures: int | None
    expected: ExpectedFailures | None
    variations: Sequence[str] | None

    @classmethod
    def parse(
        cls,
        *,
        selection: Selection | None = None,
        workers: Workers | None = None,
        floors: Floors | None = None,
        require: Mapping[str, str] | None = None,
        profile: str | None = None,
        diagnose: bool | Diagnosing = True,
        max_failures: int | None = None,
        expected_failures: str | os.PathLike[str] | None = None,
        variations: Wanted = SAMPLE,
        **keywords: Unpack[Keywords],
    ) -> Given:
        """Return what is given to `check`; UsageError for what is wrong whatever the backend."""
        selection, workers, floors = grouped(selection, workers, floors, keywords)
        return cls(
            selection,
            workers,
            Floored.parse(floors, shard=selection.shard),
            pins_of(profile, require),
            _diagnosing(diagnose),
            _positive(max_failures),
            None if expected_failures is None else ExpectedFailures.read(expected_failures),
            wanted_variations(variations),
        )


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `report` holds what was done and says what was not."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


def check(
    backend: Backend | str,
    vectors: Vectors = None,
    *,
    selection: Selection | None = None,
    workers: Workers | None = None,
    floors: Floors | None = None,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    allow_extensions: bool = False,
    diagnose: bool | Diagnosing = True,
    max_failures: int | None = None,
    expected_failures: str | os.PathLike[str] | None = None,
    progress: Counts | None = None,
    name: str | None = None,
    variations: Wanted = SAMPLE,
    **keywords: Unpack[Keywords],
) -> Report:
    """Run a backend over vectors and report which of its answers conform, and why others do not.

    `backend` is a callable, or a text as `load_backend` takes it. `vectors` is a vector file, a
    directory of them, an open VectorFile or VectorSet, a sequence of Vector, or None for the
    suite this package ships. `require` pins disputed clauses to a reading, `profile` many at once
    ("openvino", "onnx", "torch"); `require` wins. With `allow_extensions`, a backend may answer
    what a document excludes: such vectors are counted apart, and are no failures.

    Which vectors are run, a `Selection` says: `operators`, `select`, `tier` and `shard`. Where the
    backend is called, `Workers` say: `isolate`, `timeout`, `memory`, `jobs` and `executor`. What it
    has to support, `Floors` say: `min_supported`, `baseline` and `strict_unsupported`. Each of
    these may also be given as a keyword of its own: `tier="smoke"` is
    `selection=Selection(tier="smoke")`.

    Tier "large" is in no file: its vectors are made one by one as they are run. There, `memory` is
    what a vector may need, by default what the machine has free; what needs more is left out and
    counted. Where memory runs out all the same, the run is incomplete. No causes are searched for,
    and nothing is called twice.

    `max_failures` stops the run early, which is then incomplete. `expected_failures` is a file of
    the failures that are known. `diagnose` says what is done about the causes of failures, which
    takes seconds where there are any: "none" does nothing, "seen" searches the catalogue of faults
    for what reproduces the failures, and "proven" then asks the backend about fresh cases, which
    confirm or refute it; True is "proven" and False "none". `progress(done, total)` is called now
    and then. `name` is what the report calls the backend. `variations` says which vectors are
    called in other ways, too: "sample" calls a few of every file in each variation, "all" calls
    every vector in all of them, names of variations in those, and "none" calls each vector once.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, ResultFileError for stored results that are not, and Interrupted
    on Ctrl-C.
    """
    given = Given.parse(
        selection=selection,
        workers=workers,
        floors=floors,
        require=require,
        profile=profile,
        diagnose=diagnose,
        max_failures=max_failures,
        expected_failures=expected_failures,
        variations=variations,
        **keywords,
    )
    selection, workers, floored = given.selection, given.workers, given.floored
    diagnosing, expected = given.diagnosing, given.expected
    named = name or (backend if isinstance(backend, str) else name_of(backend))
    memory = workers.memory
    if selection.tier == LARGE:
        if vectors is not None:
            raise UsageError("tier large is made as it is run: leave out the vectors")
        if given.variations:
            raise UsageError("vectors of tier large are called once, in no variation")
        check_large(backend, workers)
        vectors, diagnosing, variations = large_sources(), "none", NONE
        workers = replace(workers, memory=None)  # it is what a vector may need
    with (
        _calling(backend, workers, max_failures) as runner,
        opened(vectors, selection.operators) as sources,
    ):
        runner.ready()  # an engine's start is not the time of its vectors
        start = None
        if diagnosing == "proven" and not isinstance(runner, StoredResults | Distributed):
            # Now: what is called in this process may be another after the run.
            start = fresh_starts_of(backend, workers.timeout, workers.memory)
        report = run(
            runner,
            sources,
            selection,
            name=named,
            require=require,
            profile=profile,
            allow_extensions=allow_extensions,
            max_failures=max_failures,
            expected=expected,
            floored=floored,
            progress=progress,
            variations=variations,
            memory=memory,
        )
        if report.ok or diagnosing == "none":
            return report
        from conformance.diagnosis.of_report import explained  # noqa: PLC0415 - only for failures

        try:
            told = from_counts(progress)
            if diagnosing == "seen":
                return explained(report, sources, progress=told)
            return explained(
                report, sources, runner=runner, start=start, workers=workers.jobs, progress=told
            )
        except KeyboardInterrupt:
            note = "the search for likely causes was interrupted"
            raise Interrupted(replace(report, notes=(*report.notes, note))) from None


def _diagnosing(diagnose: bool | Diagnosing) -> Diagnosing:  # noqa: FBT001 - the public argument
    if isinstance(diagnose, bool):
        return "proven" if diagnose else "none"
    if diagnose not in DIAGNOSING:
        raise UsageError(f"diagnose={diagnose!r}: one of {', '.join(DIAGNOSING)}")
    return diagnose


def run(
    runner: Runner | Distributed,
    vectors: Vectors = None,
    selection: Selection | None = None,
    *,
    name: str,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    allow_extensions: bool = False,
    max_failures: int | None = None,
    expected: ExpectedFailures | None = None,
    floored: Floored | None = None,
    progress: Counts | None = None,
    variations: Wanted = SAMPLE,
    memory: int | None = None,
) -> Report:
    """Return the report of a run by a runner that is open, without likely causes.

    See `check` for the options; `memory` is that of a vector of tier large.
    """
    names = wanted_variations(variations)
    selection = selection or Selection()
    pins = pins_of(profile, require)
    max_failures = _positive(max_failures)
    with opened(vectors, selection.operators) as sources:
        unused = runner.unused(_ids(sources)) if isinstance(runner, StoredResults) else ()
        started, clock = datetime.now(UTC), perf_counter()
        selected = chosen(
            sources, selection.operators, selection.select, selection.tier, selection.shard
        )
        if isinstance(runner, StoredResults):
            selected = _exported(runner, selected)
        if floored is not None:
            whole = chosen(sources, selection.operators, selection.select, selection.tier)
            floored.check(ids_by_operator(whole))
        notes = []
        if unused:
            notes.append(f"{len(unused):,} results are stored for no vector, {unused[0]} for one")
        if selection.tier == LARGE:
            selected, too_large = fitting(selected, memory)
            notes += too_large
        total = sum(len(part.numbers) for part in selected)
        tick = (lambda done: progress(done, total)) if progress else (lambda _: None)
        if isinstance(runner, Distributed):
            tally = runner.run(selected, pins, tick, names)
        else:
            reasons = expected.reasons(_ids(sources))[0] if expected else {}
            counted = failing(allow_extensions=allow_extensions)
            smoke = "--tier smoke, " * (selection.tier != "smoke")
            quicker = f"Quicker: {smoke}--operator NAME, or --jobs 2."
            asked = Run(runner, pins, tick, max_failures, reasons, counted, names, quicker)
            tally = asked.all(selected)
        report = tally.report(
            backend=name,
            vectors=vectors_used(selected),
            required=pins,
            allow_extensions=allow_extensions,
            tier=selection.tier,
            shard=selection.shard or "",
            not_run=sum(map(len, sources)) - len(tally),
            started=started.isoformat(timespec="seconds"),
            seconds=perf_counter() - clock,
            notes=tuple(notes),
        )
        if expected is not None:
            report = expected.applied(report, _ids(sources), _reproduced(report, sources, expected))
    return _finished(report, floored)


def _positive(max_failures: int | None) -> int | None:
    if max_failures is not None and not (isinstance(max_failures, int) and max_failures >= 1):
        raise UsageError(f"max_failures is {max_failures!r}; it must be at least 1")
    return max_failures


def _finished(report: Report, floored: Floored | None) -> Report:
    """Return a report with its floors, or raise it where the run was interrupted."""
    if floored is not None:
        report = floored.applied(report)
    if report.stopped == INTERRUPTED:
        raise Interrupted(report)
    return report


def _exported(results: StoredResults, selected: Sequence[Selected]) -> list[Selected]:
    """Leave out vectors that were not exported: nobody has asked the backend for them."""
    parts = [
        Selected.of(part.source, results.selected(part.source.ids, part.numbers))
        for part in selected
    ]
    if any(len(part.numbers) for part in selected) and not any(len(part.numbers) for part in parts):
        raise UsageError(f"{results.path}: none of the vectors to check is in its index of exports")
    return parts


def _reproduced(
    report: Report, sources: Sequence[Source], expected: ExpectedFailures
) -> dict[str, list[str]]:
    """Return the causes named in a file that reproduce a failure, by the id of its vector."""
    causes = {cause: faults_of(cause) for cause in expected.of(CAUSE)}
    if not causes:
        return {}
    from conformance.diagnosis.of_report import reproduced  # noqa: PLC0415 - only for such lines

    return reproduced(report, sources, causes)


def _ids(sources: Iterable[Source]) -> Iterator[str]:
    return chain.from_iterable(source.ids for source in sources)


def ids_by_operator(selected: Sequence[Selected]) -> dict[str, list[str]]:
    """Return the ids of the vectors that are selected."""
    ids: dict[str, list[str]] = {}
    for part in selected:
        names = ids.setdefault(part.source.operator, [])
        names += [part.source.ids[number] for number in part.numbers.tolist()]
    return ids


def _calling(
    backend: Backend | str, workers: Workers, max_failures: int | None
) -> AbstractContextManager[Runner | Distributed]:
    """Return what calls a backend: here, in workers, or on the machines of an executor."""
    if workers.executor is None:
        return runner_of(
            backend, workers.timeout, workers.memory, workers.jobs, apart=workers.apart
        )
    named = parse_backend(backend) if isinstance(backend, str) else None
    if named is None or named.kind == "results" or max_failures:
        raise UsageError(
            "an executor is for backends named by a text, not for stored results, "
            "and counts no failures: leave out max_failures"
        )
    return nullcontext(Distributed(workers.executor, named.text, workers.timeout, workers.memory))
