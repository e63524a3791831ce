"""A case whose numbers and words can be read and changed one by one."""

import numpy as np
import pytest
from hypothesis import given

from conformance.cases.strategies import cases
from conformance.cases.sweep.draft import PLANES, Place, draft_of, each_one_off
from conformance.operators import OPERATORS
from conformance.vector import Case

POOL = {"kernel": [2, 3], "strides": [1, 2], "pads_begin": [1, 0], "pads_end": [0, 1]}


def case_of(operator, attributes, shape=(2, 3, 6, 7)):
    return Case("case", operator, attributes, (np.zeros(shape, np.float32),))


@given(case=cases())
def test_a_draft_that_is_not_changed_is_the_case(case):
    """Of every operator: the same attributes in the same order, sizes and types."""
    draft = draft_of(case)
    assert list(draft.attributes.items()) == list(case.attributes.items())
    assert draft.shape == case.data.shape
    own = draft.spec().own_inputs(case.data)
    assert [each.tobytes() for each in own] == [each.tobytes() for each in case.own_inputs]
    assert [each.dtype for each in own] == [each.dtype for each in case.own_inputs]


def test_a_number_is_changed_where_the_document_has_it():
    """In a list for each end of the padding, or in one list for both."""
    last = Place("pads_end", 1)
    draft = draft_of(case_of("MaxPool-1", POOL))
    assert draft.put({last: 4}).attributes == POOL | {"pads_end": [0, 4]}
    onnx = {"kernel_shape": [2, 3], "pads": [1, 0, 0, 1]}
    draft = draft_of(case_of("ONNX-MaxPool-22", onnx))
    assert draft.put({last: 4}).attributes == onnx | {"pads": [1, 0, 0, 4]}
    pads = OPERATORS["ONNX-MaxPool-22"].attribute("pads")
    assert [draft.at(place) for place in draft.places_of(pads)] == [1, 0, 0, 1]


def test_what_is_left_out_stays_left_out_while_it_has_its_default():
    """And what is given stays given."""
    draft = draft_of(case_of("MaxPool-1", POOL))
    ceil = draft.with_word("rounding", "ceil")
    assert ceil.attributes == POOL | {"rounding_type": "ceil"}
    assert ceil.with_word("rounding", "floor").attributes == POOL
    rounding = OPERATORS["MaxPool-1"].attribute("rounding")
    assert draft.saying(rounding).attributes == POOL | {"rounding_type": "floor"}
    assert draft.saying(rounding).without(rounding).attributes == POOL


def test_an_attribute_that_is_left_out_has_its_default():
    """Whatever it had before."""
    given = {"window_shape": [2], "window_movement_strides": [3]}
    draft = draft_of(case_of("nGraph-AvgPool", given, (1, 1, 6)))
    without = draft.without(OPERATORS["nGraph-AvgPool"].attribute("strides"))
    assert without.attributes == {"window_shape": [2]}
    assert without.at(Place("strides", 0)) == 1


@pytest.mark.parametrize(("step", "shapes"), [(1, [(3, 1), (2, 2)]), (-1, [(1, 1)])])
def test_one_number_after_the_other_is_changed(step, shapes):
    """Not below the least."""
    draft = draft_of(case_of("MaxPool-1", POOL, (2, 1, 6, 7)))
    assert [each.shape[:2] for each in each_one_off(draft, PLANES, step, least=1)] == shapes
