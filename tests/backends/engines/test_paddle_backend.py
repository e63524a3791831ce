"""The Paddle backend against the oracle, and what it does not support."""

import numpy as np
import pytest
from support.engines import assert_equals_oracle, counts_pads
from support.oracle import array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("paddle")

from conformance.backends.engines.paddle_backend import backend

pytestmark = pytest.mark.needs_engine("paddle")

READINGS = {"same-with-ceil": "rounding-applied"}
ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


def divisor_forgets_end(attributes, _inputs):
    """Say whether the pads differ and count: paddle divides by too few cells."""
    return counts_pads(attributes) and (
        attributes.get("auto_pad") == "same_upper"
        or attributes.get("pads_begin", attributes.get("padding_below"))
        != attributes.get("pads_end", attributes.get("padding_above"))
    )


@pytest.mark.parametrize(
    "operator", ["AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool"]
)
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents under the readings of paddle."""
    assert_equals_oracle(
        backend, operator, readings=READINGS, known=divisor_forgets_end, factor=0.5
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_averages_keep_their_type(dtype):
    """The element types of paddle's CPU kernels."""
    case = ("AvgPool-1", [array([[[1, 3, 8]]], dtype)], pooling([2], exclude_pad=True))
    assert_equals(backend(*case), oracle(*case))


def test_what_paddle_cannot_say():
    """Unsupported, with the reason."""
    same_lower = pooling([2], auto_pad="same_lower")
    for operator, data, given, reason in (
        ("MaxPool-1", ROW, same_lower, "same_lower"),
        ("MaxPool-1", ROW.astype(np.int32), pooling([2]), "int32"),
        ("nGraph-AvgPool", np.ones((1,) * 6), {"window_shape": [1] * 4}, "4 spatial axes"),
        ("MaxPool-1", np.ones((1, 1)), pooling([]), "0 spatial axes"),
        ("MaxPool-1", ROW, pooling([2], pads_begin=[0, 0]), "no pairs"),
        ("MaxPool-1", ROW, pooling([2], auto_pad="same"), "auto_pad='same'"),
        ("SumPool-1", ROW, {}, "SumPool-1"),
    ):
        with pytest.raises(Unsupported, match=reason):
            backend(operator, [data], given)


@pytest.mark.parametrize("change", [{"strides": [0]}, {"kernel": [2, 2]}, {"strides": []}], ids=str)
def test_invalid_attributes_raise(change):
    """Paddle refuses what the document does not allow."""
    with pytest.raises(ValueError, match=r"stride|length must be 1"):
        backend("MaxPool-1", [ROW], pooling([2]) | change)


@pytest.mark.parametrize("size", [[1], [1, 1, 1], [1.0, 1.0], [-1, 1]], ids=str)
def test_invalid_output_sizes_raise(size):
    """Paddle gets them as they are, and refuses."""
    with pytest.raises((IndexError, ValueError, TypeError, RuntimeError)) as caught:
        backend("AdaptiveAvgPool-8", [np.ones((1, 1, 2, 2), np.float32), np.array(size)], {})
    assert not isinstance(caught.value, NotImplementedError)


def test_what_paddle_answers_is_not_refused():
    """A negative pad crops: that paddle takes it is for the checker to say."""
    got = backend("MaxPool-1", [ROW], pooling([2]) | {"pads_end": [-1]})
    assert got.tolist() == [[[3, 5]]]
