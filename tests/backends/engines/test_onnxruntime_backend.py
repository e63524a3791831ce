"""What the ONNX Runtime backend alone has: operator sets."""

import numpy as np
import pytest
from support.oracle import array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

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
