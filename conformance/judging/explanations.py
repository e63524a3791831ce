"""Why an answer does not conform: a fact, and the worst element where elements differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET, structs

from conformance.backends.answer import MISSING, NO_ARRAY, SUITE_TYPES, Returned
from conformance.backends.runner import Answers
from conformance.batch import RAISES, VALUES, Batch
from conformance.dtypes import FLOATS, dtype_of, name_of
from conformance.errors import InvalidCase
from conformance.judging.closeness import (
    Bools,
    Doubles,
    OutputsCompared,
    closeness,
    spacing,
)
from conformance.judging.flushed import right_if_flushed
from conformance.judging.reading_sets import reading_space
from conformance.operators import Output, operator_named
from conformance.record.report import Worst
from conformance.record.why import (
    AcceptedInvalid,
    Differing,
    NotRequired,
    NotStored,
    OnlyUnder,
    OtherReading,
    Raised,
    Why,
    WrongCount,
    WrongElements,
    WrongShape,
    WrongType,
    distinct,
)
from conformance.record.words import in_words
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Arithmetic, Array, Expected

_DIGITS = 12
"""Hexadecimal digits of a digest of an answer, enough to tell one from others by accident."""


class Explanation(NamedTuple):
    """Why a vector has its verdict; the fields are those of `Result`."""

    why: Why | None = None
    worst: Worst | None = None
    answer: str = ""


def explain_mismatch(
    batch: Batch, answers: Answers, compared: OutputsCompared, vector: int, outcomes: Sequence[int]
) -> Explanation:
    """Say why the answer to a vector fits none of some of its outcomes, given by their rows."""
    if answers.kind[vector] == MISSING:
        return Explanation(NotStored())
    if answers.kind[vector] == NO_ARRAY:
        return Explanation(answers.why[vector])
    kinds = {int(batch.outcome_kind[row]) for row in outcomes}
    if kinds == {RAISES}:
        return Explanation(AcceptedInvalid(_why_invalid(batch, vector)))

    rows = [row for row in outcomes if batch.outcome_kind[row] == VALUES]
    count = len(answers.outputs[vector])
    why: Why | None
    if count > batch.outputs:
        why = WrongCount(count, batch.outputs)
    else:
        why, nearest = _misfit(batch, answers, vector, rows), -1
        if why is None:
            nearest = nearest_outcome(batch, answers, compared, vector, rows)
            # Each output alone may have a shape and type of some outcome, and all not those of one.
            why = _misfit(batch, answers, vector, [nearest])
    if why is not None:
        return Explanation(why, answer=_digest(answers.outputs[vector]))
    defined = [_expected(batch, nearest, output).addends != UNDEFINED for output in range(count)]
    answer = _digest(answers.outputs[vector], defined)
    table, code = int(batch.outcome_expected[nearest]), int(batch.outcome_arithmetic[nearest])
    worst = [
        _worst(batch, answers, vector, nearest, output)
        for output in range(count)
        if compared.wrong[table + output, code]
    ]
    return Explanation(elements_differ(worst), worst[0] if worst else None, answer=answer)


def _digest(outputs: Sequence[Returned], defined: Sequence[Bools] | None = None) -> str:
    """Return a digest of what was returned, in the elements that are `defined` if that is given.

    All NaN are one, and both zeros: no document tells them apart, and machines do.
    """
    digest = sha256()
    for number, output in enumerate(outputs):
        digest.update(f"{output.dtype}{output.shape}".encode())
        if output.data is not None and output.dtype in SUITE_TYPES:
            values = np.frombuffer(output.data, dtype_of(output.dtype)).copy()
            if output.dtype in FLOATS:
                values[values == 0] = 0
                values[np.isnan(values)] = np.nan
            digest.update((values if defined is None else values[defined[number]]).tobytes())
    return digest.hexdigest()[:_DIGITS]


def elements_differ(worst: Iterable[Worst]) -> WrongElements:
    """Say how many elements of each output differ, given the worst of each that is wrong."""
    return WrongElements(tuple(Differing(of.wrong, of.total, of.output) for of in worst))


def nearest_outcome(
    batch: Batch, answers: Answers, compared: OutputsCompared, vector: int, outcomes: Sequence[int]
) -> int:
    """Return which of some outcomes with values the arrays returned for a vector are nearest to.

    That is the one with most outputs of the right type and shape, and of these the one with the
    fewest wrong elements; the first of equals, since default readings come first. Outcomes are
    given by their rows.
    """
    count = min(len(answers.outputs[vector]), batch.outputs)

    def distance(outcome: int) -> tuple[int, int]:
        first, code = int(batch.outcome_expected[outcome]), int(batch.outcome_arithmetic[outcome])
        comparable = sum(bool(compared.comparable[first + output]) for output in range(count))
        wrong = sum(int(compared.wrong[first + output, code]) for output in range(count))
        return count - comparable, wrong

    return min(outcomes, key=distance)


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The elements of one output, flat in C order, beside what is expected of them.

    `wrong` marks those that do not conform, of the `defined` ones; `error` = |got - expected| is
    at most `bound` in the others (NaN where only one of the two is).
    """

    got: Array
    expected: Array
    defined: Bools
    wrong: Bools
    error: Doubles
    bound: Doubles


