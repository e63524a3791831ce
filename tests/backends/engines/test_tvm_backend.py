"""The TVM backend: a few cases, each of which it compiles, and what it does not support."""

import numpy as np
import pytest
from support.oracle import oracle
from support.random_cases import pooling, worst_share

from conformance.errors import Unsupported

pytest.importorskip("tvm")

from conformance.backends.engines.tvm_backend import backend

pytestmark = pytest.mark.needs_engine("tvm")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)
VOLUME = np.arange(60, dtype=np.float32).reshape(1, 1, 3, 4, 5)
PADDED = {"pads_begin": [1, 0, 0], "pads_end": [0, 1, 2]}


@pytest.mark.parametrize(
    ("operator", "given"),
    [
        ("MaxPool-1", PADDED),
        ("AvgPool-1", PADDED | {"exclude_pad": True}),
        ("AvgPool-1", PADDED | {"exclude_pad": False}),
        ("AvgPool-1", {"auto_pad": "same_lower", "exclude_pad": True}),
    ],
)
def test_pads_of_each_end_of_each_axis(operator, given):
    """They are those of the axis and of the end that they are for."""
    case = (operator, [VOLUME], pooling([2, 3, 3], [2, 1, 2]) | given)
    assert worst_share(backend(*case), oracle(*case), 3) <= 1


def test_adaptive_averages():
    """Of maxima it has none."""
    assert backend("AdaptiveAvgPool-8", [ROW, np.array([3])], {}).tolist() == [[[2, 4, 4.5]]]
    with pytest.raises(Unsupported, match="AdaptiveMaxPool-8"):
        backend("AdaptiveMaxPool-8", [ROW, np.array([3])], {})


@pytest.mark.parametrize(
    "change", [{"kernel": [2, 2]}, {"pads_end": [0, 0]}, {"strides": [1, 1]}], ids=str
)
def test_lists_without_a_number_for_each_axis(change):
    """TVM would read them in another way."""
    with pytest.raises(Unsupported, match="number for each axis"):
        backend("MaxPool-1", [ROW], pooling([2]) | change)
