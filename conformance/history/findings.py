"""In which release each group of failures came or went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from conformance.history.releases import Group, Release

_NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Change:
    """Vectors of one finding that fail in one of two releases, and not in the other.

    `version` was run next after `before`. `came` says that they fail in `version`; `others` counts
    their verdicts in the other of the two.
    """

    version: str
    before: str
    came: bool
    ids: tuple[str, ...]
    others: Counter[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """Vectors that fail for one reason, in some releases.

    `group` is that of the newest release in which they fail, with all of the ids. `failing` are
    how many of them fail in each release that was run, the oldest first, and `changes` are
    what came and went from one to the next.
    """

    group: Group
    failing: tuple[int, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class History:
    """The releases of the package of a backend, the oldest first, over vectors of a tier.

    `platform` says on what kind of machine.
    """

    backend: str
    package: str
    tier: str
    releases: tuple[Release, ...]
    platform: str = ""

    @property
    def ran(self) -> tuple[Release, ...]:
        """The releases that were run."""
        return tuple(release for release in self.releases if release.ran)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The groups of failures, those of the newest release first."""
        return tuple(_findings(self.ran))


def _findings(releases: Sequence[Release]) -> Iterator[Finding]:
    """Yield the failures of some releases, each vector in the last group that it was in."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    known: set[str] = set()
    for release in reversed(releases):
        for group in release.groups:
            new = [vector_id for vector_id in group.ids if vector_id not in known]
            if new:
                groups.setdefault((group.title, group.shared), []).extend(new)
                known.update(new)
    failures = [release.failures for release in releases]
    for (title, shared), ids in groups.items():
        yield Finding(
            Group(title, shared, tuple(ids)),
            tuple(len(failing.intersection(ids)) for failing in failures),
            tuple(change for pair in pairwise(releases) for change in _changes(pair, ids)),
        )


def _changes(pair: tuple[Release, Release], ids: Sequence[str]) -> Iterator[Change]:
    """Yield which of some vectors came and went from a release to the next."""
    before, after = pair
    for came, (other, failing) in ((True, (before, after)), (False, (after, before))):
        there, elsewhere = failing.failures, other.failures
        changed = tuple(each for each in ids if each in there and each not in elsewhere)
        if changed:
            verdicts = Counter(str(other.verdicts.get(each, _NOT_RUN)) for each in changed)
            yield Change(after.version, before.version, came, changed, verdicts)
