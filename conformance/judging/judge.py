"""Verdicts on the answers to a batch, all vectors at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from conformance.backends.answer import (
    ARRAY,
    NO_ARRAY,
    RAISED,
    Answer,
    answer_returned,
)
from conformance.backends.runner import Answers, largest_looked_at
from conformance.batch import ANYTHING, RAISES, VALUES, Batch, batch_of, distinct
from conformance.cases.large import LargeBatch
from conformance.judging.accuracy import accuracy_of
from conformance.judging.bias import bias_of
from conformance.judging.closeness import Ints, OutputsCompared, compare_outputs
from conformance.judging.explanations import (
    Explanation,
    explain_excused,
    explain_mismatch,
    explain_pins,
)
from conformance.judging.large_judge import judge_large
from conformance.judging.reading_sets import Packed, reading_space
from conformance.judging.undefined import behaviours_in
from conformance.judging.verdicts import (
    ACCEPTED_INVALID,
    CONFORMS,
    MISMATCH,
    UNACCEPTED,
    Bools,
    Judged,
    Sums,
    output_reports,
    result_of,
)
from conformance.record.report import VERDICTS
from conformance.vector import Outputs, Vector

_NOT_EXPLAINED = Explanation()


def accepted(vectors: Sequence[Vector], returned: Sequence[Outputs | None]) -> list[bool]:
    """Say of each vector whether an answer to it conforms under some reading.

    `returned` holds the outputs returned for each vector, None for an exception. A vector may
    occur several times. Where only another reading excuses an exception, it is accepted here:
    which readings a backend follows, only all vectors of a run together tell.
    """
    verdicts = [False] * len(vectors)
    by_operator: dict[str, list[int]] = {}
    for number, vector in enumerate(vectors):
        by_operator.setdefault(vector.case.operator, []).append(number)
    for numbers in by_operator.values():
        batch = batch_of([vectors[number] for number in numbers])
        _, fits = _fitting(batch, answers_of(batch, [returned[number] for number in numbers]))
        for number, conforms in zip(numbers, _any(batch, fits).tolist(), strict=True):
            verdicts[number] = conforms
    return verdicts


def answers_of(batch: Batch, returned: Sequence[Outputs | None]) -> Answers:
    """Return as the answers to a batch the outputs returned for each vector, None: an exception."""
    answers = Answers.none_yet(len(batch))
    for vector, (outputs, limit) in enumerate(zip(returned, largest_looked_at(batch), strict=True)):
        answer = Answer(RAISED) if outputs is None else answer_returned(outputs, limit)
        answers.put(vector, answer)
    return answers


def judge(batch: Batch, answers: Answers, pins: Mapping[str, str]) -> Judged:
    """Judge the answers to a batch; `pins` maps disputed clauses to the only reading accepted."""
    if isinstance(batch, LargeBatch):
        return judge_large(batch, answers)
    return _judge(batch, answers, pins)


@np.errstate(all="ignore")  # as for `_fitting`
def _judge(batch: Batch, answers: Answers, pins: Mapping[str, str]) -> Judged:
    compared, fits = _fitting(batch, answers)
    space = reading_space(batch.operator)
    table, which = space.packed_table(batch.outcome_readings)
    unpinned = _united(batch, table[which], fits)
    pinned = table & space.pack(space.allowed_by(pins))
    accepted = _united(batch, pinned[which], fits) if pins else unpinned
    allowed: Bools = np.asarray(pinned.any(axis=1))[which]
    kinds = np.array(answers.kind)
    verdict = UNACCEPTED[kinds]
    answered = np.isin(kinds, (ARRAY, NO_ARRAY, RAISED))
    conforms = answered & accepted.any(axis=1)
    excused = (kinds == RAISED) & ~_any(batch, fits & (batch.outcome_kind != VALUES))
    against_pins = answered & unpinned.any(axis=1) & ~conforms
    verdict[conforms] = CONFORMS
    verdict[against_pins & ~excused] = MISMATCH
    only_invalid = ~_any(batch, batch.outcome_kind != RAISES)
    verdict[(kinds == ARRAY) & only_invalid] = ACCEPTED_INVALID

    explanations = {
        vector: Explanation(why)
        for vector, why in answers.why.items()
        if answers.kind[vector] != NO_ARRAY
    }
    bounds = np.searchsorted(batch.outcome_vector, np.arange(len(batch) + 1)).tolist()
    unlike = np.isin(verdict, (MISMATCH, ACCEPTED_INVALID)) & (kinds != RAISED)
    for vector in np.flatnonzero(unlike).tolist():
        rows = range(bounds[vector], bounds[vector + 1])
        outcomes = [row for row in rows if allowed[row]] or rows
        explanations[vector] = explain_mismatch(batch, answers, compared, vector, outcomes)
    for vector in np.flatnonzero(against_pins).tolist():
        before, possible = explanations.get(vector, _NOT_EXPLAINED), unpinned[vector].tobytes()
        why = (
            explain_excused(before.why, batch.operator, possible, batch.clauses[vector])
            if excused[vector]
            else explain_pins(batch, vector, possible, pins)
        )
        explanations[vector] = before._replace(why=why)

    valued = np.zeros(len(batch), np.bool_)
    valued[batch.expected_vector] = True
    followed = _followed_rows(batch, compared, fits & allowed)
    conforming = followed[conforms & (followed >= 0)]
    readings = _readings(batch, accepted, conforms)
    undefined_only = conforms & (kinds == ARRAY) & ~_defined(batch, compared, followed)
    results = [
        result_of(
            batch,
            vector,
            VERDICTS[code],
            explanations.get(vector, _NOT_EXPLAINED),
            readings=readings[vector],
            excused=readings[vector] if is_excused else (),
            undefined_only=nothing_defined,
        )
        for vector, (code, is_excused, nothing_defined) in enumerate(
            zip(verdict.tolist(), excused.tolist(), undefined_only.tolist(), strict=True)
        )
    ]
    sums = Sums(
        undefined=behaviours_in(batch, answers, compared, followed),
        outputs=output_reports(batch.operator, compared.counts[valued]),
        accuracy=accuracy_of(batch, compared, conforming),
        bias=bias_of(batch, compared, conforming),
    )
    return Judged(results, sums)


@np.errstate(all="ignore")  # whatever the caller's: answers far off overflow
def _fitting(batch: Batch, answers: Answers) -> tuple[OutputsCompared, Bools]:
    """Hold the answers to a batch against its outcomes, and say which of these accept them."""
    compared = compare_outputs(batch, answers)
    kinds = np.array(answers.kind)[batch.outcome_vector]
    raised = kinds == RAISED
    fits: Bools = (batch.outcome_kind == RAISES) & raised
    fits |= (batch.outcome_kind == ANYTHING) & (raised | (kinds == ARRAY) | (kinds == NO_ARRAY))
    values = np.flatnonzero(batch.outcome_expected >= 0)
    rows, codes = batch.outcome_expected[values], batch.outcome_arithmetic[values]
    counts = compared.counts[batch.outcome_vector[values]]
    right: Bools = (counts > 0) & (counts <= batch.outputs)
    undefined = np.zeros(len(values), np.bool_)
    for output in range(batch.outputs):
        of = rows + output
        right &= ~compared.returned[of] | (
            compared.comparable[of] & (compared.wrong[of, codes] == 0)
        )
        undefined |= compared.undefined[of] > 0
    fits[values] = right | (raised[values] & undefined)
    return compared, fits


def _united(batch: Batch, sets: Packed, fits: Bools) -> Packed:
    """Return per vector the union of the sets of its outcomes that fit."""
    if not len(batch):
        return sets[:0]
    starts = np.searchsorted(batch.outcome_vector, np.arange(len(batch)))
    united: Packed = np.bitwise_or.reduceat(np.where(fits[:, None], sets, np.uint64(0)), starts)
    return united


def _any(batch: Batch, outcomes: Bools) -> Bools:
    """Say per vector whether some of its outcomes are marked."""
    marked = np.zeros(len(batch), np.bool_)
    marked[batch.outcome_vector[outcomes]] = True
    return marked


def _followed_rows(batch: Batch, compared: OutputsCompared, fits: Bools) -> Ints:
    """Return per vector the row of the outcome its output is nearest to by kind, -1 if none.

    That is the first one that fits, or else the first one with the first output's type and shape.
    """
    followed = np.full(len(batch), -1, np.int64)
    comparable = batch.outcome_expected >= 0
    comparable[comparable] = compared.comparable[batch.outcome_expected[comparable]]
    for mask in (comparable, comparable & fits):
        rows = np.flatnonzero(mask)
        vectors = batch.outcome_vector[rows]
        first = np.flatnonzero(np.diff(vectors, prepend=-1))  # they ascend
        followed[vectors[first]] = rows[first]
    return followed


def _defined(batch: Batch, compared: OutputsCompared, followed: Ints) -> Bools:
    """Say per vector whether some output that was returned has a defined element."""
    defined = np.zeros(len(batch), np.bool_)
    vectors = np.flatnonzero(followed >= 0)
    first = batch.outcome_expected[followed[vectors]]
    for row in (first + output for output in range(batch.outputs)):
        some = batch.expected_size[row] > compared.undefined[row]
        defined[vectors] |= some & compared.returned[row]
    return defined


def _readings(
    batch: Batch, accepted: Packed, conforms: Bools
) -> list[tuple[Mapping[str, str], ...]]:
    """Return per vector the combinations of readings under which it conforms."""
    space = reading_space(batch.operator)
    clauses, which = distinct(batch.clauses)
    disputed = [space.disputed_in(each) for each in clauses]
    return [
        space.combinations_in(accepted[vector].tobytes(), disputed[number]) if right else ()
        for vector, (number, right) in enumerate(
            zip(which.tolist(), conforms.tolist(), strict=True)
        )
    ]
