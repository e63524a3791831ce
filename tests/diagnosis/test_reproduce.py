"""What faults make of a case beside what a backend returned: equal, close, or neither."""

import numpy as np
import pytest
from support.fakes import pool, vector

from conformance.diagnosis.reproduce import Match, Observation, Reproductions
from conformance.faults import CATALOGUE, Fault, fault_named
from conformance.faults.atoms import by_words
from conformance.faults.concerns import EVERY
from conformance.operators import vector_of
from conformance.vector import Case

PADDED = pool(kernel=[2], strides=[1], pads_begin=[1], exclude_pad=True)


def matched(fault, data, attributes, returned):
    """Say how well a fault reproduces what was returned for a case of AvgPool-1."""
    observation = Observation(vector(data, attributes), (returned,), {})
    return Reproductions().match((fault_named(fault),), observation)


@pytest.mark.parametrize("overflowed", [np.inf, np.nan])
def test_sums_that_overflow_do_not_hide_a_fault(overflowed):
    """In float64 those of every backend do that adds before it divides."""
    largest = np.finfo(np.float64).max
    data = np.array([[[largest, 1, largest, largest]]])
    returned = np.array([[[largest / 2, largest / 2, largest / 2, overflowed]]])
    assert matched("exclude-pad-ignored", data, PADDED, returned) is Match.CLOSE


def test_powers_that_overflow_do_not_hide_a_fault():
    """No cell is near the largest number, but the square of one is above it."""
    data = np.array([[[1e200, 1.0, 3.0, 4.0]]])
    attributes = {"kernel_shape": [2], "strides": [2]}
    case = vector(data, attributes, operator="ONNX-LpPool-22")
    returned = np.array([[[np.inf, np.sqrt(10), 5.0]]])
    observation = Observation(case, (returned,), {})
    fault = fault_named("strides-ignored")
    assert Reproductions().match((fault,), observation) is Match.CLOSE


def test_an_infinity_that_no_sum_explains_is_of_another_fault():
    """Nothing of this case is near the largest number."""
    data = np.array([[[1.0, 2, 3, 4]]])
    returned = np.array([[[0.5, 1.5, 2.5, np.inf]]])
    assert matched("exclude-pad-ignored", data, PADDED, returned) is Match.NO


def test_what_one_type_gave_is_not_taken_for_another():
    """The bits of -1, -2 and 3 as integers with a sign, and then as those without one."""
    case = vector(np.float32([[[-1, -2, 3]]]), {"kernel_shape": [2]}, operator="ONNX-MaxPool-1")
    observation, reproductions = Observation(case, (np.float32([[[-2, -2]]]),), {}), Reproductions()
    found = []
    for kind in ("signed", "unsigned"):
        fault = by_words()[f"floating-point numbers are compared as {kind} integers"]
        found.append(reproductions.match((fault,), observation))
    assert found == [Match.NO, Match.EXACT]


def test_a_size_tells_a_fault_where_every_sum_overflows():
    """The values say nothing there."""
    data = np.full((1, 1, 3), np.finfo(np.float64).max)
    attributes = pool(kernel=[2], strides=[1])
    returned = np.full((1, 1, 1), np.inf)
    assert matched("strides-ignored", data, attributes | {"strides": [2]}, returned) is Match.NO
    strided = np.full((1, 1, 2), np.inf)
    assert matched("strides-ignored", data, attributes | {"strides": [2]}, strided) is Match.CLOSE


ENCODED = {"x_scale": 0.5, "x_zero_point": 3, "y_scale": 0.5, "y_zero_point": -2}


def forgotten(cells, attributes, returned):
    """Say how well a zero point that is not subtracted reproduces an average of int8."""
    name = "ORT-QLinearAveragePool-1"
    case = vector(np.array([[cells]], np.int8), attributes | ENCODED, operator=name)
    observation = Observation(case, (np.array([[returned]], np.int8),), {})
    fault = fault_named("integers-input-zero-point-forgotten")
    return Reproductions().match((fault,), observation)


@pytest.mark.parametrize(("half", "is_a_reading"), [(2, True), (3, True), (4, False)])
def test_a_fault_of_an_encoding_leaves_halves_to_the_readings(half, is_a_reading):
    """4.5 less 2, which is 2 to even and 3 away from zero."""
    attributes = {"kernel_shape": [2], "strides": [2]}
    expected = Match.EXACT if is_a_reading else Match.NO
    assert forgotten([4, 5, 10, 20], attributes, [half, 13]) is expected


def test_integers_returned_as_floats_are_not_near_to_anything():
    """No rounding of floats says how far: only the same numbers are a fault's."""
    name, attributes = "ORT-QLinearAveragePool-1", {"kernel_shape": [2]}
    case = vector(np.array([[[4, 5]]], np.int8), attributes | ENCODED, operator=name)
    fault = Fault("floats", EVERY, {"reduce": lambda right: lambda *of: right(*of) + np.float64(2)})
    observation = Observation(case, (np.full((1, 1, 1), 6.5),), {})
    assert Reproductions().match((fault,), observation) is Match.NO


def test_what_the_document_leaves_undefined_contradicts_no_fault():
    """The first window and the last hold padding alone."""
    attributes = {"kernel_shape": [1], "strides": [1], "pads": [1, 1]}
    assert forgotten([4, 5], attributes, [77, 2, 3, -77]) is Match.EXACT
    assert forgotten([4, 5], attributes, [77, 2, 4, -77]) is Match.NO


def test_a_reading_that_refuses_the_indices_of_a_case_is_no_obstacle():
    """The inferred shape has 4 cells: index 5 is one of the output that is given alone."""
    data, indices = np.array([[[1.0, 2.0]]], np.float32), np.array([[[0, 5]]])
    attributes = {"kernel_shape": [2], "strides": [2], "output_shape": [6]}
    case = vector_of(Case("case", "ONNX-MaxUnpool-22", attributes, (data, indices)))
    observation = Observation(case, (np.full((1, 1, 6), 7, np.float32),), {})
    unpooling = [each for each in CATALOGUE if each.concerns(observation.operator)]
    for each in (observation, observation.doubted):
        assert not any(Reproductions().match((fault,), each) for fault in unpooling)


def test_nan_in_place_of_a_number_tells_a_fault_where_no_sum_can_overflow():
    """Nothing times infinity, in a gradient of norms that rounds one cell as it likes."""
    data = np.array([[[4, 6, -np.inf, 8]]], np.float32)
    given = np.array([[[-125, -28]]], np.float32)
    case = Case(
        "case",
        "PyTorch-lp_pool1d-backward",
        {"kernel_size": 1, "stride": 3, "norm_type": 6},
        (given, data),
    )
    returned = np.array([[[-125, 0, np.nan, np.nextafter(np.float32(-28), np.float32(-29))]]])
    observation = Observation(vector_of(case), (returned.astype(np.float32),), {})
    said = "what a cell gets is multiplied by p times its power, NaN if that is not finite"
    fault = by_words()[said]
    assert Reproductions().match((fault,), observation) is Match.CLOSE


def test_readings_of_the_same_answer_are_tried_as_one():
    """In doubt, each is: a fault may tell them apart."""
    attributes = {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_UPPER", "ceil_mode": 1}
    case = vector(np.ones((1, 1, 4), np.float32), attributes, operator="ONNX-AveragePool-22")
    observation = Observation(case, (np.zeros((1, 1, 2), np.float32),), {})
    assert len(observation.baselines) == 1
    assert len(observation.doubted.baselines) > 1
