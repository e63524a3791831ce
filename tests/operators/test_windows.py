"""The geometry of one axis against counting by hand and by loops."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operators import windows as axis

SIZES = st.integers(1, 40)


@given(a=st.integers(-100, 100), b=st.integers(1, 20))
def test_ceil_div_rounds_up(a, b):
    """Negative numbers round towards plus infinity too."""
    assert axis.ceil_div(a, b) == math.ceil(Fraction(a, b))


@given(d=SIZES, k=SIZES, s=SIZES, o=SIZES)
def test_same_padding_is_the_least_that_reaches_the_input_end(d, k, s, o):
    """With one cell of padding less, the last window would stop before the last cell."""
    total = axis.same_total(d, k, s, o)
    stop = (o - 1) * s + k
    assert total >= 0
    assert d + total >= stop
    assert total == 0 or d + total == stop


@pytest.mark.parametrize(
    ("total", "upper", "lower"), [(0, (0, 0), (0, 0)), (4, (2, 2), (2, 2)), (5, (2, 3), (3, 2))]
)
def test_the_odd_cell_goes_where_the_name_says(total, upper, lower):
    """same_upper pads the end more, same_lower the begin."""
    assert axis.split(total, larger_at_end=True) == upper
    assert axis.split(total, larger_at_end=False) == lower


@given(d=SIZES, k=SIZES, s=SIZES, begin=st.integers(0, 5), end=st.integers(0, 5))
def test_floor_keeps_every_window_inside_and_ceil_covers_the_padded_input(d, k, s, begin, end):
    """Rounding down is the most windows that fit, rounding up the fewest that reach the end."""
    t = axis.room(d, k, begin, end)
    if t < 0:
        return
    padded = d + begin + end
    down, up = axis.extent(t, s, ceil=False), axis.extent(t, s, ceil=True)
    assert (down - 1) * s + k <= padded < down * s + k
    assert (up - 1) * s + k >= padded
    assert up == 1 or (up - 2) * s + k < padded


# Examples 3, 4 and 5 of AvgPool-1: 32 cells, kernel 5.
@pytest.mark.parametrize(("pad", "stride", "expected"), [(1, 3, 10), (1, 2, 15), (0, 2, 14)])
def test_printed_extents(pad, stride, expected):
    """The output sizes that the document prints."""
    assert axis.extent(axis.room(32, 5, pad, pad), stride, ceil=False) == expected


def test_windows_slide_from_the_begin_of_the_padding():
    """Window j starts at j s - begin and has k cells, in and out of the input."""
    start, stop = axis.sliding(3, 4, 2, 1)
    assert (start.tolist(), stop.tolist()) == ([-1, 1, 3], [3, 5, 7])


@given(d=st.integers(1, 3000), o=st.integers(1, 3000))
def test_adaptive_windows_are_exact(d, o):
    """Windows are floor(i d / o) to ceil((i + 1) d / o), whatever floats would make of it."""
    start, stop = axis.adaptive(d, o)
    i = sorted({0, o // 3, o // 2, o - 1})
    assert start[i].tolist() == [math.floor(Fraction(j * d, o)) for j in i]
    assert stop[i].tolist() == [math.ceil(Fraction((j + 1) * d, o)) for j in i]
    assert (start[0], stop[-1]) == (0, d)
    assert (stop > start).all()


# ceil of a float product goes wrong here: 7 * (11 / 7) is above 11, 3 * (14 / 13) below its value.
@pytest.mark.parametrize(("d", "o"), [(11, 7), (14, 13), (21, 19)])
def test_adaptive_windows_that_break_floats(d, o):
    """Sizes for which known engines compute a window too large or too small."""
    start, stop = axis.adaptive(d, o)
    assert start.tolist() == [i * d // o for i in range(o)]
    assert stop.tolist() == [-((-(i + 1) * d) // o) for i in range(o)]


@given(start=st.integers(-9, 30), length=st.integers(0, 9), low=st.integers(-5, 5), d=SIZES)
def test_cells_are_counted_between_two_ends(start, length, low, d):
    """Cells of a window count where they lie between the ends."""
    high = low + d
    got = axis.cells_within(np.array([start]), np.array([start + length]), low, high)
    assert got.tolist() == [sum(low <= c < high for c in range(start, start + length))]
