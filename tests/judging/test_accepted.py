"""Answers to vectors judged alone, many at once: by the rules of a whole check."""

import numpy as np
from support.fakes import ramp, right, vector

from conformance.judging.judge import accepted
from conformance.vector import Anything, Vector


def answer(vector):
    """Return the outputs of a right backend."""
    case = vector.case
    return (right(case.operator, case.inputs, case.attributes),)


def test_verdicts_are_in_the_order_of_the_vectors():
    """Vectors of several operators may be mixed, and one may occur more than once."""
    average = vector(ramp(1, 1, 6), id="average")
    maximum = vector(ramp(1, 1, 6), operator="MaxPool-1", id="maximum")
    (one,), (other,) = answer(average), answer(maximum)
    assert accepted(
        [average, maximum, average, maximum, average],
        [(one,), (one,), (other,), (other,), None],
    ) == [True, False, False, True, False]


def test_a_case_undefined_as_a_whole_accepts_anything():
    """Any array, none and any exception conform where the whole case is undefined."""
    undefined = Vector(vector().case, (Anything(),))
    assert accepted([undefined] * 3, [None, (np.zeros(7),), ()]) == [True, True, True]
