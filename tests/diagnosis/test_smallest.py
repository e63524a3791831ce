"""A call of a backend as a line of Python: it makes the same arrays again."""

import ml_dtypes
import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.diagnosis.calls import as_python


@pytest.mark.parametrize(
    "data",
    [
        ramp(1, 1, 6),
        ramp(1, 2, 300),
        np.zeros((1, 1, 6), np.float64),
        np.array([[[0.1, -np.inf, np.nan]]], np.float32),
        np.array([[[0.1, -2.5, 3]]], ml_dtypes.bfloat16),
        np.array([[[np.nan, -np.nan, 1]]], np.float16),
    ],
    ids=["ramp", "long ramp", "zeros", "special", "bfloat16", "NaN of both signs"],
)
def test_a_pasted_line_calls_the_backend_with_the_same_case(data):
    """Bit for bit, in the same type and shape."""
    case = vector(data, pool(kernel=[2], strides=[1])).case
    called = []
    names = {"backend": lambda *given: called.append(given), "np": np, "ml_dtypes": ml_dtypes}
    eval(as_python(case), names)
    ((operator, inputs, attributes),) = called
    assert (operator, attributes) == (case.operator, case.attributes)
    assert (inputs[0].dtype, inputs[0].shape) == (data.dtype, data.shape)
    assert inputs[0].tobytes() == data.tobytes()


def test_many_different_values_are_not_written_out():
    """A line of thousands of numbers helps nobody."""
    data = np.random.default_rng(0).random((1, 1, 100))
    assert as_python(vector(data).case) == ""
