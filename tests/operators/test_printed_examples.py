"""Worked examples that print numbers: what the documents print, element by element.

The numbers are copied from the documents; where one is wrong, the test says which.
"""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.sweep.worked_examples import examples
from conformance.operators import OPERATORS, evaluate, vector_of

PRINTED = {
    1: (
        [[-1, 2, 3, 3], [4, 5, 5, -6], [4, 8, 9, 9], [-7, 8, 9, 9]],
        [[0, 1, 2, 2], [3, 4, 4, 5], [3, 7, 8, 8], [6, 7, 8, 8]],
    ),
    2: ([3, 5, 5, 9, 9], [2, 3, 3, 5, 5]),
    3: ([[-1, 2, 3], [4, 5, 5], [4, 8, 9]], [[0, 1, 2], [3, 4, 4], [3, 7, 8]]),
    4: (
        [[[5, 5, 3], [8, 9, 9], [8, 9, 9]], [[6, 5, 5], [8, 2, 1], [8, 2, -3]]],
        [[[4, 4, 2], [7, 8, 8], [7, 8, 8]], [[12, 11, 11], [15, 16, 14], [15, 16, 17]]],
    ),
    5: ([[5, 3], [8, 9]], [[4, 2], [7, 8]]),
    6: ([[5, 6, 5], [8, 9, 8], [5, 6, 5]], [[4, 5, 4], [7, 8, 7], [4, 5, 4]]),
    7: ([[[5, 6], [8, 9]], [[14, 15], [17, 18]]], [[[4, 5], [7, 8]], [[4, 5], [7, 8]]]),
}
"""Both outputs of the examples of MaxPool-8, Mathematical Formulation."""
WRONG = (0, 0, 1, 3)
"""The element of example 1 whose window holds 3 and -6: the document prints -6 with index 5."""
IN_SHAPE_RULES = {1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 7: 6, 8: 7}
"""Examples of the shape rules that repeat one of MaxPool-8, by its number there."""


def printed(operator):
    """Return the examples of an operator that print their numbers, by number."""
    found = examples(OPERATORS[operator], 0)
    return {int(case.source.split()[-1]): case for case in found if case.pattern == "printed"}


def assert_printed(case, outputs):
    """Assert that a case gives the outputs that are printed, but for the erratum."""
    for got, numbers in zip(
        evaluate(case.operator, case.inputs, case.attributes), outputs, strict=True
    ):
        right = np.array(numbers).reshape(got.shape)
        if any("erratum" in tag for tag in case.tags):
            right[WRONG] = {-6: 3, 5: 2}[int(right[WRONG])]
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("number", PRINTED)
def test_max_pool_8_prints_both_outputs(number):
    """All seven examples, but for one element of the first."""
    assert printed("MaxPool-8").keys() == PRINTED.keys()
    assert_printed(printed("MaxPool-8")[number], PRINTED[number])


@pytest.mark.parametrize("number", IN_SHAPE_RULES)
def test_the_shape_rules_repeat_them(number):
    """With other numbers, and the same erratum, for MaxPool-14."""
    assert_printed(printed("MaxPool-14")[number], PRINTED[IN_SHAPE_RULES[number]])


def test_the_example_of_ceil_torch():
    """The shape rules' example 5 has two windows of each axis, where ceil gives three."""
    assert_printed(printed("MaxPool-14")[5], ([[1, 3], [7, 9]], [[0, 2], [6, 8]]))


@pytest.mark.parametrize(
    ("operator", "extents"),
    [
        ("AvgPool-14", [32, 32, 10, 15, 14]),
        ("AvgPool-16", [32, 32, 10, 15, 14, 13]),
        ("MaxPool-8", [32, 17, 16]),
        ("MaxPool-14", [32, 17, 16]),
        ("AdaptiveMaxPool-8", [16]),
    ],
)
def test_shapes_that_layers_print(operator, extents):
    """Each is the shape under some reading: 32 from 32 with strides of 2 needs same-as-input."""
    cases = [case for case in examples(OPERATORS[operator], 0) if case.pattern != "printed"]
    for case, extent in zip(cases, extents, strict=True):
        outcomes = vector_of(case).values
        shapes = {output.values.shape for outcome in outcomes for output in outcome.outputs}
        assert (1, 3, extent, extent) in shapes
