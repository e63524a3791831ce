"""LiteRT for microcontrollers, of which each call is a model of one operation."""

import numpy as np
import pytest
from support.litert_calls import HALVES, ROWS

from conformance import Unsupported, load_backend

pytestmark = pytest.mark.needs_engine("tflite_micro", "flatbuffers")


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16"])
def test_two_rows_are_pooled(dtype):
    """Data have channels last, and integers stand for themselves."""
    pool, data = load_backend("tflite-micro"), ROWS.astype(dtype)
    got = pool("LiteRT-AVERAGE_POOL_2D", [data], HALVES)
    assert (got.dtype, got.shape, got.ravel().tolist()) == (data.dtype, (1, 1, 2, 1), [-1, 3])
    assert pool("LiteRT-MAX_POOL_2D", [data], HALVES).ravel().tolist() == [12, 28]


def test_same_has_a_window_for_each_stride():
    same = {**HALVES, "padding": "SAME", "filter_width": 3, "stride_w": 3}
    got = load_backend("tflite-micro")("LiteRT-MAX_POOL_2D", [ROWS.astype(np.float32)], same)
    assert got.ravel().tolist() == [12, 28]


def test_limits_follow_from_scale_and_zero_point():
    """4 steps of 0.25 are 1, of which the zero point is 3."""
    given = {**HALVES, "scale": 0.25, "zero_point": 3, "fused_activation_function": "RELU_N1_TO_1"}
    got = load_backend("tflite-micro")("LiteRT-MAX_POOL_2D", [ROWS.astype(np.int8)], given)
    assert got.ravel().tolist() == [7, 7]


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_other_types_are_unsupported(dtype):
    with pytest.raises(Unsupported):
        load_backend("tflite-micro")("LiteRT-MAX_POOL_2D", [ROWS.astype(dtype)], HALVES)


def test_another_operator_is_unsupported():
    """Its attributes have other names."""
    with pytest.raises(Unsupported, match="none of LiteRT's documents"):
        load_backend("tflite-micro")("MaxPool-1", [ROWS.astype(np.float32)], {"kernel": [2, 2]})