@np.errstate(all="ignore")  # NaN and overflow are among what is compared
def elements(batch: Batch, answers: Answers, vector: int, outcome: int, output: int) -> Elements:
    """Return the elements of an output that has the type and shape of an outcome, by its row."""
    arithmetic = int(batch.outcome_arithmetic[outcome])
    of = _expected(batch, outcome, output)
    returned = answers.outputs[vector][output]
    assert returned.data is not None
    got = np.frombuffer(returned.data, of.values.dtype)
    axes = batch.inputs[vector][0].ndim - 2
    compared_by = operator_named(batch.operator).outputs[output]
    flushed = arithmetic & Arithmetic.FLUSHED
    if compared_by.comparison != "bound":
        arithmetic &= ~Arithmetic.FLUSHED  # cells say what may be chosen then
    found = elements_of(got, of, axes, compared_by, [arithmetic])
    if flushed:
        wrong = np.flatnonzero(found.wrong)
        rows = np.full(len(wrong), int(batch.outcome_expected[outcome]) + output)
        found.wrong[wrong] = ~right_if_flushed(
            batch, rows, wrong, got[wrong], arithmetic | Arithmetic.FLUSHED
        )
    return found


def _expected(batch: Batch, outcome: int, output: int) -> Expected:
    """Return what is expected of an output by an outcome, given by its row, flat in C order."""
    row = int(batch.outcome_expected[outcome]) + output
    start = int(batch.expected_start[row])
    columns = batch.columns[batch.expected_dtype[row]]
    return columns.at(slice(start, start + int(batch.expected_size[row])))


def elements_of(
    got: Array, of: Expected, axes: int, output: Output, arithmetics: Collection[int]
) -> Elements:
    """Return elements of an output of so many spatial axes, right under any of some arithmetics.

    `bound` is that of the strictest.
    """
    defined = of.addends != UNDEFINED
    if name_of(of.values.dtype) in FLOATS:
        near = closeness(got, of, np.array(axes), average=output.comparison == "bound")
        right = np.logical_or.reduce([near.right(code) for code in arithmetics])
        wrong, error, bound = ~right, near.error, near.bound(min(arithmetics))
    else:
        wrong, bound = got != of.values, np.zeros(got.size)
        error = np.abs(got.astype(np.float64) - of.values.astype(np.float64))
    return Elements(got, of.values, defined, defined & wrong, error, bound)


def _misfit(
    batch: Batch, answers: Answers, vector: int, rows: Sequence[int]
) -> WrongShape | WrongType | None:
    """Say which output has not the shape or type of any of some outcomes; None if none."""
    firsts = [int(batch.outcome_expected[row]) for row in rows]
    for output, got in enumerate(answers.outputs[vector]):
        expected = [
            (batch.expected_shape[first + output], batch.expected_dtype[first + output])
            for first in firsts
        ]
        if wrong := misfit(got, expected, output_name(batch.operator, output)):
            return wrong
    return None


