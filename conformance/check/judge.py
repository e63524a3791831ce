"""Verdicts on the answers to a batch, all vectors at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from conformance.batch import ANYTHING, RAISES, VALUES, Batch, distinct
from conformance.check.accuracy import AccuracyTally
from conformance.check.compare import Comparison, Ints, arithmetic_of, compare
from conformance.check.explain import Explanation, explain_excused, explain_mismatch, explain_pins
from conformance.check.reading_sets import Packed, reading_space
from conformance.check.report import VERDICTS
from conformance.check.runner import (
    ARRAY,
    CRASHED,
    MISSING,
    NO_ARRAY,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
    Answers,
)
from conformance.check.undefined import behaviours_in
from conformance.check.votes import Separators, Vote, Votes, separators
from conformance.dtypes import DType, name_of
from conformance.operators import operator_named

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

CONFORMS, MISMATCH, ERROR = map(VERDICTS.index, ("conforms", "mismatch", "error"))
_UNACCEPTED = np.zeros(8, np.uint8)
"""The verdict on an answer that no outcome accepts, by the kind of answer."""
for _kind, _verdict in {
    ARRAY: "mismatch",
    NO_ARRAY: "mismatch",
    RAISED: "error",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
    MISSING: "mismatch",
}.items():
    _UNACCEPTED[_kind] = VERDICTS.index(_verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What is kept of a batch: small columns, one item per vector, and rare facts by vector.

    `verdict` are numbers in `VERDICTS`; `vote` the place in `votes` of what each conforming
    vector says of readings, -1 for the others. `behaviours` counts pairs of an undefined clause
    and what was done. `computed` counts, for an operator with several outputs, the vectors for
    which each of them was returned, by operator and number of the output.
    """

    verdict: Codes
    vote: npt.NDArray[np.int32]
    votes: list[Vote]
    explanations: dict[int, Explanation]
    behaviours: Counter[tuple[str, str]]
    computed: Counter[tuple[str, int]]

    def first(self, count: int) -> Judged:
        """Return the columns of the first `count` vectors alone."""
        if count == len(self.verdict):
            return self
        return replace(
            self,
            verdict=self.verdict[:count],
            vote=self.vote[:count],
        )

    def said(self, index: int) -> Vote | None:
        """Return what a vector says of readings, if it conforms or did before it was refuted."""
        place = int(self.vote[index])
        return self.votes[place] if place >= 0 else None

    def counted(self) -> Votes:
        """Return how many of the vectors that conform say the same of readings."""
        votes: Votes = Counter()
        counts = np.bincount(self.vote[self.verdict == CONFORMS], minlength=len(self.votes))
        for vote, count in zip(self.votes, counts.tolist(), strict=True):
            votes[vote] += count
        return +votes

    def refute(self, wrong: Container[Vote]) -> None:
        """Turn excused exceptions into errors: the backend follows another reading."""
        places = [place for place, vote in enumerate(self.votes) if vote in wrong]
        refuted = (self.verdict == CONFORMS) & np.isin(self.vote, places)
        for vector in np.flatnonzero(refuted).tolist():
            vote = self.votes[self.vote[vector]]
            detail = explain_excused(
                self.explanations[vector].detail,
                vote.separators.operator,
                vote.accepted,
                vote.touched,
            )
            self.explanations[vector] = Explanation(detail)
            self.verdict[vector] = ERROR


@np.errstate(all="ignore")  # whatever the caller's: answers far off overflow
def judge(
    batch: Batch, answers: Answers, pins: Mapping[str, str], accuracy: AccuracyTally
) -> Judged:
    """Judge the answers to a batch, and count the accuracy of those that conform.

    `pins` maps disputed clauses to the only reading that is accepted. Verdicts of vectors that
    were not run mean nothing.
    """
    outputs = operator_named(batch.operator).outputs
    compared = compare(batch, answers, bounds=[output.comparison == "bound" for output in outputs])
    fits = _fitting(batch, answers, compared)
    space = reading_space(batch.operator)
    table, which = space.packed_table(batch.outcome_readings)
    unpinned = _united(batch, table[which], fits)
    pinned = table & space.pack(space.allowed_by(pins))
    accepted = _united(batch, pinned[which], fits) if pins else unpinned
    allowed: Bools = np.asarray(pinned.any(axis=1))[which]
    kinds = np.array(answers.kind)
    verdict = _UNACCEPTED[kinds]
    answered = np.isin(kinds, (ARRAY, NO_ARRAY, RAISED))
    conforms = answered & accepted.any(axis=1)
    excused = (kinds == RAISED) & ~_any(batch, fits & (batch.outcome_kind != VALUES))
    against_pins = answered & unpinned.any(axis=1) & ~conforms
    verdict[conforms] = CONFORMS
    verdict[against_pins & ~excused] = MISMATCH

    texts = {text: Explanation(text) for text in set(answers.text.values())}  # few, said often
    explanations = {
        vector: texts[text]
        for vector, text in answers.text.items()
        if answers.kind[vector] != NO_ARRAY
    }
    bounds = np.searchsorted(batch.outcome_vector, np.arange(len(batch) + 1)).tolist()
    for vector in np.flatnonzero((verdict == MISMATCH) & (kinds != RAISED)).tolist():
        mine = range(bounds[vector], bounds[vector + 1])
        outcomes = [row for row in mine if allowed[row]] or mine
        explanations[vector] = explain_mismatch(batch, answers, compared, vector, outcomes)
    for vector in np.flatnonzero(against_pins).tolist():
        before = explanations.get(vector, Explanation(""))
        detail = explain_pins(batch, vector, unpinned[vector].tobytes(), pins)
        if excused[vector]:
            possible = unpinned[vector].tobytes()
            detail = explain_excused(before.detail, batch.operator, possible, batch.clauses[vector])
        explanations[vector] = before._replace(detail=detail)

    followed = _followed_rows(batch, compared, fits & allowed)
    _count_accuracy(batch, compared, followed[conforms], accuracy)
    vote, votes = _votes(batch, accepted, excused, conforms)
    return Judged(
        verdict=verdict,
        vote=vote,
        votes=votes,
        explanations=explanations,
        behaviours=behaviours_in(batch, answers, compared, followed),
        computed=_computed(batch, compared),
    )


