"""What faults make of a case beside what a backend returned: equal, close, or neither."""

import numpy as np
import pytest
from support.fakes import pool, vector

from conformance.diagnosis.reproduce import Match, Observation, Reproductions
from conformance.faults import fault_named

PADDED = pool(kernel=[2], strides=[1], pads_begin=[1], exclude_pad=True)


def matched(fault, data, attributes, returned):
    """Say how well a fault reproduces what was returned for a case of AvgPool-1."""
    observation = Observation(vector(data, attributes), (returned,), {})
    return Reproductions().match((fault_named(fault),), observation)


@pytest.mark.parametrize("overflowed", [np.inf, np.nan])
def test_sums_that_overflow_do_not_hide_a_fault(overflowed):
    """In float64 those of every backend do that adds before it divides."""
    largest = np.finfo(np.float64).max
    data = np.array([[[largest, 1, largest, largest]]])
    returned = np.array([[[largest / 2, largest / 2, largest / 2, overflowed]]])
    assert matched("exclude-pad-ignored", data, PADDED, returned) is Match.CLOSE


def test_an_infinity_that_no_sum_explains_is_of_another_fault():
    """Nothing of this case is near the largest number."""
    data = np.array([[[1.0, 2, 3, 4]]])
    returned = np.array([[[0.5, 1.5, 2.5, np.inf]]])
    assert matched("exclude-pad-ignored", data, PADDED, returned) is Match.NO


def test_a_size_tells_a_fault_where_every_sum_overflows():
    """The values say nothing there."""
    data = np.full((1, 1, 3), np.finfo(np.float64).max)
    attributes = pool(kernel=[2], strides=[1])
    returned = np.full((1, 1, 1), np.inf)
    assert matched("strides-ignored", data, attributes | {"strides": [2]}, returned) is Match.NO
    strided = np.full((1, 1, 2), np.inf)
    assert matched("strides-ignored", data, attributes | {"strides": [2]}, strided) is Match.CLOSE
