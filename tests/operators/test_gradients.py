"""Gradients: equal to a slow oracle, and to what calculus says of them, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_gradients import gradient_cases
from support.drawn_params import FLOATS, hard_cases
from support.gradient_oracle import UNDEFINED, gradient_of, output_shape
from support.oracle import WholeCaseUndefined, rounded

from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, evaluate, operator_named
from conformance.operators.gradients import backward

FORWARD = [name for name, operator in OPERATORS.items() if not operator.is_gradient]
DERIVED = [name for name in FORWARD if OPERATORS[name].has_gradient]
CHOOSING = [name for name in DERIVED if OPERATORS[name].reduction.name == "maximum"]
AVERAGING = [name for name in DERIVED if OPERATORS[name].reduction.name == "average"]
NORMS = [name for name in DERIVED if OPERATORS[name].reduction.powers]
PLAIN = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}


def computed(operator, gradient, inputs, attributes, readings=None):
    """Return the gradient of the data."""
    return evaluate(operator + "-backward", [gradient, *inputs], attributes, readings)


def assert_equals(got, expected):
    """Assert that a gradient is the exact one, rounded once, wherever it is defined."""
    assert got.shape == expected.shape
    for place, exact in np.ndenumerate(expected):
        if exact == UNDEFINED:
            assert np.isnan(got[place])
            continue
        wanted = rounded(exact, got.dtype)
        assert got[place] == wanted or (np.isnan(got[place]) and np.isnan(wanted)), place


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_gradients_of_averages_and_maxima_equal_the_oracle(dtype, data):
    """Hard values of every type, under any combination of readings, bit for bit."""
    case = data.draw(gradient_cases(operators=(*AVERAGING, *CHOOSING), dtypes=(dtype,)))
    assert_equals(computed(*case), gradient_of(*case))


@given(case=gradient_cases(operators=tuple(NORMS)))
def test_gradients_of_norms_equal_the_oracle(case):
    """They are the oracle's where it has one; where powers may leave a type's range, none."""
    got, expected = computed(*case), gradient_of(*case)
    for place, exact in np.ndenumerate(expected):
        if exact == UNDEFINED:
            assert np.isnan(got[place])
        elif not np.isnan(got[place]):
            assert got[place] == rounded(exact, got.dtype)


@pytest.mark.parametrize(
    "name", [name for name in (*AVERAGING, *CHOOSING) if "float64" in OPERATORS[name].dtypes]
)
def test_the_inner_product_with_any_direction_agrees(name):
    """Exactly <g, f(x)> = <backward(g), x> for sums, and for maxima, which are homogeneous."""

    @given(seed=st.integers(0, 2**32), case=hard_cases(operators=(name,), dtypes=("float64",)))
    def agrees(seed, case):
        operator, inputs, attributes = case
        rng = np.random.default_rng(seed)
        # Integers, over divisors of which all are in 5040.
        data = rng.integers(-9, 9, inputs[0].shape).astype(np.float64)
        try:
            shape = output_shape(operator, inputs, attributes)
        except WholeCaseUndefined:
            return
        gradient = rng.integers(-9, 9, shape).astype(np.float64)
        inputs = [data, *inputs[1:]]
        exact = gradient_of(operator, gradient, inputs, attributes)
        first = evaluate(operator, inputs, attributes)
        first = first[0] if isinstance(first, tuple) else first
        defined = np.isfinite(first)
        # Windows without cells are NaN or -inf, and give nothing.
        outputs = float(np.sum(np.where(defined, first, 0) * gradient))
        cells = sum((g * Fraction(float(x)) for g, x in zip(exact.flat, data.flat, strict=True)), 0)
        assert outputs == pytest.approx(float(cells), rel=1e-12, abs=1e-9)

    agrees()


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.ones((1, 1, 3), np.float64), "gradient of type float64"),
        (np.ones((1, 2, 3), np.float32), "gradient of shape"),
        (np.ones((1, 1, 3, 1), np.float32), "gradient of shape"),
    ],
)
def test_a_gradient_that_is_not_like_the_data_is_invalid(gradient, message):
    """Type, rank, batch and channels are those of the data."""
    with pytest.raises(InvalidCase, match=message):
        evaluate("MaxPool-1-backward", [gradient, np.ones((1, 1, 4), np.float32)], PLAIN)


def test_every_operator_with_an_average_maximum_or_norm_has_a_gradient():
    """But for those that say otherwise; and a gradient has none."""
    others = [name for name in FORWARD if name not in DERIVED]
    newest = [name for name in others if OPERATORS[name].newer is None]
    without = ("TOSA-", "LiteRT-", "ORT-")
    assert all(name.startswith(without) for name in newest if not OPERATORS[name].scatters)
    assert not any(backward(OPERATORS[name]) for name in others)
    for name in DERIVED:
        assert operator_named(name + "-backward").forward is OPERATORS[name]
        assert backward(OPERATORS[name + "-backward"]) is None
