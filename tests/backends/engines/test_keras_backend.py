"""What the Keras backend alone has: layouts of both kinds, and a backend of its own."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.fakes import pool

from conformance import UsageError, load_backend

pytestmark = pytest.mark.needs_engine("keras", "scipy", "jax")
ROWS = np.array([[[1, 3, 5, 4], [2, 4, 1, 3]]], np.float32)
GIVEN = pool("MaxPool-1", kernel=[2], strides=[2])


@pytest.mark.parametrize("engine", ["keras", "keras:layout=channels_last"])
def test_a_layout_changes_no_result(engine):
    """Of windows and of blocks."""
    backend = load_backend(engine)
    assert backend("MaxPool-1", [ROWS], GIVEN).tolist() == [[[3, 5], [4, 3]]]
    assert backend("AdaptiveAvgPool-8", [ROWS, np.array([2])], {}).tolist() == [[[2, 4.5], [3, 2]]]


def test_data_are_laid_out_as_their_document_says():
    """WebNN has both; windows are of the height and the width."""
    data = np.arange(12, dtype=np.float32).reshape(1, 2, 3, 2)
    given = {"windowDimensions": [2, 3], "layout": "nhwc"}
    got = load_backend("keras")("WebNN-maxPool2d", [data], given)
    assert got.tolist() == [[[[10, 11]]]]


def test_a_process_has_one_backend_of_keras():
    """It was imported with another one."""
    load_backend("keras")("MaxPool-1", [ROWS], GIVEN)
    before = dict(os.environ)
    with pytest.raises(UsageError, match="imported already, on the backend"):
        load_backend("keras:backend=jax")
    assert os.environ == before  # which workers inherit


def test_the_backend_is_the_one_that_is_named():
    code = "import conformance; conformance.load_backend('keras:backend=jax'); import keras; "
    code += "print(keras.backend.backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "jax"
