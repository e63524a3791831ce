"""Pairs of cases that a careless key takes for one, in both orders."""

import pytest
from support.made_up import MADE_UP, registered

from conformance.cases.sweep.key_collisions import key_collisions
from conformance.cases.sweep.sweep_model import cases_of
from conformance.operators import OPERATORS


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_pairs(name):
    """Of the lists that they have, and valid."""
    operator = MADE_UP[name]
    with registered():
        cases = list(cases_of(key_collisions(operator)))
    assert len(cases) >= 30
    for case in cases:
        operator.validate(case.inputs, case.attributes)


def test_of_one_list_of_attributes_same_pads_two_sizes_otherwise():
    """A plan that is kept by attributes alone has the padding of the first."""
    operator = OPERATORS["ONNX-MaxPool-22"]
    cases = [case for case in cases_of(key_collisions(operator)) if "same_*" in str(case.tags)]
    one, other = cases
    assert one.attributes == other.attributes
    params = (operator.stated(case.attributes, case.data.shape[2:]) for case in cases)
    assert [operator.pipeline.pads(each)[0] for each in params] == [(1, 1), (0, 1)]
