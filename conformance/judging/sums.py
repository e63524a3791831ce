"""What the vectors of a batch add to the counts of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from conformance.backends.runner import Answers
from conformance.batch import Batch
from conformance.judging.accuracy import accuracy_of
from conformance.judging.bias import bias_of
from conformance.judging.conforming import conforming_elements
from conformance.judging.verdicts import Judged
from conformance.operators import operator_named
from conformance.record.report import Accuracy, Bias, OutputReport, UndefinedReport


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What a batch adds to the counts of a report, by the names that these have there."""

    undefined: Sequence[UndefinedReport] = ()
    outputs: Sequence[OutputReport] = ()
    accuracy: Sequence[Accuracy] = ()
    bias: Sequence[Bias] = ()


def sums_of(batch: Batch, answers: Answers, judged: Sequence[Judged]) -> Sums:
    """Return what the first vectors of a batch, which were judged, add to the counts."""
    elements = list(conforming_elements(batch, answers, judged))
    accuracy = [accuracy_of(of_type) for of_type in elements]
    bias = [bias_of(batch.operator, of_type) for of_type in elements]
    return Sums(
        undefined=_undefined_reports(each.undefined for each in judged),
        outputs=_output_reports(batch, answers),
        accuracy=[of_type for of_type in accuracy if of_type.elements],
        bias=[of_type for of_type in bias if of_type.off],
    )


def _undefined_reports(behaviours: Iterable[Mapping[str, str]]) -> list[UndefinedReport]:
    """Report per undefined clause how often the backend did what."""
    counts: dict[str, Counter[str]] = {}
    for of_vector in behaviours:
        for clause, behaviour in of_vector.items():
            counts.setdefault(clause, Counter())[behaviour] += 1
    return [UndefinedReport(clause, of_clause) for clause, of_clause in counts.items()]


def _output_reports(batch: Batch, answers: Answers) -> list[OutputReport]:
    """Report how often each of several outputs was returned, of the vectors with a first one."""
    names = [output.name for output in operator_named(batch.operator).outputs]
    valued = np.unique(batch.expected_vector).tolist()
    returned = [len(answers.outputs[vector]) for vector in valued if answers.outputs[vector]]
    return [
        OutputReport(batch.operator, name, sum(count > output for count in returned), len(returned))
        for output, name in enumerate(names)
        if returned and len(names) > 1
    ]
