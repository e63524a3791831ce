"""TOSA's operators in IREE, of which each call is compiled: what reaches the compiler, and how."""

import numpy as np
import pytest

from conformance import Unsupported, UsageError, load_backend

pytestmark = pytest.mark.needs_engine("iree.compiler", "iree.runtime")

WINDOWS = {"kernel": [1, 2], "stride": [1, 2], "pad": [0, 0, 1, 1]}
ROW = np.array([1, 2, 4, 7]).reshape(1, 1, 4, 1)


def averaged(dtype, acc_type, *zero_points):
    inputs = [ROW.astype(dtype), *(np.array([zero], dtype) for zero in zero_points)]
    return load_backend("iree")("TOSA-AVG_POOL2D", inputs, {**WINDOWS, "acc_type": acc_type})


def largest(data=ROW, engine="iree", **change):
    return load_backend(engine)("TOSA-MAX_POOL2D", [data], {**WINDOWS, **change})


@pytest.mark.parametrize(
    ("dtype", "acc_type"), [("float32", "FP32"), ("float16", "FP16"), ("bfloat16", "FP32")]
)
def test_averages_leave_padding_out(dtype, acc_type):
    got = averaged(dtype, acc_type, 0, 0)
    assert (got.dtype, got.shape, got.ravel().tolist()) == (dtype, (1, 1, 3, 1), [1, 3, 7])


def test_zero_points_are_constants_of_the_model():
    """Less 3, divided, and plus -4: -2 -0 4 are -6 -4 0."""
    assert averaged("int8", "INT32", 3, -4).ravel().tolist() == [-6, -4, 0]


@pytest.mark.parametrize("engine", ["iree", "iree:target=vmvx"])
def test_both_targets_take_the_maximum_that_nan_mode_says(engine):
    data = np.array([1, 2, np.nan, 7], np.float32).reshape(ROW.shape)
    got = largest(data, engine, nan_mode="IGNORE")
    assert got.ravel().tolist() == [1, 2, 7]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pad": [0, 0, 2, 0]}, "less than the width of the kernel"),
        ({"stride": [1, 3]}, "wholly divisible"),
        ({"kernel": [0, 2]}, "kernel values to be >= 1"),
        ({"kernel": [2]}, "exactly 2 elements"),
    ],
)
def test_what_the_document_refuses_the_compiler_refuses_in_one_line(change, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        largest(ROW.astype(np.float32), **change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change", [{"nan_mode": "IGNORE>, a = 1"}, {"kernel": ["1, 2"]}, {"pad = 1, b": [1]}]
)
def test_no_attribute_becomes_other_text(change):
    with pytest.raises((KeyError, TypeError, Unsupported)):
        largest(ROW.astype(np.float32), **change)


@pytest.mark.parametrize(("operator", "dtype"), [("MaxPool-1", "f4"), ("TOSA-MAX_POOL2D", "f8")])
def test_other_operators_and_types_are_unsupported(operator, dtype):
    with pytest.raises(Unsupported):
        load_backend("iree")(operator, [ROW.astype(dtype)], WINDOWS)


def test_other_targets_are_refused():
    with pytest.raises(UsageError, match="target=cuda: there are llvm-cpu, vmvx"):
        load_backend("iree:target=cuda")
