"""What a bound needs to know of each window, against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from support.drawn_params import hard_cases
from support.oracle import FORMATS, WholeCaseUndefined, array, oracle

from conformance.operators import vector_of
from conformance.reference import measures
from conformance.vector import UNDEFINED, Case

# M is rounded up to twelve bits.
EXCESS = Fraction(1, 2**11) + Fraction(1, 2**40)
AVERAGES = ("AvgPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")


def of_row(values, dtype="float64", divisor=None):
    """Measure one window that holds the whole row."""
    data = array(values, dtype).reshape(1, 1, -1)
    size = np.array([data.size])
    return measures(data, [np.array([0])], [size], size if divisor is None else np.array([divisor]))


@given(case=hard_cases(operators=AVERAGES))
def test_measures_equal_the_oracle(case):
    """Addends and divisor are exact; M is never below sum|x| / divisor, and hardly above."""
    operator, inputs, attributes = case
    try:
        exact = oracle(operator, inputs, attributes)
    except WholeCaseUndefined:
        assume(False)
    outcome = vector_of(Case("case", operator, attributes, tuple(inputs))).outcomes[0]
    undefined = exact.undefined.ravel()
    np.testing.assert_array_equal(outcome.outputs[0].addends == UNDEFINED, undefined)
    np.testing.assert_array_equal(
        outcome.outputs[0].divisor[~undefined], exact.divisor.ravel()[~undefined]
    )
    finite = np.isfinite(exact.expected.astype(np.float64)).ravel()
    for index in np.flatnonzero(finite & ~undefined):
        assert outcome.outputs[0].addends[index] == exact.addends.ravel()[index]
        got, least = Fraction(outcome.outputs[0].magnitude[index]), exact.magnitude.ravel()[index]
        most = least * (1 + EXCESS) + Fraction(1, 2**1030)
        assert least <= got <= most


def test_sums_beyond_the_largest_double_are_scaled():
    """M is finite and not too small where the sum of magnitudes overflows."""
    largest = float(np.finfo(np.float64).max)
    magnitude = of_row([largest, -largest, largest, 0.0]).magnitude[0]
    assert Fraction(largest) * 3 / 4 <= Fraction(magnitude)
    assert np.isfinite(magnitude)
    assert of_row([largest] * 5).magnitude[0] == largest


def test_a_quotient_that_underflows_is_rounded_up():
    """A third of the smallest double is not zero in M."""
    smallest = 2.0 ** FORMATS["float64"][1]
    assert of_row([smallest, 0.0, 0.0]).magnitude[0] >= smallest
