"""LiteRT's interpreter, of which each call is a model of one operation."""

import numpy as np
import pytest
from support.litert_calls import HALVES, ROWS

pytest.importorskip("ai_edge_litert")

from conformance import Unsupported, UsageError, load_backend
from conformance.backends.engines.litert_backend import backend

pytestmark = pytest.mark.needs_engine("ai_edge_litert")


@pytest.mark.parametrize("kernels", ["default", "builtin", "reference"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int16"])
def test_all_kernels_pool_two_rows(kernels, dtype):
    """Data have channels last, and integers stand for themselves."""
    pool = load_backend(f"litert:kernels={kernels}")
    data = ROWS.astype(dtype)
    got = pool("LiteRT-AVERAGE_POOL_2D", [data], HALVES)
    assert (got.dtype, got.shape, got.ravel().tolist()) == (data.dtype, (1, 1, 2, 1), [-1, 3])
    assert pool("LiteRT-MAX_POOL_2D", [data], HALVES).ravel().tolist() == [12, 28]


@pytest.mark.parametrize("kernels", ["default", "builtin", "reference"])
@pytest.mark.parametrize(
    ("activation", "expected"),
    [("NONE", [-9, 3]), ("RELU", [3, 3]), ("RELU_N1_TO_1", [-1, 3]), ("RELU6", [3, 3])],
)
def test_limits_of_integers_follow_from_scale_and_zero_point(kernels, activation, expected):
    """4 steps of 0.25 are 1; 24 of them, 6, lie above both maxima."""
    pool = load_backend(f"litert:kernels={kernels}")
    data = np.int8([[-9, -12], [3, 2]]).reshape(1, 2, 2, 1)
    rows = {**HALVES, "filter_height": 1, "stride_h": 1, "scale": 0.25, "zero_point": 3}
    given = {**rows, "fused_activation_function": activation}
    assert pool("LiteRT-MAX_POOL_2D", [data], given).ravel().tolist() == expected


def test_numbers_are_clamped():
    data = np.float32([[-9, -1, 0.5, 8]]).reshape(1, 1, 4, 1)
    cells = {**HALVES, **dict.fromkeys(HALVES.keys() - {"padding"}, 1)}
    got = backend("LiteRT-MAX_POOL_2D", [data], {**cells, "fused_activation_function": "RELU6"})
    assert got.ravel().tolist() == [0, 0, 0.5, 6]


def test_same_pads_the_larger_half_at_the_end():
    data = np.float32([[1, 2, 3, 4]]).reshape(1, 1, 4, 1)
    same = {**HALVES, "padding": "SAME", "filter_height": 1, "stride_h": 1, "stride_w": 1}
    got = backend("LiteRT-AVERAGE_POOL_2D", [data], same)
    assert got.ravel().tolist() == [1.5, 2.5, 3.5, 4]


@pytest.mark.parametrize(("operator", "dtype"), [("MaxPool-1", "f4"), ("LiteRT-MAX_POOL_2D", "f8")])
def test_other_operators_and_types_are_unsupported(operator, dtype):
    with pytest.raises(Unsupported):
        backend(operator, [ROWS.astype(dtype)], HALVES)


def test_other_kernels_are_refused():
    with pytest.raises(UsageError, match="kernels=fast: there are default, builtin, reference"):
        load_backend("litert:kernels=fast")
