"""Faults of lists: what is read in place of something else, where, and in which operators."""

import numpy as np
import pytest
from support.fakes import pool, ramp

from conformance.faults import conditions, faulty
from conformance.faults.atoms import by_words
from conformance.operators import OPERATORS
from conformance.operators.params import Params
from conformance.operators.pipeline import as_given

PARAMS = Params((7, 7), (2, 3), (1, 2), pads_begin=(0, 1), pads_end=(3, 0))


def taken(words):
    """Return what becomes of the parameters with the fault of these words."""
    return by_words()[words].replaces["resolve"](as_given)(PARAMS)


@pytest.mark.parametrize(
    ("words", "name", "numbers"),
    [
        ("every kernel size taken as that of the axis in reverse order", "kernel", (3, 2)),
        ("every kernel size taken as that of the next axis", "kernel", (3, 3)),
        ("every kernel size taken as one less", "kernel", (1, 2)),
        ("every stride taken as one less", "strides", (1, 1)),  # no stride is 0
        ("every begin pad taken as one less", "pads_begin", (0, 0)),
        ("every kernel size taken as the stride", "kernel", (1, 2)),
        (
            "every stride taken as the dilation, and dilation taken as the stride",
            *("strides", (1, 2)),  # there are no dilations
        ),
        ("every kernel size taken as at most the stride", "kernel", (1, 2)),
        ("every kernel size taken as at most 2", "kernel", (2, 2)),
        ("every pad taken as half their sum, rounded down", "pads_begin", (1, 0)),
        ("every end pad taken as 0 on the last axis", "pads_end", (3, 0)),
        ("every end pad taken as 0 on the first axis", "pads_end", (0, 0)),
        ("every pad taken as that at the other end on the last axis", "pads_end", (3, 1)),
        (
            "every kernel size taken as that of the next axis on the first of three axes",
            *("kernel", (2, 3)),  # of two axes
        ),
    ],
)
def test_other_numbers_of_a_list_are_read(words, name, numbers):
    """By hand, for two axes."""
    assert getattr(taken(words), name) == numbers


def test_the_order_of_a_list_of_pads_is_that_of_begins_then_ends():
    """Pads b0 b1 e0 e1 that are read as pairs begin at b0 and e0."""
    params = taken("the list of pads taken as pairs of begin and end")
    assert (params.pads_begin, params.pads_end) == ((0, 3), (1, 0))


def test_a_sentence_says_what_is_taken_as_what_where_and_when():
    """Its words are made of those of atom, place and condition."""
    said = "every end pad taken as 0, for the output size alone"
    where = ", where sizes are rounded up"
    assert by_words()[said].where(conditions.CEIL).summary == f"{said}{where}"
    swapped = "every kernel size taken as the stride, and stride taken as the kernel size"
    several = "auto_pad=same_upper and same_lower taken as valid"
    assert {swapped, several} <= by_words().keys()


def test_what_a_sentence_needs_follows_from_the_lists_it_reads():
    """A list that is read in place of another has to be there, too."""
    fault = by_words()["every dilation taken as the stride"]
    assert all({"dilations", "strides"} <= set(OPERATORS[name].roles) for name in fault.operators)


def test_a_condition_leaves_other_calls_alone():
    """A kernel of 1 where a stride is above 1: calls of strides 1 and 2 go by it, others not."""
    wrong = by_words()["every kernel size taken as 1"].where(conditions.STRIDED)
    right, data = faulty(), (ramp(1, 1, 4, 4),)
    for strides, differs in (([1, 1], False), ([1, 2], True)):
        given = pool(kernel=[2, 2], strides=strides, pads_begin=[0, 0], pads_end=[0, 0])
        answers = [
            np.asarray(backend("AvgPool-1", data, given)) for backend in (right, faulty(wrong))
        ]
        assert (answers[0].shape != answers[1].shape or (answers[0] != answers[1]).any()) == differs


def test_a_window_without_a_cell_may_give_to_a_place_of_another_plane():
    """Its taps are at -1 and 2, and at -1 and 1: place 2 + 1 of the tensor, from its plane on."""
    said = "windows without a cell give to the place in memory of their first tap from 0 on"
    given = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}
    inputs = np.array([[[[5]], [[7]]]], np.float32), ramp(1, 2, 2, 1)
    called = faulty(by_words()[said])("MaxPool-8-backward", inputs, given | {"dilations": [3, 2]})
    np.testing.assert_array_equal(called, [[[[0], [0]], [[0], [5]]]])
