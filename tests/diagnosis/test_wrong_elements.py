"""Rules about elements as hypotheses: what equal values may hide."""

import numpy as np
import pytest
from support.fakes import pool, vector

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.instead import Instead
from conformance.diagnosis.rules import Rule
from conformance.diagnosis.wrong_elements import Elements

ZERO = Instead("zero", lambda layout: np.zeros(layout.shape))
IN_CHANNEL_1 = ((Condition(Feature("channel"), "is", 1.0),),)
IDENTITY = pool(kernel=[1], strides=[1], pads_begin=[0], pads_end=[0])


@pytest.mark.parametrize(
    ("rule", "cells", "may_hide"),
    [
        (Rule(IN_CHANNEL_1), [5, 5], True),
        (Rule(IN_CHANNEL_1, instead=ZERO), [5, 5], False),
        (Rule(IN_CHANNEL_1, instead=ZERO), [5, 0], True),
        (Rule(IN_CHANNEL_1, instead=ZERO, some=True), [5, 5], True),
    ],
)
def test_wrong_elements_hide_unless_it_is_known_what_they_are(rule, cells, may_hide):
    """Nor do they where they are known to be what is right anyway."""
    case = vector(np.array(cells, np.float32).reshape(1, 2, 1), IDENTITY)
    assert Elements(rule, 1.0).may_hide_in(case) == may_hide


def test_it_fails_only_where_what_comes_instead_is_another_value():
    """Zeros in place of zeros are no failure."""
    rule = Rule(IN_CHANNEL_1, instead=ZERO)
    zeros, ones = (vector(np.full((1, 2, 3), value, np.float32), IDENTITY) for value in (0, 1))
    assert not rule.fails(zeros)
    assert rule.fails(ones)
