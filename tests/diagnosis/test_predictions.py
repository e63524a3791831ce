"""What a backend would do of which a claim is true, and what equal values may hide of that."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector
from support.samples import sample

from conformance.cases.perturb import Feature
from conformance.diagnosis.claim import Claim, Substitute, planted
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.substitutes import Instead
from conformance.faults.atoms import by_words

ZERO = Instead("zero", lambda layout: np.zeros(layout.shape))
IN_CHANNEL_1 = ((Condition(Feature("channel"), "is", 1.0),),)
IDENTITY = pool(kernel=[1], strides=[1], pads_begin=[0], pads_end=[0])
PREDICTIONS = Predictions(lambda _: {})


@pytest.mark.parametrize(
    ("what", "cells", "may_hide"),
    [
        (Substitute(), [5, 5], True),
        (Substitute(instead=ZERO), [5, 5], False),
        (Substitute(instead=ZERO), [5, 0], True),
        (Substitute(instead=ZERO, some=True), [5, 5], True),
    ],
)
def test_wrong_elements_hide_unless_it_is_known_what_they_are(what, cells, may_hide):
    """Nor do they where they are known to be what is right anyway."""
    case = vector(np.array(cells, np.float32).reshape(1, 2, 1), IDENTITY)
    assert PREDICTIONS.may_hide(Claim(what, IN_CHANNEL_1), case) == may_hide


def test_it_fails_only_where_what_comes_instead_is_another_value():
    """Zeros in place of zeros are no failure."""
    claim = Claim(Substitute(instead=ZERO), IN_CHANNEL_1)
    zeros, ones = (vector(np.full((1, 2, 3), value, np.float32), IDENTITY) for value in (0, 1))
    assert not PREDICTIONS.fails(claim, zeros)
    assert PREDICTIONS.fails(claim, ones)


def test_a_claim_without_conditions_holds_everywhere():
    """Every element of every case."""
    made = vector(ramp(1, 4, 6), IDENTITY)
    assert PREDICTIONS.marked(Claim(Substitute()), made).all()
    assert PREDICTIONS.predicts(Claim(Substitute()), sample(made, lambda _v, output: output - 1))


def test_a_claim_of_answers_explains_failures_of_its_own_manner_alone():
    """Wrong values are no exception, wherever exceptions come."""
    claim = Claim(Substitute("exception"), ((Condition(Feature("kernel", 1), "from", 3.0),),))
    made = sample(vector(ramp(1, 1, 6), pool(kernel=[2])), lambda _, got: got + 1)
    raised = Sample(vector(ramp(1, 1, 6), pool(kernel=[3])), None, failed=True)
    assert PREDICTIONS.explains(claim, raised)
    assert not PREDICTIONS.explains(claim, made)


@pytest.mark.parametrize(
    ("operator", "cells", "shows"),
    [
        pytest.param("ONNX-GlobalLpPool-22", [3, -4], True, id="powers that fit"),
        pytest.param("ONNX-GlobalLpPool-22", [3e38, -3e38], False, id="overflow"),
        pytest.param("ONNX-GlobalLpPool-22", [3e-38, -1e-38], False, id="underflow"),
        pytest.param("ONNX-GlobalAveragePool-22", [3e38, -1e38], True, id="no powers"),
    ],
)
def test_a_fault_shows_in_no_norm_whose_powers_may_leave_their_range(operator, cells, shows):
    """A backend that keeps them in its type is right or wrong there whatever else is wrong."""
    made = vector(np.array(cells, np.float32).reshape(1, 1, 2), {}, operator=operator)
    claim = planted(by_words()["the result is the smallest cell of its window"])
    assert PREDICTIONS.fails(claim, made) == shows
    assert PREDICTIONS.is_telling(claim, made) == shows
