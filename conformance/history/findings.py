"""In which release each group of failures came or went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from conformance.api.releases import Failures, Release

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
class FailureHistory:
    """Vectors that fail for one reason, in some releases.

    `group` joins those with one title, a vector being in that of the newest release in which it
    fails. `failing` are how many of the vectors fail in each release that was run, the oldest
    first, and `changes` are what came and went from one to the next.
    """

    group: Failures
    failing: tuple[int, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class History:
    """The releases of the package of a backend, the oldest first, over vectors of a tier.

    `left_out` are versions that a bisection has not asked for. `platform` says on what kind of
    machine.
    """

    backend: str
    package: str
    tier: str
    releases: tuple[Release, ...]
    left_out: tuple[str, ...] = ()
    platform: str = ""

    @property
    def ran(self) -> tuple[Release, ...]:
        """The releases that were run."""
        return tuple(release for release in self.releases if not release.problem)

    @cached_property
    def findings(self) -> tuple[FailureHistory, ...]:
        """The groups of failures, those of the newest release first."""
        return tuple(_findings(self.ran))


def _findings(releases: Sequence[Release]) -> Iterator[FailureHistory]:
    """Yield the failures of some releases, each vector in the last group that it was in."""
    titles: dict[str, list[str]] = {}
    known: set[str] = set()
    for release in reversed(releases):
        for title, ids in release.groups:
            new = [vector_id for vector_id in ids if vector_id not in known]
            known.update(new)
            if new:
                titles.setdefault(title, []).extend(new)
    for group in (Failures(title, tuple(ids)) for title, ids in titles.items()):
        yield FailureHistory(
            group,
            tuple(len(release.failures.intersection(group.ids)) for release in releases),
            tuple(change for pair in pairwise(releases) for change in _changes(pair, group.ids)),
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
