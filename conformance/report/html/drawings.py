"""What a browser needs to draw a failing vector: geometry, values, and which elements are wrong."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import ExpectedColumns
from conformance.check.compare import closeness
from conformance.check.report import Result
from conformance.dtypes import FLOATS, name_of
from conformance.errors import ConformanceError, InvalidCase
from conformance.operators import CLAUSES, Operator, Output, operator_named
from conformance.operators.clauses import under
from conformance.operators.pipeline import Plan
from conformance.report import values as words
from conformance.report.html.text import Own
from conformance.vector import UNDEFINED, Array, Combination, Outcome, Vector, outputs_of
from conformance.verify import misshapen

LARGEST = 1 << 14
"""Elements of an array whose values a page holds; of larger ones it shows the geometry."""

_ARITHMETIC = ("accumulator", "subnormals")


def drawing(vector: Vector, result: Result, required: Mapping[str, str]) -> dict[str, Any]:
    """Return plain data for the page's script; {"note": why} where there is nothing to draw.

    What is drawn is the first output.
    The outcome drawn is the one that the checker holds the answer against: of those the
    `required` readings admit, the nearest to what was returned, else the first.
    """
    operator = operator_named(vector.case.operator)
    outcome, wrong, allowed = _nearest(vector, result, required, operator)
    if outcome is None or not outcome.outputs:
        return {"note": _without_windows(vector, operator)}
    if misshapen(vector):
        return {"note": "No drawing: the answers have not the shapes of the attributes."}
    combination = _chosen(outcome, required)
    try:
        params = operator.validate(vector.case.inputs, vector.case.attributes)
        plan = under(operator, combination).plan(params)
    except ConformanceError as error:
        return {"note": f"No drawing: {error}"}
    expected, addends = outcome.first.values, outcome.first.addends
    if expected.shape[2:] != plan.extent:  # that of other readings
        return {"note": "No drawing: the answer has not the shape of its readings."}
    named = {k: v for k, v in combination.items() if k not in _ARITHMETIC}
    data = vector.case.inputs[0]
    large = max(data.size, expected.size) > LARGEST
    worst = result.worst.index if result.worst else (0,) * expected.ndim
    drawn: dict[str, Any] = {
        "average": operator.reduction.sums,
        "dtype": name_of(data.dtype),
        "shape": data.shape,
        "out": expected.shape,
        "axes": [*_axes(plan, worst[2:] if large else None)],
        "readings": ", ".join(words.attribute(*each) for each in named.items()),
        "worst": worst,
    }
    if large:
        return drawn
    drawn["data"], drawn["expected"] = _base64(data), _base64(expected)
    drawn["divisor"] = _divisor(plan)
    if (addends == UNDEFINED).any():
        drawn["undefined"] = _bits(addends == UNDEFINED)
    return drawn | _returned(result, expected, wrong, allowed)


def _returned(
    result: Result, expected: Array, wrong: npt.NDArray[np.bool_] | None, allowed: Any
) -> dict[str, Any]:
    """Return what the backend gave: all of it, or the two elements that a report names."""
    output = None if result.output is None else outputs_of(result.output)[0]
    worst = result.worst
    if wrong is not None and output is not None:
        every = np.asarray(allowed)[wrong].tolist()
        # JSON has no infinity; a bound that admits everything is none.
        bounds = [float(f"{bound:.3g}") if np.isfinite(bound) else None for bound in every]
        return {"got": _base64(output), "wrong": _bits(wrong), "allowed": bounds}
    if output is not None and output.size <= LARGEST and output.ndim == expected.ndim:
        return {"other": {"shape": output.shape, "dtype": name_of(output.dtype)}} | (
            {"got": _base64(output)} if output.size else {}
        )
    if worst is None or worst.number:
        return {}
    named = {worst.first_index: worst.first_got} if worst.first_index else {}
    named |= {worst.index: worst.got}
    flat = {
        int(np.ravel_multi_index(index, expected.shape)): words.exact(value, result.worst_dtype)
        for index, value in named.items()
    }
    return {"some": flat, "wrongs": worst.wrong}


def _nearest(
    vector: Vector, result: Result, required: Mapping[str, str], operator: Operator
) -> tuple[Outcome | None, npt.NDArray[np.bool_] | None, Any]:
    outcomes = [outcome for outcome in vector.outcomes if outcome.kind == "values"]
    outcomes = [o for o in outcomes if any(_meets(c, required) for c in o.readings)] or outcomes
    output = None if result.output is None else outputs_of(result.output)[0]
    best: tuple[Outcome | None, npt.NDArray[np.bool_] | None, Any]
    best = (outcomes[0] if outcomes else None, None, None)
    for outcome in outcomes:
        expected = outcome.first.values
        if output is None or (output.shape, output.dtype) != (expected.shape, expected.dtype):
            continue
        wrong, allowed = _differing(outcome, output, operator.outputs[0])
        if best[1] is None or wrong.sum() < best[1].sum():
            best = outcome, wrong, allowed
    return best


def _differing(
    outcome: Outcome, returned: Array, output: Output
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return per element of the first output whether it is wrong, and the error allowed."""
    first = outcome.first
    values, defined = first.values.ravel(), first.addends != UNDEFINED
    if name_of(values.dtype) not in FLOATS:
        return defined & (returned.ravel() != values), np.zeros(values.size)
    near = closeness(
        returned.ravel(),
        ExpectedColumns(values, first.addends, first.divisor, first.magnitude),
        np.array(first.values.ndim - 2),
        average=output.comparison == "bound",
    )
    arithmetic = (outcome.accumulator == "element-type") + 2 * (outcome.subnormals == "flushed")
    return defined & ~near.right(arithmetic), near.bound(arithmetic)


