"""Routes through real converters: what they lose is found, and said to be theirs."""

import sys

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
@pytest.mark.parametrize(("indices", "outputs"), [("true", 2), ("false", 1)])
def test_maxima_are_exported_with_their_indices_or_without(indices, outputs):
    backend = load_backend(f"torch:via=onnx-script,indices={indices}")
    assert len(backend("PyTorch-max_pool2d", [CELLS], {"kernel_size": [2, 2]})) == outputs


@torch
@pytest.mark.parametrize("operator", ["MaxPool-1", "PyTorch-max_pool2d-backward"])
def test_a_route_takes_the_documents_of_its_source_alone(operator):
    inputs = [CELLS] * (2 if operator.endswith("backward") else 1)
    with pytest.raises(Unsupported):
        load_backend("torch:via=onnx-script")(operator, inputs, {"kernel_size": [1, 1]})


@torch
@pytest.mark.parametrize("route", ["via=tflite", "via=onnx,into=caffe", "via=onnx,into=xnnpack"])
def test_a_route_that_there_is_not_is_a_usage_error(route):
    with pytest.raises(UsageError, match="is none of"):
        load_backend(f"torch:{route}")


@torch
@pytest.mark.parametrize(
    ("route", "module"),
    [("torch:via=executorch", "executorch_program"), ("onnx", "openvino_program")],
)
def test_a_converter_that_is_not_there_is_a_usage_error(route, module, monkeypatch):
    monkeypatch.setitem(sys.modules, f"conformance.routes.{module}", None)
    with pytest.raises(UsageError, match=f"cannot be used: ModuleNotFoundError: .*{module}"):
        load_backend(route)


@pytest.mark.needs_engine("onnx", "openvino")
def test_a_node_of_onnx_is_imported_and_another_document_is_none():
    backend = load_backend("onnx:via=openvino")
    (result,) = backend("ONNX-MaxPool-22", [CELLS], {"kernel_shape": [2, 2]})[:1]
    assert result.tolist() == [[[[4]]]]
    with pytest.raises(Unsupported):
        backend("MaxPool-1", [CELLS], {"kernel": [2, 2]})


executorch = pytest.mark.needs_engine("torch", "executorch")
imports = pytest.mark.filterwarnings("ignore")  # of what these packages import
PAIR = np.array([[[[np.nan, 1]]]], np.float32)


@executorch
@imports
@pytest.mark.parametrize("into", ["portable", "xnnpack"])
def test_executorch_averages_as_the_document_says(into):
    backend = load_backend(f"torch:via=executorch,into={into}")
    attributes = {"kernel_size": [2, 2], "divisor_override": 1}
    (result,) = backend("PyTorch-avg_pool2d", [CELLS], attributes)
    assert result.tolist() == [[[[10]]]]


@executorch
@imports
def test_an_operator_that_executorch_lacks_is_unsupported():
    """One is none of its dialect, of the other it has no kernel."""
    backend = load_backend("torch:via=executorch")
    with pytest.raises(Unsupported, match="not in Core ATen"):
        backend("PyTorch-adaptive_max_pool2d", [CELLS], {"output_size": [1, 1]})
    with pytest.raises(Unsupported, match="0x:14"):
        backend("PyTorch-max_pool3d", [CELLS[None]], {"kernel_size": [1, 1, 1]})


@executorch
@imports
def test_a_kernel_of_executorch_departs(capsys):
    """XNNPACK loses the infinities of an average."""
    cells = np.array([[[[np.inf, -np.inf, 1, 1]]]], np.float32)
    backend = load_backend("torch:via=executorch,into=xnnpack")
    backend("PyTorch-avg_pool2d", [cells], {"kernel_size": [1, 4]})
    said = capsys.readouterr().out
    assert said.startswith("emitted: XnnpackBackend(aten.avg_pool2d.default([1, 4]")
    assert "the engine departs: computed as PyTorch says, these nodes conform" in said


@executorch
@imports
def test_xnnpack_takes_maxima_without_indices(capsys):
    """A NaN before a number is lost there, which the document allows, but not as -inf."""
    backend = load_backend("torch:via=executorch,into=xnnpack,indices=false")
    (result,) = backend("PyTorch-max_pool2d", [PAIR], {"kernel_size": [1, 2]})
    assert result.tolist() == [[[[-np.inf]]]]
    assert "XnnpackBackend(" in capsys.readouterr().out


@pytest.mark.needs_engine("torch", "litert_torch", "ai_edge_litert")
@imports
def test_litert_torch_emits_operations_of_litert(capsys):
    """Its indices of maxima are zeros."""
    backend = load_backend("torch:via=litert")
    values, indices = backend("PyTorch-max_pool2d", [CELLS], {"kernel_size": [2, 2]})
    assert (values.tolist(), indices.dtype) == ([[[[4]]]], np.int64)
    said = capsys.readouterr().out
    assert "MAX_POOL_2D(" in said
    assert "the converter departs: computed as LiteRT says" in said


@pytest.mark.needs_engine("onnx", "torch", "onnx2torch")
def test_a_node_of_onnx_becomes_a_module_of_torch(capsys):
    """Of pads that differ it is two modules, of which the second rounds up the padded size."""
    backend = load_backend("onnx:via=onnx2torch")
    attributes = {"kernel_shape": [2], "strides": [2], "pads": [2, 1], "ceil_mode": 1}
    (result,) = backend("ONNX-MaxPool-22", [CELLS[0, :, :1]], attributes)
    assert result.shape == (1, 1, 3)
    said = capsys.readouterr().out
    assert "MaxPool1d(" in said
    assert "the converter departs: computed as PyTorch says" in said
