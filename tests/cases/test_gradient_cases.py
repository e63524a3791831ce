"""Cases of gradients: a gradient of the output's shape, whatever is done to a case."""

import numpy as np

from conformance.backends.engines.numpy_backend import backend as numpy_backend
from conformance.cases.gradients import with_gradient
from conformance.cases.minimize import polished
from conformance.cases.perturb import near
from conformance.cases.sweep import collect
from conformance.errors import InvalidCase
from conformance.judging.judge import accepts
from conformance.operators import OPERATORS, vector_of
from conformance.vector import BACKWARD, Case

ATTRIBUTES = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}


def assert_fits(case):
    """Assert that the gradient of a case is one of the output of its operator."""
    forward = OPERATORS[case.operator].forward
    assert case.gradient.dtype == case.data.dtype
    assert case.gradient.shape == forward.output_shape(case.own_inputs, case.attributes)


def swept(name, tier="standard"):
    """Return the cases of the gradient of an operator."""
    return list(collect(name + BACKWARD, tier=tier, strength=3, seed=0).cases)


def test_a_gradient_is_fitted_to_other_inputs():
    """Numbers are repeated or left out; beside invalid inputs it stays."""
    operator = OPERATORS["MaxPool-1-backward"]
    data, gradient = np.zeros((1, 1, 5), np.float32), np.array([[[1.0, 2.0]]])
    fitted, _ = with_gradient(operator, gradient, (data,), ATTRIBUTES)
    assert fitted.tolist() == [[[1, 2, 1, 2]]]
    assert fitted.dtype == np.float32
    kept, _ = with_gradient(operator, gradient, (data,), {})
    assert kept is gradient


def test_cases_near_one_of_a_gradient_are_valid():
    """Whatever changes, the gradient fits."""
    rng = np.random.default_rng(0)
    changed = [near(case, rng) for case in swept("AvgPool-16")[:60] if "invalid" not in case.tags]
    found = [case for case in changed if case is not None]
    assert len(found) > 20
    for case in found:
        assert_fits(case)


def test_a_failing_case_of_a_gradient_becomes_small():
    """Of a backend that loses the last column of the gradient of the data, two cells are left."""

    def wrong(operator, inputs, attributes):
        result = numpy_backend(operator, inputs, attributes).copy()
        result[..., -1] = 0
        return result

    def fails(case: Case) -> bool:
        try:
            answer = wrong(case.operator, case.inputs, case.attributes)
        except (InvalidCase, ValueError):
            return False
        return not accepts(vector_of(case), (answer,))

    rng = np.random.default_rng(1)
    data = rng.normal(size=(2, 3, 6, 7)).astype(np.float32)
    given = {**ATTRIBUTES, "kernel": [3, 2], "strides": [2, 1]}
    given |= {"pads_begin": [1, 0], "pads_end": [0, 1], "exclude_pad": True}
    operator = OPERATORS["AvgPool-1-backward"]
    inputs = with_gradient(operator, rng.normal(size=50), (data,), given)
    small = polished(Case("case", operator.name, given, inputs), fails)
    assert_fits(small)
    assert fails(small)
    assert small.data.size == 1
