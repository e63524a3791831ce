"""Output sizes that a caller gives beside windows: `outputSizes` of WebNN."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.effort import one_in
from support.oracle import WholeCaseUndefined, oracle

from conformance import Unsupported, check, evaluate, pooling_of
from conformance.cases.sweep.layouts import output_sizes
from conformance.cases.sweep.sweep_model import cases_of
from conformance.faults import faulty
from conformance.faults.catalogue import fault_named
from conformance.operators import OPERATORS, vector_of
from conformance.vector import Case

NAME = "WebNN-averagePool2d"
CLAUSE = "webnn-output-sizes-clear-padding"
BASELINE = {"windowDimensions": [4, 4], "padding": [1, 1, 1, 1], "strides": [2, 2]}
"""The example of webnn-baseline with outputSizes, of the cells 1, 2, 3, .. of a plane of 7x7."""
FEW = {"windowDimensions": [2, 2], "strides": [4, 4], "padding": [1, 0, 0, 0]}


def ramp(*shape):
    return np.arange(1.0, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    ("reading", "first", "last"),
    [("cleared", [13, 15, 16.5], [37.5, 39.5, 41]), ("kept", [9, 10.5, 12.5], [33.5, 35, 37])],
)
def test_padding_counts_or_not_by_a_reading(reading, first, last):
    attributes = {**BASELINE, "outputSizes": [3, 3]}
    (rows,) = evaluate(NAME, [ramp(1, 1, 7, 7)], attributes, {CLAUSE: reading})[0]
    assert (rows[0].tolist(), rows[2].tolist()) == (first, last)


numbers = st.integers(0, 3)
pairs = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(list)


@given(
    st.sampled_from(["cleared", "kept"]), pairs, st.lists(numbers, min_size=4, max_size=4),
    pairs, pairs, pairs, st.tuples(st.integers(1, 9), st.integers(1, 9)),
)  # fmt: skip
def test_windows_are_those_of_the_oracle(reading, window, padding, strides, dilations, sizes, data):
    given = {
        "windowDimensions": window,
        "padding": padding,
        "strides": strides,
        "dilations": dilations,
        "outputSizes": sizes,
    }
    arrays = [ramp(1, 2, *data)]
    case = vector_of(Case("drawn", NAME, given, tuple(arrays)))
    try:
        expected = oracle(NAME, arrays, given, {CLAUSE: reading})
    except WholeCaseUndefined:
        assert case.outcomes[0].kind == "anything"
    except ValueError:
        assert case.outcomes[0].kind == "raises"
    else:
        assume(not expected.undefined.any())
        got = evaluate(NAME, arrays, given, {CLAUSE: reading})
        np.testing.assert_array_equal(got, expected.expected)


def test_an_engine_gets_none():
    with pytest.raises(Unsupported, match="output size"):
        pooling_of(NAME, [ramp(1, 1, 7, 7)], {**FEW, "outputSizes": [2, 2]})


@pytest.mark.parametrize(
    "name",
    one_in(3, ["output-sizes-ignored", "output-sizes-reversed", "accepts-output-sizes-mixed"]),
)
def test_the_cause_of_wrong_sizes_is_named(name):
    fault = fault_named(name)
    vectors = [vector_of(case) for case in cases_of(output_sizes(OPERATORS[NAME]))]
    cause = check(faulty(fault), vectors, isolate=False).diagnoses[0]
    assert name in (*cause.faults, *cause.alternatives)
