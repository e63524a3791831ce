"""The numpy backend against the oracle."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cases import INVALID, assert_equals, cases, noise, pooling, small_integers, worst_share
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import WholeCaseUndefined, array, oracle

from conformance.backends.numpy_backend import backend

PAIR = np.array([[[1.0, 3.0, 5.0]]], np.float32)


@settings(max_examples=300)
@given(cases())
def test_equals_the_oracle_on_integers(case):
    """Exact sums divided once are correctly rounded, whatever the element type."""
    try:
        result = oracle(*case)
    except WholeCaseUndefined:
        assume(False)
    got = backend(*case)
    assert_equals(got, result)
    undefined = got[result.undefined].astype(np.float64)
    assert np.all(np.isneginf(undefined) if case[0] == "MaxPool-1" else np.isnan(undefined))


@settings(max_examples=100)
@given(cases(fill=noise))
def test_is_within_rounding_on_noise(case):
    """On any data the error is what the additions and one division explain."""
    try:
        result = oracle(*case)
    except WholeCaseUndefined:
        assume(False)
    assert worst_share(backend(*case), result, case[1][0].ndim - 2) <= 1


@settings(max_examples=50)
@given(cases(["MaxPool-1"], ["int8", "uint8", "int32", "int64", "uint64"]))
def test_maximum_of_integers(case):
    """Integers keep their type, and a window of padding alone is the lowest value."""
    try:
        result = oracle(*case)
    except WholeCaseUndefined:
        assume(False)
    got = backend(*case)
    assert_equals(got, result)
    assert np.all(got[result.undefined] == np.iinfo(got.dtype).min)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_special_values(dtype):
    """NaN propagates; the infinities stay, or meet in NaN."""
    inf, nan = np.inf, np.nan
    data = array([[[1, nan, inf, inf, -inf, -inf, 2]]], dtype)
    given = pooling([2])
    maximum = backend("MaxPool-1", [data], given)
    assert maximum.dtype == data.dtype
    np.testing.assert_array_equal(maximum.astype(float), [[[nan, nan, inf, inf, -inf, 2]]])
    average = backend("AvgPool-1", [data], given | {"exclude_pad": True})
    np.testing.assert_array_equal(average.astype(float), [[[nan, nan, inf, nan, -inf, -inf]]])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_sums_do_not_overflow(dtype):
    """A sum past the largest value of the element type is no infinity."""
    largest = ml_dtypes.finfo(dtype).max
    data = np.full((1, 1, 2), largest, dtype)
    got = backend("nGraph-AvgPool", [data], {"window_shape": [2]})
    assert got.tolist() == [[[float(largest)]]]


@pytest.mark.parametrize("change", INVALID.values(), ids=INVALID)
def test_invalid_attributes(change):
    """A value the document does not allow raises ValueError."""
    given = pooling([2], exclude_pad=True)
    with pytest.raises(ValueError, match=next(iter(change))):
        backend("AvgPool-1", [PAIR], given | change)


@pytest.mark.parametrize("name", pooling([2], exclude_pad=True))
def test_missing_attributes(name):
    """A required attribute must be there."""
    given = pooling([2], exclude_pad=True)
    del given[name]
    with pytest.raises(ValueError, match=name):
        backend("AvgPool-1", [PAIR], given)


@pytest.mark.parametrize(
    ("operator", "inputs", "given"),
    [
        ("AvgPool-2", [PAIR], pooling([2])),
        ("MaxPool-1", [PAIR], pooling([2], exclude_pad=True)),
        ("MaxPool-1", [PAIR, PAIR], pooling([2])),
        ("MaxPool-1", [np.ones((1, 1))], pooling([])),
        ("MaxPool-1", [np.ones((1,) * 6)], pooling([1] * 4)),
        ("MaxPool-1", [PAIR], pooling([9])),
        ("nGraph-AvgPool", [PAIR], {}),
        ("nGraph-AvgPool", [PAIR], {"window_shape": [9]}),
        ("nGraph-AvgPool", [PAIR.astype(np.int32)], {"window_shape": [2]}),
        ("AdaptiveAvgPool-8", [PAIR], {}),
        ("AdaptiveAvgPool-8", [PAIR, np.array([0])], {}),
        ("AdaptiveAvgPool-8", [PAIR, np.array([1, 1])], {}),
        ("AdaptiveAvgPool-8", [PAIR, np.array([1.0])], {}),
    ],
    ids=str,
)
def test_refusals(operator, inputs, given):
    """Cases without an answer raise ValueError."""
    with pytest.raises(ValueError, match=r"."):
        backend(operator, inputs, given)


@st.composite
def minima(draw):
    """Draw data and attributes of MinimumPool-1; there may be nothing to pool."""
    axes = draw(st.integers(1, 3))
    entry = st.integers(1, 4)
    sizes = tuple(draw(entry) + 1 for _ in range(axes))
    data = small_integers((1, 2, *sizes), draw(st.sampled_from(["float32", "uint8"])), 0)
    return data, {
        "window": [draw(entry) for _ in sizes],
        "step": [draw(entry) for _ in sizes],
        "pads": [draw(entry) - 1 for _ in (*sizes, *sizes)],
        "round_up": draw(st.integers(0, 1)),
        "mode": draw(st.sampled_from(["explicit", "valid", "same_upper", "same_lower"])),
    }


def test_an_operator_from_outside_is_computed_by_its_roles(minimum_pool):
    """The first output of MinimumPool-1 is that of loops over windows, or both refuse."""
    from minimum_backends import right  # noqa: PLC0415 - on the path while the test runs

    @settings(max_examples=150)
    @given(minima())
    def compare(case):
        data, attributes = case
        try:
            expected, _ = right(minimum_pool.name, [data], attributes)
        except ValueError:
            with pytest.raises(ValueError, match=r"kernel .* is longer"):
                backend(minimum_pool.name, [data], attributes)
            return
        got = backend(minimum_pool.name, [data], attributes)
        assert got.dtype == data.dtype
        np.testing.assert_array_equal(got, expected)

    compare()


@pytest.mark.parametrize("change", [{"round_up": 2}, {"round_up": True}, {"pads": [1]}, {"by": 1}])
def test_invalid_attributes_of_an_operator_from_outside(minimum_pool, change):
    """Refused by the rules that its attributes state."""
    with pytest.raises(ValueError, match=next(iter(change))):
        backend(minimum_pool.name, [PAIR], {"window": [2]} | change)
