"""TOSA's pools: exact integers, exact divisions, channels last, zero points as inputs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import assert_same
from support.effort import examples
from support.oracle import array, exact_maximum, exact_mean, exact_value, rounded

from conformance import load_backend
from conformance.cases.sweep.sweep_model import case_of
from conformance.errors import InvalidCase
from conformance.operators import evaluate, vector_of

AVERAGE, MAXIMUM = "TOSA-AVG_POOL2D", "TOSA-MAX_POOL2D"
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
ACCUMULATORS = {**dict.fromkeys(("int8", "int16"), "INT32"), **dict.fromkeys(FLOAT8, "FP16")}


def average(data, kernel, stride, pad=(0, 0, 0, 0), points=(0, 0), **others):
    """Return averages of data (N, H, W, C)."""
    dtype = data.dtype
    attributes = {
        "kernel": list(kernel),
        "stride": list(stride),
        "pad": list(pad),
        "acc_type": ACCUMULATORS.get(dtype.name, "FP32"),
    }
    zero_points = [np.array([point], dtype) for point in points]
    return evaluate(AVERAGE, [data, *zero_points], {**attributes, **others})


def maximum(data, kernel, stride, pad=(0, 0, 0, 0), **others):
    """Return maxima of data (N, H, W, C)."""
    attributes = {"kernel": list(kernel), "stride": list(stride), "pad": list(pad)}
    return evaluate(MAXIMUM, [data], {**attributes, **others})


def row(*cells, dtype="int8"):
    """Return data of one row of cells."""
    return array(cells, dtype).reshape(1, 1, -1, 1)


@pytest.mark.parametrize("cells", range(1, 130))
def test_the_reciprocal_of_the_document_rounds_halves_away(cells):
    """Its multiplier and its shift, for sums as large as those of windows here."""
    shift = (cells - 1).bit_length()
    multiplier = ((1 << 30) + 1 << shift) // cells
    for total in {*range(-300, 301), *(sign * cells * 255 for sign in (-1, 1))}:
        scaled = (total * multiplier + (1 << 29 + shift)) >> 30 + shift
        mean = abs(Fraction(total, cells)) + Fraction(1, 2)
        away = mean.numerator // mean.denominator * (1 if total >= 0 else -1)
        assert scaled == away


def plane(total, shape=(59, 281)):
    """Return int16 of one window whose cells differ by one at most and have a sum."""
    cells = np.full(shape[0] * shape[1], total // (shape[0] * shape[1]))
    cells[: total - cells.sum()] += 1
    return array(cells, "int16").reshape(1, *shape, 1)


def by_reciprocal(total, cells):
    """Return a quotient as the document's functions compute it, in integers of any size."""
    doublings = 0
    while 1 << doublings < cells:
        doublings += 1
    multiplier = ((1 << 30) + 1) * (1 << doublings) // cells
    shift = 30 + doublings
    return (total * multiplier + (1 << (shift - 1))) // (1 << shift)


@pytest.mark.parametrize(("total", "expected"), [(542605801, 32729), (-542605801, -32729)])
def test_a_sum_above_2_to_the_29_is_what_the_integers_of_the_document_give(total, expected):
    """542605801 / 16579 is 32728.5 less one part in 33158, and the reciprocal a little too large.

    Its multiplier is 2122225232 and its shift 45: the product over 2**45 is 32728.50000007.
    """
    assert Fraction(542605801, 16579) == Fraction(65457, 2) - Fraction(1, 33158)
    got = average(plane(total), (59, 281), (1, 1))
    assert got.item() == expected == by_reciprocal(total, 16579)
    backend = load_backend("numpy")
    attributes = {"kernel": [59, 281], "stride": [1, 1], "pad": [0] * 4, "acc_type": "INT32"}
    assert backend(AVERAGE, [plane(total), *[np.int16([0])] * 2], attributes).item() == expected


@examples(2)
@given(st.integers(-(2**31), 2**31 - 1), st.integers(2**16, 2**17))
def test_sums_as_large_as_int32_holds_are_those_of_the_document(total, cells):
    data = plane(total, (1, cells))
    ends = np.iinfo(np.int16)
    expected = min(max(by_reciprocal(total, cells), ends.min), ends.max)
    assert average(data, (1, cells), (1, 1)).item() == expected


@pytest.mark.parametrize(
    ("cell", "cells", "held"),
    [(32767, 65538, True), (32767, 65539, False), (-32768, 65536, True), (-32768, 65537, False)],
)
def test_a_sum_that_leaves_int32_is_left_open(cell, cells, held):
    """32767 * 65538 is 2**31 - 2, and -32768 * 65536 is -(2**31)."""
    data = np.full((1, 1, cells, 1), cell, np.int16)
    if held:
        assert average(data, (1, cells), (1, 1)).item() == cell
        return
    with pytest.raises(InvalidCase, match="a sum that int32 does not hold"):
        average(data, (1, cells), (1, 1))
    attributes = {"kernel": [1, cells], "stride": [1, 1], "pad": [0] * 4}
    attributes |= {"input_zp": 0, "output_zp": 0}
    vector = vector_of(case_of(AVERAGE, attributes, [np.moveaxis(data, -1, 1)], pattern=""))
    assert "tosa-sum-overflow" in vector.clauses
    assert [outcome.kind for outcome in vector.outcomes] == ["anything"]


