"""What a browser needs to draw a failing vector: geometry, values, and which elements are wrong."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import batch_of
from conformance.dtypes import name_of
from conformance.errors import ConformanceError
from conformance.judging.closeness import compare_outputs
from conformance.judging.explanations import Elements, elements, nearest_outcome
from conformance.judging.judge import answers_of
from conformance.literals import exact
from conformance.operators import operator_named
from conformance.operators.pipeline import Plan
from conformance.record.report import Result
from conformance.report import values as words
from conformance.report.drawing import documented, plan_of
from conformance.report.html.json_data import TrustedText
from conformance.report.vector_report import no_windows
from conformance.vector import ARITHMETIC, UNDEFINED, Array, Combination, Values, Vector, outputs_of
from conformance.vectorfile.verify import misshapen

LARGEST = 1 << 14
"""Elements of an array whose values a page holds; of larger ones it shows the geometry."""


def drawing(vector: Vector, result: Result, required: Mapping[str, str]) -> dict[str, Any]:
    """Return plain data for the page's script; {"note": why} where there is nothing to draw.

    What is drawn is the first output.
    The outcome drawn is the one that the checker holds the answer against: of those the
    `required` readings admit, the nearest to what was returned, else the first.
    """
    operator = operator_named(vector.case.operator)
    outcome, returned = _nearest(vector, result, required)
    if outcome is None:
        return {"note": f"No windows to draw. {' '.join(no_windows(vector, operator))}"}
    if operator.is_gradient or operator.scatters:
        return {"note": f"Who gave what to a cell: conformance show {vector.case.id}"}
    if misshapen(vector):
        return {"note": "No drawing: the answers have not the shapes of the attributes."}
    combination = _chosen(outcome, required)
    try:
        plan = plan_of(vector, operator, outcome, combination)
    except ConformanceError as error:
        return {"note": f"No drawing: {error}"}
    expected, addends = outcome.outputs[0].values, outcome.outputs[0].addends
    named = {k: v for k, v in combination.items() if k not in ARITHMETIC}
    data = vector.case.data
    large = max(data.size, expected.size) > LARGEST
    worst = result.worst.index if result.worst else (0,) * expected.ndim
    drawn: dict[str, Any] = {
        "average": operator.reduction.sums,
        "dtype": name_of(data.dtype),
        "shape": data.shape,
        "out": expected.shape,
        "axes": [*_axes(plan, worst[2:] if large else None)],
        "readings": ", ".join(words.attribute(*reading) for reading in named.items()),
        "worst": worst,
    }
    if large:
        return drawn
    drawn["data"], drawn["expected"] = _base64(data), _base64(expected)
    drawn["divisor"] = _divisor(plan)
    if (addends == UNDEFINED).any():
        drawn["undefined"] = _bits(addends == UNDEFINED)
    return drawn | _returned(result, expected, returned)


def _returned(result: Result, expected: Array, returned: Elements | None) -> dict[str, Any]:
    """Return what the backend gave: all of it, or the two elements that a report names."""
    output = None if result.output is None else outputs_of(result.output)[0]
    worst = result.worst
    if returned is not None:
        bounds = returned.bound[returned.wrong].tolist()
        # JSON has no infinity; a bound that admits everything is none.
        allowed = [float(f"{bound:.3g}") if np.isfinite(bound) else None for bound in bounds]
        return {
            "got": _base64(returned.got),
            "wrong": _bits(returned.wrong),
            "allowed": allowed,
        }
    if output is not None and output.size <= LARGEST and output.ndim == expected.ndim:
        return {"other": {"shape": output.shape, "dtype": name_of(output.dtype)}} | (
            {"got": _base64(output)} if output.size else {}
        )
    if worst is None or worst.number:
        return {}
    named = {worst.first_index: worst.first_got} if worst.first_index else {}
    named |= {worst.index: worst.got}
    flat = {
        int(np.ravel_multi_index(index, expected.shape)): exact(value, result.worst_dtype)
        for index, value in named.items()
    }
    return {"some": flat, "wrongs": worst.wrong}


def _nearest(
    vector: Vector, result: Result, required: Mapping[str, str]
) -> tuple[Values | None, Elements | None]:
    """Return the outcome to draw, and the elements of the first output beside it.

    None where no outcome has values, or where the first output has another type or shape or was
    not kept.
    """
    values = {row: o for row, o in enumerate(vector.outcomes) if isinstance(o, Values)}
    admitted = {
        row: outcome
        for row, outcome in values.items()
        if any(_meets(combination, required) for combination in outcome.readings)
    }
    values = admitted or values
    if not values or result.output is None:
        return next(iter(values.values()), None), None
    batch = batch_of([vector])
    answers = answers_of(batch, [outputs_of(result.output)])
    comparison = compare_outputs(batch, answers)
    nearest = nearest_outcome(batch, answers, comparison, 0, [*values])
    if not comparison.comparable[batch.outcome_expected[nearest]]:
        return values[nearest], None
    return values[nearest], elements(batch, answers, 0, nearest, 0)


def _meets(combination: Combination, required: Mapping[str, str]) -> bool:
    return all(combination.get(clause, reading) == reading for clause, reading in required.items())


def _chosen(outcome: Values, required: Mapping[str, str]) -> Combination:
    """Return a combination of readings of an outcome, without what no document has."""
    admitted = [c for c in outcome.readings if _meets(c, required)] or list(outcome.readings)
    return documented(admitted[0]) if admitted else {}


def _axes(plan: Plan, only: Sequence[int] | None) -> Iterator[dict[str, Any]]:
    """Yield pads and windows per spatial axis: evenly spaced ones as four numbers.

    Of others, all or `only` that with the given position.
    """
    for axis, ((start, stop, dilation), pads) in enumerate(
        zip(plan.windows.axes, plan.pads, strict=True)
    ):
        given: dict[str, Any] = {"pads": pads}
        if dilation > 1:
            given["dilation"] = dilation
        steps, cells = np.unique(np.diff(start)), np.unique(stop - start)
        if len(steps) <= 1 and len(cells) == 1:
            even = [start[0], steps[0] if len(steps) else 1, cells[0], len(start)]
            yield given | {"even": [int(number) for number in even]}
        else:
            part = slice(None) if only is None else slice(only[axis], only[axis] + 1)
            yield given | {"start": start[part].tolist(), "stop": stop[part].tolist()}


def _divisor(plan: Plan) -> int | list[int]:
    """Return the divisor per output position in C order; one number where all are equal."""
    divisors: list[int] = plan.divisor.ravel().tolist()
    return divisors[0] if len(set(divisors)) == 1 else divisors


def _base64(array: Array) -> TrustedText:
    little = array.dtype.newbyteorder("<") if prod(array.shape) else array.dtype
    return TrustedText(b64encode(array.astype(little).tobytes()), "ascii")


def _bits(mask: npt.NDArray[np.bool_]) -> TrustedText:
    return TrustedText(b64encode(np.packbits(mask.ravel(), bitorder="little").tobytes()), "ascii")
