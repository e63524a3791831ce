"""The geometry of one axis against counting by hand and by loops."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operators import windows as axis

SIZES = st.integers(1, 40)


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
