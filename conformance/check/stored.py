"""Answers from stored outputs: nothing is called, vectors are looked up by id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.backends.stored import Stored
from conformance.batch import Batch
from conformance.check.runner import ARRAY, MISSING, RAISED, SMALL, UNSUPPORTED, Answers
from conformance.resultfile import Output

_STEP = 64


class LookedUp:
    """A Runner that gives what is stored for each vector; what is not there is MISSING."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def run(self, batch: Batch, answers: Answers, tick: Callable[[int], None]) -> None:
        """Look up every vector; see `Runner.run`. Raises ResultFileError."""
        largest = np.full(len(batch), SMALL, np.int64)
        np.maximum.at(largest, batch.expected_vector, batch.expected_size)
        for index, (vector_id, arrays, limit) in enumerate(
            zip(batch.ids, batch.inputs, largest.tolist(), strict=True)
        ):
            found = self._stored.find(vector_id, arrays[0].dtype if arrays else None, limit)
            if isinstance(found, Output):
                answers.dtype[index], answers.shape[index] = found.dtype, found.shape
                answers.data[index] = found.data
                answers.kind[index] = ARRAY
            elif found is not None:
                answers.text[index] = found.text
                answers.kind[index] = UNSUPPORTED if found.unsupported else RAISED
            else:
                answers.kind[index] = MISSING
            if index % _STEP == 0:
                tick(index + 1)
