"""Dilations, indices, norms and whole planes: what engines compute of them, and what they leave."""

import numpy as np
import pytest
from support.engines import of_engines
from support.fakes import pool

from conformance.backends import load_backend
from conformance.errors import Unsupported

ONNX = ("onnxruntime", "onnx-reference")
ROWS = np.array([[[1, 3, 5, 4, 2], [2, 4, 5, 3, 1]]], np.float32)
ROW = ROWS[:, :1]
PLANE = np.array([[[[1, 2], [3, 9], [4, 5]]]], np.float32)
DILATED = {"kernel": [2], "strides": [1], "dilations": [2]}
MAXIMA = [[5, 4, 5], [5, 4, 5]]
OF_PLANES = [[2, 3, 2], [2, 1, 2]]
OF_ALL = [[2, 3, 2], [7, 6, 7]]
COLUMNS = {"kernel_shape": [2, 2], "strides": [1, 2], "storage_order": 1}


def computed(engine, operator, inputs, attributes):
    """Return the outputs as lists of the first item, however many there are."""
    outputs = load_backend(engine)(operator, inputs, attributes)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert outputs[0].dtype == inputs[0].dtype
    return [output[0].tolist() for output in outputs]


@of_engines("torch", "openvino")
def test_indices_of_a_plane(engine):
    """Those of dilated windows, as MaxPool-8 counts them with axis 2."""
    attributes = pool("MaxPool-8", **DILATED, axis=2)
    assert computed(engine, "MaxPool-8", [ROWS], attributes) == [MAXIMA, OF_PLANES]


@of_engines("openvino", *ONNX, "tract")
def test_indices_of_the_whole_input(engine):
    """As MaxPool-8 counts them with axis 0, its default, and ONNX always does."""
    attributes = pool("MaxPool-8", **DILATED)
    assert computed(engine, "MaxPool-8", [ROWS], attributes) == [MAXIMA, OF_ALL]
    attributes = {"kernel_shape": [2], "dilations": [2]}
    assert computed(engine, "ONNX-MaxPool-22", [ROWS], attributes) == [MAXIMA, OF_ALL]


@of_engines("paddle", "tinygrad")
def test_indices_of_another_type(engine):
    """They have int32."""
    attributes = pool("MaxPool-8", kernel=[2], strides=[1], axis=2, index_element_type="i32")
    outputs = computed(engine, "MaxPool-8", [ROWS], attributes)
    assert outputs == [[[3, 5, 5, 4], [4, 5, 5, 3]], [[1, 2, 2, 3], [1, 2, 2, 3]]]


@pytest.mark.parametrize("change", [{}, {"index_element_type": "i32"}, {"axis": 1}])
@of_engines(
    "torch", "jax", "paddle", "ncnn", "tensorflow", "tinygrad", "tvm", "mlx", "opencv", "keras"
)
def test_values_alone_where_the_engine_has_other_indices(engine, change):
    """Some count from the plane's begin, others with the channel innermost or not at all."""
    attributes = pool("MaxPool-8", kernel=[2], strides=[1], **change)
    assert computed(engine, "MaxPool-8", [ROWS], attributes) == [[[3, 5, 5, 4], [4, 5, 5, 3]]]


@of_engines(*ONNX, "tract")
def test_column_major(engine):
    """Only ONNX has this order; one window is at row 0, the other at row 1."""
    outputs = computed(engine, "ONNX-MaxPool-22", [PLANE], COLUMNS)
    assert outputs == [[[[9], [9]]], [[[4], [4]]]]


@of_engines("torch", "openvino")
def test_column_major_has_no_indices_elsewhere(engine):
    """The values are computed alone."""
    assert computed(engine, "ONNX-MaxPool-22", [PLANE], COLUMNS) == [[[[9], [9]]]]


@pytest.mark.parametrize(("engine", "index_type"), [("torch", "i64"), ("openvino", "i32")])
def test_blocks_have_indices(engine, index_type):
    """Of two blocks of three cells each, which share one; each engine has one type of indices."""
    pytest.importorskip(engine)
    given = {"index_element_type": index_type}
    outputs = computed(engine, "AdaptiveMaxPool-8", [ROW, np.array([2])], given)
    assert outputs == [[[5, 5]], [[2, 2]]]


@of_engines("openvino", *ONNX, "jax", "tensorflow", "tinygrad", "tvm", "tract", "opencv")
def test_dilated_averages(engine):
    """Every second cell."""
    attributes = pool("AvgPool-16", **DILATED, exclude_pad=True)
    assert computed(engine, "AvgPool-16", [ROW], attributes) == [[[3, 3.5, 3.5]]]


@of_engines("torch", "openvino", *ONNX, "tinygrad", "tract")
def test_ceil_torch(engine):
    """There is no third window: it would start in the padding."""
    given = {"kernel": [2], "strides": [2], "pads_begin": [1], "pads_end": [1]}
    attributes = pool("AvgPool-14", **given, exclude_pad=True, rounding_type="ceil_torch")
    assert computed(engine, "AvgPool-14", [ROW[..., :3]], attributes) == [[[1, 4]]]


@of_engines("torch", *ONNX, "paddle")
def test_norms(engine):
    """Of magnitudes."""
    data = np.array([[[3, -4, 6, 8]]], np.float32)
    [values] = computed(engine, "ONNX-LpPool-22", [data], {"kernel_shape": [2], "strides": [2]})
    np.testing.assert_allclose(values, [[5, 10]], rtol=1e-6)


