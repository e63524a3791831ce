"""Saved reports by engine and release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path

from packaging.version import Version

from conformance.api.releases import Release
from conformance.errors import UsageError
from conformance.record import jsonl
from conformance.record.report import Report

_NO_VERSION = Version("0")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with its releases, the newest first."""

    name: str
    releases: tuple[Release, ...]

    @property
    def newest(self) -> Release:
        """The newest release."""
        return self.releases[0]


def saved_releases(paths: Iterable[Path]) -> dict[Release, Path]:
    """Read saved reports; return what each says, with its path.

    Raises UsageError for two reports of the same release, and what `jsonl.read` raises.
    """
    known: dict[str, Release] = {}
    saved: dict[Release, Path] = {}
    for path in paths:
        release = release_of(jsonl.read(path))
        other = known.setdefault(release.name, release)
        if other is not release:
            raise UsageError(
                f"{saved[other]} and {path} are both of {release.name}: give one of them, "
                "or what merge makes of the shards of a run"
            )
        saved[release] = path
    return saved


def release_of(report: Report) -> Release:
    """Return the release that a report is of.

    Where the report has no version of the engine, it is the minute at which the run began.
    """
    minute = report.started[:16].replace("T", " ")
    return Release.of(report, report.versions.get("engine") or minute or "unknown")


def engines_of(releases: Iterable[Release]) -> tuple[Engine, ...]:
    """Return the engines of releases, by name."""
    ordered = sorted(releases, key=lambda release: (release.backend.lower(), release.backend))
    return tuple(
        Engine(name, tuple(sorted(of_engine, key=_age, reverse=True)))
        for name, of_engine in groupby(ordered, key=lambda release: release.backend)
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
    ids = dict.fromkeys(_in_turn(_failures(release) for _, _, release in releases))
    return [*islice(ids, most)], len(ids)


def _age(release: Release) -> tuple[bool, Version, str]:
    """Return what orders releases: by version, and by the time of the run where that is none."""
    started = release.summary.started
    try:
        return True, Version(release.version), started
    except ValueError:  # no version, or a number of thousands of digits
        return False, _NO_VERSION, started


def _failures(release: Release) -> dict[str, None]:
    """Return the ids of failing vectors, some of every group of failures first."""
    groups = _in_turn(failures.ids for failures in release.groups)
    return dict.fromkeys(chain(groups, filter(release.failures.__contains__, release.verdicts)))


def _in_turn(lists: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the first of all lists, then the second, and so on."""
    return filter(None, chain.from_iterable(zip_longest(*lists)))
