"""What a document refuses of the numbers of an axis, though each is in its range."""

from dataclasses import replace

import numpy as np
import pytest

from conformance.cases.sweep.rules import broken
from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, Rule
from conformance.operators.axis import Axis

ODD = Rule(
    "kernels are odd",
    "Args",
    lambda axis: axis._replace(kernel=axis.kernel | 1),
    lambda axis: axis._replace(kernel=axis.kernel & ~1 or 2),
)
OPERATOR = replace(OPERATORS["nGraph-AvgPool"], name="OddPool-1", rules=(ODD,), clauses=())
DATA = np.ones((1, 1, 5, 6), np.float32)


def test_a_call_that_breaks_it_on_any_axis_is_invalid():
    OPERATOR.validate([DATA], {"window_shape": [3, 1]})
    with pytest.raises(InvalidCase, match=r"OddPool-1: kernels are odd; an axis has .*'kernel': 2"):
        OPERATOR.validate([DATA], {"window_shape": [3, 2]})


def test_numbers_of_cases_are_mended():
    assert Axis(6, 4, 2).allowed(OPERATOR) == Axis(6, 5, 2)
    assert Axis(6, 3, 2).allowed(OPERATOR) == Axis(6, 3, 2)


def test_calls_that_break_it_alone_have_to_be_refused():
    """On the first axis, and on the last."""
    ways = [
        way for way in broken(OPERATOR, {"window_shape": [3, 3]}, (DATA,)) if way.rule == ODD.says
    ]
    assert [way.attributes["window_shape"] for way in ways] == [[2, 3], [3, 2]]
    for way in ways:
        with pytest.raises(InvalidCase, match=ODD.says):
            OPERATOR.validate(way.inputs, way.attributes)
