"""Routes through real converters: what they lose is found, and said to be theirs."""

import numpy as np
import pytest

from conformance import load_backend
from conformance.errors import Unsupported, UsageError

torch = pytest.mark.needs_engine("torch", "onnx", "onnxruntime")
CELLS = np.array([[[[1, 2], [3, 4]]]], np.float32)


@torch
@pytest.mark.parametrize("into", ["onnxruntime", "onnx-reference"])
def test_an_exported_average_is_that_of_the_document(into):
    backend = load_backend(f"torch:via=onnx-script,into={into}")
    (result,) = backend("PyTorch-avg_pool2d", [CELLS], {"kernel_size": [2, 2]})
    assert result.tolist() == [[[[2.5]]]]


@torch
def test_the_exporter_of_torch_drops_a_divisor(capsys):
    """PyTorch: a divisor that is given takes the place of the size of the window."""
    attributes = {"kernel_size": [2, 2], "divisor_override": 1}
    load_backend("torch:via=onnx-script")("PyTorch-avg_pool2d", [CELLS], attributes)
    said = capsys.readouterr().out
    assert said.startswith("emitted: AveragePool(")
    assert "divisor" not in said
    assert "the converter departs" in said


@torch
@pytest.mark.parametrize("operator", ["MaxPool-1", "PyTorch-max_pool2d-backward"])
def test_a_route_takes_the_documents_of_its_source_alone(operator):
    inputs = [CELLS] * (2 if operator.endswith("backward") else 1)
    with pytest.raises(Unsupported):
        load_backend("torch:via=onnx-script")(operator, inputs, {"kernel_size": [1, 1]})


@torch
@pytest.mark.parametrize("route", ["via=tflite", "via=onnx,into=caffe"])
def test_a_route_that_there_is_not_is_a_usage_error(route):
    with pytest.raises(UsageError, match="is none of"):
        load_backend(f"torch:{route}")


@pytest.mark.needs_engine("onnx", "openvino")
def test_a_node_of_onnx_is_imported_and_another_document_is_none():
    backend = load_backend("onnx:via=openvino")
    (result,) = backend("ONNX-MaxPool-22", [CELLS], {"kernel_shape": [2, 2]})[:1]
    assert result.tolist() == [[[[4]]]]
    with pytest.raises(Unsupported):
        backend("MaxPool-1", [CELLS], {"kernel": [2, 2]})
