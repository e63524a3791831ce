"""The torch backend against the oracle, where torch can say what the case says."""

import subprocess
import sys

import numpy as np
import pytest
from support.oracle import FORMATS, array
from support.random_cases import (
    pooling,
)

pytest.importorskip("torch")

from conformance.backends.engines import torch_backend
from conformance.backends.engines.torch_backend import backend

pytestmark = pytest.mark.needs_engine("torch")
ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


@pytest.mark.parametrize("dtype", FORMATS)
def test_input_memory_is_shared(dtype):
    """A pooling of one cell per window reads the array in place, and the array stays as it is."""
    data = array([[[1, 2, 3]]], dtype)
    data.flags.writeable = False
    got = backend("MaxPool-1", [data], pooling([1]))
    assert (got.dtype, got.tolist()) == (data.dtype, data.tolist())


def test_read_only_inputs_make_no_noise():
    """The first read-only array of a process draws no warning on stderr."""
    code = """
import numpy as np
from conformance.backends.engines.torch_backend import backend
data = np.ones((1, 1, 2), np.float32)
data.flags.writeable = False
backend("nGraph-AvgPool", [data], {"window_shape": [2]})
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("error", [RuntimeError, NotImplementedError])
def test_a_type_that_torch_does_not_implement_is_unsupported(monkeypatch, error):
    """Whichever of the two exceptions a release raises."""

    def refuse(*_, **__):
        raise error('"avg_pool2d" not implemented for "Half"')

    monkeypatch.setitem(torch_backend._SLIDING, "average", (refuse,) * 3)
    with pytest.raises(NotImplementedError, match="not implemented for"):
        backend("AvgPool-1", [ROW], pooling([2], exclude_pad=True))


def test_quantised_maxima_are_those_of_the_stored_integers():
    """Whatever the scale and zero point of the tensors; averages round as no document says."""
    quantised = torch_backend.Torch(quantized=True)
    for dtype in (np.int8, np.uint8):
        data = np.array([[[1, 7, 3, 5]]], dtype)
        got = quantised("MaxPool-8", [data], pooling([2], strides=[2]))
        assert (got.dtype, got.tolist()) == (data.dtype, [[[7, 5]]])
        with pytest.raises(NotImplementedError, match="maxima of int8 and uint8"):
            quantised("AvgPool-1", [data], pooling([2], exclude_pad=True))
    with pytest.raises(NotImplementedError, match="maxima of int8 and uint8"):
        quantised("MaxPool-1", [ROW], pooling([2]))
