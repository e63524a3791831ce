"""Limits admit exactly what the checker's bound does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples
from support.fakes import vector

from conformance.dtypes import FLOATS, dtype_of
from conformance.export.limits import ANY, NAN, OVERFLOW, limits
from conformance.judging.closeness import closeness
from conformance.vector import UNDEFINED, Arithmetic, Expected


@st.composite
def outcomes(draw):
    """Return one expected element of a floating-point type, with any bits, and an arithmetic."""
    name = draw(st.sampled_from(FLOATS))
    size = dtype_of(name).itemsize
    bits = draw(st.binary(min_size=size, max_size=size))
    expected = Expected(
        np.frombuffer(bits, dtype_of(name)),
        np.array([draw(st.integers(UNDEFINED, 300))], np.int32),
        np.array([draw(st.integers(1, 300))], np.int32),
        np.array([draw(st.floats(0, allow_infinity=False, allow_nan=False))]),
    )
    return expected, Arithmetic(draw(st.integers(0, 7)))


def admitted(found, values):
    """Say of values of a type whether limits of one element admit them."""
    within = (found.lower <= values) & (values <= found.upper)
    within |= np.isnan(found.lower) & np.isnan(values)
    within |= (found.mask == ANY) | (found.mask == OVERFLOW) & ~np.isfinite(values)
    return within | (found.mask == NAN) & np.isnan(values)


def neighbours(value):
    """Return a value and those next to it, by their bits."""
    unsigned = np.dtype(f"u{value.dtype.itemsize}")
    near = value.view(unsigned).astype(object) + np.arange(-3, 4).astype(object)
    return (near % (1 << (8 * unsigned.itemsize))).astype(unsigned).view(value.dtype)


@np.errstate(all="ignore")
@examples(4)
@given(outcome=outcomes(), average=st.booleans(), others=st.lists(st.floats(), max_size=8))
def test_limits_admit_exactly_what_the_bound_does(outcome, average, others):
    """At the limits and beside them, far away, at infinities and NaN."""
    (expected, arithmetic), axes = outcome, 2
    found = limits(expected, axes, arithmetic, average=average)
    values = np.array([*others, np.inf, -np.inf, np.nan]).astype(expected.values.dtype)
    near = map(neighbours, (found.lower, found.upper, expected.values))
    values = np.concatenate([values, *near])
    size = len(values)
    columns = expected.at(np.zeros(size, np.int64))
    near = closeness(values, columns, np.array(axes), average=average)
    right = near.right(arithmetic)
    right |= expected.addends == UNDEFINED
    assert admitted(found, values).tolist() == right.tolist()


@np.errstate(all="ignore")
def test_limits_near_zero_are_found_where_the_bound_is_as_large_as_the_value():
    """The distances of all smallest numbers from 1 round to 1: too many to walk through."""
    asked = Expected(np.ones(1), *(np.array([each], np.int32) for each in (2, 1)), np.ones(1))
    asked.magnitude[:] = 2.0**51
    found = limits(asked, 1, Arithmetic.USUAL, average=True)
    near = closeness(found.lower, asked, np.array(1), average=True)
    assert -1 < found.lower[0] < 1
    assert near.right(Arithmetic.USUAL).all()


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32"])
def test_a_maximum_has_no_room(dtype):
    """Its limits are the expected values."""
    data = np.array([[[1, 2, 3, 4]]], dtype)
    (expected,) = vector(data, operator="MaxPool-1").outcomes[0].outputs
    found = limits(expected, 1, Arithmetic.USUAL, average=False)
    assert found.lower.tolist() == found.upper.tolist() == [[[2, 4]]]
