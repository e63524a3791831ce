"""Several backends over the same vectors, side by side. It describes; `check` judges."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from conformance.api.check import CheckPlan, check, ids_by_operator
from conformance.api.releases import Release
from conformance.backends import Backend, engine_version
from conformance.errors import UsageError
from conformance.judging.tally import vectors_used
from conformance.operators import operator_named
from conformance.progress import Progress, counts_of
from conformance.record.report import Report, Skips, VectorsUsed, Verdict, failing
from conformance.reveal import RevealedAverage, is_revealable, reveal
from conformance.settings import Settings
from conformance.vectorfile.sources import Vectors, chosen, opened
from conformance.version import __version__


class InterruptedComparison(KeyboardInterrupt):
    """The user stopped a comparison; `comparison` has the backends that were run before."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("interrupted")
        self.comparison = comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """Backends over the same vectors, in the order they were named.

    `vectors` says where these came from, `count` how many were selected, `started` when the first
    run began (UTC, ISO 8601), and `platform` on what kind of machine. Where the backends may
    `allow_extensions`, accepting what is invalid is no failure. `skips` are vectors that were
    selected too, and called in no backend. `arithmetic` says, by the name of a backend, how it
    computes an average in float32, if that was asked for and it computes one.
    """

    backends: tuple[Release, ...]
    vectors: tuple[VectorsUsed, ...]
    tier: str
    count: int
    started: str
    platform: str
    versions: Mapping[str, str] = field(default_factory=dict)
    allow_extensions: bool = False
    skips: Skips | None = None
    arithmetic: Mapping[str, RevealedAverage] = field(default_factory=dict)

    @property
    def failing(self) -> tuple[Verdict, ...]:
        """The verdicts that are failures."""
        return failing(allow_extensions=self.allow_extensions)

    @property
    def ran(self) -> tuple[Release, ...]:
        """The backends that were run."""
        return tuple(backend for backend in self.backends if not backend.problem)

    @property
    def missing(self) -> tuple[Release, ...]:
        """The backends that could not be run."""
        return tuple(backend for backend in self.backends if backend.problem)

    def cells(self) -> list[tuple[str, list[str]]]:
        """Return each operator that was run with its element types."""
        types: dict[str, dict[str, None]] = {}
        for backend in self.ran:
            for operator, by_type in backend.counts.items():
                types.setdefault(operator, {}).update(dict.fromkeys(by_type))
        return [(operator, list(names)) for operator, names in types.items()]


def compare(
    backends: Sequence[str] | Mapping[str, Backend | str],
    vectors: Vectors = None,
    settings: Settings | None = None,
    *,
    arithmetic: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Run several backends over the same vectors and compare their reports.

    `backends` are names as `load_backend` takes them, or a mapping from the names to show to such
    names or callables. `vectors`, `settings` and `options` are those of `check`. With
    `arithmetic`, it is revealed how each backend computes an average, as `reveal` does. A backend
    that cannot be loaded is in the comparison with its `problem`. `progress(backend, done, total)`
    is called while a backend runs.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, and InterruptedComparison on Ctrl-C.
    """
    named = backends if isinstance(backends, Mapping) else _by_name(backends)
    if not named:
        raise UsageError("no backends to compare")
    settings = Settings.of(settings, options)
    plan = CheckPlan.of(settings)
    releases: list[Release] = []
    averages: dict[str, RevealedAverage] = {}
    stopped = False
    with opened(vectors, settings.operators) as sources:
        selected = chosen(sources, settings.operators, settings.select, settings.tier)
        if plan.floors is not None:
            plan.floors.check(ids_by_operator(selected))
        selected, skips = plan.without_skipped(sources, selected)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            for name, backend in named.items():
                version = engine_version(backend) if isinstance(backend, str) else ""
                told = counts_of(progress, name)
                try:
                    report = check(backend, sources, settings, name=name, progress=told)
                except UsageError as error:
                    # The other arguments were checked above, so the backend is wrong.
                    releases.append(Release(name, version, str(error)))
                    continue
                if arithmetic and (revealed := _arithmetic(backend, report, settings)):
                    averages[name] = revealed
                releases.append(Release.of(report, version))
        except KeyboardInterrupt:
            stopped = True
            not_run = list(named)[len(releases) :]
            releases += [Release(name, problem="interrupted") for name in not_run]
    comparison = Comparison(
        backends=tuple(releases),
        vectors=vectors_used(selected),
        tier=settings.tier,
        count=sum(len(part.numbers) for part in selected),
        started=started,
        versions={"conformance": __version__, "python": platform.python_version()},
        platform=f"{platform.system()} {platform.machine()}",
        allow_extensions=settings.allow_extensions,
        skips=skips,
        arithmetic=averages,
    )
    if stopped:
        raise InterruptedComparison(comparison)
    return comparison


def _arithmetic(
    backend: Backend | str, report: Report, settings: Settings
) -> RevealedAverage | None:
    """Return how a backend computes the first average that it was right on in float32."""
    names = (
        result.operator
        for result in report.results
        if (result.verdict, result.dtype) == ("conforms", "float32")
        and is_revealable(operator_named(result.operator))
        and operator_named(result.operator).reduction.divides
    )
    name = next(names, None)
    if name is None:
        return None
    try:
        revealed = reveal(
            backend,
            [],
            operators=[name],
            dtypes=["float32"],
            timeout=settings.timeout,
            memory=settings.memory,
            isolate=settings.apart,
        )
    except UsageError:  # such as one that was stopped, or stored results: these answer no new calls
        return None
    return next(iter(revealed.averages), None)


def _by_name(specs: Sequence[str]) -> dict[str, Backend | str]:
    if isinstance(specs, str):
        raise UsageError(f"backends is the text {specs!r}: give a list of names")
    for spec in specs:
        if specs.count(spec) > 1:
            raise UsageError(f"backend {spec!r} is named twice")
    return dict(zip(specs, specs, strict=True))