@of_engines(
    "torch",
    "openvino",
    *ONNX,
    "jax",
    "paddle",
    "ncnn",
    "tensorflow",
    "tinygrad",
    "mlx",
    "tract",
    "opencv",
    "keras",
)
def test_whole_planes(engine):
    """The kernel is as large as the plane, where an engine has no global pooling."""
    assert computed(engine, "ONNX-GlobalMaxPool-22", [PLANE], {}) == [[[[9]]]]
    assert computed(engine, "ONNX-GlobalAveragePool-22", [PLANE], {}) == [[[[4]]]]


@of_engines("torch", "paddle")
def test_norms_of_odd_exponents(engine):
    """What these engines add are powers with their sign."""
    with pytest.raises(Unsupported, match="with their sign"):
        computed(engine, "ONNX-LpPool-22", [ROW], {"kernel_shape": [2], "p": 3})


@of_engines("torch")
def test_norms_of_padding(engine):
    """lp_pool of torch has no pads."""
    with pytest.raises(Unsupported, match="has none"):
        computed(engine, "ONNX-LpPool-22", [ROW], {"kernel_shape": [2], "pads": [1, 1]})


@of_engines(
    "torch", *ONNX, "jax", "paddle", "ncnn", "tensorflow", "tinygrad", "tract", "opencv", "keras"
)
def test_an_axis_that_the_engine_never_sees(engine):
    """It could not refuse it."""
    with pytest.raises(Unsupported, match="axis=9"):
        computed(engine, "MaxPool-8", [ROW], pool("MaxPool-8", kernel=[2], axis=9))


@of_engines("openvino")
def test_indices_that_the_device_has_not_got(engine):
    """Of AdaptiveMaxPool they are int32 there, and MaxPool of bfloat16 has none."""
    half = ROW.astype("bfloat16")
    assert computed(engine, "MaxPool-8", [half], pool("MaxPool-8", **DILATED)) == [[[5, 4, 5]]]
    assert computed(engine, "AdaptiveMaxPool-8", [ROW, np.array([2])], {}) == [[[5, 5]]]
    given = {"index_element_type": "i16"}
    with pytest.raises(RuntimeError, match="i32 or i64"):
        computed(engine, "AdaptiveMaxPool-8", [ROW, np.array([2])], given)


@of_engines(*ONNX)
def test_valid_rounds_up_without_padding_words(engine):
    """VALID of ONNX never rounds up; of MaxPool-8 it does."""
    attributes = pool("MaxPool-8", kernel=[2], strides=[2], auto_pad="valid", rounding_type="ceil")
    assert computed(engine, "MaxPool-8", [ROW], attributes) == [[[3, 5, 2]], [[1, 2, 4]]]


@of_engines(*ONNX)
def test_attributes_of_onnx_are_handed_over_as_they_are(engine):
    """Also those that no document has: refusing them is the engine's task."""
    with pytest.raises(Exception, match=r"AutoPadType|wide") as caught:  # the engine's own class
        computed(engine, "ONNX-MaxPool-22", [ROW], {"kernel_shape": [2], "auto_pad": "wide"})
    assert not isinstance(caught.value, NotImplementedError)
    with pytest.raises(Unsupported, match="no dilate"):
        computed(engine, "ONNX-MaxPool-22", [ROW], {"kernel_shape": [2], "dilate": [2]})
    with pytest.raises(Unsupported, match="p='two'"):
        computed(engine, "ONNX-LpPool-22", [ROW], {"kernel_shape": [2], "p": "two"})


UNPOOLED = np.array([[[1, 2]]], np.float32), np.array([[[1, 2]]])


@of_engines("numpy", *ONNX)
def test_unpooling_of_onnx(engine):
    """With the shape of the output as an input where it is given."""
    attributes = {"kernel_shape": [2], "strides": [2]}
    assert computed(engine, "ONNX-MaxUnpool-22", UNPOOLED, attributes) == [[[0, 1, 2, 0]]]
    given = (*UNPOOLED, np.array([1, 1, 5]))
    assert computed(engine, "ONNX-MaxUnpool-22", given, attributes) == [[[0, 1, 2, 0, 0]]]


@of_engines("numpy", "torch")
def test_unpooling_of_torch(engine):
    attributes = {"kernel_size": [2], "output_size": [5]}
    assert computed(engine, "PyTorch-max_unpool1d", UNPOOLED, attributes) == [[[0, 1, 2, 0, 0]]]


@of_engines(
    "torch",
    "jax",
    "openvino",
    "tensorflow",
    "paddle",
    "ncnn",
    "tinygrad",
    "litert",
    "tflite-micro",
    "mlx",
    "iree",
    "tract",
    "tosa-reference",
    "opencv",
    "keras",
    *ONNX,
)
def test_an_engine_has_no_unpooling_but_that_of_its_document(engine):
    """They count indices in other spaces, or have none."""
    calls = {
        "ONNX-MaxUnpool-22": {"kernel_shape": [2], "strides": [2]},
        "PyTorch-max_unpool1d": {"kernel_size": [2]},
    }
    own = {"torch": "PyTorch-max_unpool1d"}
    own |= dict.fromkeys((*ONNX, "opencv"), "ONNX-MaxUnpool-22")
    for operator in calls.keys() - {own.get(engine)}:
        with pytest.raises(Unsupported):
            load_backend(engine)(operator, UNPOOLED, calls[operator])
