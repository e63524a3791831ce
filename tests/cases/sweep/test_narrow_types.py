"""Sums of half types where the caller says in which type they are kept."""

import numpy as np

from conformance import check, evaluate
from conformance.cases.sweep.narrow_types import accumulators
from conformance.cases.sweep.sweep_model import build
from conformance.operators import OPERATORS, vector_of

TOSA = OPERATORS["TOSA-AVG_POOL2D"]


def in_the_type_of_the_data(operator, inputs, attributes):
    """Average windows that slide, adding one cell after the other in the type of the data."""
    data, (rows, columns), steps = inputs[0], attributes["kernel"], attributes["stride"]
    if any(attributes["pad"]):  # what is counted there is another question
        return evaluate(operator, inputs, attributes)
    windows = np.lib.stride_tricks.sliding_window_view(data, (rows, columns), axis=(1, 2))
    cells = windows[:, :: steps[0], :: steps[1]].reshape(
        *windows[:, :: steps[0], :: steps[1]].shape[:4], -1
    )
    total = np.zeros(cells.shape[:-1], data.dtype)
    for cell in range(cells.shape[-1]):
        total = total + cells[..., cell]
    return (total.astype(np.float64) / (rows * columns)).astype(data.dtype)


def test_ones_that_stop_growing_fail_where_sums_are_to_be_wider():
    vectors = [vector_of(build(spec, seed=0)) for spec in accumulators(TOSA)]
    report = check(in_the_type_of_the_data, vectors, diagnose="none")
    failing = {result.id for result in report.results if result.verdict == "mismatch"}
    assert failing == {vector.case.id for vector in vectors if vector.case.pattern == "ones"}


def test_operators_whose_caller_says_nothing_of_sums_have_no_such_case():
    assert not list(accumulators(OPERATORS["PyTorch-avg_pool2d"]))
