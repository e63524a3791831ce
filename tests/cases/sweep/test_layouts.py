"""Layouts that an attribute chooses: padding shifts what gradients go to, in either."""

import pytest

from conformance.api.strength import not_conforming
from conformance.cases.sweep import collect
from conformance.faults import fault_named
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.operators import OPERATORS, vector_of

FAULT = "backward-layout-last-without-begin-pads"
CONCERNED = [name for name, each in OPERATORS.items() if fault_named(FAULT).concerns(each)]


@pytest.mark.parametrize("operator", CONCERNED)
def test_a_gradient_without_the_offset_of_padding_fails_the_smoke_tier(operator):
    """Where channels are last alone."""
    planted = [PlantedFaults((fault_named(FAULT),), operator)]
    right = right_operator(operator, None)
    failing = [
        case.attributes
        for case in collect(operator, tier="smoke", strength=2, seed=0).cases
        if not_conforming(planted, vector_of(case), Baseline(case, right))
    ]
    assert len(failing) >= 2
    assert all(attributes["layout"] == "nhwc" for attributes in failing)
