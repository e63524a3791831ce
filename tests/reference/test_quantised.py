"""Means of integers that stand for numbers, and which of them depend on the order of a sum."""

import numpy as np
import pytest

from conformance.reference import Encoding, depends_on_order, rounded_integer_mean


def window(*cells):
    """Return data of one window, its ranges, and its divisor."""
    data = np.array([[cells]], np.int8)
    return data, [np.array([0])], [np.array([len(cells)])], np.array([len(cells)])


@pytest.mark.parametrize(
    ("cells", "encoding", "expected"),
    [
        ((1, 0, 2, 0), Encoding(), False),  # 3 / 4
        ((1, 0, 1, 0), Encoding(), False),  # a half, of as many cells as a power of two
        ((1, 0, 1, 0), Encoding(0.25, 0.25), False),
        ((1, 0, 1, 0), Encoding(0.75, 0.75), True),  # 0.75 / 0.75 by a reciprocal is rounded
        ((1, 1, 1, 0, 0, 0), Encoding(), True),  # a half of six
        ((1, 1, 0, 0, 0, 0), Encoding(), False),  # a third
        ((1, 0), Encoding(1.0, float(np.nextafter(np.float32(1), np.float32(2)))), True),
        ((127, 126), Encoding(1.0, 1.0, 0, 60), False),  # a half, beyond the type
        ((1, 0), Encoding(2.0**-20, 1.0, 0, 100), False),
    ],
)
def test_a_mean_near_a_half_depends_on_the_order_unless_nothing_is_rounded(
    cells, encoding, expected
):
    assert depends_on_order(*window(*cells), encoding) is expected


@pytest.mark.parametrize("scale", [2.0**30, 2.0**-30, 1 / 3, 2.0**100 / 3])
def test_scales_far_apart_are_multiplied_exactly(scale):
    """Whatever the size of their ratio, in integers of any size."""
    encoding = Encoding(float(np.float32(scale)), float(np.float32(scale)) / 2)
    assert rounded_integer_mean(*window(3, 4, 5), encoding).item() == 8
    far = Encoding(float(np.float32(scale)), 2.0**-120)
    assert rounded_integer_mean(*window(3, -4, -5), far).item() == -128
