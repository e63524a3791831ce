"""What came of some vectors: all that a report is made of, added up portion by portion."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from conformance.batch import Ints
from conformance.check.accuracy import AccuracyTally
from conformance.check.judge import CONFORMS
from conformance.check.readings import Poll, settled
from conformance.check.report import (
    VERDICTS,
    ClauseReport,
    Repeatability,
    Uncomputed,
    UndefinedReport,
    Verdict,
)
from conformance.check.results import Part
from conformance.operators import CLAUSES, operator_named


@dataclass(slots=True, eq=False)
class Portion:
    """What is known of the vectors that were run, in a process or added up from several.

    `seconds` were spent in the backend; `stopped` says why not every vector was run, "" if it
    was. `behaviours` counts pairs of an undefined clause and what was done, `computed` the
    vectors for which an operator (first) gave an output of it, by its number.
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
        voters = self._voters()
        if not any(len(each) for _, each in voters):
            return ()
        # All columns at once: files may have to be read again for them.
        tables = cache(lambda: [part.values(each) for part, each in voters])
        wrong, reports = settled(
            Poll.of(
                (part.judged.accepted[each], part.judged.touched[each]) for part, each in voters
            ),
            np.concatenate([part.judged.excused[each] for part, each in voters]),
            lambda name: [value for columns in tables() for value in columns[name]],
        )
        ends = np.cumsum([len(each) for _, each in voters])[:-1]
        for (part, each), no in zip(voters, np.split(wrong, ends), strict=True):
            for vector in each[no].tolist():
                part.judged.refute(vector)
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

    def uncomputed(self) -> tuple[Uncomputed, ...]:
        """Return the further outputs that were not computed wherever the first one was."""
        return tuple(
            Uncomputed(operator, output.name, vectors - self.computed[operator, number], vectors)
            for (operator, first), vectors in self.computed.items()
            if first == 0
            for number, output in enumerate(operator_named(operator).outputs)
            if self.computed[operator, number] < vectors
        )

    def _voters(self) -> list[tuple[Part, Ints]]:
        """Return the conforming vectors that a disputed clause touches."""
        return [
            (
                part,
                np.flatnonzero((part.judged.verdict == CONFORMS) & part.judged.touched.any(axis=1)),
            )
            for part in self.parts
        ]
