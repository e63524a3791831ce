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
from conformance.operators.operator import Operator, Output
from conformance.operators.outcomes import has_undefined
from conformance.vector import UNDEFINED, Array, Expected, Outcome, Outputs, Vector


def accepted(vector: Vector, got: Outputs | None) -> bool:
    """Say whether an answer conforms under some outcome; None stands for an exception.

    Fewer outputs than the operator has conform where those do that there are.
    """
    operator = operator_named(vector.case.operator)
    return any(_accepts(operator, outcome, got) for outcome in vector.outcomes)


def _accepts(operator: Operator, outcome: Outcome, got: Outputs | None) -> bool:
    if outcome.kind != "values":
        return outcome.kind == "anything" or got is None
    if got is None:
        return has_undefined(outcome)
    if not 0 < len(got) <= len(outcome.outputs):
        return False
    return all(
        _is_near(array, expected, output, outcome)
        for array, expected, output in zip(got, outcome.outputs, operator.outputs, strict=False)
    )


def _is_near(got: Array, expected: Expected, output: Output, outcome: Outcome) -> bool:
    """Say whether one output conforms."""
    values, addends = expected.values, expected.addends
    if got.shape != values.shape or got.dtype != values.dtype:
        return False
    bits = np.dtype(f"u{got.dtype.itemsize}")
    flat, right = np.ascontiguousarray(got).ravel(), values.ravel()
    differing = np.flatnonzero((flat.view(bits) != right.view(bits)) & (addends != UNDEFINED))
    if not len(differing):
        return True
    if name_of(got.dtype) not in FLOATS:
        return False
    columns = ExpectedColumns(
        right[differing],
        addends[differing],
        expected.divisor[differing],
        expected.magnitude[differing],
    )
    near = closeness(
        flat[differing],
        columns,
        np.array(values.ndim - 2),
        average=output.comparison == "bound",
    )
    own, flushed = outcome.accumulator == "element-type", outcome.subnormals == "flushed"
    return bool(near.right(own + 2 * flushed).all())
