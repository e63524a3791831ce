"""Whether one answer to one vector conforms: the checker's rule for a single vector, quickly.

The checker judges whole batches. Strength and diagnosis try hundreds of backends on one vector
at a time and stop at the first that tells; a test holds the two to the same verdicts.
"""

from __future__ import annotations

import numpy as np

from conformance.batch import ExpectedColumns
from conformance.check.compare import closeness
from conformance.dtypes import FLOATS, name_of
from conformance.operators import operator_named
from conformance.vector import UNDEFINED, Array, Outcome, Vector


def accepting(vector: Vector, got: Array | None) -> list[Outcome]:
    """Return the outcomes under which an answer conforms; None stands for an exception."""
    average = operator_named(vector.case.operator).reduction.sums
    return [outcome for outcome in vector.outcomes if _accepts(outcome, got, average=average)]


def accepted(vector: Vector, got: Array | None) -> bool:
    """Say whether an answer conforms under some outcome; None stands for an exception."""
    average = operator_named(vector.case.operator).reduction.sums
    return any(_accepts(outcome, got, average=average) for outcome in vector.outcomes)


def _accepts(outcome: Outcome, got: Array | None, *, average: bool) -> bool:
    if outcome.kind != "values":
        return outcome.kind == "anything" or got is None
    expected, addends = outcome.expected, outcome.addends
    assert expected is not None
    assert addends is not None
    if got is None:
        return bool((addends == UNDEFINED).any())
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    bits = np.dtype(f"u{got.dtype.itemsize}")
    flat, right = np.ascontiguousarray(got).ravel(), expected.ravel()
    differing = np.flatnonzero((flat.view(bits) != right.view(bits)) & (addends != UNDEFINED))
    if not len(differing):
        return True
    if name_of(got.dtype) not in FLOATS:
        return False
    assert outcome.divisor is not None
    assert outcome.magnitude is not None
    columns = ExpectedColumns(
        right[differing],
        addends[differing],
        outcome.divisor[differing],
        outcome.magnitude[differing],
    )
    near = closeness(flat[differing], columns, np.array(expected.ndim - 2), average=average)
    own, flushed = outcome.accumulator == "element-type", outcome.subnormals == "flushed"
    return bool(near.right(own + 2 * flushed).all())
