"""What is said of the answer to one vector, and its result in a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    MISSING,
    NO_ARRAY,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
    Kind,
)
from conformance.batch import Batch
from conformance.dtypes import name_of
from conformance.judging.comparison import Comparison, DifferingElements
from conformance.judging.explanations import NOT_EXPLAINED, Explanation
from conformance.judging.reading_sets import BitSet, reading_space
from conformance.record.report import Result, Verdict

UNACCEPTED: Mapping[Kind, Verdict] = {
    ARRAY: "mismatch",
    NO_ARRAY: "mismatch",
    RAISED: "error",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
    MISSING: "mismatch",
}
"""The verdict on an answer that no outcome accepts, by the kind of answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What is said of the answer to one vector.

    `accepted` are the combinations of readings under which it conforms, none unless it does. An
    exception is `excused` if it conforms only because some element is undefined. `followed` is the
    number of the first outcome that accepts the outputs, or else whose first one has their type and
    shape; None if there is none. `undefined` tells of each undefined clause that applies what the
    backend did there. The `comparison` of the outputs is None where all are in all bits expected,
    and of recipes, of which no outcome is `followed`.
    """

    verdict: Verdict
    accepted: BitSet
    explanation: Explanation = NOT_EXPLAINED
    excused: bool = False
    undefined_only: bool = False
    followed: int | None = None
    undefined: Mapping[str, str] = field(default_factory=dict)
    comparison: Comparison | None = None

    def differing(self, output: int) -> DifferingElements | None:
        """Return the elements of an output that are not those of the outcome that is followed."""
        if self.comparison is None or self.followed is None:
            return None
        return self.comparison.differing(self.comparison.vector.outcomes[self.followed], output)


def result_of(batch: Batch, vector: int, judged: Judged) -> Result:
    """Return the result of a vector of a batch; one of a vector that was not run means nothing."""
    space = reading_space(batch.operator)
    disputed = space.disputed_in(batch.clauses[vector])
    readings = space.combinations_in(judged.accepted, disputed)
    inputs = batch.inputs[vector]
    return Result(
        id=batch.ids[vector],
        operator=batch.operator,
        verdict=judged.verdict,
        attributes=batch.attributes[vector],
        dtype=name_of(inputs[0].dtype) if inputs else "",
        shapes=tuple([array.shape for array in inputs]),
        why=judged.explanation.why,
        worst=judged.explanation.worst,
        answer=judged.explanation.answer,
        tier=batch.tier[vector],
        pattern=batch.pattern[vector],
        source=batch.source[vector],
        provenance=batch.provenance[vector],
        tags=batch.tags[vector],
        readings=readings,
        clauses=batch.clauses[vector],
        printed="",
        expected="",
        excused=readings if judged.excused else (),
        undefined_only=judged.undefined_only,
    )
