"""The public `check`: a run, and for its failures the likely causes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from time import perf_counter
from typing import Any

from conformance.api.expected_failures import CAUSE, ExpectedFailures
from conformance.api.floors import SupportFloors
from conformance.api.large import check_large, fitting
from conformance.api.skips import Skipping
from conformance.backends import Backend
from conformance.backends.choose_runner import runner_of
from conformance.backends.fresh_starts import Start, fresh_starts_of
from conformance.backends.named_backend import NamedBackend, name_of, parsed
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import Runner
from conformance.backends.variations import wanted_variations
from conformance.cases.large import large_sources
from conformance.errors import UsageError
from conformance.judging.profiles import pins_of
from conformance.judging.run import Run
from conformance.judging.tally import INTERRUPTED, vectors_used
from conformance.progress import Counts, Found, from_counts
from conformance.record.report import SEARCH_INTERRUPTED, Interrupted, Report, Skips, failing
from conformance.record.why import Raised
from conformance.settings import LARGE, NONE, TIERS, Settings
from conformance.vectorfile.sources import Selected, Source, Vectors, chosen, opened

_ARGUMENTS = re.compile(r"positional arguments?\b|takes no arguments|unexpected keyword argument")
"""What Python says of a call that a function cannot take."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Settings, with what their texts and files say; UsageError for what is wrong there."""

    settings: Settings
    floors: SupportFloors | None
    pins: Mapping[str, str]
    expected: ExpectedFailures | None
    skip: Skipping | None
    variations: Sequence[str] | None

    @property
    def alone(self) -> CheckPlan:
        """What is asked of one vector, of which nobody says that it is expected to fail."""
        settings = replace(self.settings, operators=None, select=None, shard=None, tier=TIERS[-1])
        return replace(self, settings=settings, expected=None, skip=None, floors=None)

    def without_skipped(
        self, sources: Sequence[Source], selected: list[Selected]
    ) -> tuple[list[Selected], Skips | None]:
        """Return what is run of what is selected, and what is skipped, None without a file."""
        if self.skip is None:
            return selected, None
        asked = bool(self.settings.operators_asked)
        return self.skip.applied(sources, selected, self.pins, of_some=asked)

    @classmethod
    def of(cls, settings: Settings) -> CheckPlan:
        """Look at settings: whatever the backend is, they are wrong or right."""
        path, further = settings.expected_failures, settings.skip
        expected = None if path is None else ExpectedFailures.read(path)
        to_skip = None
        if further is not None:
            to_skip = ExpectedFailures.read(further, "file of vectors to skip")
        return cls(
            settings,
            SupportFloors.parse(settings),
            pins_of(settings.profile, settings.require),
            expected,
            Skipping.of(expected, to_skip),
            wanted_variations(settings.variations),
        )


def check(
    backend: Backend | str,
    vectors: Vectors = None,
    settings: Settings | None = None,
    *,
    name: str | None = None,
    progress: Counts | None = None,
    found: Found | None = None,
    **options: Any,
) -> Report:
    """Run a backend over vectors and report which of its answers conform, and why others do not.

    `backend` is a callable, or a text as `load_backend` takes it. `vectors` is a vector file, a
    directory of them, an open VectorFile or VectorSet, a sequence of Vector, or None for the
    suite this package ships. `settings` and `options` say what is asked: the fields of `Settings`
    are keywords, too, and change those that are given; `check(backend, tier="smoke")` will do.
    `name` is what the report calls the backend. `progress(done, total)` is called now and then, and
    `found(words)` for each likely cause when experiments have confirmed it.

    Tier "large" is in no file: its vectors are made one by one as they are run. There, `memory` is
    what a vector may need, by default what the machine has free; what needs more is left out and
    counted. Where memory runs out all the same, the run is incomplete. No causes are searched for,
    and nothing is called twice.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, ResultFileError for stored results that are not, and Interrupted
    on Ctrl-C.
    """
    settings, called = Settings.of(settings, options), parsed(backend)
    if settings.tier == LARGE:
        check_large(called, settings)
        if vectors is not None:
            raise UsageError("tier large is made as it is run: leave out the vectors")
        vectors = large_sources()
        settings = replace(settings, diagnose="none", variations=NONE)
    plan = CheckPlan.of(settings)
    named = name or (backend if isinstance(backend, str) else name_of(backend))
    if settings.cluster is not None:
        from conformance.api.check_on_cluster import check_on_cluster  # noqa: PLC0415 - rarely used

        with opened(vectors, settings.operators) as sources:
            return check_on_cluster(called, sources, plan, name=named, progress=progress)
    with (
        calling(called, settings) as runner,
        opened(vectors, settings.operators) as sources,
    ):
        runner.ready()  # an engine's start is not the time of its vectors
        # Now: what is called in this process may be another after the run.
        start = start_of(called, runner, settings)
        report = run(runner, sources, plan, name=named, progress=progress)

        def search(report: Report) -> Report:
            return searched(
                report, sources, runner, start, settings, progress=progress, found=found
            )

        return with_causes(report, settings, search)


def start_of(backend: Backend | NamedBackend, runner: Runner, settings: Settings) -> Start | None:
    """Return what starts fresh copies of a backend for the search for causes, None if none are."""
    if settings.diagnosing != "proven" or isinstance(runner, StoredResults):
        return None
    return fresh_starts_of(backend, settings.timeout, settings.memory)


