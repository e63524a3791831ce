"""Releases of an engine: what a report says of each, small enough that many fit into memory."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from conformance.api.failure_groups import FailureGroup, failure_groups
from conformance.record.report import NOTHING_RUN, Report, Verdict

Counts = Mapping[str, Mapping[str, Counter[Verdict]]]
"""Vectors by operator, element type of the first input, and verdict."""


class Failures(NamedTuple):
    """Failures of one release that are probably one bug, as its report groups them.

    `title` says what went wrong, with the cause that explains most of it, and `ids` name the
    vectors, the one with the least data first.
    """

    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Release:
    """What one release of an engine, or any other backend, showed in a run.

    `version` is that of the engine, "" where it is not known. `problem` says why it was not run;
    there is nothing else of it then. `summary` is its report without the results, which of many
    releases would not fit into memory, and `ok` whether that conforms. Of the results, `verdicts`
    has those by id, `counts` how many there are, and `groups` the failures that nobody expected.
    """

    backend: str
    version: str = ""
    problem: str = ""
    summary: Report = NOTHING_RUN
    ok: bool = False
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)
    groups: tuple[Failures, ...] = ()

    @classmethod
    def of(cls, report: Report, version: str = "") -> Release:
        """Return what a report says of a release, by default of the version that it names."""
        counts: dict[str, dict[str, Counter[Verdict]]] = {}
        for result in report.results:
            by_type = counts.setdefault(result.operator, {})
            by_type.setdefault(result.dtype, Counter())[result.verdict] += 1
        return cls(
            report.backend,
            version or report.versions.get("engine", ""),
            summary=replace(report, results=()),
            ok=report.ok,
            # All releases have the same ids.
            verdicts={sys.intern(result.id): result.verdict for result in report.results},
            counts=counts,
            groups=tuple(
                Failures(_title(report, group), tuple(result.id for result in group.results))
                for group in failure_groups(report)
            ),
        )

    @property
    def name(self) -> str:
        """The backend and its version."""
        return f"{self.backend} {self.version}"

    @property
    def failing(self) -> tuple[Verdict, ...]:
        """The verdicts that are failures."""
        return self.summary.failing

    @cached_property
    def failures(self) -> frozenset[str]:
        """The ids of the vectors that fail, of expected failures too."""
        failing = self.failing
        return frozenset(id_ for id_, verdict in self.verdicts.items() if verdict in failing)

    @property
    def total(self) -> Counter[Verdict]:
        """Vectors by verdict."""
        return self.of_operators(self.counts)

    @property
    def seconds_per_vector(self) -> float:
        """Mean time of a call, which for an isolated backend includes that of passing data."""
        vectors = self.total.total()
        return self.summary.backend_seconds / vectors if vectors else 0.0

    def of_operator(self, operator: str) -> Counter[Verdict]:
        """Return the vectors of an operator by verdict."""
        return sum(self.counts.get(operator, {}).values(), Counter())

    def of_operators(self, operators: Iterable[str]) -> Counter[Verdict]:
        """Return the vectors of some operators by verdict."""
        return sum(map(self.of_operator, operators), Counter())

    def of_type(self, operator: str, dtype: str) -> Counter[Verdict]:
        """Return the vectors of an operator and element type by verdict."""
        return self.counts.get(operator, {}).get(dtype, Counter())

    def failures_by_operator(self) -> Mapping[str, Counter[Verdict]]:
        """Return the failures of each operator that has any, by verdict."""
        failures = {
            name: Counter({v: n for v, n in self.of_operator(name).items() if v in self.failing})
            for name in self.counts
        }
        return {name: counts for name, counts in failures.items() if counts}


def _title(report: Report, group: FailureGroup) -> str:
    """Return the title of a group with the name of the known cause that explains most of it."""
    causes = (report.diagnoses[link.number - 1] for link in group.causes)
    name = next((cause.name for cause in causes if cause.is_known), "")
    return f"{group.title} ({name})" if name else group.title
