"""Graphs around a node of ONNX have the outputs of the node alone."""

import numpy as np
import pytest
from support.random_cases import pooling

from conformance.errors import Unsupported, UsageError

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from onnx import ModelProto

from conformance import load_backend
from conformance.backends.engines.onnx_graph import GRAPHS, around
from conformance.backends.engines.onnx_node import model_of
from conformance.backends.engines.onnxruntime_backend import OnnxRuntime
from conformance.operators import OPERATORS

pytestmark = pytest.mark.needs_engine("onnxruntime", "onnx")
DATA = np.array([[[[-4, -2, -7], [-3, -9, -5]]], [[[1, 8, 2], [6, 0, 3]]]], np.float32)
PADDED = {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}
COUNTED = {**PADDED, "count_include_pad": 1}


@pytest.mark.parametrize("graph", [name for name in GRAPHS if name != "quantised"])
@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("ONNX-AveragePool-22", COUNTED), ("MaxPool-1", None)],
    ids=["average", "maximum"],
)
def test_a_graph_has_the_outputs_of_the_node(graph, operator, attributes):
    """A pad that is a node of its own holds zeros, or what no cell is below for a maximum."""
    if attributes is None:
        attributes = pooling([2, 2], [1, 1], pads_begin=[1, 0], pads_end=[0, 1])
    plain = OnnxRuntime()(operator, [DATA], attributes)
    assert np.array_equal(OnnxRuntime(graph=graph)(operator, [DATA], attributes), plain)


def test_indices_are_those_of_the_node():
    plain = OnnxRuntime()("ONNX-MaxPool-22", [DATA], PADDED)
    used = OnnxRuntime(graph="used")("ONNX-MaxPool-22", [DATA], PADDED)
    assert [each.tolist() for each in used] == [each.tolist() for each in plain]


def test_a_pad_that_is_a_node_is_none_of_the_pool():
    model = model_of(OPERATORS["ONNX-AveragePool-22"], [DATA], COUNTED, 22)
    pad, pool = ModelProto.FromString(around(model, "padded")).graph.node
    assert (pad.op_type, pool.op_type) == ("Pad", "AveragePool")
    assert "pads" not in [each.name for each in pool.attribute]


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"kernel_shape": [2, 2]}, id="no padding"),
        pytest.param(PADDED, id="an average that leaves padding out"),
        pytest.param({**COUNTED, "ceil_mode": 1}, id="a window may not begin in padding"),
        pytest.param({**COUNTED, "auto_pad": "SAME_UPPER"}, id="padding that is no attribute"),
    ],
)
def test_padding_that_is_no_node_of_its_own_is_unsupported(attributes):
    with pytest.raises(Unsupported):
        OnnxRuntime(graph="padded")("ONNX-AveragePool-22", [DATA], attributes)


def test_a_maximum_of_integers_is_one_of_the_numbers_that_they_stand_for():
    """With scale 1 and zero point 0 these are the same, the lowest integer too."""
    data = np.array([[[5, 6, -128, -128]]], np.int8)
    given = {"kernel_shape": [2], "strides": [2]}
    values, indices = OnnxRuntime(graph="quantised")("ONNX-MaxPool-22", [data], given)
    assert (values.tolist(), values.dtype) == ([[[6, -128]]], np.int8)
    assert indices.tolist() == [[[1, 2]]]


def test_an_average_of_quantised_numbers_is_one_of_real_numbers_between_two_nodes():
    """0.5 (3 - 1) and 0.5 (9 - 1) have the mean 2.5, which is 5 / 2 steps of 0.5 after 3."""
    scale = np.float32(0.5)
    numbers = [np.array([[[3, 9]]], np.uint8), scale, np.uint8(1), scale, np.uint8(3)]
    backend = OnnxRuntime(graph="quantised")
    given = {"kernel_shape": [2]}
    got = backend("ORT-QLinearAveragePool-1", [np.asarray(each) for each in numbers], given)
    assert got.tolist() == [[[8]]]


@pytest.mark.parametrize(
    ("operator", "data"),
    [
        pytest.param("ONNX-AveragePool-22", DATA, id="floats"),
        pytest.param("ORT-QLinearAveragePool-1", DATA.astype(np.int8), id="no scales"),
    ],
)
def test_what_is_not_quantised_has_no_such_graph(operator, data):
    with pytest.raises(Unsupported):
        OnnxRuntime(graph="quantised")(operator, [data], {"kernel_shape": [2, 2]})


def test_one_model_of_open_dimensions_takes_several_shapes():
    backend = OnnxRuntime(shapes="dynamic")
    models = {
        model_of(OPERATORS["ONNX-MaxPool-22"], [data], PADDED, 22, dynamic=True)
        for data in (DATA, DATA[:1, :, :, :2])
    }
    assert len(models) == 1
    for data in (DATA, DATA[:1, :, :, :2], DATA):
        values, _ = backend("ONNX-MaxPool-22", [data], PADDED)
        assert np.array_equal(values, OnnxRuntime()("ONNX-MaxPool-22", [data], PADDED)[0])


@pytest.mark.parametrize("option", ["graph=fused", "shapes=open"])
def test_a_graph_that_there_is_not_is_a_usage_error(option):
    with pytest.raises(UsageError, match="is none of"):
        load_backend(f"onnxruntime:{option}")
