"""Kinds of numbers that each operator meets."""

import numpy as np
import pytest

from conformance.cases.sweep.value_kinds import further_exponents
from conformance.faults import fault_named, faulty
from conformance.judging.judge import accepts
from conformance.operators import OPERATORS, operator_named
from conformance.vectorfile import open_vectors


def test_norms_whose_further_exponents_are_open_of_negative_numbers_have_them_of_positive_ones():
    """Of PyTorch's, p = 1 is a sum; gradients of even ones have the sign of a cell."""
    odd = {f"PyTorch-lp_pool{axes}d{end}" for axes in (1, 2, 3) for end in ("", "-backward")}
    even = {"ONNX-LpPool-22-backward", "ONNX-GlobalLpPool-22-backward"}
    having = {name for name, operator in OPERATORS.items() if [*further_exponents(operator)]}
    assert having == odd | even
    for name in having:
        for spec in further_exponents(operator_named(name)):
            exponent = spec.attributes.get("norm_type", spec.attributes.get("p"))
            assert exponent % 2 == (name in odd)


@pytest.mark.parametrize("name", ["norm-p-to-even", "norm-p-at-least-two"])
def test_an_exponent_that_is_not_read_as_given_shows_in_shipped_vectors(name):
    """In the smoke tier, and of data that leave nothing open."""
    for file in open_vectors(operators=["PyTorch-lp_pool1d", "PyTorch-lp_pool3d"]):
        vectors = [v for v in file if "odd exponent" in v.case.tags and v.case.tier == "smoke"]
        assert all((vector.case.data > 0).all() for vector in vectors)
        backend = faulty(fault_named(name))
        caught = 0
        for vector in vectors:
            case = vector.case
            returned = backend(case.operator, case.inputs, case.attributes)
            caught += not accepts(vector, (np.asarray(returned),))
        assert caught
