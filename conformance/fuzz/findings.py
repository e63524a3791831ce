"""What a search found: every renderer takes these values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.errors import ConformanceError
from conformance.record.report import ClauseReport, Diagnosis, Result, Verdict
from conformance.vector import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One cause of failures, by the smallest vector that shows it.

    `result` is the verdict on it. `diagnosis` is the likely cause, held against other failures met
    on the way; None where nothing in the catalogue of faults reproduces it. `steady` is False if
    the backend did not fail when it was called again, `smallest` is False if there may be a smaller
    vector: the search was interrupted before it was found, or it would have taken too long.
    """

    vector: Vector
    result: Result
    diagnosis: Diagnosis | None
    steady: bool
    smallest: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class FuzzReport:
    """A whole search.

    `examples` counts the cases that were drawn and run, `shrinking` those run to make failures
    smaller. `counts` gives the verdicts on all of them, and `extensions` those that were accepted
    though invalid, by operator and the rule that they break. `unjudged` counts cases of which the
    bound says nothing, and `avoided` those like a crash or hang found before: they were not run.
    `readings` are the clauses met, as in a checker's report, and `witnesses` two vectors for each
    clause that is inconsistent. `stopped` says why a search ended before its time, "" if it did
    not, and `unsaved` what kept failures from being stored in the database.
    """

    backend: str
    seed: int
    findings: tuple[Finding, ...]
    readings: tuple[ClauseReport, ...]
    witnesses: Mapping[str, tuple[Vector, ...]]
    examples: int
    shrinking: int
    unjudged: int
    avoided: int
    counts: Counter[Verdict]
    seconds: float
    stopped: str = ""
    unsaved: ConformanceError | None = None
    extensions: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def inconsistent(self) -> tuple[ClauseReport, ...]:
        """The clauses of which the backend follows no one reading."""
        return tuple(clause for clause in self.readings if clause.status == "inconsistent")

    @property
    def ok(self) -> bool:
        """Whether something was run and nothing found."""
        ran = self.counts.total() > self.counts["unsupported"]
        return ran and not self.findings and not self.inconsistent
