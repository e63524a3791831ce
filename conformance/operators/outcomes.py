"""Every answer to a case that conforms: the pipeline under each combination of readings.

A clause *touches* a case when some of its readings lead to different answers. Whether it does is
found by running the steps, not by a second description of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, FloatFormat, float_format, name_of
from conformance.errors import InvalidCase
from conformance.operators import pipeline as steps
from conformance.operators.clauses import CLAUSES, DISPUTED, GEOMETRIC, under
from conformance.operators.operator import Operator
from conformance.operators.pipeline import Plan
from conformance.reference import measures, overflow_allowed
from conformance.reference.bound import gamma, is_meaningful
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Case, Combination, Outcome, Vector

Clauses = dict[str, tuple[str, ...]]


def answer(operator: Operator, case: Case) -> Vector:
    """Return the case with every outcome that conforms and the clauses that touch it."""
    try:
        params = operator.validate(case.inputs, case.attributes)
    except InvalidCase:
        return Vector(case, (Outcome("raises"),))
    undefined = undefined_as_a_whole(operator, params, case.inputs[0])
    if undefined:
        return Vector(case, (Outcome("anything"),), {undefined: ()})
    data = case.inputs[0]
    plans, touching = _plans(operator, params)
    clauses = dict(touching)
    tables = [(combination, _tables(operator, data, plan)) for combination, plan in plans]
    outcomes: list[Outcome] = []
    for combination, (table, nan_clause) in tables:
        clauses |= nan_clause
        outcomes += [
            replace(outcome, readings=({**combination, **extra},)) for extra, outcome in table
        ]
    outcomes, arithmetic = _under_arithmetic(operator, data, outcomes)
    clauses |= arithmetic
    if _any_pad_reaches_kernel(params):
        clauses["pads-not-below-kernel"] = _names("pads-not-below-kernel")
        outcomes = [_reading_too(o, {"pads-not-below-kernel": "accepted"}) for o in outcomes]
        outcomes.append(Outcome("raises", ({"pads-not-below-kernel": "rejected"},)))
    if any(_has_undefined(o) for o in outcomes) and _some_window_is_empty(p for _, p in plans):
        clauses[f"all-padding-{operator.reduction}"] = ()
    return Vector(case, tuple(_fill_products(outcomes, clauses)), clauses)


def undefined_as_a_whole(operator: Operator, params: steps.Params, data: Array) -> str | None:
    """Return the clause that leaves a valid case without any defined element, if one does."""
    if 0 in data.shape or 0 in params.output:
        return "empty-dimension"
    if params.kernel and min(steps.rooms(params, operator.pipeline.pads(params))) < 0:
        return "kernel-past-padding"
    if operator.reduction == "average" and data.dtype.kind in "iu":
        return "integer-average"
    return None


@cache
def _names(clause: str) -> tuple[str, ...]:
    return tuple(reading.name for reading in CLAUSES[clause].readings)


@cache
def _geometries(operator: Operator) -> tuple[list[str], dict[tuple[str, ...], steps.Pipeline]]:
    """Return the geometric clauses of an operator and its pipeline for each choice of readings."""
    names = [name for name in GEOMETRIC if operator.name in CLAUSES[name].operators]
    return names, {
        choice: under(operator, dict(zip(names, choice, strict=True)))
        for choice in product(*map(_names, names))
    }


@lru_cache(maxsize=8)  # a sweep asks for the same geometry with one element type after the other
def _plans(
    operator: Operator, params: steps.Params
) -> tuple[list[tuple[Combination, Plan]], Clauses]:
    """Return one plan per combination of the geometric clauses that touch the case."""
    candidates, pipelines = _geometries(operator)
    every = dict(zip(pipelines, steps.plans(pipelines.values(), params), strict=True))
    touching = [
        name
        for i, name in enumerate(candidates)
        if any(
            plan.key != every[(*choice[:i], other, *choice[i + 1 :])].key
            for choice, plan in every.items()
            for other in _names(name)
        )
    ]
    plans: list[tuple[Combination, Plan]] = []
    for choice, plan in every.items():
        combination = dict(zip(candidates, choice, strict=True))
        if all(combination[n] == CLAUSES[n].default for n in candidates if n not in touching):
            plans.append(({name: combination[name] for name in touching}, plan))
    return plans, {name: _names(name) for name in touching}


def _tables(
    operator: Operator, data: Array, plan: Plan
) -> tuple[list[tuple[Combination, Outcome]], Clauses]:
    """Return the values of one plan, under both readings of NaN if they differ."""
    clause = "nan-in-maximum"
    first = _values(operator.pipeline, operator, data, plan)
    disputed = operator.name in CLAUSES[clause].operators and data.dtype.kind not in "iu"
    if not disputed or not np.isnan(widen(data)).any():
        return [({}, first)], {}
    second = _values(under(operator, {clause: "ignored"}), operator, data, plan)
    if _key(first) == _key(second):
        return [({}, first)], {}
    readings = _names(clause)
    table: list[tuple[Combination, Outcome]] = [
        ({clause: readings[0]}, first),
        ({clause: readings[1]}, second),
    ]
    return table, {clause: readings}


def _values(pipeline: steps.Pipeline, operator: Operator, data: Array, plan: Plan) -> Outcome:
    gathered = pipeline.gather(data, plan.params, plan.windows)
    expected = pipeline.reduce(gathered, plan.divisor)
    if operator.reduction == "average":
        addends, divisor, magnitude = measures(data, gathered.lo, gathered.hi, plan.divisor)
        addends[(divisor == 0)] = UNDEFINED
        return Outcome("values", ({},), expected, addends, divisor, magnitude)
    empty = steps.outer([b - a for a, b in zip(gathered.lo, gathered.hi, strict=True)]) == 0
    undefined = np.broadcast_to(empty, expected.shape).copy()
    if pipeline is not operator.pipeline:  # NaN is ignored: nothing is left of a window of NaN
        undefined |= np.isnan(widen(expected))
    size = expected.size
    addends = np.where(undefined.ravel(), UNDEFINED, 0).astype(np.int32)
    return Outcome(
        "values", ({},), expected, addends, np.ones(size, np.int32), np.zeros(size, np.float64)
    )


def _under_arithmetic(
    operator: Operator, data: Array, outcomes: list[Outcome]
) -> tuple[list[Outcome], Clauses]:
    """Return outcomes under the readings of accumulator and subnormals that touch the case.

    The values do not change, only how far from them an answer may be.
    """
    if data.dtype.kind in "iu":
        return outcomes, {}
    clauses: Clauses = {}
    if operator.reduction == "average" and any(_sums_may_differ(data, o) for o in outcomes):
        clauses["accumulator"] = _names("accumulator")
    if _subnormals_arise(operator, data, outcomes):
        clauses["subnormals"] = _names("subnormals")
    result = []
    for outcome in outcomes:
        for choice in product(*clauses.values()):
            extra = dict(zip(clauses, choice, strict=True))
            result.append(
                replace(
                    _reading_too(outcome, extra),
                    accumulator=extra.get("accumulator", "wider"),
                    subnormals=extra.get("subnormals", "kept"),
                )
            )
    return result, clauses


def _sums_may_differ(data: Array, outcome: Outcome) -> bool:
    """Say whether an element-type accumulator is held to another bound than a wider one."""
    expected, addends, divisor = outcome.expected, outcome.addends, outcome.divisor
    assert expected is not None
    assert addends is not None
    assert divisor is not None
    assert outcome.magnitude is not None
    name, axes = name_of(data.dtype), data.ndim - 2
    if name in FLOATS[:2] and is_meaningful(int(addends.max(initial=0)), axes, name):
        return bool((outcome.magnitude > 0).any())
    return bool(overflow_allowed(expected.ravel(), addends, divisor, outcome.magnitude, axes).any())


def _subnormals_arise(operator: Operator, data: Array, outcomes: Sequence[Outcome]) -> bool:
    """Say whether an input, a partial sum or a result may be subnormal.

    Two conditions, each necessary. Sums of multiples of a quantum q are multiples of q however
    they are rounded, so what is not zero lies at q / divisor or above, less rounding errors. And
    cells scaled beforehand are multiples of the last bit of the smallest, and so are their sums.
    """
    fmt = float_format(name_of(data.dtype))
    values = widen(data)
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    if operator.reduction == "maximum" or not values.size:
        return bool((values < fmt.smallest_normal).any())
    axes, quantum = data.ndim - 2, _quantum(values)
    last_bit = float(values.min()) * fmt.unit
    for outcome in outcomes:
        assert outcome.divisor is not None
        n = np.maximum(outcome.divisor, 1)
        least = fmt.smallest_normal
        if ((quantum / n <= least + _noise(outcome, axes, fmt)) & (last_bit / n <= least)).any():
            return True
    return False


def _noise(outcome: Outcome, axes: int, fmt: FloatFormat) -> npt.NDArray[np.float64]:
    assert outcome.addends is not None
    assert outcome.magnitude is not None
    k = np.asarray(outcome.addends + 2.0 * axes, np.float64)
    return gamma(k, fmt.unit) * outcome.magnitude


def _quantum(values: npt.NDArray[np.float64]) -> float:
    """Return the largest power of two of which all values, all above zero, are multiples."""
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    lowest: npt.NDArray[np.int64] = digits & -digits
    return float(np.ldexp(lowest.astype(np.float64), exponent - 53).min())


def _has_undefined(outcome: Outcome) -> bool:
    return outcome.addends is not None and bool((outcome.addends == UNDEFINED).any())


def _any_pad_reaches_kernel(params: steps.Params) -> bool:
    return params.auto_pad == "explicit" and any(
        max(begin, end) >= k
        for begin, end, k in zip(params.pads_begin, params.pads_end, params.kernel, strict=False)
    )


def _some_window_is_empty(plans: Iterable[Plan]) -> bool:
    return any(
        bool((start >= stop).any())
        for plan in plans
        for start, stop in zip(
            plan.windows.clipped_starts(plan.params.sizes),
            plan.windows.clipped_stops(plan.params.sizes),
            strict=True,
        )
    )


def _reading_too(outcome: Outcome, extra: Combination) -> Outcome:
    return replace(outcome, readings=tuple({**c, **extra} for c in outcome.readings))


def _fill_products(outcomes: list[Outcome], clauses: Mapping[str, Any]) -> list[Outcome]:
    """Complete partial combinations to products over all touching clauses; merge equal answers."""
    disputed = [clause.name for clause in DISPUTED if clauses.get(clause.name)]
    merged: dict[Any, Outcome] = {}
    for outcome in outcomes:
        full: list[Combination] = []
        for partial in outcome.readings:
            choices = [(partial[name],) if name in partial else clauses[name] for name in disputed]
            full += [dict(zip(disputed, choice, strict=True)) for choice in product(*choices)]
        key = _key(outcome)
        if key in merged:
            full = [*merged[key].readings, *full]
        merged[key] = replace(outcome, readings=tuple(full))
    return list(merged.values())


def _key(outcome: Outcome) -> tuple[Any, ...]:
    if outcome.expected is None:
        return (outcome.kind,)
    assert outcome.addends is not None
    assert outcome.divisor is not None
    assert outcome.magnitude is not None
    defined: npt.NDArray[np.bool_] = outcome.addends != UNDEFINED
    return (
        outcome.expected.shape,
        outcome.expected.ravel()[defined].tobytes(),
        outcome.addends.tobytes(),
        outcome.divisor.tobytes(),
        outcome.magnitude.tobytes(),
        outcome.accumulator,
        outcome.subnormals,
    )
