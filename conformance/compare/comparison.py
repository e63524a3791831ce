"""What a comparison says: every renderer takes these values, and only these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.check.report import (
    FAILURES,
    Accuracy,
    ClauseReport,
    Report,
    UndefinedReport,
    VectorsUsed,
    Verdict,
)
from conformance.faults.diagnosis import Diagnosis

Counts = Mapping[str, Mapping[str, Counter[Verdict]]]
"""Vectors by operator, element type of the first input, and verdict."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One backend of a comparison.

    `problem` says why it was not run, and then the rest is empty. `version` is that of the
    engine, where it is known. `readings` to `accuracy` are those of its Report, `causes` its
    diagnoses, the one that explains most first. `seconds` is the time spent in the backend for
    the `vectors` that were run, unsupported ones included.
    """

    backend: str
    version: str = ""
    problem: str = ""
    counts: Counts = field(default_factory=dict)
    readings: tuple[ClauseReport, ...] = ()
    undefined: tuple[UndefinedReport, ...] = ()
    accuracy: tuple[Accuracy, ...] = ()
    causes: tuple[Diagnosis, ...] = ()
    seconds: float = 0.0
    vectors: int = 0

    @classmethod
    def of(cls, report: Report, version: str) -> Compared:
        """Keep what a comparison shows of a report."""
        counts: dict[str, dict[str, Counter[Verdict]]] = {}
        for result in report.results:
            by_type = counts.setdefault(result.operator, {})
            by_type.setdefault(result.dtype, Counter())[result.verdict] += 1
        return cls(
            backend=report.backend,
            version=version,
            counts=counts,
            readings=report.readings,
            undefined=report.undefined,
            accuracy=report.accuracy,
            causes=report.diagnoses,
            seconds=report.backend_seconds,
            vectors=len(report.results),
        )

    @property
    def total(self) -> Counter[Verdict]:
        """Vectors by verdict."""
        return sum(map(self.of_operator, self.counts), Counter())

    @property
    def seconds_per_vector(self) -> float:
        """Mean time of a call, which for an isolated backend includes that of passing data."""
        return self.seconds / self.vectors if self.vectors else 0.0

    def of_operator(self, operator: str) -> Counter[Verdict]:
        """Return the vectors of an operator by verdict."""
        return sum(self.counts.get(operator, {}).values(), Counter())

    def of_type(self, operator: str, dtype: str) -> Counter[Verdict]:
        """Return the vectors of an operator and element type by verdict."""
        return self.counts.get(operator, {}).get(dtype, Counter())

    def failures(self) -> Mapping[str, Counter[Verdict]]:
        """Return what went wrong, by operator, of those where something did."""
        wrong = {
            operator: Counter(
                {v: n for v, n in self.of_operator(operator).items() if v in FAILURES}
            )
            for operator in self.counts
        }
        return {operator: counts for operator, counts in wrong.items() if counts}


class InterruptedComparison(KeyboardInterrupt):
    """The user stopped a comparison; `comparison` holds what was done."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("interrupted")
        self.comparison = comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """Backends over the same vectors, in the order they were named.

    `vectors` says where these came from, `count` how many were selected, `started` when the first
    run began (UTC, ISO 8601), and `platform` on what kind of machine.
    """

    backends: tuple[Compared, ...]
    vectors: tuple[VectorsUsed, ...]
    tier: str
    count: int
    started: str
    platform: str
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ran(self) -> tuple[Compared, ...]:
        """The backends that were run."""
        return tuple(each for each in self.backends if not each.problem)

    @property
    def missing(self) -> tuple[Compared, ...]:
        """The backends that could not be run."""
        return tuple(each for each in self.backends if each.problem)

    def cells(self) -> list[tuple[str, list[str]]]:
        """Return each operator that was run with its element types."""
        found: dict[str, dict[str, None]] = {}
        for each in self.ran:
            for operator, by_type in each.counts.items():
                found.setdefault(operator, {}).update(dict.fromkeys(by_type))
        return [(operator, list(types)) for operator, types in found.items()]
