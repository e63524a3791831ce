"""The TensorFlow backend against the oracle, and what it does not support."""

import numpy as np
import pytest
from support.engines import assert_equals_oracle
from support.oracle import FORMATS, array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("tensorflow")

from conformance.backends.engines.tensorflow_backend import backend

pytestmark = pytest.mark.needs_engine("tensorflow")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)
PLANE = np.array([[[[1, 2], [3, 9], [4, 5]]]], np.float32)


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "nGraph-AvgPool"])
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents."""
    assert_equals_oracle(backend, operator, readings={}, factor=0.15)


@pytest.mark.parametrize("dtype", [*FORMATS, "int8", "uint8", "int32", "int64"])
def test_maximum_keeps_its_type(dtype):
    """Those of which it has a CPU kernel for one axis."""
    case = ("MaxPool-1", [array([[[1, 5, 3]]], dtype)], pooling([2]))
    assert_equals(backend(*case), oracle(*case))


def test_a_type_without_a_kernel():
    """Of three axes it has float32 and bfloat16."""
    data = np.ones((1, 1, 2, 2, 2), np.float64)
    with pytest.raises(Unsupported, match="float64"):
        backend("MaxPool-1", [data], pooling([1, 1, 1]))


@pytest.mark.parametrize("operator", ["MaxPool-1", "AvgPool-1"])
def test_pads_of_zeros_are_no_pads(operator):
    """Any other pads it has for maxima alone."""
    given = pooling([2], exclude_pad=True) if operator == "AvgPool-1" else pooling([2])
    assert backend(operator, [ROW], given).shape == (1, 1, 3)
    padded = given | {"pads_begin": [1]}
    if operator == "MaxPool-1":
        assert backend(operator, [ROW], padded).tolist() == [[[1, 3, 5, 5]]]
    else:
        with pytest.raises(Unsupported, match="maxima of one or two axes"):
            backend(operator, [ROW], padded)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"auto_pad": "same_lower"}, "SAME and VALID"),
        ({"rounding_type": "ceil", "strides": [3]}, "rounds down"),
        ({"auto_pad": "same_upper", "exclude_pad": False}, "out of divisors"),
        ({"strides": [1, 1]}, "a number for each axis"),
        ({"pads_end": [0, 0]}, "no pairs"),
    ],
)
def test_what_tensorflow_does_not_express(change, reason):
    """Unsupported says why."""
    given = pooling([2], exclude_pad=True) | change
    with pytest.raises(Unsupported, match=reason):
        backend("AvgPool-1", [ROW], given)


def test_dilations_with_strides():
    """It dilates with strides of 1 alone."""
    given = {"kernel": [2], "strides": [2], "dilations": [2], "pads_begin": [0], "pads_end": [0]}
    with pytest.raises(Unsupported, match="dilations"):
        backend("MaxPool-8", [ROW], given)


@pytest.mark.parametrize(("axis", "index_type"), [(0, "i64"), (2, "i32")])
def test_indices_of_one_channel(axis, index_type):
    """It counts the channel innermost, which of one channel is no difference."""
    data = np.concatenate([PLANE, PLANE[:, :, ::-1]])
    given = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    given |= {"axis": axis, "index_element_type": index_type}
    values, indices = backend("MaxPool-8", [data], given)
    assert values.ravel().tolist() == [9, 9, 9, 9]
    second = 3 if axis else 9
    assert indices.ravel().tolist() == [3, 3, second, second]


def test_adaptive_pooling_is_that_of_keras():
    """Of both reductions; the output size has to be integers."""
    data = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    assert backend("AdaptiveAvgPool-8", [data, np.array([2])], {}).tolist() == [[[1, 3]]]
    assert backend("AdaptiveMaxPool-8", [data, np.array([2])], {}).tolist() == [[[2, 4]]]
    with pytest.raises(Unsupported, match="output_size"):
        backend("AdaptiveAvgPool-8", [data, np.array([2.0])], {})
