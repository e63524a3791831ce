"""Conditions hold where they say, and are told from others like them."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.cases.perturb import Feature
from conformance.diagnosis.claim import Claim, Substitute
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.elements import ALL_AXES, FIRST_AXIS
from conformance.diagnosis.predictions import Predictions

PLANE = {"kernel": [3, 3], "strides": [1, 1], "pads_begin": [1, 0], "pads_end": [0, 1]}
AVERAGE = vector(ramp(1, 4, 6, 7), pool(**PLANE)).case


def channels_beyond(*condition):
    return [
        case.inputs[0].shape[1]
        for case in Condition(Feature("channels"), *condition).beyond(AVERAGE)
    ]


def test_cases_beyond_a_threshold_lie_on_the_other_side():
    """Near to it and far; none for a number in the data, which no size lets occur."""
    assert channels_beyond("to", 9.0) == [10, 20]
    assert channels_beyond("from", 9.0) == [8, 4]
    assert not list(Condition(Feature("largest_cell"), "to", np.inf).beyond(AVERAGE))


def test_cases_beyond_a_number_tell_it_from_a_remainder():
    """Some have a number of the same remainder, for either condition."""
    assert channels_beyond("modulo", 3.0, 16) == [19, 35]
    assert 19 in channels_beyond("is", 3.0)


def test_cases_beyond_a_word_have_another_one():
    """Of an attribute, or a type."""
    words = Condition(Feature("auto_pad"), "is", frozenset({"explicit"})).beyond(AVERAGE)
    assert {"valid", "same_upper"} <= {case.attributes.get("auto_pad") for case in words}
    types = Condition(Feature("dtype"), "is", frozenset({"float32"})).beyond(AVERAGE)
    assert "float16" in {case.inputs[0].dtype.name for case in types}


def test_cases_beyond_an_equality_are_as_equal():
    """Whether it is about equal numbers, or about these, shows with others."""
    equal = Condition(Feature("strides_equal_kernel", ALL_AXES), "is", value=True, over="every")
    made = [
        (case.attributes["strides"], case.attributes["kernel"]) for case in equal.beyond(AVERAGE)
    ]
    assert all(strides == kernel for strides, kernel in made)
    assert len({tuple(kernel) for _, kernel in made}) > 2


ODD = Condition(Feature("kernel", ALL_AXES), "modulo", 1.0, 2, over="some")


STRIDED = Condition(Feature("strides", ALL_AXES), "is", 2.0, over="some")


@pytest.mark.parametrize(("strides", "holds"), [([2, 1], True), ([1, 2], False)])
def test_conditions_on_some_axis_are_of_one_and_the_same(strides, holds):
    """Not one of one axis and one of another."""
    given = {**PLANE, "kernel": [3, 2], "strides": strides}
    claim = Claim(Substitute(), ((ODD, STRIDED),))
    case = vector(ramp(1, 2, 6, 7), pool(**given))
    assert Predictions(lambda _: {}).fails(claim, case) == holds
    assert claim.words == (
        "wrong values where the kernel on some axis is odd and the stride on that axis is 2"
    )


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(Feature("channel"), "is", 0.0), "the first channel"),
        (Condition(Feature("channel_end"), "is", 0.0), "the last channel"),
        (Condition(Feature("batch_index"), "to", 3.0), "batches to 3"),
        (
            Condition(Feature("position", 2), "modulo", 1.0, 2),
            "odd rows",
        ),
        (
            Condition(Feature("overhang", 1), "from", 1.0),
            "windows that overhang the last axis by at least 1 cell",
        ),
        (
            Condition(Feature("kernel", 3), "modulo", 0.0, 2),
            "the kernel on the last axis but two is even",
        ),
        (
            Condition(Feature("padded", ALL_AXES), "is", value=False, over="every"),
            "there are pads on no axis",
        ),
        (
            Condition(Feature("kernel", ALL_AXES), "modulo", 0.0, 2, over="some"),
            "the kernel on some axis is even",
        ),
        (
            Condition(Feature("position", ALL_AXES), "is", 0.0, over="every"),
            "the first place along every axis",
        ),
        (
            Condition(Feature("position_end", FIRST_AXIS), "to", 2.0),
            "places from the end to 2 along the first axis",
        ),
        (Condition(Feature("position_end", 1), "from", 1.0), "columns before the last"),
        (Condition(Feature("channel_end"), "from", 2.0), "channels before the last 2"),
        (
            Condition(Feature("position_tail_4", FIRST_AXIS), "is", value=False),
            "places up to the last whole group of 4 along the first axis",
        ),
        (
            Condition(Feature("size", FIRST_AXIS), "from", 9.0),
            "the size of the first axis is at least 9",
        ),
        (Condition(Feature("dtype"), "is not", frozenset({"int8"})), "the type is not int8"),
        (Condition(Feature("value"), "from", 0.5), "elements whose right value is at least 0.5"),
        (Condition(Feature("value"), "to", np.inf), "elements whose right value is no NaN"),
        (Condition(Feature("value"), "from", np.inf), "elements whose right value is inf"),
        (Condition(Feature("value"), "from", -np.inf), "elements whose right value is no NaN"),
    ],
)
def test_conditions_are_said_in_plain_words(condition, words):
    """A noun phrase for elements, a sentence for cases."""
    assert condition.words == words


@pytest.mark.parametrize("over", ["some", "every"])
def test_a_condition_on_axes_holds_nowhere_without_axes(over):
    """An invalid case may have none."""
    condition = Condition(Feature("kernel", ALL_AXES), "from", 2.0, over=over)
    assert not condition.holds([])