def _fitting(batch: Batch, answers: Answers, compared: Comparison) -> Bools:
    """Say per outcome whether it accepts the answer to its vector."""
    kinds = np.array(answers.kind)[batch.outcome_vector]
    raised = kinds == RAISED
    fits: Bools = (batch.outcome_kind == RAISES) & raised
    fits |= (batch.outcome_kind == ANYTHING) & (raised | (kinds == ARRAY) | (kinds == NO_ARRAY))
    values = np.flatnonzero(batch.outcome_expected >= 0)
    rows, codes = batch.outcome_expected[values], arithmetic_of(batch)[values]
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
    return fits


def _united(batch: Batch, sets: Packed, fits: Bools) -> Packed:
    """Return per vector the union of the sets of its outcomes that fit."""
    if not len(batch):
        return sets[:0]
    starts = np.searchsorted(batch.outcome_vector, np.arange(len(batch)))
    united: Packed = np.bitwise_or.reduceat(np.where(fits[:, None], sets, np.uint64(0)), starts)
    return united


def _any(batch: Batch, outcomes: Bools) -> Bools:
    """Say per vector whether some of its outcomes are marked."""
    found = np.zeros(len(batch), np.bool_)
    found[batch.outcome_vector[outcomes]] = True
    return found


def _followed_rows(batch: Batch, compared: Comparison, fits: Bools) -> Ints:
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


def _count_accuracy(
    batch: Batch, compared: Comparison, outcomes: Ints, accuracy: AccuracyTally
) -> None:
    columns = [column for column in compared.columns if column.bound]
    if not columns:
        return
    outcomes = outcomes[outcomes >= 0]
    arithmetic = np.full(len(batch.expected_dtype), -1, np.int64)
    for output in range(batch.outputs):
        rows = batch.outcome_expected[outcomes] + output
        arithmetic[rows] = np.where(compared.returned[rows], arithmetic_of(batch)[outcomes], -1)
    for column in columns:
        accuracy.add(column, arithmetic[column.rows])


def _computed(batch: Batch, compared: Comparison) -> Counter[tuple[str, int]]:
    """Count the vectors with expected values for which each of several outputs was returned."""
    if batch.outputs == 1:
        return Counter()
    valued = np.zeros(len(batch), np.bool_)
    valued[batch.expected_vector] = True
    return Counter(
        {
            (batch.operator, output): int((valued & (compared.counts > output)).sum())
            for output in range(batch.outputs)
        }
    )


def _votes(
    batch: Batch, accepted: Packed, excused: Bools, conforms: Bools
) -> tuple[npt.NDArray[np.int32], list[Vote]]:
    """Return per vector the place of its vote, -1 if it does not conform, and the votes."""
    place = np.full(len(batch), -1, np.int32)
    rows = np.flatnonzero(conforms)
    clauses, of_clauses = distinct(batch.clauses)
    separating, of_separating = _separating(batch)
    _, of_accepted = np.unique(accepted[rows], axis=0, return_inverse=True)
    code = of_accepted.ravel()
    for column, count in ((of_clauses, len(clauses)), (of_separating, len(separating))):
        code = code * count + column[rows]
    _, first, place[rows] = np.unique(
        code * 2 + excused[rows], return_index=True, return_inverse=True
    )
    touched = list(map(reading_space(batch.operator).touched, clauses))
    return place, [
        Vote(
            accepted[vector].tobytes(),
            touched[of_clauses[vector]],
            bool(excused[vector]),
            separating[of_separating[vector]],
        )
        for vector in rows[first].tolist()
    ]


def _separating(batch: Batch) -> tuple[list[Separators], Ints]:
    """Return what may separate readings in a batch, and which of it each vector has."""
    attributes, of_attributes = distinct(batch.attributes)
    kinds: dict[tuple[int, DType | None, int], int] = {}
    of_kind = [
        kinds.setdefault((number, inputs[0].dtype, inputs[0].ndim - 2), len(kinds))
        if inputs
        else kinds.setdefault((number, None, 0), len(kinds))
        for number, inputs in zip(of_attributes.tolist(), batch.inputs, strict=True)
    ]
    table: dict[Separators, int] = {}
    of_separating = [
        table.setdefault(
            separators(
                batch.operator, "" if dtype is None else name_of(dtype), axes, attributes[number]
            ),
            len(table),
        )
        for number, dtype, axes in kinds
    ]
    return list(table), np.array(of_separating, np.int64)[np.array(of_kind, np.int64)]
