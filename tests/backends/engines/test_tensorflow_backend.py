"""What the TensorFlow backend alone has: indices with the channel innermost."""

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from conformance.backends.engines.tensorflow_backend import backend

pytestmark = pytest.mark.needs_engine("tensorflow")
PLANE = np.array([[[[1, 2], [3, 9], [4, 5]]]], np.float32)


@pytest.mark.parametrize(("axis", "index_type"), [(0, "i64"), (2, "i32")])
def test_indices_of_one_channel(axis, index_type):
    """It counts the channel innermost, which of one channel is no difference."""
    data = np.concatenate([PLANE, PLANE[:, :, ::-1]])
    given = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    given |= {"axis": axis, "index_element_type": index_type}
    values, indices = backend("MaxPool-8", [data], given)
    assert values.ravel().tolist() == [9, 9, 9, 9]
    second = 3 if axis else 9
    assert indices.ravel().tolist() == [3, 3, second, second]
