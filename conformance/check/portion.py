"""What came of some vectors: all that a report is made of, added up portion by portion."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from conformance.check.accuracy import AccuracyTally
from conformance.check.readings import settled
from conformance.check.report import (
    VERDICTS,
    ClauseReport,
    OutputReport,
    Repeatability,
    UndefinedReport,
    Verdict,
)
from conformance.check.results import Part
from conformance.check.votes import Votes
from conformance.operators import CLAUSES, operator_named


@dataclass(slots=True, eq=False)
class Portion:
    """What is known of the vectors that were run, in a process or added up from several.

    `seconds` were spent in the backend; `stopped` says why not every vector was run, "" if it
    was. `behaviours` counts pairs of an undefined clause and what was done, `computed` the
    vectors for which each output of an operator with several was returned, by its number.
    """

    parts: list[Part] = field(default_factory=list)
    accuracy: AccuracyTally = field(default_factory=AccuracyTally)
    behaviours: Counter[tuple[str, str]] = field(default_factory=Counter)
    computed: Counter[tuple[str, int]] = field(default_factory=Counter)
    repeated: Repeatability = field(default_factory=lambda: Repeatability(0))
    seconds: float = 0.0
    stopped: str = ""

    def add(self, other: Portion) -> None:
        """Take in what came of other vectors."""
        self.parts += other.parts
        self.accuracy.merge(other.accuracy)
        self.behaviours += other.behaviours
        self.computed += other.computed
        self.repeated = Repeatability(
            self.repeated.sampled + other.repeated.sampled,
            self.repeated.differing + other.repeated.differing,
            self.repeated.failing + other.repeated.failing,
        )
        self.seconds += other.seconds
        self.stopped = self.stopped or other.stopped

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def readings(self) -> tuple[ClauseReport, ...]:
        """Return which readings explain the vectors that conform.

        An exception that only another reading would excuse is an error from here on.
        """
        votes: Votes = Counter()
        for part in self.parts:
            votes.update(part.judged.counted())
        wrong, reports = settled(votes)
        for part in self.parts:
            part.judged.refute(wrong)
        return reports

    def counts(self) -> dict[str, Counter[Verdict]]:
        """Return how many vectors of each operator got each verdict."""
        counts: dict[str, Counter[Verdict]] = {}
        for part in self.parts:
            of_part = np.bincount(part.judged.verdict, minlength=len(VERDICTS)).tolist()
            counts.setdefault(part.source.operator, Counter()).update(
                dict(zip(VERDICTS, of_part, strict=True))
            )
        return {operator: +count for operator, count in counts.items()}

    def undefined(self) -> tuple[UndefinedReport, ...]:
        """Return what was done where nothing is defined, in the order of the clauses."""
        found: dict[str, dict[str, int]] = {name: {} for name in CLAUSES}
        for (clause, behaviour), count in self.behaviours.most_common():
            found.setdefault(clause, {})[behaviour] = count
        return tuple(UndefinedReport(name, counts) for name, counts in found.items() if counts)

    def outputs(self) -> tuple[OutputReport, ...]:
        """Return how often each output of operators with several was computed."""
        return tuple(
            OutputReport(operator, output.name, self.computed[operator, number], vectors)
            for (operator, first), vectors in self.computed.items()
            if first == 0
            for number, output in enumerate(operator_named(operator).outputs)
        )
