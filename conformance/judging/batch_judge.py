"""Verdicts on the answers to a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from conformance.backends.answer import NOT_RUN
from conformance.backends.runner import Answers
from conformance.batch import RAISES, VALUES, Batch, distinct, vector_at
from conformance.cases.large import LargeBatch
from conformance.judging.judge import UNANSWERED, judge, judge_unanswered, readings_of, united
from conformance.judging.large_judge import judge_large
from conformance.judging.reading_sets import reading_space
from conformance.judging.sums import Sums, sums_of
from conformance.judging.verdicts import Judged, result_of
from conformance.record.report import Result


@np.errstate(all="ignore")  # as for `judge`
def judge_batch(
    batch: Batch, answers: Answers, pins: Mapping[str, str]
) -> tuple[list[Result], Sums]:
    """Judge the answers to a batch, up to the first vector that was not run; see `judge`.

    Equal bits are right under every reading: they are told of all vectors first, and the others
    are judged one by one.
    """
    count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
    if isinstance(batch, LargeBatch):
        judged = [judge_large(batch.recipe, answers.at(number)) for number in range(count)]
    else:
        told = _exact(batch, answers, pins)
        for number in range(count):
            if answers.kind[number] in UNANSWERED:
                told[number] = judge_unanswered(answers.at(number), batch.clauses[number])
            elif number not in told:
                told[number] = judge(vector_at(batch, number), answers.at(number), pins)
        judged = [told[number] for number in range(count)]
    results = [result_of(batch, number, each) for number, each in enumerate(judged)]
    return results, sums_of(batch, answers, judged)


def _exact(batch: Batch, answers: Answers, pins: Mapping[str, str]) -> dict[int, Judged]:
    """Judge the vectors, by number, that are exactly as expected, where pins allow some reading."""
    table, which = distinct(batch.outcome_readings)
    pinned = reading_space(batch.operator).allowed_by(pins)
    sets = [readings_of(batch.operator, readings) & pinned for readings in table]
    set_of, kinds = which.tolist(), batch.outcome_kind.tolist()
    bounds = np.searchsorted(batch.outcome_vector, np.arange(len(batch) + 1)).tolist()
    judged = {}
    for vector in _exactly_expected(batch, answers):
        outcomes = range(bounds[vector], bounds[vector + 1])
        accepted = united(sets[set_of[each]] for each in outcomes if kinds[each] != RAISES)
        if accepted:
            followed = next(n for n, each in enumerate(outcomes) if kinds[each] == VALUES)
            judged[vector] = Judged("conforms", accepted, followed=followed)
    return judged


def _exactly_expected(batch: Batch, answers: Answers) -> Iterator[int]:
    """Yield the vectors whose outputs are in all bits the only ones that are expected.

    All elements of these are defined.
    """
    only = np.bincount(batch.expected_vector, minlength=len(batch)) == batch.outputs
    dtypes, shapes = batch.expected_dtype, batch.expected_shape
    parts = np.stack([batch.expected_start, batch.expected_start + batch.expected_size], axis=1)
    for name, columns in batch.columns.items():
        rows = np.flatnonzero(np.array(dtypes) == name)
        row_of = np.searchsorted(parts[rows, 0], columns.undefined, side="right") - 1
        only[batch.expected_vector[rows[row_of]]] = False
        parts[rows] *= columns.values.itemsize
    data = {name: memoryview(of.values.tobytes()) for name, of in batch.columns.items()}
    bounds = parts.tolist()
    first = np.searchsorted(batch.expected_vector, np.arange(len(batch))).tolist()
    for vector in np.flatnonzero(only).tolist():
        outputs = answers.outputs[vector]
        if 0 < len(outputs) <= batch.outputs and all(
            output == (dtypes[row], shapes[row], bytes(data[dtypes[row]][slice(*bounds[row])]))
            for row, output in enumerate(outputs, first[vector])
        ):
            yield vector
