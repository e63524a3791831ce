"""Saved reports by engine and release, each without the vectors that conform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path

from packaging.version import Version

from conformance.api.compare import Compared
from conformance.api.diff import VERSION, Setting, settings
from conformance.errors import UsageError
from conformance.record import jsonl
from conformance.record.report import Report, Verdict
from conformance.report.groups import failure_groups, round_robin

_NO_VERSION = Version("0")


@dataclass(frozen=True, slots=True)
class SavedRelease:
    """What a saved report says of one release of an engine.

    `version` is that of the engine; where the report has none, the minute at which the run began.
    `compared` is its part of a comparison, under the name of engine and release. `failing` are the
    verdicts that are failures, and `failures` the ids of failing vectors, some of every group of
    failures first. `settings` are those that reports have to share for their numbers to be
    comparable, by names for messages.
    """

    path: Path
    engine: str
    version: str
    ok: bool
    complete: bool
    tier: str
    started: str
    compared: Compared
    failing: tuple[Verdict, ...]
    failures: tuple[str, ...]
    settings: Mapping[Setting, str]

    @classmethod
    def read(cls, path: Path) -> SavedRelease:
        """Read a report; raises as `jsonl.read` does."""
        report = jsonl.read(path)
        version = report.versions.get("engine") or report.started[:16].replace("T", " ")
        release = cls(
            path=path,
            engine=report.backend,
            version=version or "unknown",
            ok=report.ok,
            complete=report.complete,
            tier=report.tier,
            started=report.started,
            compared=Compared.of(report, version),
            failing=report.failing,
            failures=tuple(dict.fromkeys(_failures(report))),
            settings={
                setting: value
                for setting, value in settings(report).items()
                if setting.what not in {"backend", VERSION}
            },
        )
        return replace(release, compared=replace(release.compared, backend=release.name))

    @property
    def name(self) -> str:
        """The engine and its version."""
        return f"{self.engine} {self.version}"

    def report(self) -> Report:
        """Read the whole report again: those of many releases would not fit into memory."""
        return jsonl.read(self.path)


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with its releases, the newest first."""

    name: str
    releases: tuple[SavedRelease, ...]

    @property
    def newest(self) -> SavedRelease:
        """The newest release."""
        return self.releases[0]


def engines_of(paths: Iterable[Path]) -> tuple[Engine, ...]:
    """Read saved reports; return the engines by name.

    Raises UsageError for two reports of the same release, and what `jsonl.read` raises.
    """
    known: dict[str, SavedRelease] = {}
    for path in paths:
        release = SavedRelease.read(path)
        other = known.setdefault(release.name, release)
        if other is not release:
            raise UsageError(
                f"{other.path} and {path} are both of {release.name}: give one of them, "
                "or what merge makes of the shards of a run"
            )
    ordered = sorted(known.values(), key=lambda release: (release.engine.lower(), release.engine))
    return tuple(
        Engine(name, tuple(sorted(releases, key=_age, reverse=True)))
        for name, releases in groupby(ordered, key=lambda release: release.engine)
    )


def failing_ids(engines: Sequence[Engine], most: int) -> tuple[list[str], int]:
    """Return ids of vectors that somebody fails, at most so many, and how many there are.

    Each release names one in turn, the newest of every engine first.
    """
    releases = sorted(
        (place, number, release)
        for number, engine in enumerate(engines)
        for place, release in enumerate(engine.releases)
    )
    in_turn = zip_longest(*(release.failures for _, _, release in releases))
    ids = dict.fromkeys(filter(None, chain.from_iterable(in_turn)))
    return [*islice(ids, most)], len(ids)


def _age(release: SavedRelease) -> tuple[bool, Version, str]:
    """Return what orders releases: by version, and by the time of the run where that is none."""
    try:
        return True, Version(release.version), release.started
    except ValueError:  # no version, or a number of thousands of digits
        return False, _NO_VERSION, release.started


def _failures(report: Report) -> Iterator[str]:
    for _, result in round_robin(failure_groups(report)):
        yield result.id
    for result in report.results:
        if result.expected and result.verdict in report.failing:
            yield result.id
