"""Outputs that choose a cell where subnormal numbers count as zero: what may be returned.

Any cell of a window that is largest then may be chosen: a comparison may see zeros where the
selection copies a cell. Each output may choose its own. Source: docs/numerics.md, "Maximum".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.dtypes import float_format, name_of
from conformance.operators import operator_named, under
from conformance.operators.gradients import GradientOfMaximum
from conformance.operators.indices import ChosenIndex, cells_of_windows
from conformance.operators.pipeline import Divisor, Gathered, Pipeline
from conformance.reference import tolerance
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Expected, Values, Vector

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def right_if_flushed(
    vector: Vector, outcome: Values, output: int, places: Ints, got: Array
) -> Bools:
    """Say of elements that are not the expected ones whether flushing explains each.

    `output` is the number of the output of the outcome, `places` where in it they are, flat, and
    `got` what was returned there. Sums have a bound of their own and are not looked at.
    """
    case, operator = vector.case, operator_named(vector.case.operator)
    of_maximum = isinstance(operator.pipeline.reduce, GradientOfMaximum)
    right = np.zeros(len(places), np.bool_)
    if operator.reduction.sums and not of_maximum:
        return right
    # Only cells that count as zero may be chosen in place of others.
    cells = (case.data if of_maximum else outcome.outputs[0].values).ravel()[places]
    least = float_format(name_of(cells.dtype)).smallest_normal
    near_zero = np.flatnonzero(np.abs(widen(cells)) < least)
    if not near_zero.size:
        return right
    places, got = places[near_zero], got[near_zero]
    if of_maximum:
        right[near_zero] = _gradients(vector, outcome, places, got)
    elif operator.reduction.scatters:
        right[near_zero] = (got == 0) & (output == 0)
    else:
        right[near_zero] = _choices(vector, outcome, output, places, got, least)
    return right


def steps_of(vector: Vector, outcome: Values) -> tuple[Pipeline, Gathered, Divisor]:
    """Return the steps that give an outcome, what windows read, and the divisor."""
    case, operator = vector.case, operator_named(vector.case.operator)
    pipeline = under(operator, outcome.readings[0])
    plan = pipeline.plan(operator.validate(case.inputs, case.attributes))
    gathered = pipeline.gathered(case.data, plan, operator.gradient_or_indices(case.inputs))
    return pipeline, gathered, plan.divisor


def _choices(
    vector: Vector, outcome: Values, output: int, places: Ints, got: Array, least: float
) -> Bools:
    """Say whether each value is zero or a cell that ties with zero, or each index that of one."""
    pipeline, gathered, _ = steps_of(vector, outcome)
    where = np.unravel_index(places, outcome.outputs[0].values.shape)
    cells = cells_of_windows(gathered, where)
    values = widen(cells.values)
    tied = cells.inside & (np.abs(values) < least)
    within = tuple(range(1, tied.ndim))
    wanted = got.reshape((-1,) + (1,) * len(within))
    if output == 0:
        copied: Bools = (tied & (values == widen(wanted))).any(axis=within)
        copied |= got == 0
        return copied
    if not isinstance(pipeline.further, ChosenIndex):
        return np.zeros(len(got), np.bool_)
    right = tied & (pipeline.further.of_cells(cells, gathered) == wanted)
    # Where all that tie are zeros, nothing is flushed: which is chosen, `index-of-ties` says.
    holds: Bools = right.any(axis=within) & (tied & (values != 0)).any(axis=within)
    return holds


def _gradients(vector: Vector, outcome: Values, places: Ints, got: Array) -> Bools:
    """Say whether each value is between the least and the most that its cell may get."""
    pipeline, gathered, divisor = steps_of(vector, outcome)
    assert isinstance(pipeline.reduce, GradientOfMaximum)
    shape, axes = outcome.outputs[0].values.shape, gathered.data.ndim - 2
    *ends, every = pipeline.reduce.if_flushed(gathered, divisor)
    measures = every.measures(shape)
    wide = widen(got)
    right = np.ones(len(got), np.bool_)
    for end, below in zip(ends, (True, False), strict=True):
        expected = Expected(end.sums(shape).ravel(), *measures).at(places)
        bound = tolerance(expected, axes, outcome.arithmetic, average=True, below=below)
        value = widen(expected.values)
        right &= (wide >= value - bound) if below else (wide <= value + bound)
    right |= measures.addends[places] == UNDEFINED
    return right
