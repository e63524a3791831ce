"""Pairs of cases that a careless key takes for one, in both orders."""

import pytest
from support.made_up import MADE_UP, registered

from conformance.cases.sweep.key_collisions import key_collisions
from conformance.cases.sweep.sweep_model import cases_of


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_pairs(name):
    """Of the lists that they have, and valid."""
    operator = MADE_UP[name]
    with registered():
        cases = list(cases_of(key_collisions(operator)))
    assert len(cases) >= 30
    for case in cases:
        operator.validate(case.inputs, case.attributes)
