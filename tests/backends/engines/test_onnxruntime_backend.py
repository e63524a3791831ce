"""The ONNX Runtime backend against the oracle, and what it does not support."""

import numpy as np
import pytest
from support.engines import assert_equals_oracle, same_crops
from support.oracle import array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from conformance.backends.engines import onnxruntime_backend
from conformance.backends.engines.onnxruntime_backend import OnnxRuntime, backend

pytestmark = pytest.mark.needs_engine("onnxruntime", "onnx")

READINGS = {"ceil-window-past-input": "dropped"}
ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "nGraph-AvgPool"])
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents under the readings of ONNX."""
    assert_equals_oracle(backend, operator, readings=READINGS, known=same_crops, factor=0.4)


def test_older_opset():
    """An instance takes the operators from another opset, with the same answers here."""
    case = ("AvgPool-1", [ROW], pooling([3], [2], pads_begin=[1], exclude_pad=True))
    assert_equals(OnnxRuntime(opset=11)(*case), oracle(*case))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_global_pooling(dtype):
    """AdaptiveAvgPool-8 to ones is GlobalAveragePool; to anything else it is unsupported."""
    data = array([[[[1, 3], [5, 7]]]], dtype)
    case = ("AdaptiveAvgPool-8", [data, np.array([1, 1], np.int32)], {})
    assert_equals(backend(*case), oracle(*case))
    with pytest.raises(Unsupported, match="global"):
        backend("AdaptiveAvgPool-8", [data, np.array([1, 2])], {})


@pytest.mark.parametrize("size", [[1], [1, 1, 1], [[1, 1]], [-1, 1], [1.0, 1.0]], ids=str)
def test_output_sizes_that_the_runtime_never_sees(size):
    """Global pooling has no output size: none but ones is supported, right or wrong."""
    with pytest.raises(Unsupported, match="output_size"):
        backend("AdaptiveAvgPool-8", [np.ones((1, 1, 2, 2), np.float32), np.array(size)], {})


@pytest.mark.parametrize(
    ("operator", "dtype", "reason"),
    [
        ("AvgPool-1", "float64", "NOT_IMPLEMENTED"),
        ("AvgPool-1", "bfloat16", "NOT_IMPLEMENTED"),
        ("MaxPool-1", "bfloat16", "NOT_IMPLEMENTED"),
        ("MaxPool-1", "int32", "ONNX has no MaxPool"),
        ("MaxPool-1", "int64", "ONNX has no MaxPool"),
    ],
)
def test_types_without_a_kernel(operator, dtype, reason):
    """Types that ONNX or its CPU provider lacks are unsupported."""
    given = pooling([2]) | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
    with pytest.raises(Unsupported, match=reason):
        backend(operator, [array([[[1, 2]]], dtype)], given)


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8"])
def test_types_that_an_opset_has_not_got(operator):
    """ONNX has bfloat16 from opset 22 on: before it, the runtime would call the model invalid."""
    adaptive = operator.startswith("Adaptive")
    given = pooling([2]) | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
    inputs = [array([[[1, 2]]], "bfloat16"), *([np.array([1])] if adaptive else [])]
    with pytest.raises(Unsupported, match="in opset 19"):
        OnnxRuntime(opset=19)(operator, inputs, {} if adaptive else given)


def test_types_that_no_document_has_are_handed_over():
    """It is the runtime that refuses integers there: that is no want of support."""
    inputs = [np.ones((1, 1, 2), np.int32), np.array([1])]
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the runtime's classes are its own
        backend("AdaptiveAvgPool-8", inputs, {})
    assert not isinstance(caught.value, NotImplementedError)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8"])
def test_maximum_keeps_its_type(dtype):
    """The types of MaxPool that the CPU provider has."""
    case = ("MaxPool-1", [array([[[1, 5, 3]]], dtype)], pooling([2]))
    assert_equals(backend(*case), oracle(*case))


def test_more_axes_and_other_operators():
    """ONNX Runtime pools over three axes at most."""
    with pytest.raises(Unsupported, match="4 spatial axes"):
        backend("nGraph-AvgPool", [np.ones((1,) * 6, np.float32)], {"window_shape": [1] * 4})
    with pytest.raises(Unsupported, match="SumPool-1"):
        backend("SumPool-1", [ROW], {})


@pytest.mark.parametrize(
    "change",
    [
        {"strides": [0]},
        {"kernel": [0]},
        {"pads_begin": [-1]},
        {"pads_begin": [0, 0]},
        {"strides": []},
        {"kernel": []},
    ],
    ids=str,
)
def test_invalid_attributes_raise(change):
    """The runtime itself refuses them."""
    with pytest.raises(Exception, match="ShapeInferenceError"):  # the class is the runtime's own
        backend("MaxPool-1", [ROW], pooling([2]) | change)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pads_begin": [], "pads_end": [0, 0]}, "in the middle"),
        ({"auto_pad": "same"}, "auto_pad='same'"),
        ({"rounding_type": "round"}, "rounding_type='round'"),
    ],
)
def test_what_the_runtime_would_take_for_something_else(change, reason):
    """Pads in one list are begins and ends whatever they were; words become others."""
    with pytest.raises(Unsupported, match=reason):
        backend("MaxPool-1", [ROW], pooling([2]) | change)


def test_sessions_are_made_once():
    """A second call with other values of one shape takes the session there is."""
    given = pooling([3], [2])
    backend("MaxPool-1", [ROW], given)
    misses = onnxruntime_backend._session.cache_info().misses
    assert backend("MaxPool-1", [ROW + 1], given).tolist() == [[[6]]]
    assert onnxruntime_backend._session.cache_info().misses == misses
