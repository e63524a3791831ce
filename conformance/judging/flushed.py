"""Outputs that choose a cell where subnormal numbers count as zero: what may be returned.

Any cell of a window that is largest then may be chosen: a comparison may see zeros where the
selection copies a cell. Each output may choose its own. Source: docs/numerics.md, "Maximum".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch
from conformance.dtypes import float_format
from conformance.operators import operator_named, under
from conformance.operators.gradients import GradientOfMaximum
from conformance.operators.indices import ChosenIndex, cells_of_windows
from conformance.operators.pipeline import Divisor, Gathered, Pipeline
from conformance.reference import tolerance
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Expected, own_inputs

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def right_if_flushed(
    batch: Batch, rows: Ints, elements: Ints, got: Array, arithmetic: int
) -> Bools:
    """Say of elements that are not the expected ones whether flushing explains each.

    `rows` are rows of the expected table, `elements` places in their output, flat, and `got` what
    was returned there. Sums have a bound of their own and are not looked at.
    """
    right = np.zeros(len(rows), np.bool_)
    operator = operator_named(batch.operator)
    for row in np.unique(rows).tolist():
        of_row = np.flatnonzero(rows == row)
        first = row - int(batch.expected_output[row])
        of_output = elements[of_row], got[of_row]
        if isinstance(operator.pipeline.reduce, GradientOfMaximum):
            right[of_row] = _gradients(batch, row, *of_output, arithmetic)
        elif not operator.reduction.sums:
            name = batch.expected_dtype[first]
            values = batch.columns[name].values[int(batch.expected_start[first]) + of_output[0]]
            least = float_format(name).smallest_normal
            near_zero = np.abs(widen(values)) < least
            right[of_row] = near_zero & (
                (of_output[1] == 0) & (row == first)
                if operator.reduction.scatters
                else _choices(batch, row, *of_output, least)
            )
    return right


def steps_of_row(batch: Batch, first: int) -> tuple[Pipeline, Gathered, Divisor]:
    """Return the steps of the outcome of a row, of the first output, and what they get."""
    outcome = int(np.flatnonzero(batch.outcome_expected == first)[0])
    vector = int(batch.outcome_vector[outcome])
    operator, inputs = operator_named(batch.operator), batch.inputs[vector]
    pipeline = under(operator, batch.outcome_readings[outcome][0])
    plan = pipeline.plan(operator.validate(inputs, batch.attributes[vector]))
    data = own_inputs(batch.operator, inputs)[0]
    gathered = pipeline.gathered(data, plan, operator.gradient_or_indices(inputs))
    return pipeline, gathered, plan.divisor


def _choices(batch: Batch, row: int, elements: Ints, got: Array, least: float) -> Bools:
    """Say whether each value is zero or a cell that ties with zero, or each index that of one."""
    first = row - int(batch.expected_output[row])
    pipeline, gathered, _ = steps_of_row(batch, first)
    cells = cells_of_windows(gathered, np.unravel_index(elements, batch.expected_shape[row]))
    values = widen(cells.values)
    tied = cells.inside & (np.abs(values) < least)
    within = tuple(range(1, tied.ndim))
    wanted = got.reshape((-1,) + (1,) * len(within))
    if row == first:
        copied: Bools = (tied & (values == widen(wanted))).any(axis=within)
        copied |= got == 0
        return copied
    if not isinstance(pipeline.further, ChosenIndex):
        return np.zeros(len(got), np.bool_)
    right = tied & (pipeline.further.of_cells(cells, gathered) == wanted)
    # Where all that tie are zeros, nothing is flushed: which is chosen, `index-of-ties` says.
    holds: Bools = right.any(axis=within) & (tied & (values != 0)).any(axis=within)
    return holds


def _gradients(batch: Batch, row: int, elements: Ints, got: Array, arithmetic: int) -> Bools:
    """Say whether each value is between the least and the most that its cell may get."""
    pipeline, gathered, divisor = steps_of_row(batch, row)
    assert isinstance(pipeline.reduce, GradientOfMaximum)
    shape, axes = batch.expected_shape[row], gathered.data.ndim - 2
    *ends, every = pipeline.reduce.if_flushed(gathered, divisor)
    measures = every.measures(shape)
    wide = widen(got)
    right = np.ones(len(got), np.bool_)
    for end, below in zip(ends, (True, False), strict=True):
        expected = Expected(end.sums(shape).ravel(), *measures).at(elements)
        bound = tolerance(expected, axes, arithmetic, average=True, below=below)
        value = widen(expected.values)
        right &= (wide >= value - bound) if below else (wide <= value + bound)
    right |= measures.addends[elements] == UNDEFINED
    return right
