"""What the OpenVINO backend alone has: options, and an import without a trace."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.random_cases import pooling

pytest.importorskip("openvino")

from conformance.backends.engines import openvino_backend
from conformance.backends.engines.openvino_backend import OpenVino

pytestmark = pytest.mark.needs_engine("openvino")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


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


def test_options():
    """Another precision is another backend."""
    half = OpenVino(precision="f16")
    assert half("MaxPool-1", [ROW], pooling([4])).tolist() == [[[5]]]
    with pytest.raises(RuntimeError, match="NOPE"):
        OpenVino(device="NOPE")("MaxPool-1", [ROW], pooling([1]))


def test_one_model_of_open_dimensions_takes_several_shapes():
    """In both orders, with the values of models of one shape."""
    dynamic = OpenVino(shapes="dynamic")
    compiled = openvino_backend._compiled
    compiled.cache_clear()
    for data in (ROW, ROW[..., :3], ROW):
        given = pooling([2], auto_pad="same_upper")
        expected = OpenVino()("MaxPool-1", [data], given)
        assert np.array_equal(dynamic("MaxPool-1", [data], given), expected)
    assert compiled.cache_info().misses == 3  # two shapes, and the one for both
