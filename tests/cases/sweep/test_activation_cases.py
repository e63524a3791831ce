"""Limits of an activation that lie beyond the type of the data: they saturate."""

import numpy as np
import pytest

from conformance.api.strength import not_conforming
from conformance.cases.sweep.activations import activations
from conformance.cases.sweep.sweep_model import cases_of
from conformance.dtypes import INTEGERS, name_of
from conformance.faults import fault_named, faulty
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.operators import OPERATORS, vector_of

FAULT = "activation-limits-wrapped"
ACTIVATED = [name for name, operator in OPERATORS.items() if fault_named(FAULT).concerns(operator)]


@pytest.mark.parametrize("operator", ACTIVATED)
@pytest.mark.parametrize("activation", ["RELU6", "RELU_N1_TO_1"])
def test_limits_that_wrap_fail_in_every_type_of_integers(operator, activation):
    """Both ends of RELU_N1_TO_1, the upper one of RELU6."""
    planted = [PlantedFaults((fault_named(FAULT),), operator)]
    right = right_operator(operator, None)
    failing = {
        name_of(case.data.dtype)
        for case in cases_of(activations(OPERATORS[operator]))
        if case.attributes.get("fused_activation_function") == activation
        and not_conforming(planted, vector_of(case), Baseline(case, right))
    }
    assert failing == {name for name in INTEGERS if name in OPERATORS[operator].dtypes}


def test_a_limit_beyond_the_type_leaves_numbers_as_they_are():
    """6 / (1 / 32) is 192: no int8 is above it; wrapped it is -64."""
    data = np.full((1, 2, 2, 1), 100, np.int8)
    given = {"filter_height": 2, "filter_width": 2, "stride_h": 1, "stride_w": 1}
    given |= {"padding": "VALID", "scale": 1 / 32, "fused_activation_function": "RELU6"}
    assert faulty()("LiteRT-AVERAGE_POOL_2D", [data], given).item() == 100
    assert faulty(fault_named(FAULT))("LiteRT-AVERAGE_POOL_2D", [data], given).item() == -64
