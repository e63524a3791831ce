"""Features of elements and cases."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector
from support.random_cases import EVERY

from conformance.cases.perturb import Feature
from conformance.diagnosis.elements import (
    ALL_AXES,
    FIRST_AXIS,
    KINDS,
    axis_words,
    features_of,
    layout_of,
)
from conformance.operators import operator_named, vector_of
from conformance.vector import Case

ROW = pool(kernel=[3], strides=[2], pads_begin=[1], pads_end=[1], rounding_type="ceil")
DATA = np.array([[[1, -2, np.nan, 4, -5, -6]]], np.float32)
LAYOUT = layout_of(vector(DATA, ROW), {})  # windows -1..1, 1..3, 3..5, 5..7


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("position", [0, 1, 2, 3]),
        ("position_end", [3, 2, 1, 0]),
        ("begin_pad", [1, 0, 0, 0]),
        ("end_pad", [0, 0, 0, 1]),
        ("overhang", [0, 0, 0, 1]),
        ("cells_on", [2, 3, 3, 1]),
        ("first_cell", [0, 1, 3, 5]),
        ("last_cell", [1, 3, 5, 5]),
        ("last_cell_end", [4, 2, 0, 0]),
        ("in_padding", [True, False, False, True]),
    ],
)
def test_features_of_windows_on_an_axis(name, values):
    """In cells, counted from the first."""
    assert LAYOUT.value(Feature(name, 1)).ravel().tolist() == values


@pytest.mark.parametrize("kernel", [5, 9])
def test_where_no_window_fits_there_is_no_largest_one(kernel):
    """Neither where the size of the output comes out as 0 nor below."""
    layout = layout_of(vector(DATA[..., :1], ROW | {"kernel": [kernel]}), {})
    assert layout.value(Feature("most_overhang", 1)) is None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("inside", [2, 3, 3, 1]),
        ("divisor", [2, 3, 3, 1]),
        ("nan", [0, 1, 0, 0]),
        ("negative", [1, 1, 2, 1]),
        ("negative_only", [False, False, False, True]),
        ("largest_cell", [1, 4, 4, -6]),
        ("element_of_all", [0, 1, 2, 3]),
    ],
)
def test_features_of_windows(name, values):
    """Of all axes together."""
    assert np.array_equal(LAYOUT.value(Feature(name)).ravel(), values, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (Feature("channels"), 1.0),
        (Feature("size", 1), 6.0),
        (Feature("kernel", 1), 3.0),
        (Feature("output", 1), 4.0),
        (Feature("left_over", 1), 1.0),
        (Feature("dtype"), "float32"),
        (Feature("rounding"), "ceil"),
        (Feature("include_pad"), False),
        (Feature("nan_in_data"), True),
        (Feature("no_auto_pad"), True),
        (Feature("given_pads"), True),
        (Feature("given_begin"), True),
        (Feature("given_end"), True),
        (Feature("zero_points_equal"), None),
        (Feature("fixed_divisor"), None),
        (Feature("kernel", 2), None),
    ],
)
def test_features_of_cases(name, value):
    """Those of an axis that is not there are None."""
    assert LAYOUT.value(name) == value


def test_features_of_what_integers_stand_for():
    """Of one zero point, and of scales that differ."""
    numbers = {"x_scale": 0.5, "y_scale": 0.25, "x_zero_point": 3, "y_zero_point": 3}
    given = {"kernel_shape": [2], **numbers}
    case = Case("", "ORT-QLinearAveragePool-1", given, (np.ones((1, 1, 4), np.uint8),))
    layout = layout_of(vector_of(case), {})
    names = ("input_zero_point", "output_zero_point", "zero_points_equal", "scales_equal")
    assert [layout.value(Feature(name)) for name in names] == [3.0, 3.0, True, False]


def test_values_that_are_not_finite_are_counted_plane_by_plane():
    """Among the right values, not in the data: one window of the second plane has an infinity."""
    data = np.array([[[1, 2, 3, 4], [5, 6, np.inf, 8]]], np.float32)
    layout = layout_of(vector(data, pool(kernel=[2], strides=[2])), {})
    assert layout.value(Feature("not_finite_in_plane")).tolist() == [[[0], [1]]]


@pytest.mark.parametrize("name", EVERY)
def test_every_feature_can_be_asked_of_every_operator(name):
    """What an operator does not have is None; elements have one value each."""
    operator = operator_named(name)
    inputs = (ramp(2, 3, 5, 4), np.array([2, 3]))[: 1 + operator.is_adaptive]
    attributes = operator.tiled((2, 2)) if operator.has_windows else {}
    layout = layout_of(vector_of(Case("case", name, attributes, inputs)), {})
    for of_elements in (True, False):
        for feature in features_of(2, alike=False, of_elements=of_elements):
            value = layout.value(feature)
            for of_axis in value if isinstance(value, list) else [value]:
                if of_elements and of_axis is not None:
                    assert np.broadcast_to(of_axis, layout.shape).ndim == of_axis.ndim
                elif not of_elements:
                    assert of_axis is None or isinstance(of_axis, str | float | bool)


def test_the_first_axis_and_all_axes_have_names_of_their_own():
    """They are others than those counted from the last where the number of axes varies."""
    layout = layout_of(
        vector(
            ramp(1, 1, 6, 4),
            pool(kernel=[3, 2], strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0]),
        ),
        {},
    )
    assert layout.value(Feature("kernel", FIRST_AXIS)) == 3.0
    assert layout.value(Feature("kernel", ALL_AXES)) == [2.0, 3.0]
    names = {feature.axis for feature in features_of(1, alike=False, of_elements=False)}
    assert names == {ALL_AXES, FIRST_AXIS, 1}


def test_an_invalid_case_has_no_elements():
    """But numbers of its data."""
    layout = layout_of(vector(ramp(1, 2, 6), pool(kernel=[0])), {})
    assert layout.shape == ()
    assert layout.value(Feature("channel")) is None
    assert layout.value(Feature("channels")) == 2.0


def test_axes_are_named_from_the_last():
    """So that a place has one name whatever the number of axes."""
    assert [axis_words(axis) for axis in (1, 2, 3)] == [
        "the last axis",
        "the last axis but one",
        "the last axis but two",
    ]
    assert "{axis}" not in "".join(k.words.replace("{axis}", axis_words(4)) for k in KINDS.values())


@pytest.mark.parametrize("alike", [False, True])
def test_a_case_without_a_window_has_no_features_of_windows(alike):
    """Nor does any other feature of it fail: such a case may conform beside those that fail."""
    layout = layout_of(vector(ramp(1, 1, 2), pool(kernel=[4])), {})
    for feature in features_of(1, alike=alike, of_elements=False):
        layout.value(feature)
    assert layout.value(Feature("most_overhang", 1)) is None
    assert layout.value(Feature("outputs", 0)) == 0
