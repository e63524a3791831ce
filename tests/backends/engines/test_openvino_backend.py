"""The OpenVINO backend against the oracle, and what it does not support."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.engines import assert_equals_oracle
from support.oracle import array, oracle
from support.random_cases import OPERATORS, assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("openvino")

from conformance.backends.engines import openvino_backend
from conformance.backends.engines.openvino_backend import OpenVino, backend

pytestmark = pytest.mark.needs_engine("openvino")

READINGS = {"same-with-ceil": "rounding-applied", "overhang-divisor": "whole-kernel"}
ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


@pytest.mark.parametrize("operator", OPERATORS)
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents under the readings of OpenVINO."""
    assert_equals_oracle(backend, operator, readings=READINGS)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("operator", ["AvgPool-1", "AdaptiveAvgPool-8"])
def test_averages_keep_their_type(operator, dtype):
    """Half types go in and come out as they are."""
    data = array([[[1, 3, 8, 4]]], dtype)
    case = (
        (operator, [data], pooling([2], [2], exclude_pad=True))
        if operator == "AvgPool-1"
        else (operator, [data, np.array([2], np.int32)], {})
    )
    assert_equals(backend(*case), oracle(*case))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_maximum_of_integers(dtype):
    """The integer types of the CPU device."""
    case = ("MaxPool-1", [array([[[1, 5, 3]]], dtype)], pooling([2]))
    assert_equals(backend(*case), oracle(*case))


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_types_computed_in_smaller_ones(dtype):
    """What the device would round without a word is unsupported."""
    with pytest.raises(Unsupported, match=f"{dtype}.*no primitives"):
        backend("MaxPool-1", [array([[[1, 2]]], dtype)], pooling([2]))


def test_more_axes_and_other_operators():
    """OpenVINO pools over three axes at most."""
    with pytest.raises(Unsupported, match="4 spatial axes"):
        backend("nGraph-AvgPool", [np.ones((1,) * 6, np.float32)], {"window_shape": [1] * 4})
    with pytest.raises(Unsupported, match="SumPool-1"):
        backend("SumPool-1", [ROW], {})


@pytest.mark.parametrize(
    "change",
    [
        {"strides": [0]},
        {"kernel": [0]},
        {"kernel": [2, 2]},
        {"auto_pad": "same"},
        {"rounding_type": "round"},
    ],
    ids=str,
)
def test_invalid_attributes_raise(change):
    """OpenVINO itself refuses them, words too: they are its own."""
    with pytest.raises(RuntimeError, match="src/") as caught:
        backend("MaxPool-1", [ROW], pooling([2]) | change)
    assert not isinstance(caught.value, NotImplementedError)


def test_nothing_is_forked_and_no_package_is_hidden():
    """Its import reports no use: the process that would do so is forked beside running threads."""
    code = """
import os
os.register_at_fork(before=lambda: os.write(2, b"forked"))
import conformance.backends.engines.openvino_backend
import openvino_telemetry
"""
    surroundings = {key: value for key, value in os.environ.items() if key != "CI"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env=surroundings,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_models_are_compiled_once():
    """A second call with other values of one shape takes the compiled model."""
    given = pooling([3], [2])
    first = backend("MaxPool-1", [ROW], given)
    misses = openvino_backend._compiled.cache_info().misses
    second = backend("MaxPool-1", [ROW + 1], given)
    assert openvino_backend._compiled.cache_info().misses == misses
    assert (second - first).tolist() == [[[1]]]


def test_output_sizes_are_different_models():
    """The second input decides, although only the first one is fed."""
    for size in (1, 2, 4):
        case = ("AdaptiveAvgPool-8", [ROW, np.array([size])], {})
        assert_equals(backend(*case), oracle(*case))


def test_options():
    """Another precision is another backend."""
    half = OpenVino(precision="f16")
    assert half("MaxPool-1", [ROW], pooling([4])).tolist() == [[[5]]]
    with pytest.raises(RuntimeError, match="NOPE"):
        OpenVino(device="NOPE")("MaxPool-1", [ROW], pooling([1]))
