"""Answers from stored outputs: nothing is called, vectors are looked up by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.backends.stored import Stored
from conformance.batch import Batch, output_dtypes
from conformance.check.runner import (
    ARRAY,
    MISSING,
    RAISED,
    UNSUPPORTED,
    Answers,
    largest_looked_at,
)

_STEP = 64


class LookedUp:
    """A Runner that gives what is stored for each vector; what is not there is MISSING."""

    repeatable = False
    """A second look at a file says nothing of the backend."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Look up every vector; see `Runner.run`. Raises ResultFileError."""
        limits, fixed = largest_looked_at(batch), output_dtypes(batch.operator) or ()
        for done, index in enumerate(range(len(batch)) if order is None else order, 1):
            arrays = batch.inputs[index]
            of = arrays[0].dtype if arrays else None
            found = self.stored.find(batch.ids[index], of, limits[index], fixed)
            if isinstance(found, tuple):
                answers.outputs[index], answers.kind[index] = found, ARRAY
            elif found is not None:
                answers.text[index] = found.text or "no reason given"
                answers.kind[index] = UNSUPPORTED if found.unsupported else RAISED
            else:
                answers.kind[index] = MISSING
            if done % _STEP == 0:
                tick(done)
