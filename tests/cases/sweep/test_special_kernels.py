"""Special kernels of operators that have no covering array of them."""

from itertools import product

import pytest

from conformance.cases.sweep.special_kernels import usual_kernels
from conformance.cases.sweep.sweep_model import build
from conformance.operators import OPERATORS


@pytest.mark.parametrize("name", ["PyTorch-max_pool1d", "WebNN-l2Pool2d", "MaxPool-8"])
def test_usual_kernels_are_there_with_cells_left_over_and_without(name):
    operator = OPERATORS[name]
    seen = set()
    for spec in usual_kernels(operator):
        params = operator.validate(build(spec, seed=0).inputs, spec.attributes)
        kernel, stride, pad = params.kernel[-1], params.strides[-1], params.pads_begin[-1]
        rest = (params.sizes[-1] + 2 * pad - kernel) % stride
        seen.add((kernel, stride, pad, rest > 0))
    usual = product(((2, 2, 0), (2, 2, 1), (3, 2, 1)), (True, False))
    assert {(*numbers, rest) for numbers, rest in usual} <= seen


def test_operators_with_a_covering_array_of_special_kernels_have_no_others():
    assert not list(usual_kernels(OPERATORS["AvgPool-1"]))
