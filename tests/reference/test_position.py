"""Positions of maxima against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS, INTEGERS
from support.oracle import array

from conformance.reference import maximum, maximum_ignoring_nan
from conformance.reference.position import NOWHERE, numbers_of, position_of_maximum, positions_of

NAN, INF = np.nan, np.inf
VALUES = [NAN, INF, -INF, 0.0, -0.0, 1.0, 2.0, -3.0]


@st.composite
def boxes(draw):
    """Draw data of two axes with many equal cells, and ranges of each axis, empty ones too."""
    sizes = draw(st.tuples(st.integers(1, 5), st.integers(1, 6)))
    dtype = draw(st.sampled_from((*FLOATS, *INTEGERS)))
    values = VALUES if dtype in FLOATS else [0, 1, 2, 100]
    data = draw(st.lists(st.sampled_from(values), min_size=2 * sizes[0] * sizes[1]))
    data = array(np.resize(data, (1, 2, *sizes)), dtype)
    ranges = [draw(st.lists(st.tuples(st.integers(0, d), st.integers(0, d)))) for d in sizes]
    ranges = [sorted(map(sorted, each)) or [[0, d]] for each, d in zip(ranges, sizes, strict=True)]
    lo, hi = ([np.array([r[end] for r in each]) for each in ranges] for end in (0, 1))
    return data, lo, hi


def by_loops(data, lo, hi, maxima, last, last_nan):
    """Return the number of each box's maximum in its plane, cell by cell."""
    result = np.full(maxima.shape, NOWHERE)
    for place in np.ndindex(*maxima.shape):
        n, c, i, j = place
        wanted = float(maxima[place])
        found = [
            p * data.shape[3] + q
            for p in range(lo[0][i], hi[0][i])
            for q in range(lo[1][j], hi[1][j])
            if np.array_equal(float(data[n, c, p, q]), wanted, equal_nan=True)
        ]
        if found:
            result[place] = found[-1 if (last_nan if np.isnan(wanted) else last) else 0]
    return result


@given(case=boxes(), last=st.booleans(), last_nan=st.booleans())
@pytest.mark.parametrize("of", [maximum, maximum_ignoring_nan])
def test_the_first_or_the_last_of_equal_cells(of, case, last, last_nan):
    """Of any data, whether NaN propagates or is ignored."""
    data, lo, hi = case
    maxima = of(data, lo, hi)
    numbers = np.arange(data[0, 0].size).reshape(data.shape[2:])
    got = position_of_maximum(data, maxima, lo, hi, numbers, last=last, last_nan=last_nan)
    np.testing.assert_array_equal(got, by_loops(data, lo, hi, maxima, last, last_nan))


def test_large_integers_are_told_apart():
    """Beyond 2**53 doubles would take them for equal."""
    data = np.array([[[2**53, 2**53 + 1, 2**53]]], np.int64)
    lo, hi = [np.array([0])], [np.array([3])]
    found = position_of_maximum(data, maximum(data, lo, hi), lo, hi, np.arange(3))
    assert found.tolist() == [[[1]]]


def test_numbers_of_cells_in_another_order():
    """A grid whose rows are in the order 1, 0 numbers its cells by where they lie."""
    numbers = numbers_of([np.array([1, 0]), np.array([0, 1, 2])], (2, 3))
    assert numbers.tolist() == [[3, 4, 5], [0, 1, 2]]


@pytest.mark.parametrize("shape", [(9000,), (9000, 1), (90, 100, 1), (3000, 3)])
def test_positions_are_told_from_numbers_of_any_shape(shape):
    """What numpy's unravel_index, of release 2.4.6, does not of many whose last axis is 1."""
    rows, columns = positions_of(np.arange(9000).reshape(shape), (100, 90))
    assert np.array_equal(rows * 90 + columns, np.arange(9000).reshape(shape))
    assert (rows.max(), columns.max()) == (99, 89)