def test_a_sum_that_leaves_int32_on_the_way_is_left_open():
    """Of 70000 cells of 32767 and as many of -32767, unless they alternate."""
    halves = np.repeat(np.int16([32767, -32767]), 70000).reshape(1, 1, -1, 1)
    with pytest.raises(InvalidCase, match="a sum that int32 does not hold"):
        average(halves, (1, 140000), (1, 1))
    turns = np.tile(np.int16([32767, -32767]), 70000).reshape(1, 1, -1, 1)
    assert average(turns, (1, 140000), (1, 1)).item() == 0


@st.composite
def windows(draw, dtypes):
    """Draw data (N, H, W, C) and a kernel, strides and pads that its document allows."""
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    stride = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    pad = [draw(st.integers(0, k - 1)) for k in (kernel[0], kernel[0], kernel[1], kernel[1])]
    least = [max(0, k - a - b) for k, a, b in zip(kernel, pad[::2], pad[1::2], strict=True)]
    sizes = []
    for k, s, a, b, d in zip(kernel, stride, pad[::2], pad[1::2], least, strict=True):
        size = max(1, d) + draw(st.integers(0, 3))
        sizes.append(size + -(size + a + b - k) % s)
    shape = (draw(st.integers(1, 2)), *sizes, draw(st.integers(1, 3)))
    dtype = draw(st.sampled_from(dtypes))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    if dtype.startswith("float8"):
        codes = rng.integers(256, size=shape, dtype=np.uint8)
        return codes.view(array(0, dtype).dtype), kernel, stride, tuple(pad)
    if dtype.startswith("int"):
        ends = np.iinfo(dtype)
        spread = draw(st.sampled_from([5, ends.max]))
        data = rng.integers(max(ends.min, -spread), spread + 1, shape)
    else:
        data = rng.normal(size=shape)
    return array(data, dtype), kernel, stride, tuple(pad)


def by_loops(data, kernel, stride, pad, of):
    """Apply a function to the cells of every window, of data (N, H, W, C), in plain loops."""
    batch, height, width, channels = data.shape
    rows = (height + pad[0] + pad[1] - kernel[0]) // stride[0] + 1
    columns = (width + pad[2] + pad[3] - kernel[1]) // stride[1] + 1
    got = np.zeros((batch, rows, columns, channels), data.dtype)
    for n, y, x, c in product(*map(range, got.shape)):
        cells = [
            exact_value(data[n, i, j, c])
            for i in range(y * stride[0] - pad[0], y * stride[0] - pad[0] + kernel[0])
            for j in range(x * stride[1] - pad[2], x * stride[1] - pad[2] + kernel[1])
            if 0 <= i < height and 0 <= j < width
        ]
        got[n, y, x, c] = of(cells)
    return got


@examples(4)
@given(windows(["int8", "int16"]), st.integers(-128, 127), st.integers(-128, 127))
def test_averages_of_integers_equal_plain_loops(drawn, subtracted, added):
    data, *rest = drawn
    points = (subtracted, added) if data.dtype == np.int8 else (0, 0)
    ends = np.iinfo(data.dtype)

    def mean(cells):
        scaled = by_reciprocal(int(sum(cell - points[0] for cell in cells)), len(cells))
        return min(max(scaled + points[1], ends.min), ends.max)

    np.testing.assert_array_equal(average(data, *rest, points=points), by_loops(data, *rest, mean))


@examples(4)
@given(windows(["float16", "bfloat16", "float32", *FLOAT8]))
def test_averages_of_numbers_equal_plain_loops(drawn):
    data, *rest = drawn
    expected = by_loops(
        data, *rest, lambda cells: rounded(exact_mean(cells, len(cells)), data.dtype)
    )
    assert_same(average(data, *rest), expected)


@examples(8)
@given(windows(["float16", "float32", "int8", "int16", *FLOAT8]), st.booleans())
def test_maxima_equal_plain_loops(drawn, ignores):
    """Whether NaN propagates or is ignored."""
    data, *rest = drawn

    def highest(cells):
        numbers = [cell for cell in cells if not (ignores and cell == "nan")]
        return rounded(exact_maximum(numbers) if numbers else "nan", data.dtype)

    got = maximum(data, *rest, nan_mode="IGNORE" if ignores else "PROPAGATE")
    assert_same(got, by_loops(data, *rest, highest))
