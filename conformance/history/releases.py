"""Releases: their order, which there are, and what one showed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.check.report import FAILURES, Report, Verdict
from conformance.errors import UsageError
from conformance.report.groups import failure_groups
from conformance.text import quoted

_VERSION = re.compile(r"\d[0-9A-Za-z.!+_-]{0,63}")
_PIECE = re.compile(r"\d+|[a-z]+")
_AFTER_ITS_RELEASE = {"post"}


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of one release that are probably one bug, as its report groups them.

    `title` says what went wrong, `shared` are traits that all of them have, and `ids` those of the
    vectors, the one with the least data first.
    """

    title: str
    shared: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Release:
    """What one release showed: the part of its report that a history needs.

    `problem` says why it was not run, and the rest is then empty; a release without a problem and
    without verdicts was left out by bisection. `verdicts` are by id, `failing` are those verdicts
    that are failures, and `groups` sorts them.
    """

    version: str
    problem: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    failing: tuple[Verdict, ...] = FAILURES
    groups: tuple[Group, ...] = ()

    @classmethod
    def of(cls, version: str, report: Report) -> Release:
        """Return what a report says of a release."""
        return cls(
            version,
            verdicts={result.id: result.verdict for result in report.results},
            failing=report.failing,
            groups=tuple(
                Group(
                    _title(report, group.title, [c.number for c in group.causes]),
                    group.shared,
                    tuple(result.id for result in group.results),
                )
                for group in failure_groups(report)
            ),
        )

    @property
    def ran(self) -> bool:
        """Whether there are verdicts."""
        return bool(self.verdicts)

    @cached_property
    def failures(self) -> frozenset[str]:
        """The ids of the vectors that fail."""
        return frozenset(id_ for id_, verdict in self.verdicts.items() if verdict in self.failing)

    @cached_property
    def counts(self) -> Counter[Verdict]:
        """How many vectors have each verdict."""
        return Counter(self.verdicts.values())


def _title(report: Report, title: str, causes: Sequence[int]) -> str:
    """Return the title of a group with the name of the cause that explains most of it."""
    known = [report.diagnoses[number - 1] for number in causes]
    names = [cause.name for cause in known if cause.is_known]
    return f"{title} ({names[0]})" if names else title


def in_order(versions: Sequence[str]) -> list[str]:
    """Return versions, each once, the oldest first; UsageError for a text that is none."""
    for version in versions:
        if not _VERSION.fullmatch(version):
            raise UsageError(f"{quoted(version)} is no version: give one such as 1.20.0")
    return sorted(dict.fromkeys(versions), key=_order)


def _order(version: str) -> list[tuple[int, int, str]]:
    """Return what sorts versions: 1.9 < 1.10.dev1 < 1.10rc1 < 1.10 < 1.10.post1 < 1.10.1."""
    key: list[tuple[int, int, str]] = []
    for piece in _PIECE.findall(version.lower().partition("+")[0]):
        if piece.isdecimal():
            key.append((2, int(piece), ""))
        else:
            key.append((1 if piece in _AFTER_ITS_RELEASE else -1, 0, piece))
    return [*key, (0, 0, version.partition("+")[2])]


def newest(package: str, count: int) -> list[str]:
    """Return the newest releases of a package that there are for this Python, as pip knows them.

    Raises UsageError if pip knows none, or is not there.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip
    listed = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
    if listed is None:
        raise UsageError(f"pip knows no releases of {quoted(package)}: name the versions")
    return in_order([v for v in listed[1].split(", ") if _VERSION.fullmatch(v)][:count])