def searched(
    report: Report,
    sources: Sequence[Source],
    runner: Runner,
    start: Start | None,
    settings: Settings,
    *,
    shards: int = 1,
    progress: Counts | None = None,
    found: Found | None = None,
) -> Report:
    """Return a report of so many shards with what a search finds; see `explained`."""
    from conformance.diagnosis.of_report import explained  # noqa: PLC0415 - only for failures

    return explained(
        report,
        sources,
        runner=runner if settings.diagnosing == "proven" else None,
        start=start,
        workers=settings.jobs * shards,
        seconds=settings.diagnose_seconds,
        progress=from_counts(progress),
        found=found,
    )


def with_causes(report: Report, settings: Settings, search: Callable[[Report], Report]) -> Report:
    """Return a report with the likely causes that a search finds, if they are asked for.

    Raises Interrupted if the search is, with those that were found by then.
    """
    if report.ok or settings.diagnosing == "none":
        return report
    began = perf_counter()
    try:
        return _timed(search(report), began)
    except Interrupted as stop:
        raise Interrupted(_timed(stop.report, began)) from None
    except KeyboardInterrupt:
        raise Interrupted(replace(report, notes=(*report.notes, SEARCH_INTERRUPTED))) from None


def _timed(report: Report, began: float) -> Report:
    """Add the time since then to a report."""
    return replace(report, seconds=report.seconds + perf_counter() - began)


def run(
    runner: Runner,
    vectors: Vectors = None,
    plan: CheckPlan | None = None,
    *,
    name: str,
    progress: Counts | None = None,
) -> Report:
    """Return the report of a run by a runner that is open, without likely causes; see `check`."""
    plan = plan or CheckPlan.of(Settings())
    settings, expected, floors = plan.settings, plan.expected, plan.floors
    with opened(vectors, settings.operators) as sources:
        unused = runner.unused(_ids(sources)) if isinstance(runner, StoredResults) else ()
        started, clock = datetime.now(UTC), perf_counter()
        selected = chosen(
            sources, settings.operators, settings.select, settings.tier, settings.shard
        )
        held, tier, operators = sources, settings.tier, settings.operators_asked
        if isinstance(runner, StoredResults):
            selected = _asked(runner, selected)
            held, tier = runner.exported(sources, tier)
            if len(held) < len(sources):
                operators = tuple(dict.fromkeys(source.operator for source in held))
        if floors is not None:
            whole = chosen(sources, settings.operators, settings.select, settings.tier)
            floors.check(ids_by_operator(whole))
        selected, skips = plan.without_skipped(sources, selected)
        notes = []
        if unused:
            notes.append(f"{len(unused):,} results are stored for no vector, {unused[0]} for one")
        if settings.tier == LARGE:
            selected, too_large = fitting(selected, settings.memory)
            notes += too_large
        total = sum(len(part.numbers) for part in selected)
        tick = (lambda done: progress(done, total)) if progress else (lambda _: None)
        announced = expected.announced(_ids(sources))[0] if expected else {}
        smoke = "--tier smoke, " * (settings.tier != "smoke")
        tally = Run(
            runner,
            plan.pins,
            tick,
            settings.max_failures,
            announced,
            failing(allow_extensions=settings.allow_extensions),
            plan.variations,
            f"Quicker: {smoke}--operator NAME, or --jobs 2.",
        ).all(selected)
        report = tally.report(
            [part.source for part in selected],
            plan.pins,
            backend=name,
            vectors=vectors_used([part for part in selected if part.source in held]),
            allow_extensions=settings.allow_extensions,
            operators=operators,
            tier=tier,
            shard=settings.shard or "",
            not_run=sum(map(len, held)) - len(tally),
            started=started.isoformat(timespec="seconds"),
            seconds=perf_counter() - clock,
            notes=tuple(notes),
            skips=skips,
        )
        _refuse_wrong_signature(report)
        if expected is not None:
            report = expected.applied(report, _ids(sources), _reproduced(report, sources, expected))
    return _finished(report, floors)


def _refuse_wrong_signature(report: Report) -> None:
    """Raise UsageError where every call raised that the backend takes other arguments.

    Such a backend refuses what is invalid, which would count as right.
    """
    if not report.counts["error"]:
        return
    said = ""
    for result in report.results:
        why = result.why
        if not isinstance(why, Raised) or why.type != "TypeError":
            return
        if not _ARGUMENTS.search(why.text) or why.text != (said or why.text):
            return
        said = why.text
    if said:
        raise UsageError(
            f"a backend is called as (operator, inputs, attributes), and every call raised: {said}"
        )


def _finished(report: Report, floors: SupportFloors | None) -> Report:
    """Return a report with its floors, or raise it where the run was interrupted."""
    if floors is not None:
        report = floors.applied(report)
    if report.stopped == INTERRUPTED:
        raise Interrupted(report)
    return report


def _asked(results: StoredResults, selected: Sequence[Selected]) -> list[Selected]:
    """Leave out vectors that the backend was not asked for: nobody expects a result of them."""
    parts = [
        Selected.of(part.source, results.selected(part.source.ids, part.numbers), part.shards)
        for part in selected
    ]
    if any(len(part.numbers) for part in selected) and not any(len(part.numbers) for part in parts):
        raise UsageError(f"{results.path}: none of the vectors to check is among its ids")
    return parts


def _reproduced(
    report: Report, sources: Sequence[Source], expected: ExpectedFailures
) -> dict[str, list[str]]:
    """Return the causes named in a file that reproduce a failure, by the id of its vector."""
    causes = expected.of(CAUSE)
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


def calling(backend: Backend | NamedBackend, settings: Settings) -> AbstractContextManager[Runner]:
    """Return what calls a backend: this process, or workers."""
    # In tier large, memory is what a vector may need, and no limit.
    if settings.tier == LARGE:
        settings = replace(settings, memory=None)
    return runner_of(
        backend, settings.timeout, settings.memory, settings.jobs, apart=settings.apart
    )
