"""Faults of gradients change the shares of a norm's windows, weights of whole kernels included."""

import numpy as np
import pytest

from conformance.faults.atoms.gradients import with_terms
from conformance.operators import OPERATORS, under

OPERATOR = OPERATORS["PyTorch-lp_pool1d-backward"]


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("reading", ["cells", "whole-kernel"])
def test_shares_that_are_not_changed_are_the_gradient(reading, p):
    """But for their rounding."""
    attributes = {"norm_type": p, "kernel_size": 3, "stride": 2, "ceil_mode": True}
    inputs = (np.ones((1, 1, 3)), np.arange(1.0, 7.0).reshape(1, 1, 6))
    right = under(OPERATOR, {"lp-overhang": reading})
    changed = right.replace(reduce=with_terms(lambda shares, _gathered: shares)(right.reduce))
    plan = right.plan(OPERATOR.validate(inputs, attributes))
    expected, got = (each.values(inputs[1], plan, inputs[0])[0] for each in (right, changed))
    np.testing.assert_allclose(got, expected, rtol=1e-14)
