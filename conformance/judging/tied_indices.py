"""Indices that may be those of any of several equal cells: whether one is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch
from conformance.judging.flushed import steps_of_row
from conformance.operators.indices import ChosenIndex

Ints = npt.NDArray[np.int64]


def hold_the_value(
    batch: Batch, rows: Ints, elements: Ints, indices: Ints
) -> npt.NDArray[np.bool_]:
    """Say of each index whether its cell is in the window and holds the first output's value.

    `rows` are rows of the expected table, `elements` places in their output, flat.
    """
    holds = np.zeros(len(rows), np.bool_)
    for row in np.unique(rows).tolist():
        of_row = np.flatnonzero(rows == row)
        whose, right = indices_of_value(batch, row, elements[of_row])
        holds[of_row[whose[right == indices[of_row[whose]]]]] = True
    return holds


def indices_of_value(batch: Batch, row: int, elements: Ints) -> tuple[Ints, Ints]:
    """Return the indices of all cells of windows that hold the first output's value.

    `row` is a row of the expected table, `elements` places in its output, flat. The first array
    says which of the elements each index is right for.
    """
    first = row - int(batch.expected_output[row])
    pipeline, gathered, _ = steps_of_row(batch, first)
    step = pipeline.further
    if not isinstance(step, ChosenIndex):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    values = batch.columns[batch.expected_dtype[first]].values
    values = values[int(batch.expected_start[first]) + elements]
    return step.holding(gathered, values, np.unravel_index(elements, batch.expected_shape[row]))
