"""Indices of equal maxima: any cell of the window will do, and no other."""

import numpy as np
import pytest

from conformance.judging.judge import accepts, answer_to, judge
from conformance.operators import evaluate, vector_of
from conformance.vector import Case

NAN = np.nan


def case(values, **attributes):
    """Return a case of MaxPool-8 on one axis, with a window of all cells unless told otherwise."""
    data = np.array(values, np.float32).reshape(1, 1, -1)
    given = {"kernel": [len(values)], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    return Case("a/case", "MaxPool-8", given | attributes, (data,))


def conforms(case, *indices):
    """Say whether a backend conforms that returns the right maxima and these indices."""
    values, right = evaluate(case.operator, case.inputs, case.attributes)
    returned = values, np.array(indices, right.dtype).reshape(right.shape)
    return accepts(vector_of(case), returned)


@pytest.mark.parametrize(
    ("values", "accepted_indices"),
    [
        ([5, 1, 5, 5], {0, 2, 3}),
        ([1, 2, 3, 0], {2}),
        ([NAN, 1, NAN, NAN, 2], {0, 2, 3}),
        ([-0.0, 0.0, -1], {0, 1}),
    ],
)
def test_each_cell_that_holds_the_maximum_is_accepted(values, accepted_indices):
    """The first, the last and any other; no cell that holds less, and none beside the data."""
    found = {i for i in range(-1, len(values) + 1) if conforms(case(values), i)}
    assert found == accepted_indices


def test_a_cell_of_another_window_is_not_accepted():
    """Every cell holds the maximum, and each window has two of them."""
    of_two = case([7, 7, 7, 7], kernel=[2], strides=[2])
    found = {(i, j) for i in range(4) for j in range(4) if conforms(of_two, i, j)}
    assert found == {(0, 2), (0, 3), (1, 2), (1, 3)}


def test_a_cell_between_those_of_a_dilated_window_is_not_accepted():
    """The window reads every second cell."""
    dilated = case([7, 7, 7, 7, 7], kernel=[3], dilations=[2])
    assert {i for i in range(5) if conforms(dilated, i)} == {0, 2, 4}


def test_a_cell_between_the_first_and_the_last_that_axis_counts_alike_is_accepted():
    """Indices within a row: the first and the last of three maxima have 0, that between them 1."""
    data = np.array([[[[5, 0], [0, 5], [5, 0]]]], np.float32)
    given = {"kernel": [3, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    rows = Case("a/case", "MaxPool-8", given | {"axis": -1}, (data,))
    assert {i for i in range(-1, 7) if conforms(rows, i)} == {0, 1}
    assert "index-of-ties" in vector_of(rows).clauses


def test_equal_cells_that_axis_counts_alike_are_no_tie():
    """One column of equal cells: whichever is chosen, the index within its row is 0."""
    data = np.full((1, 1, 3, 1), 7, np.float32)
    given = {"kernel": [3, 1], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    column = vector_of(Case("a/case", "MaxPool-8", given | {"axis": -1}, (data,)))
    assert "index-of-ties" not in column.clauses


def test_a_window_that_padding_may_win_has_any_index():
    """It holds minus infinity alone, as the padding does; the next window holds more."""
    padded = case([-np.inf, -np.inf, 3], kernel=[2], pads_begin=[1])
    assert {i for i in range(-3, 9) if conforms(padded, i, 0, 2)} == {*range(-3, 9)}
    assert {i for i in range(-3, 9) if conforms(padded, -1, i, 2)} == {0, 1}


def test_indices_alone_may_be_left_out():
    """A backend that returns the maxima conforms; wrong maxima do not, with right indices."""
    whole = case([1, 9, 3])
    values, indices = evaluate(whole.operator, whole.inputs, whole.attributes)
    assert accepts(vector_of(whole), (values,))
    assert not accepts(vector_of(whole), (values + 1, indices))


def test_an_index_of_a_cell_that_ties_is_not_counted_as_wrong():
    """Nor is it the worst element, where the index of another window is wrong."""
    of_two = case([7, 7, 1, 2], kernel=[2], strides=[2])
    made = vector_of(of_two)
    values, right = evaluate(of_two.operator, of_two.inputs, of_two.attributes)
    returned = values, np.array([[[1, 2]]], right.dtype)
    judged = judge(made, answer_to(made, returned), {})
    worst = judged.explanation.worst
    assert (worst.wrong, worst.index, worst.first_index) == (1, (0, 0, 1), (0, 0, 1))