def misfit(
    got: Returned, expected: Sequence[tuple[tuple[int, ...], str]], name: str
) -> WrongShape | WrongType | None:
    """Say what is wrong with an output that has none of some shapes and types; None if nothing."""
    shapes = tuple(dict.fromkeys(shape for shape, _ in expected))
    if got.shape not in shapes:
        return WrongShape(got.shape, shapes, name)
    types = distinct(dtype for shape, dtype in expected if shape == got.shape)
    return None if got.dtype in types else WrongType(got.dtype, types, name)


def output_name(operator: str, output: int) -> str:
    """Return the name of an output where there are several, else ""."""
    outputs = operator_named(operator).outputs
    return outputs[output].name if len(outputs) > 1 else ""


def explain_pins(
    batch: Batch, vector: int, accepted: bytes, pins: Mapping[str, str]
) -> NotRequired:
    """Say which pinned clauses an answer that would conform without pins decides otherwise.

    `accepted` is the packed set of combinations under which it would.
    """
    space = reading_space(batch.operator)
    applying = space.disputed_in(batch.clauses[vector])
    pinned = [clause for clause in pins if clause in applying]
    followed = {clause: space.readings_in(accepted, clause) for clause in pinned}
    against = [clause for clause in pinned if pins[clause] not in followed[clause]]
    # Each pin may be possible alone and only all of them together be not.
    return NotRequired(
        tuple(
            OtherReading(clause, tuple(followed[clause]), pins[clause])
            for clause in against or pinned
        )
    )


def explain_excused(
    why: Why | None, operator: str, accepted: bytes, clauses: Container[str]
) -> Raised:
    """Say of an exception under which readings alone it would be right.

    `accepted` is the packed set of these, `clauses` the disputed clauses that apply to the vector.
    """
    space = reading_space(operator)
    only = tuple(
        OnlyUnder(clause, tuple(possible))
        for clause, readings in space.readings.items()
        if clause in clauses and (possible := space.readings_in(accepted, clause)) != readings
    )
    raised = why if isinstance(why, Raised) else Raised(text=in_words(why))
    return structs.replace(raised, only_under=only)


def _why_invalid(batch: Batch, vector: int) -> str:
    try:
        operator_named(batch.operator).validate(batch.inputs[vector], batch.attributes[vector])
    except InvalidCase as error:
        return str(error)
    return "an exception is the right answer"


def _worst(batch: Batch, answers: Answers, vector: int, outcome: int, output: int) -> Worst:
    """Return the worst element of an output under an outcome, given by its row."""
    shape = batch.expected_shape[int(batch.outcome_expected[outcome]) + output]
    of = elements(batch, answers, vector, outcome, output)
    return worst_of(of, batch.operator, output, lambda place: np.unravel_index(place, shape))


@np.errstate(all="ignore")
def worst_of(
    of: Elements, operator: str, output: int, index_of: Callable[[int], Iterable[Any]]
) -> Worst:
    """Return the worst of some elements of an output, of which some are wrong.

    `index_of` is where in the output the element with a number is.
    """
    name, several = name_of(of.expected.dtype), output_name(operator, output)
    ulps = of.error / spacing(widen(of.expected), name)
    # A NaN or infinity in place of a number, or the reverse, is as wrong as can be.
    ulps[~np.isfinite(ulps)] = np.inf
    worst, first = int(np.where(of.wrong, ulps, -1.0).argmax()), int(of.wrong.argmax())
    error = float(of.error[worst])
    return Worst(
        index=tuple(int(i) for i in index_of(worst)),
        got=_number(of.got[worst]),
        expected=_number(of.expected[worst]),
        error=np.inf if np.isnan(error) else error,
        ulp=float(ulps[worst]),
        bound=float(of.bound[worst]),
        wrong=int(of.wrong.sum()),
        total=int(of.defined.sum()),
        first_index=tuple(int(i) for i in index_of(first)),
        first_got=_number(of.got[first]),
        first_expected=_number(of.expected[first]),
        output=several,
        number=output if several else UNSET,
        dtype=name if several else "",
    )


def _number(value: np.generic) -> float | int:
    return int(value) if np.issubdtype(value.dtype, np.integer) else float(value)
