"""The verdict on the answer to one vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_

import numpy as np

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    NO_ARRAY,
    RAISED,
    SMALL,
    TIMED_OUT,
    UNSUPPORTED,
    Answer,
    answer_returned,
)
from conformance.errors import VectorFileError
from conformance.judging.comparison import Comparison, defined
from conformance.judging.explanations import (
    Explanation,
    explain_excused,
    explain_mismatch,
    explain_pins,
)
from conformance.judging.reading_sets import BitSet, reading_space
from conformance.judging.undefined import OF_KIND, behaviours_in
from conformance.judging.verdicts import UNACCEPTED, Judged
from conformance.vector import Anything, Combination, Outcome, Outputs, Raises, Values, Vector

UNANSWERED = frozenset({UNSUPPORTED, CRASHED, TIMED_OUT})
"""Kinds of answers that no outcome is held against."""


def accepts(vector: Vector, returned: Outputs | None) -> bool:
    """Say whether outputs, or an exception (None), conform to a vector under some reading.

    Where only another reading excuses an exception, it is accepted here: which readings a backend
    follows, only all vectors of a run together tell.
    """
    answer = answer_to(vector, returned)
    comparison = Comparison(vector, answer.outputs)
    with np.errstate(all="ignore"):  # as in `judge`
        return any(_fits(outcome, answer, comparison) for outcome in vector.outcomes)


def answer_to(vector: Vector, returned: Outputs | None) -> Answer:
    """Return as an answer the outputs returned for a vector, None: an exception."""
    if returned is None:
        return Answer(RAISED)
    elements = (sum(of.values.size for of in outcome.outputs) for outcome in vector.values)
    return answer_returned(returned, max(SMALL, *elements, 0))


@np.errstate(all="ignore")  # whatever the caller's: answers far off overflow
def judge(vector: Vector, answer: Answer, pins: Mapping[str, str]) -> Judged:
    """Judge the answer to a vector; `pins` maps disputed clauses to the only reading accepted."""
    operator, kind, raised = vector.case.operator, answer.kind, answer.kind == RAISED
    if kind in UNANSWERED:
        return judge_unanswered(answer, vector.clauses)
    comparison = Comparison(vector, answer.outputs)
    fitting = [each for each in vector.outcomes if _fits(each, answer, comparison)]
    pinned = reading_space(operator).allowed_by(pins)
    sets = {each: readings_of(operator, each.readings) for each in vector.outcomes}
    allowed = [each for each, readings in sets.items() if readings & pinned]
    unpinned = united(sets[each] for each in fitting)
    accepted = unpinned & pinned
    excused = raised and all(isinstance(outcome, Values) for outcome in fitting)
    verdict = "conforms" if accepted else UNACCEPTED[kind]
    if unpinned and not (accepted or excused):
        verdict = "mismatch"
    if kind == ARRAY and all(isinstance(outcome, Raises) for outcome in vector.outcomes):
        verdict = "accepted-invalid"

    explanation = Explanation(None if kind == NO_ARRAY else answer.why)
    if verdict in {"mismatch", "accepted-invalid"} and not raised:
        explanation = explain_mismatch(vector, answer, comparison, allowed or vector.outcomes)
    if unpinned and not accepted:
        why = (
            explain_excused(explanation.why, operator, unpinned, vector.clauses)
            if excused
            else explain_pins(vector, unpinned, pins)
        )
        explanation = explanation._replace(why=why)

    comparable = [each for each in vector.values if comparison.differing(each, 0) is not None]
    fit = (each for each in comparable if each in fitting and each in allowed)
    followed = next(fit, next(iter(comparable), None))
    some_defined = followed is not None and any(
        defined(of).any() for of in followed.outputs[: len(answer.outputs)]
    )
    return Judged(
        verdict,
        accepted,
        explanation,
        excused=excused,
        undefined_only=verdict == "conforms" and kind == ARRAY and not some_defined,
        followed=None if followed is None else vector.outcomes.index(followed),
        undefined=behaviours_in(vector, answer, comparison, followed),
        comparison=comparison,
    )


def judge_unanswered(answer: Answer, clauses: Mapping[str, tuple[str, ...]]) -> Judged:
    """Judge an answer that no outcome is held against, to a vector that clauses apply to."""
    undefined = [name for name, readings in clauses.items() if not readings]
    return Judged(
        UNACCEPTED[answer.kind],
        0,
        Explanation(answer.why),
        undefined=dict.fromkeys(undefined, OF_KIND[answer.kind]),
    )


def _fits(outcome: Outcome, answer: Answer, comparison: Comparison) -> bool:
    """Say whether an outcome accepts the answer to its vector."""
    if isinstance(outcome, Raises):
        return answer.kind == RAISED
    if isinstance(outcome, Anything):
        return answer.kind in {RAISED, ARRAY, NO_ARRAY}
    if answer.kind == RAISED:
        return any(of.undefined.size for of in outcome.outputs)
    return comparison.conforms(outcome)


def readings_of(operator: str, readings: Iterable[Combination]) -> BitSet:
    """Return the combinations that the readings of an outcome stand for.

    Raises VectorFileError for a reading that the operator has not.
    """
    try:
        return reading_space(operator).bits_of(readings)
    except KeyError as error:
        raise VectorFileError(
            f"a vector has the reading {list(map(dict, readings))}: {error} is not known to this "
            "version"
        ) from None


def united(sets: Iterable[BitSet]) -> BitSet:
    """Return the union of some sets of combinations."""
    return reduce(or_, sets, 0)
