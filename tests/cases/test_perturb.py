"""Cases near a given one, and cases with one feature set."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.batch import MAX_RANK
from conformance.cases.perturb import (
    Feature,
    at,
    called_on,
    named,
    near,
    other_words,
    with_word,
    words_of,
)
from conformance.operators import OPERATORS, operator_named, vector_of
from conformance.vector import Case, Values

PLANE = {"kernel": [2, 3], "strides": [1, 2], "pads_begin": [1, 0], "pads_end": [0, 1]}
AVERAGE = vector(ramp(2, 3, 6, 7), pool(**PLANE)).case
MAXIMUM = vector(ramp(1, 2, 5, 5), pool("MaxPool-1", **PLANE), operator="MaxPool-1").case
OF_ANY_RANK = Case("case", "nGraph-AvgPool", {"window_shape": [1, 1]}, (ramp(1, 2, 5, 6),))
ADAPTIVE = Case("case", "AdaptiveAvgPool-8", {}, (ramp(1, 2, 5, 6), np.array([2, 3])))
CASES = pytest.mark.parametrize("case", [AVERAGE, MAXIMUM, ADAPTIVE], ids=lambda c: c.operator)


def drawn(case, count=200):
    rng = np.random.default_rng(0)
    return [made for _ in range(count) if (made := near(case, rng)) is not None]


@CASES
def test_cases_near_one_are_valid_and_nearly_always_found(case):
    """They break no rule of the document, and most have values that are right."""
    cases = drawn(case)
    assert len(cases) > 190
    vectors = [vector_of(made) for made in cases]
    assert sum(isinstance(v.outcomes[0], Values) for v in vectors) > 180


@CASES
def test_cases_near_one_differ_in_every_number_that_it_has(case):
    """Sizes, numbers of axes, attributes and types all vary."""
    cases = drawn(case)
    assert len({made.inputs[0].ndim for made in cases}) > 1
    assert len({made.inputs[0].dtype for made in cases}) > 2
    for axis in (0, 1, -1):
        assert len({made.inputs[0].shape[axis] for made in cases}) > 4
    for key in case.attributes:
        assert len({str(made.attributes.get(key)) for made in cases}) > 1


def test_a_default_is_spelled_out_in_some_cases_and_left_out_in_others():
    """A backend may take another value for the default than its document does."""
    for given in ({}, {"rounding_type": "floor"}):
        cases = drawn(vector(ramp(1, 2, 6), pool(**given)).case)
        said = {made.attributes.get("rounding_type", "") for made in cases}
        assert said == {"", "floor", "ceil"}


def test_cases_near_one_have_no_more_axes_than_a_batch_holds():
    """Where the document sets no limit either."""
    shape = (1,) * MAX_RANK
    attributes = {"window_shape": [1] * (MAX_RANK - 2)}
    case = Case("case", "nGraph-AvgPool", attributes, (ramp(*shape),))
    assert {made.inputs[0].ndim for made in drawn(case)} == {MAX_RANK - 1, MAX_RANK}


@CASES
def test_the_same_generator_gives_the_same_cases(case):
    """So that a report can be made again."""
    assert [made.id for made in drawn(case)] == [made.id for made in drawn(case)]


def test_an_invalid_case_has_no_cases_near_it():
    """Nothing is known of what its numbers mean."""
    broken = vector(ramp(1, 1, 6), pool(kernel=[0])).case
    assert near(broken, np.random.default_rng(0)) is None
    assert at(broken, Feature("channels"), 4) is None


@pytest.mark.parametrize(
    ("feature", "read"),
    [
        (Feature("batch"), lambda case: case.inputs[0].shape[0]),
        (Feature("channels"), lambda case: case.inputs[0].shape[1]),
        (Feature("size", 1), lambda case: case.inputs[0].shape[-1]),
        (Feature("size", 2), lambda case: case.inputs[0].shape[-2]),
        (Feature("kernel", 1), lambda case: case.attributes["kernel"][-1]),
        (Feature("strides", 2), lambda case: case.attributes["strides"][-2]),
        (Feature("output", 1), lambda case: output_of(case).shape[-1]),
        (Feature("output", 2), lambda case: output_of(case).shape[-2]),
        (Feature("outputs"), lambda case: output_of(case)[0, 0].size),
        (Feature("all_outputs"), lambda case: output_of(case).size),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, Feature) else "",
)
def test_a_feature_is_set_to_a_value(feature, read):
    """Products over axes come as near as a whole number of rows allows."""
    case = at(AVERAGE, feature, 21)
    assert case is not None
    assert 21 <= read(case) <= (21 if feature.axis or feature.name in {"batch", "channels"} else 66)


def output_of(case):
    return vector_of(case).values[0].outputs[0].values


def test_words_types_and_the_number_of_axes_are_features_too():
    assert at(AVERAGE, Feature("auto_pad"), "valid").attributes["auto_pad"] == "valid"
    assert at(AVERAGE, Feature("include_pad"), value=True).attributes["exclude_pad"] is False
    assert at(AVERAGE, Feature("dtype"), "float16").inputs[0].dtype == np.float16
    assert at(AVERAGE, Feature("rank"), 3).inputs[0].ndim == 5
    assert at(AVERAGE, Feature("rank"), 1).attributes["kernel"] == [3]


def test_a_feature_is_set_on_the_first_axis_or_on_all():
    """-1 and 0 stand for these."""
    assert at(AVERAGE, Feature("kernel", -1), 5).attributes["kernel"] == [5, 3]
    assert at(AVERAGE, Feature("kernel", 0), 5).attributes["kernel"] == [5, 5]
    assert at(AVERAGE, Feature("kernel", -3), 5) is None


def test_a_case_gets_data_that_name_their_cells():
    """Nothing else changes."""
    same = vector(np.ones((1, 2, 4, 4), np.float32), AVERAGE.attributes).case
    case = named(same, np.random.default_rng(0))
    assert case.attributes == same.attributes
    assert np.unique(case.inputs[0]).size == case.inputs[0].size == 32


def test_a_feature_is_set_beside_nan_and_infinities():
    """A cause that shows on these alone is held against other types and numbers, too."""
    data = np.array([[[np.nan, -2, -np.inf, -4, 5]]], np.float32)
    case = at(vector(data, pool()).case, Feature("dtype"), "bfloat16")
    values = case.data.astype(np.float64).ravel()
    assert np.isnan(values[0])
    assert values[2] == -np.inf
    assert (np.sign(values[[1, 3, 4]]) == [-1, -1, 1]).all()
    assert len({*np.abs(values[[1, 3, 4]])}) == 3


def test_what_an_operator_does_not_have_cannot_be_set():
    """Nor can a value that a document does not allow."""
    assert at(MAXIMUM, Feature("include_pad"), value=True) is None
    assert at(ADAPTIVE, Feature("kernel", 1), 3) is None
    assert at(AVERAGE, Feature("rank"), 9) is None
    assert at(OF_ANY_RANK, Feature("rank"), 8) is None  # no array of a vector has so many axes
    assert at(AVERAGE, Feature("kernel", 3), 2) is None
    assert at(AVERAGE, Feature("channels"), 0) is None


def test_data_name_their_cell():
    """No two cells of all planes hold the same value, so that any other cell read shows."""
    data = at(AVERAGE, Feature("channels"), 40).inputs[0]
    assert len(np.unique(data)) == data.size


@CASES
def test_a_case_is_called_on_operators_that_are_given_windows_alike(case):
    """Their calls are valid, with the same data and the numbers that they know."""
    calls = {name: called_on(case, operator) for name, operator in OPERATORS.items()}
    made = {name: call for name, call in calls.items() if call is not None}
    own = operator_named(case.operator)
    alike = {
        name
        for name, operator in OPERATORS.items()
        if operator.is_adaptive == own.is_adaptive
        and not (operator.is_gradient or operator.scatters)
        and operator.takes_axes(case.data.ndim - 2)
        and case.data.dtype.name in operator.dtypes
    }
    assert made.keys() <= alike
    assert all(OPERATORS[name].leaves_no_rest for name in alike - made.keys())
    for name, call in made.items():
        operator = operator_named(name)
        params = operator.validate(call.inputs, call.attributes)
        expected = own.validate(case.inputs, case.attributes)
        assert call.inputs[0] is case.inputs[0]
        assert params.output == expected.output
        if operator.has_windows:
            assert params.kernel == expected.kernel


def test_a_word_that_another_operator_does_not_know_is_its_default():
    """No document but one has it."""
    torch = pool("MaxPool-14", kernel=[2], strides=[1], rounding_type="ceil_torch")
    case = vector(ramp(1, 1, 4), torch, operator="MaxPool-14").case
    assert "rounding_type" not in called_on(case, operator_named("MaxPool-8")).attributes


@CASES
def test_a_case_is_given_each_other_word_and_type(case):
    """One at a time, as far as that is valid."""
    before = words_of(case)
    for name, value in other_words(operator_named(case.operator), case.data.ndim - 2):
        made = with_word(case, name, value)
        if made is not None:
            assert words_of(made) == before | {name: value}


def test_words_that_a_case_has_not_are_not_given():
    """Of another operator it is a call of that one."""
    assert words_of(AVERAGE)["operator"] == "AvgPool-1"
    assert with_word(AVERAGE, "storage_order", "column-major") is None
    assert with_word(AVERAGE, "rounding", "ceil_torch") is None
    assert words_of(with_word(AVERAGE, "operator", "AvgPool-14"))["operator"] == "AvgPool-14"


def test_the_window_of_an_operator_of_planes_is_the_plane():
    """As a kernel that another operator is called with."""
    plane = Case("case", "ONNX-GlobalMaxPool-22", {}, (ramp(1, 2, 5, 6),))
    assert called_on(plane, operator_named("MaxPool-1")).attributes["kernel"] == [5, 6]
