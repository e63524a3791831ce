"""Calls as programs, for adapters from outside."""

import numpy as np
import pytest

from conformance import Unsupported, programs

DATA = np.array([[[[1, 2], [3, 4]]]], np.float32)
POOL = {"kernel_shape": [2, 2]}


@pytest.mark.needs_engine("onnx")
def test_a_model_of_onnx_is_one_node():
    from onnx import ModelProto  # noqa: PLC0415 - where it is installed

    model = ModelProto.FromString(programs.onnx_model("ONNX-MaxPool-22", [DATA], POOL, opset=12))
    assert [node.op_type for node in model.graph.node] == ["MaxPool"]
    assert model.opset_import[0].version == 12


@pytest.mark.needs_engine("flatbuffers")
def test_a_model_of_litert_says_that_it_is_one():
    attributes = {
        "padding": "VALID",
        "fused_activation_function": "NONE",
        "filter_height": 2,
        "filter_width": 2,
        "stride_h": 1,
        "stride_w": 1,
    }
    data = DATA.reshape(1, 2, 2, 1)
    assert programs.litert_model("LiteRT-MAX_POOL_2D", [data], attributes)[4:8] == b"TFL3"
    with pytest.raises(Unsupported):
        programs.litert_model("MaxPool-1", [data], attributes)


@pytest.mark.needs_engine("torch")
def test_a_module_of_torch_computes_a_call():
    module, tensors = programs.torch_module("PyTorch-avg_pool2d", [DATA], {"kernel_size": [2, 2]})
    assert module(*tensors).tolist() == [[[[2.5]]]]
    with pytest.raises(Unsupported):
        programs.torch_module("MaxPool-1", [DATA], {})
