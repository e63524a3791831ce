"""What the ONNX Runtime backend alone has: operator sets."""

import numpy as np
import pytest
from support.oracle import array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from onnx import ModelProto

from conformance.backends.engines import onnxruntime_backend
from conformance.backends.engines.onnxruntime_backend import OnnxRuntime

pytestmark = pytest.mark.needs_engine("onnxruntime", "onnx")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


def test_older_opset():
    """An instance takes the operators from another opset, with the same answers here."""
    case = ("AvgPool-1", [ROW], pooling([3], [2], pads_begin=[1], exclude_pad=True))
    assert_equals(OnnxRuntime(opset=11)(*case), oracle(*case))


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8"])
def test_types_that_an_opset_has_not_got(operator):
    """ONNX has bfloat16 from opset 22 on: before it, the runtime would call the model invalid."""
    adaptive = operator.startswith("Adaptive")
    given = pooling([2]) | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
    inputs = [array([[[1, 2]]], "bfloat16"), *([np.array([1])] if adaptive else [])]
    with pytest.raises(Unsupported, match="in opset 19"):
        OnnxRuntime(opset=19)(operator, inputs, {} if adaptive else given)


def test_an_attribute_that_came_later_is_left_out_where_it_says_nothing():
    """AveragePool has dilations from opset 19 on, MaxPool indices from opset 8 on."""
    given = {"kernel_shape": [2], "dilations": [1]}
    for opset in (7, 11):
        backend = OnnxRuntime(opset=opset)
        assert backend("ONNX-AveragePool-22", [ROW], given).tolist() == [[[2, 4, 4.5]]]
    assert OnnxRuntime(opset=7)("ONNX-MaxPool-22", [ROW], given).tolist() == [[[3, 5, 5]]]
    for dilations in ([2], [1, 1]):  # another meaning, and a list that no document allows
        with pytest.raises(Unsupported, match="no dilations"):
            OnnxRuntime(opset=11)("ONNX-AveragePool-22", [ROW], given | {"dilations": dilations})


def opset_in(monkeypatch, backend, operator):
    """Return the opset of the model that a backend makes for an operator of windows."""
    made = []
    outputs_of = onnxruntime_backend.session_of
    monkeypatch.setattr(
        onnxruntime_backend, "session_of", lambda model: made.append(model) or outputs_of(model)
    )
    backend(operator, [ROW], {"kernel_shape": [2]})
    (opset,) = ModelProto.FromString(made[-1]).opset_import
    return opset.version


@pytest.mark.parametrize(
    ("operator", "opset"),
    [
        ("ONNX-AveragePool-22", 22),
        ("ONNX-AveragePool-19", 21),
        ("ONNX-AveragePool-11", 18),
        ("ONNX-AveragePool-10", 10),
        ("ONNX-AveragePool-7", 9),
        ("ONNX-MaxPool-12", 21),
        ("ONNX-MaxPool-1", 7),
        ("ONNX-LpPool-2", 10),
    ],
)
def test_an_older_version_is_run_in_the_last_opset_that_has_it(monkeypatch, operator, opset):
    """The newest is run in the latest opset."""
    assert opset_in(monkeypatch, OnnxRuntime(), operator) == opset


def test_an_opset_runs_the_version_that_it_has(monkeypatch):
    """Another older version is unsupported; the newest is run as far as the opset says it."""
    assert opset_in(monkeypatch, OnnxRuntime(opset=11), "ONNX-AveragePool-11") == 11
    assert opset_in(monkeypatch, OnnxRuntime(opset=11), "ONNX-AveragePool-22") == 11
    for other in ("ONNX-AveragePool-10", "ONNX-AveragePool-19"):
        with pytest.raises(Unsupported, match="opset 11 has another version of AveragePool"):
            OnnxRuntime(opset=11)(other, [ROW], {"kernel_shape": [2]})


def quantised(cells, point, **attributes):
    """Return the average of a row of integers whose zero point is 0, in that of the output."""
    one, zero = np.array(1, np.float32), np.array(0, np.uint8)
    inputs = [np.array([[cells]], np.uint8), one, zero, one, np.array(point, np.uint8)]
    return OnnxRuntime()("ORT-QLinearAveragePool-1", inputs, attributes).ravel().tolist()


def test_operators_of_the_runtime_get_scales_and_zero_points():
    assert quantised([10, 20, 40, 60], 7, kernel_shape=[2], strides=[2]) == [22, 57]


def test_an_attribute_that_no_node_can_have_is_unsupported():
    with pytest.raises(Unsupported, match="kernel_shape"):
        quantised([1, 2], 0, kernel_shape=[2.5])


def test_a_list_without_numbers_is_the_runtime_s_to_refuse():
    with pytest.raises(Exception, match=r"kernel_shape|Kernel"):
        quantised([1, 2], 0, kernel_shape=[])
