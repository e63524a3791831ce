"""Indices that may be those of any of several equal cells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.judging.flushed import steps_of
from conformance.operators.indices import ChosenIndex
from conformance.vector import Values, Vector

Ints = npt.NDArray[np.int64]


def indices_of_value(vector: Vector, outcome: Values, places: Ints) -> tuple[Ints, Ints]:
    """Return the indices of all cells of windows that hold the first output's value.

    `places` are those of the windows in an output of the outcome, flat. The first array says which
    of them each index is right for.
    """
    pipeline, gathered, _ = steps_of(vector, outcome)
    step = pipeline.further
    if not isinstance(step, ChosenIndex):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    values = outcome.outputs[0].values
    where = np.unravel_index(places, values.shape)
    return step.holding(gathered, values[where], where)
