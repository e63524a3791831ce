"""Adapters know operators by roles and reductions: one of another name is computed as well."""

import numpy as np
import pytest
from support.engines import of_engines
from support.made_up import registered

from conformance.backends import load_backend
from conformance.errors import Unsupported
from conformance.operators import (
    AUTO_PADS,
    AVERAGE,
    MAXIMUM,
    Attribute,
    Operator,
    Output,
    adaptive,
    sliding,
)

SLIDING = (
    "numpy",
    "onnxruntime",
    "onnx-reference",
    "torch",
    "openvino",
    "jax",
    "paddle",
    "ncnn",
    "tinygrad",
    "tvm",
    "tract",
    "opencv",
)
ADAPTIVE = ("numpy", "torch", "openvino", "paddle", "ncnn", "tensorflow", "keras")
ROW = np.array([[[1, 3, 5, 4, 2]]], np.float32)

MEAN = Operator(
    "Mean-2",
    "an average with attributes of other names, pads in one list and numbers for words",
    AVERAGE,
    (
        Attribute("window", "kernel", "s", least=1),
        Attribute("step", "strides", "s", default=1, least=1),
        Attribute("around", "pads", "s", default=0),
        Attribute("up", "rounding", "s", default=0, values={0: "floor", 1: "ceil"}),
        Attribute("mode", "auto_pad", "s", default="explicit", values=AUTO_PADS),
        Attribute("counted", "include_pad", "s", default=0, values={0: False, 1: True}),
    ),
    sliding(AVERAGE),
)
LARGEST = Operator(
    "Largest-3", "a maximum without pads", MAXIMUM, MEAN.attributes[:2], sliding(MAXIMUM)
)
ADAPTIVE_MAXIMUM = Operator(
    "AdaptiveMaximum-4",
    "the maximum of blocks",
    MAXIMUM,
    (),
    adaptive(MAXIMUM),
    input_names=("data", "size"),
)
POSITION = Operator(
    "Position-5",
    "where the largest is",
    MAXIMUM,
    LARGEST.attributes,
    LARGEST.pipeline,
    outputs=(Output("index", dtype="int64"),),
)
CASES = [
    (MEAN, {"window": [3], "step": [2], "around": [1, 1]}, [2, 4, 3]),
    (MEAN, {"window": [3], "step": [2], "around": [1, 1], "counted": 1}, [4 / 3, 4, 2]),
    (MEAN, {"window": [3], "step": [2], "mode": "valid"}, [3, 11 / 3]),
    (LARGEST, {"window": [2]}, [3, 5, 5, 4]),
    (LARGEST, {"window": [3], "step": [2]}, [5, 5]),
]


@pytest.fixture(autouse=True)
def known():
    """Let the operators be among those that there are."""
    with registered(MEAN, LARGEST, ADAPTIVE_MAXIMUM, POSITION):
        yield


@pytest.mark.parametrize(
    ("operator", "attributes", "expected"),
    CASES,
    ids=lambda value: getattr(value, "name", str(value)),
)
@of_engines(*SLIDING)
def test_windows_are_those_of_the_roles(engine, operator, attributes, expected):
    """Whatever the document calls its attributes and spells their values."""
    got = load_backend(engine)(operator.name, [ROW], attributes)
    np.testing.assert_allclose(got, [[expected]], rtol=1e-6)


@of_engines(*ADAPTIVE)
def test_the_maximum_of_blocks(engine):
    """Engines that have adaptive pooling have both reductions."""
    data = np.arange(15, dtype=np.float32).reshape(1, 1, 3, 5)
    got = load_backend(engine)(ADAPTIVE_MAXIMUM.name, [data, np.array([1, 2])], {})
    assert got.tolist() == [[[[12, 14]]]]


@pytest.mark.needs_engine("onnxruntime", "onnx")
def test_the_maximum_of_all_is_global_pooling():
    """Of adaptive pooling ONNX has that alone."""
    backend = load_backend("onnxruntime")
    assert backend(ADAPTIVE_MAXIMUM.name, [ROW, np.array([1])], {}).tolist() == [[[5]]]
    with pytest.raises(Unsupported, match="global pooling alone"):
        backend(ADAPTIVE_MAXIMUM.name, [ROW, np.array([2])], {})


@of_engines(*SLIDING[1:])
def test_a_first_output_that_an_engine_has_not_got_is_unsupported(engine):
    """An engine that pools returns elements of the type of the data."""
    with pytest.raises(Unsupported, match="Position-5"):
        load_backend(engine)(POSITION.name, [ROW], {"window": [2]})
