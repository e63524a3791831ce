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
from conformance.errors import InvalidCase
from conformance.faults import faulty
from conformance.faults.catalogue import fault_named
from conformance.operators import CLAUSES, OPERATORS, vector_of
from conformance.vector import Case

NAME = "WebNN-averagePool2d"
CLAUSE = "webnn-output-sizes-clear-padding"
SIZED = [name for name in OPERATORS if name.startswith("WebNN-")]
BASELINE = {"windowDimensions": [4, 4], "padding": [1, 1, 1, 1], "strides": [2, 2]}
"""The example of webnn-baseline with outputSizes, of the cells 1, 2, 3, .. of a plane of 7x7."""
FEW = {"windowDimensions": [2, 2], "strides": [4, 4], "padding": [1, 0, 0, 0]}


def ramp(*shape):
    return np.arange(1.0, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def vector(sizes, **attributes):
    given = {**FEW, **attributes, "outputSizes": sizes}
    return vector_of(Case("sized", NAME, given, (ramp(1, 1, 7, 7),)))


@pytest.mark.parametrize(
    ("reading", "first", "last"),
    [("cleared", [13, 15, 16.5], [37.5, 39.5, 41]), ("kept", [9, 10.5, 12.5], [33.5, 35, 37])],
)
def test_padding_counts_or_not_by_a_reading(reading, first, last):
    attributes = {**BASELINE, "outputSizes": [3, 3]}
    (rows,) = evaluate(NAME, [ramp(1, 1, 7, 7)], attributes, {CLAUSE: reading})[0]
    assert (rows[0].tolist(), rows[2].tolist()) == (first, last)


def test_both_readings_of_a_vector_conform():
    several = vector([2, 2])
    assert several.clauses[CLAUSE] == ("cleared", "kept")
    assert {outcome.readings[0][CLAUSE] for outcome in several.outcomes} == {"cleared", "kept"}
    assert CLAUSE not in vector([2, 2], padding=[0, 0, 0, 0]).clauses


@pytest.mark.parametrize("rounding", ["floor", "ceil"])
@pytest.mark.parametrize("sizes", [[2, 2], [3, 3]])
def test_the_rounding_is_ignored(sizes, rounding):
    """Sizes that are all rounded down, or all rounded up, are those of the output."""
    several = vector(sizes, outputShapeRounding=rounding)
    assert {each.outputs[0].values.shape[2:] for each in several.values} == {tuple(sizes)}


@pytest.mark.parametrize("sizes", [[2, 3], [3, 2], [1, 1], [4, 4], [2**31, 2**31], [0, 2], [2], []])
def test_sizes_that_windows_do_not_have_are_refused(sizes):
    with pytest.raises(InvalidCase, match=r"output size|outputSizes="):
        evaluate(NAME, [ramp(1, 1, 7, 7)], {**FEW, "outputSizes": sizes})
    assert [outcome.kind for outcome in vector(sizes).outcomes] == ["raises"]


def test_what_the_document_may_refuse_is_undefined():
    """Sizes that are not below the strides, and those that padding alone makes right."""
    few = vector([3, 3], strides=[3, 3])
    alone = vector([1, 1], windowDimensions=[7, 7], padding=[3, 0, 0, 0], strides=[4, 4])
    assert alone.outcomes[0].kind == "values"
    alone = vector([2, 1], windowDimensions=[7, 7], padding=[4, 0, 0, 0], strides=[4, 4])
    for undefined in (few, alone):
        assert [outcome.kind for outcome in undefined.outcomes] == ["anything"]
        assert undefined.clauses == {"webnn-output-sizes": ()}
    assert CLAUSES["webnn-output-sizes"].kind == "undefined"


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


@pytest.mark.parametrize("operator", SIZED)
def test_each_operator_has_vectors_that_are_judged(operator):
    kinds = [
        vector_of(case).outcomes[0].kind for case in cases_of(output_sizes(OPERATORS[operator]))
    ]
    assert kinds == [*["values"] * 5, "anything", "values", "raises"]


@pytest.mark.parametrize("operator", ["MaxPool-1", "PyTorch-max_unpool2d", "AdaptiveAvgPool-8"])
def test_others_have_none(operator):
    assert not list(output_sizes(OPERATORS[operator]))


def test_numpy_computes_them():
    vectors = [
        vector_of(case) for name in SIZED for case in cases_of(output_sizes(OPERATORS[name]))
    ]
    assert check("numpy", vectors, diagnose="none", isolate=False).ok


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
