"""Releases: their order, which there are, and what one showed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from conformance.errors import UsageError
from conformance.process import Launch, run_command
from conformance.record.report import FAILURES, Report, Verdict
from conformance.report.groups import failure_groups
from conformance.text import quoted

_LONGEST = 64
"""Characters of a version, which is part of the name of a file."""


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
        if not is_version(version):
            raise UsageError(f"{quoted(version)} is no version: give one such as 1.20.0")
    return sorted(dict.fromkeys(versions), key=Version)


def is_version(text: str) -> bool:
    """Say whether a text is a version as packages have it, without spaces."""
    try:
        Version(text)
    except InvalidVersion:
        return False
    return text == text.strip() and len(text) <= _LONGEST


def is_package(text: str) -> bool:
    """Say whether a text is the name of a package, with extras or without, and nothing else."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return False
    others = (requirement.specifier, requirement.url, requirement.marker)
    return text == text.strip() and not any(others)


def newest(package: str, count: int) -> list[str]:
    """Return the newest releases of a package that there are for this Python, as pip knows them.

    Raises UsageError if pip knows none, or is not there.
    """
    name = Requirement(package).name  # pip looks for no extra there
    output = run_command(Launch((sys.executable, "-m", "pip", "index", "versions", name))).output
    listed = re.search(r"^Available versions: (.+)$", output.decode(errors="replace"), re.MULTILINE)
    if listed is None:
        raise UsageError(f"pip knows no releases of {quoted(package)}: name the versions")
    return in_order([v for v in listed[1].split(", ") if is_version(v)][:count])
