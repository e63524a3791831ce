"""Why an answer does not conform: one line, and the worst element where elements differ."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from conformance.batch import RAISES, VALUES, Batch, ExpectedColumns
from conformance.check.compare import Comparison, arithmetic_at, closeness, spacing
from conformance.check.reading_sets import reading_space
from conformance.check.report import Worst
from conformance.check.runner import MISSING, NO_ARRAY, Answers
from conformance.dtypes import FLOATS, dtype_of
from conformance.errors import InvalidCase
from conformance.operators import operator_named
from conformance.vector import UNDEFINED


class Explanation(NamedTuple):
    """One line, and the worst element if elements differ."""

    detail: str
    worst: Worst | None = None


def explain_mismatch(
    batch: Batch, answers: Answers, compared: Comparison, vector: int, outcomes: Sequence[int]
) -> Explanation:
    """Say why the answer to a vector fits none of some of its outcomes, given by their rows."""
    if answers.kind[vector] == MISSING:
        return Explanation("no output stored")
    if answers.kind[vector] == NO_ARRAY:
        return Explanation(f"returned {answers.text[vector]} instead of numpy.ndarray")
    kinds = {int(batch.outcome_kind[row]) for row in outcomes}
    if kinds == {RAISES}:
        return Explanation(f"accepted an invalid case: {_why_invalid(batch, vector)}")
    return _explain_values(batch, answers, compared, vector, outcomes)


def _explain_values(
    batch: Batch, answers: Answers, compared: Comparison, vector: int, outcomes: Sequence[int]
) -> Explanation:
    """Say how the arrays returned for a vector differ from those of the nearest outcome."""
    rows = [row for row in outcomes if batch.outcome_kind[row] == VALUES]
    count = len(answers.outputs[vector])
    if count > batch.outputs:
        return Explanation(f"returned {count} arrays instead of {batch.outputs}")
    if what := _misfit(batch, answers, vector, rows):
        return Explanation(what)

    def distance(row: int) -> tuple[int, int]:
        table, code = int(batch.outcome_expected[row]), arithmetic_at(batch, row)
        comparable = sum(bool(compared.comparable[table + output]) for output in range(count))
        wrong = sum(int(compared.wrong[table + output, code]) for output in range(count))
        return count - comparable, wrong

    nearest = min(rows, key=distance)  # the first of equals: default readings come first
    # Each output alone may have a shape and type of some outcome, and all not those of one.
    if count > 1 and (what := _misfit(batch, answers, vector, [nearest])):
        return Explanation(what)
    table, code = int(batch.outcome_expected[nearest]), arithmetic_at(batch, nearest)
    found = [
        _worst(batch, answers, vector, table + output, code)
        for output in range(count)
        if compared.wrong[table + output, code]
    ]
    texts = [f"{_of(each.output)}{each.wrong} of {each.total} elements differ" for each in found]
    return Explanation("; ".join(texts), found[0] if found else None)


def _misfit(batch: Batch, answers: Answers, vector: int, rows: Sequence[int]) -> str:
    """Say which output has not the shape or type of any of some outcomes; "" if none."""
    firsts = [int(batch.outcome_expected[row]) for row in rows]
    for output, got in enumerate(answers.outputs[vector]):
        shapes = [batch.expected_shape[first + output] for first in firsts]
        if got.shape not in shapes:
            of = _of(_output_name(batch, output))
            return f"{of}shape {got.shape} instead of {_either(shapes)}"
        names = [
            batch.expected_dtype[first + output]
            for first, shape in zip(firsts, shapes, strict=True)
            if shape == got.shape
        ]
        if got.dtype not in names:
            of = _of(_output_name(batch, output))
            return f"{of}dtype {got.dtype} instead of {_either(names)}"
    return ""


def _output_name(batch: Batch, output: int) -> str:
    """Return the name of an output where there are several."""
    outputs = operator_named(batch.operator).outputs
    return outputs[output].name if len(outputs) > 1 else ""


def _of(output: str) -> str:
    return f"{output}: " if output else ""


def explain_pins(batch: Batch, vector: int, accepted: bytes, pins: Mapping[str, str]) -> str:
    """Say which pinned clauses an answer that would conform without pins decides otherwise.

    `accepted` is the packed set of combinations under which it would.
    """
    space = reading_space(batch.operator)
    touching = space.touched(batch.clauses[vector])
    touched = [clause for clause in pins if clause in touching]
    followed = {clause: space.readings_in(accepted, clause) for clause in touched}
    against = [clause for clause in touched if pins[clause] not in followed[clause]]
    # Each pin may be possible alone and only all of them together be not.
    return "; ".join(
        f"follows {clause}={_either(followed[clause])}, {pins[clause]} is required"
        for clause in against or touched
    )


def explain_excused(text: str, operator: str, accepted: bytes, touched: Container[str]) -> str:
    """Say under which readings alone an exception, given by its text, would be right.

    `accepted` is the packed set of these, `touched` the clauses that touch the operator's vector.
    """
    space = reading_space(operator)
    only = [
        f"{clause}={_either(possible)}"
        for clause, every in space.readings.items()
        if clause in touched and (possible := space.readings_in(accepted, clause)) != every
    ]
    return f"{text} (an exception is right only under {', '.join(only)})" if only else text


def _why_invalid(batch: Batch, vector: int) -> str:
    try:
        operator_named(batch.operator).validate(batch.inputs[vector], batch.attributes[vector])
    except InvalidCase as error:
        return str(error)
    return "an exception is the right answer"


def _either(values: Iterable[object]) -> str:
    return " or ".join(dict.fromkeys(map(str, values)))


def _worst(batch: Batch, answers: Answers, vector: int, row: int, arithmetic: int) -> Worst:
    """Return the worst element of an output, given by its row of the expected table."""
    number = int(batch.expected_output[row])
    name = batch.expected_dtype[row]
    start = int(batch.expected_start[row])
    part = slice(start, start + int(batch.expected_size[row]))
    columns = batch.columns[name]
    of = ExpectedColumns(
        columns.values[part], columns.addends[part], columns.divisor[part], columns.magnitude[part]
    )
    returned = answers.outputs[vector][number]
    assert returned.data is not None
    got = np.frombuffer(returned.data, dtype_of(name))
    defined = of.addends != UNDEFINED
    if name in FLOATS:
        axes = np.array(batch.inputs[vector][0].ndim - 2)
        output = operator_named(batch.operator).outputs[number]
        near = closeness(got, of, axes, average=output.comparison == "bound")
        wrong = defined & ~near.right(arithmetic)
        bounds = near.bound(arithmetic)
        errors, expected = near.error, near.expected
    else:
        wrong = defined & (got != of.values)
        bounds = np.zeros(got.size)
        expected = of.values.astype(np.float64)
        errors = np.abs(got.astype(np.float64) - expected)
    ulps = errors / spacing(expected, name)
    # A NaN or infinity in place of a number, or the reverse, is as wrong as can be.
    ulps[~np.isfinite(ulps)] = np.inf
    worst, first = int(np.where(wrong, ulps, -1.0).argmax()), int(wrong.argmax())
    error = float(errors[worst])
    shape = batch.expected_shape[row]
    return Worst(
        index=tuple(int(i) for i in np.unravel_index(worst, shape)),
        got=_number(got[worst]),
        expected=_number(of.values[worst]),
        error=np.inf if np.isnan(error) else error,
        ulp=float(ulps[worst]),
        bound=float(bounds[worst]),
        wrong=int(wrong.sum()),
        total=int(defined.sum()),
        first_index=tuple(int(i) for i in np.unravel_index(first, shape)),
        first_got=_number(got[first]),
        first_expected=_number(of.values[first]),
        output=_output_name(batch, number),
        number=number,
        dtype=name if batch.outputs > 1 else "",
    )


def _number(value: np.generic) -> float | int:
    return int(value) if np.issubdtype(value.dtype, np.integer) else float(value)
