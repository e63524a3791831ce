"""The tinygrad backend: a few cases, each of which it compiles, and what it does not support."""

import numpy as np
import pytest
from support.oracle import array, oracle
from support.random_cases import assert_equals, pooling, worst_share

from conformance.errors import Unsupported

pytest.importorskip("tinygrad")

from conformance.backends.engines.tinygrad_backend import backend

pytestmark = pytest.mark.needs_engine("tinygrad")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)
PLANE = np.arange(30, dtype=np.float32).reshape(1, 1, 5, 6)


@pytest.mark.parametrize(
    ("operator", "given"),
    [
        ("MaxPool-1", {"pads_begin": [1, 0], "pads_end": [0, 2]}),
        ("AvgPool-1", {"pads_begin": [1, 0], "pads_end": [0, 2], "exclude_pad": True}),
        ("AvgPool-1", {"pads_begin": [1, 0], "pads_end": [0, 2], "exclude_pad": False}),
        ("AvgPool-1", {"auto_pad": "same_lower", "exclude_pad": True}),
    ],
)
def test_pads_of_each_end_of_each_axis(operator, given):
    """They are those of the axis and of the end that they are for."""
    case = (operator, [PLANE], pooling([2, 3], [2, 1]) | given)
    assert worst_share(backend(*case), oracle(*case), 2) <= 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8"])
def test_maximum_keeps_its_type(dtype):
    """Values of bfloat16 come and go by their bits."""
    case = ("MaxPool-1", [array([[[1, 5, 3]]], dtype)], pooling([2]))
    assert_equals(backend(*case), oracle(*case))


def test_other_operators():
    """There is no adaptive pooling, and there are no norms."""
    for operator in ("AdaptiveAvgPool-8", "ONNX-LpPool-22", "SumPool-1"):
        with pytest.raises(Unsupported, match=operator):
            backend(operator, [ROW, np.array([2])], {})


@pytest.mark.parametrize(
    ("change", "reason"), [({"kernel": [2, 2]}, "last axes"), ({"pads_end": [0, 0]}, "no pairs")]
)
def test_what_tinygrad_would_not_see(change, reason):
    """It would pool over other axes than the document says."""
    with pytest.raises(Unsupported, match=reason):
        backend("MaxPool-1", [ROW], pooling([2]) | change)
