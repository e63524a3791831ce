"""What every judge returns of a batch: a result for each vector, and what adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
from conformance.batch import Batch, Ints
from conformance.dtypes import name_of
from conformance.judging.explanations import Explanation
from conformance.operators import operator_named
from conformance.record.report import (
    VERDICTS,
    Accuracy,
    Bias,
    OutputReport,
    Result,
    UndefinedReport,
    Verdict,
)

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

CONFORMS, MISMATCH, ERROR = map(VERDICTS.index, ("conforms", "mismatch", "error"))
ACCEPTED_INVALID = VERDICTS.index("accepted-invalid")
_OF_KIND: Mapping[Kind, Verdict] = {
    ARRAY: "mismatch",
    NO_ARRAY: "mismatch",
    RAISED: "error",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
    MISSING: "mismatch",
}
UNACCEPTED: Codes = np.zeros(len(Kind), np.uint8)
"""The number in `VERDICTS` of an answer that no outcome accepts, by the kind of answer."""
for _kind, _verdict in _OF_KIND.items():
    UNACCEPTED[_kind] = VERDICTS.index(_verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What a batch adds to the counts of a report, by the names that these have there."""

    undefined: Sequence[UndefinedReport] = ()
    outputs: Sequence[OutputReport] = ()
    accuracy: Sequence[Accuracy] = ()
    bias: Sequence[Bias] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The results of the vectors of a batch, and what the batch adds to counts.

    Results of vectors that were not run mean nothing.
    """

    results: list[Result]
    sums: Sums


def result_of(
    batch: Batch,
    vector: int,
    verdict: Verdict,
    explanation: Explanation,
    *,
    readings: tuple[Mapping[str, str], ...],
    excused: tuple[Mapping[str, str], ...] = (),
    undefined_only: bool = False,
) -> Result:
    """Return the result of a vector of a batch."""
    inputs = batch.inputs[vector]
    return Result(
        id=batch.ids[vector],
        operator=batch.operator,
        verdict=verdict,
        attributes=batch.attributes[vector],
        dtype=name_of(inputs[0].dtype) if inputs else "",
        shapes=tuple([array.shape for array in inputs]),
        why=explanation.why,
        worst=explanation.worst,
        answer=explanation.answer,
        tier=batch.tier[vector],
        pattern=batch.pattern[vector],
        source=batch.source[vector],
        provenance=batch.provenance[vector],
        tags=batch.tags[vector],
        readings=readings,
        clauses=batch.clauses[vector],
        printed="",
        expected="",
        excused=excused,
        undefined_only=undefined_only,
    )


def output_reports(operator: str, counts: Ints) -> list[OutputReport]:
    """Report how often each of several outputs was returned, of the vectors with a first one.

    `counts` are the arrays that were returned for each vector that has expected values.
    """
    names = [output.name for output in operator_named(operator).outputs]
    vectors = int((counts > 0).sum())
    return [
        OutputReport(operator, name, int((counts > output).sum()), vectors)
        for output, name in enumerate(names)
        if vectors and len(names) > 1
    ]
