"""Why an answer does not conform: a fact, and the worst element where elements differ."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from msgspec import UNSET, structs

from conformance.backends.answer import MISSING, NO_ARRAY, SUITE_TYPES, Answer, Returned
from conformance.dtypes import FLOATS, dtype_of, name_of
from conformance.errors import InvalidCase
from conformance.judging.closeness import Bools, Ints, spacing
from conformance.judging.comparison import Comparison, DifferingElements, defined
from conformance.judging.reading_sets import BitSet, reading_space
from conformance.operators import operator_named
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
from conformance.vector import Case, Outcome, Raises, Values, Vector

_DIGITS = 12
"""Hexadecimal digits of a digest of an answer, enough to tell one from others by accident."""


Form = tuple[tuple[int, ...], str]
"""Shape and element type of an output."""


class Explanation(NamedTuple):
    """Why a vector has its verdict; the fields are those of `Result`."""

    why: Why | None = None
    worst: Worst | None = None
    answer: str = ""


NOT_EXPLAINED = Explanation()


def explain_mismatch(
    vector: Vector, answer: Answer, comparison: Comparison, outcomes: Sequence[Outcome]
) -> Explanation:
    """Say why the answer to a vector fits none of some of its outcomes."""
    if answer.kind == MISSING:
        return Explanation(NotStored())
    if answer.kind == NO_ARRAY:
        return Explanation(answer.why)
    if all(isinstance(outcome, Raises) for outcome in outcomes):
        return Explanation(AcceptedInvalid(_why_invalid(vector.case)))

    valued = [outcome for outcome in outcomes if isinstance(outcome, Values)]
    if not valued:  # any answer is right, but under readings that are not required
        return Explanation(answer=_digest(answer.outputs))
    nearest, operator = comparison.nearest(valued), vector.case.operator
    # Each output alone may have a shape and type of some outcome, and all not those of one.
    for possible in (valued, [nearest]):
        if why := misfit(operator, answer.outputs, [forms_of(outcome) for outcome in possible]):
            return Explanation(why, answer=_digest(answer.outputs))
    every = (_worst(comparison, nearest, number) for number in range(len(answer.outputs)))
    worst = [of_output for of_output in every if of_output is not None]
    digest = _digest(answer.outputs, [defined(of) for of in nearest.outputs])
    return Explanation(elements_differ(worst), worst[0] if worst else None, answer=digest)


def _digest(outputs: Sequence[Returned], of: Sequence[Bools] | None = None) -> str:
    """Return a digest of what was returned, `of` certain elements if that is given.

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
            digest.update((values if of is None else values[of[number]]).tobytes())
    return digest.hexdigest()[:_DIGITS]


def elements_differ(worst: Iterable[Worst]) -> WrongElements:
    """Say how many elements of each output differ, given the worst of each that is wrong."""
    return WrongElements(tuple(Differing(of.wrong, of.total, of.output) for of in worst))


def forms_of(outcome: Values) -> list[Form]:
    """Return the shape and element type of each output of an outcome."""
    return [(of.values.shape, name_of(of.values.dtype)) for of in outcome.outputs]


def misfit(
    operator: str, outputs: Sequence[Returned], possible: Sequence[Sequence[Form]]
) -> WrongCount | WrongShape | WrongType | None:
    """Say why outputs have not the forms of any of some outcomes; None if each has one of them."""
    if len(outputs) > len(possible[0]):
        return WrongCount(len(outputs), len(possible[0]))
    for number, got in enumerate(outputs):
        forms = [of_outcome[number] for of_outcome in possible]
        shapes = tuple(dict.fromkeys(shape for shape, _ in forms))
        if got.shape not in shapes:
            return WrongShape(got.shape, shapes, output_name(operator, number))
        types = distinct(dtype for shape, dtype in forms if shape == got.shape)
        if got.dtype not in types:
            return WrongType(got.dtype, types, output_name(operator, number))
    return None


def output_name(operator: str, output: int) -> str:
    """Return the name of an output where there are several, else ""."""
    outputs = operator_named(operator).outputs
    return outputs[output].name if len(outputs) > 1 else ""


def explain_pins(vector: Vector, accepted: BitSet, pins: Mapping[str, str]) -> NotRequired:
    """Say which pinned clauses an answer that would conform without pins decides otherwise.

    `accepted` are the combinations of readings under which it would.
    """
    space = reading_space(vector.case.operator)
    applying = space.disputed_in(vector.clauses)
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
    why: Why | None, operator: str, accepted: BitSet, clauses: Container[str]
) -> Raised:
    """Say of an exception under which readings alone it would be right.

    `accepted` is the set of these, `clauses` the disputed clauses that apply to the vector.
    """
    space = reading_space(operator)
    only = tuple(
        OnlyUnder(clause, tuple(possible))
        for clause, readings in space.readings.items()
        if clause in clauses and (possible := space.readings_in(accepted, clause)) != readings
    )
    raised = why if isinstance(why, Raised) else Raised(text=in_words(why))
    return structs.replace(raised, only_under=only)


def _why_invalid(case: Case) -> str:
    try:
        operator_named(case.operator).validate(case.inputs, case.attributes)
    except InvalidCase as error:
        return str(error)
    return "an exception is the right answer"


def _worst(comparison: Comparison, outcome: Values, number: int) -> Worst | None:
    """Return the worst element of an output under an outcome; None if none is wrong."""
    differing, wrong = comparison.differing(outcome, number), comparison.wrong(outcome, number)
    if differing is None or not wrong.any():
        return None
    expected = outcome.outputs[number]
    where = np.stack(np.unravel_index(differing.places, expected.values.shape), axis=1)
    total = int(defined(expected).sum())
    return worst_of(differing, wrong, outcome.arithmetic, where, total)


@np.errstate(all="ignore")
def worst_of(
    of: DifferingElements, wrong: Bools, arithmetic: int, where: Ints, total: int
) -> Worst:
    """Return the worst of some elements of an output, of which some are `wrong`.

    The bound is that of an arithmetic; `where`, (elements, axes), is the index of each element in
    the output, of which so many elements in `total` are defined.
    """
    name, several = name_of(of.dtype), output_name(of.operator, of.number)
    ulps = of.error / spacing(widen(of.expected.values), name)
    # A NaN or infinity in place of a number, or the reverse, is as wrong as can be.
    ulps[~np.isfinite(ulps)] = np.inf
    worst, first = int(np.where(wrong, ulps, -1.0).argmax()), int(wrong.argmax())
    error = float(of.error[worst])
    return Worst(
        index=tuple(where[worst].tolist()),
        got=_number(of.got[worst]),
        expected=_number(of.expected.values[worst]),
        error=np.inf if np.isnan(error) else error,
        ulp=float(ulps[worst]),
        bound=float(of.bound(arithmetic)[worst]),
        wrong=int(wrong.sum()),
        total=total,
        first_index=tuple(where[first].tolist()),
        first_got=_number(of.got[first]),
        first_expected=_number(of.expected.values[first]),
        output=several,
        number=of.number if several else UNSET,
        dtype=name if several else "",
    )


def _number(value: np.generic) -> float | int:
    return int(value) if np.issubdtype(value.dtype, np.integer) else float(value)