def _meets(combination: Combination, required: Mapping[str, str]) -> bool:
    return all(combination.get(clause, reading) == reading for clause, reading in required.items())


def _chosen(outcome: Outcome, required: Mapping[str, str]) -> Combination:
    """Return a combination of readings of an outcome, without what no document has."""
    meeting = [c for c in outcome.readings if _meets(c, required)] or list(outcome.readings)
    known = {
        (clause.name, reading.name) for clause in CLAUSES.values() for reading in clause.readings
    }
    return {k: v for k, v in meeting[0].items() if (k, v) in known} if meeting else {}


def _axes(plan: Plan, only: Sequence[int] | None) -> Iterator[dict[str, Any]]:
    """Yield pads and windows per spatial axis: evenly spaced ones as four numbers.

    Of others, all or `only` that with the given position.
    """
    windows = zip(plan.windows.start, plan.windows.stop, plan.pads, strict=True)
    for axis, (start, stop, pads) in enumerate(windows):
        steps, cells = np.unique(np.diff(start)), np.unique(stop - start)
        if len(steps) <= 1 and len(cells) == 1:
            even = [start[0], steps[0] if len(steps) else 1, cells[0], len(start)]
            yield {"pads": pads, "even": [int(number) for number in even]}
        else:
            part = slice(None) if only is None else slice(only[axis], only[axis] + 1)
            yield {"pads": pads, "start": start[part].tolist(), "stop": stop[part].tolist()}


def _divisor(plan: Plan) -> int | list[int]:
    every: list[int] = plan.divisor.ravel().tolist()
    return every[0] if len(set(every)) == 1 else every


def _without_windows(vector: Vector, operator: Operator) -> str:
    if any(outcome.kind == "anything" for outcome in vector.outcomes):
        clause = next(iter(vector.clauses), "")
        why = f": {CLAUSES[clause].says}" if clause in CLAUSES else ""
        return f"Undefined as a whole ({clause}){why}. Anything but a crash conforms."
    why = "these attributes"
    try:
        operator.validate(vector.case.inputs, vector.case.attributes)
    except InvalidCase as error:
        why = str(error)
    return f"No windows to draw. An exception is the right answer: {why}."


def _base64(array: Array) -> Own:
    little = array.dtype.newbyteorder("<") if prod(array.shape) else array.dtype
    return Own(b64encode(array.astype(little).tobytes()), "ascii")


def _bits(mask: npt.NDArray[np.bool_]) -> Own:
    return Own(b64encode(np.packbits(mask.ravel(), bitorder="little").tobytes()), "ascii")
