"""A check on a Dask cluster: its shards are tasks, and `merge` joins their reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from time import perf_counter

from conformance.api.check import (
    CheckPlan,
    calling,
    run,
    searched,
    start_of,
    with_causes,
)
from conformance.api.merge import merge
from conformance.backends import Backend
from conformance.backends.named_backend import NamedBackend, parsed
from conformance.backends.program.pickling import pickled, unpickled
from conformance.backends.results.stored_results import StoredResults
from conformance.cluster import connected, written
from conformance.errors import UsageError
from conformance.judging.tally import INTERRUPTED, vectors_used
from conformance.progress import Counts
from conformance.record.report import Interrupted, Report
from conformance.vectorfile import VectorFile
from conformance.vectorfile.older_vectors import older_vectors
from conformance.vectorfile.sources import Selected, Source, chosen

_SHARDS_PER_THREAD = 2
"""Whoever is done early has another shard; but each starts the backend and decodes whole files."""


@dataclass(frozen=True, slots=True)
class _Check:
    """What every worker is asked; the backend is a text, or a callable that was `pickled`.

    `operators` are those of which there are vectors, in files or, of older versions, in others'.
    """

    backend: str | bytes
    name: str
    plan: CheckPlan
    operators: frozenset[str]

    @property
    def callee(self) -> Backend | NamedBackend:
        """The backend, on a worker."""
        return parsed(unpickled(self.backend) if isinstance(self.backend, bytes) else self.backend)


def check_on_cluster(
    backend: Backend | NamedBackend,
    sources: Sequence[Source],
    plan: CheckPlan,
    *,
    name: str,
    progress: Counts | None = None,
) -> Report:
    """Return the report of a check on the cluster that its settings name; see `check`."""
    settings = plan.settings
    assert settings.cluster is not None
    files = [source for source in sources if isinstance(source, VectorFile)]
    if len(files) < len(sources):
        raise UsageError("vectors in memory cannot be run elsewhere: give a vector file")
    if isinstance(backend, StoredResults) or getattr(backend, "kind", "") == "results":
        raise UsageError("stored results are looked up here: leave out cluster")
    if settings.max_failures or settings.shard:
        raise UsageError("a cluster runs every shard: leave out shard and max_failures")
    text = backend.text if isinstance(backend, NamedBackend) else pickled(backend)
    there = replace(plan, settings=replace(settings, cluster=None, isolate=True))
    selected = chosen(files, settings.operators, settings.select, settings.tier)
    total = sum(len(part.numbers) for part in selected)
    began = perf_counter()
    with connected(settings.cluster) as cluster:
        for file in files:
            file.check()  # here, not in every task
        asked = _Check(text, name, there, frozenset(file.operator for file in files))
        paths = list(dict.fromkeys(file.path for file in files))
        everywhere = asked, cluster.shared(paths)
        count = max(1, min(total, _SHARDS_PER_THREAD * cluster.threads))
        shards = [f"{number}/{count}" for number in range(1, count + 1)]
        reports, stopped = _by_name(cluster.completed(_run, shards, *everywhere), total, progress)
        report = replace(_as_here(merge(reports), selected), seconds=perf_counter() - began)
        if stopped:
            raise Interrupted(replace(report, stopped=INTERRUPTED))

        def search(report: Report) -> Report:
            ((_, found),) = cluster.completed(_search, [(report, count)], *everywhere)
            return found

        return with_causes(report, settings, search)


def _as_here(report: Report, selected: Sequence[Selected]) -> Report:
    """Return a merged report with the paths of the files here, and its results in their order.

    Vectors that are skipped leave gaps in shards, so that these alone do not tell the order.
    """
    paths = {used.operator: used.path for used in vectors_used(selected)}
    vectors = tuple(replace(used, path=paths[used.operator]) for used in report.vectors)
    ids = chain.from_iterable(part.source.ids for part in selected)
    place = {vector_id: place for place, vector_id in enumerate(ids)}
    results = sorted(report.results, key=lambda result: place[result.id])
    skips = report.skips and replace(
        report.skips, vectors=tuple(sorted(report.skips.vectors, key=lambda each: place[each.id]))
    )
    return replace(report, vectors=vectors, results=tuple(results), skips=skips)


def _by_name(
    completed: Iterator[tuple[str, Report]], total: int, progress: Counts | None
) -> tuple[dict[str, Report], bool]:
    """Return the reports of shards by their names, and whether an interrupt left some out."""
    reports: dict[str, Report] = {}
    try:
        for shard, report in completed:
            reports[f"shard {shard}"] = report
            if progress is not None:
                progress(sum(len(each.results) for each in reports.values()), total)
    except KeyboardInterrupt:
        if not reports:
            raise
        return reports, True
    return reports, False


def _run(shard: str, check: _Check, contents: Sequence[bytes]) -> Report:
    """Return the report of a shard, on a worker."""
    settings = replace(check.plan.settings, shard=shard)
    plan = replace(check.plan, settings=settings)
    with _opened(check, contents) as files, calling(check.callee, settings) as runner:
        runner.ready()
        return run(runner, files, plan, name=check.name)


def _search(merged: tuple[Report, int], check: _Check, contents: Sequence[bytes]) -> Report:
    """Return a report of so many shards with its causes, on a worker, where the backend is."""
    (report, shards), settings, backend = merged, check.plan.settings, check.callee
    with _opened(check, contents) as files, calling(backend, settings) as runner:
        start = start_of(backend, runner, settings)
        return searched(report, files, runner, start, settings, shards=shards)


@contextmanager
def _opened(check: _Check, contents: Sequence[bytes]) -> Iterator[list[VectorFile]]:
    """Yield vector files with some contents, which were checked before they were sent."""
    with written(contents) as paths:
        files = [VectorFile(path, unchanged=True) for path in paths]
        every = [*files, *older_vectors(files)]
        yield [file for file in every if file.operator in check.operators]
