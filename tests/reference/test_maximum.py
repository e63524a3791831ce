"""The maximum over boxes."""

import numpy as np
import pytest
from support.drawn_params import FLOATS, INTEGERS
from support.oracle import array

from conformance.reference import maximum, maximum_ignoring_nan

NAN, INF = np.nan, np.inf
LO, HI = [np.array([0, 1, 2])], [np.array([2, 3, 2])]  # cells 0-1, 1-2, none


def row(values, dtype="float32"):
    """Return one plane of one axis."""
    return array(values, dtype).reshape(1, 1, -1)


@pytest.mark.parametrize("dtype", FLOATS)
class TestFloats:
    """Every floating-point type, the half types by way of float32."""

    def test_the_largest_cell_wins(self, dtype):
        """Negative numbers, subnormals and infinities compare as numbers."""
        tiny = {"float16": 2.0**-24, "bfloat16": 2.0**-133}.get(dtype, 2.0**-149)
        got = maximum(row([-INF, -tiny, tiny], dtype), LO, HI)
        np.testing.assert_array_equal(got, row([-tiny, tiny, -INF], dtype))
        assert got.dtype == array(0, dtype).dtype

    def test_a_nan_wins(self, dtype):
        """A NaN is the maximum of its windows alone."""
        got = maximum(row([1, 2, NAN], dtype), LO, HI).ravel().tolist()
        assert got[0] == 2
        assert np.isnan(got[1])

    def test_a_nan_can_be_ignored(self, dtype):
        """Ignoring NaN, a window of NaN alone is the only one to give NaN."""
        got = maximum_ignoring_nan(row([NAN, NAN, -3], dtype), LO, HI).ravel().tolist()
        assert np.isnan(got[0])
        assert got[1:] == [-3, -INF]

    def test_minus_infinity_stays(self, dtype):
        """A window of -inf gives -inf, not the lowest finite number."""
        got = maximum(row([-INF, -INF, 0], dtype), LO, HI).ravel().tolist()
        assert got == [-INF, 0, -INF]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_keep_all_their_bits(dtype):
    """The ends of each type survive, and a window without a cell gives the lowest number."""
    ends = np.iinfo(dtype)
    got = maximum(row([ends.max - 1, ends.max, ends.min], dtype), LO, HI).ravel().tolist()
    assert got == [ends.max, ends.max, ends.min]
