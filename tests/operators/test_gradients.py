"""Gradients: equal to a slow oracle, and to what calculus says of them, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_gradients import gradient_cases
from support.drawn_params import FLOATS, hard_cases
from support.gradient_oracle import UNDEFINED, gradient_of, output_shape
from support.oracle import WholeCaseUndefined, array, rounded

from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, evaluate, operator_named, vector_of
from conformance.operators.gradients import backward
from conformance.vector import UNDEFINED as MARK
from conformance.vector import Case, Raises

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


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gradient_of_a_norm_of_plain_numbers_is_defined(p, dtype):
    """Numbers around one leave nothing undefined, and equal the oracle bit for bit."""
    rng = np.random.default_rng(p)
    data = array(rng.uniform(0.5, 4, (1, 2, 5, 4)) * rng.choice([-1, 1], (1, 2, 5, 4)), dtype)
    gradient = array(rng.uniform(-2, 2, (1, 2, 4, 3)), dtype)
    case = ("ONNX-LpPool-22", gradient, [data], {"kernel_shape": [2, 2], "p": p})
    got = computed(*case)
    assert not np.isnan(got).any()
    assert_equals(got, gradient_of(*case))


@pytest.mark.parametrize(
    ("data", "gradient", "expected"),
    [
        ([3.0, 4.0], [5.0], [3.0, 4.0]),  # N = 5
        ([-3.0, 4.0], [5.0], [-3.0, 4.0]),
        ([3.0, 4.0, 3.0], [1.0, -1.0], [0.6, 0.0, -0.6]),  # the same irrational part, or none
        ([1.0, 1.0, 1.0], [1.0, -1.0], [0.5**0.5, 0.0, -(0.5**0.5)]),  # roots that cancel
        ([1.0, 1.0, 7.0], [2.0, 10.0], [2**0.5, 2 * 2**0.5, 7 * 2**0.5]),  # roots of 2 and of 50
    ],
)
def test_gradients_of_norms_by_hand(data, gradient, expected):
    """Sums of roots that are rational, that cancel, and that have a rational ratio."""
    got = computed(
        "ONNX-LpPool-22",
        array([[gradient]], "float64"),
        [array([[data]], "float64")],
        {"kernel_shape": [2]},
    )
    np.testing.assert_allclose(got[0, 0], expected, rtol=2**-52, atol=0)


def test_a_gradient_of_an_average_by_hand():
    """Windows (1), (1, 2), (2) by themselves, from 2 of padding on either side."""
    attributes = {**PLAIN, "pads_begin": [1], "pads_end": [1], "exclude_pad": True}
    data, gradient = array([[[7, 7]]]), array([[[1, 10, 100]]])
    got = computed("AvgPool-1", gradient, [data], attributes)
    assert got.tolist() == [[[6, 105]]]
    got = computed("AvgPool-1", gradient, [data], {**attributes, "exclude_pad": False})
    assert got.tolist() == [[[5.5, 55]]]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ({}, [0, 11, 0, 0]),
        ({"gradient-of-ties": "last"}, [0, 1, 10, 0]),
        ({"gradient-of-ties": "all"}, [0, 11, 10, 0]),
        ({"gradient-of-ties": "shared"}, [0, 6, 5, 0]),
    ],
)
def test_which_of_equal_maxima_gets_the_gradient(readings, expected):
    """Of 1 2 2 0, the window of two cells in the middle has a tie."""
    data, gradient = array([[[1, 2, 2, 0]]]), array([[[1, 10, 0]]])
    got = computed("MaxPool-1", gradient, [data], PLAIN, readings)
    assert got.tolist() == [[expected]]


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


@pytest.mark.parametrize("p", [-3, -1, 0, 1025])
def test_a_gradient_of_no_norm_is_refused_as_the_norm_is(p):
    """Such p make no norm, or powers that no type holds."""
    data, gradient = array([[[1, 2, 3, 4]]]), array([[[1, 1, 1]]])
    attributes = {"kernel_shape": [2], "p": p}
    with pytest.raises(InvalidCase, match=f"p = {p}: no norm"):
        evaluate("ONNX-LpPool-22", [data], attributes)
    with pytest.raises(InvalidCase, match=f"p = {p}: no norm"):
        computed("ONNX-LpPool-22", gradient, [data], attributes)


def test_a_gradient_is_the_slope_of_the_norm():
    """A difference quotient over a very small step is the gradient, but for that step."""
    data, step = [Fraction(3, 2), Fraction(-2), Fraction(1, 4)], 1e-6
    for place in range(3):
        ends = []
        for sign in (1, -1):
            moved = np.array([float(x) for x in data])
            moved[place] += sign * step
            ends.append(
                evaluate("ONNX-GlobalLpPool-22", [moved.reshape(1, 1, 3)], {"p": 3})[0, 0, 0]
            )
        cells = np.array([float(x) for x in data]).reshape(1, 1, 3)
        got = computed("ONNX-GlobalLpPool-22", np.ones((1, 1, 1)), [cells], {"p": 3})
        slope = (ends[0] - ends[1]) / (2 * step)
        assert got[0, 0, place] == pytest.approx(slope, abs=1e-8)


@given(case=gradient_cases(operators=tuple(AVERAGING), dtypes=("float32",)))
def test_it_is_linear(case):
    """Twice the gradient of the output is twice that of the data, unless it leaves the range."""
    operator, gradient, inputs, attributes, readings = case
    small = np.where(np.abs(gradient) < 2.0**-100, 0, np.clip(gradient, -(2.0**100), 2.0**100))
    small = np.nan_to_num(small).astype(np.float32)
    once = computed(operator, small, inputs, attributes, readings)
    twice = computed(operator, 2 * small, inputs, attributes, readings)
    assert np.array_equal(twice, 2 * once)


def test_a_gradient_of_another_shape_is_an_exception():
    """Under no reading does the output have that shape: invalid."""
    inputs = (np.ones((1, 1, 5), np.float32), np.ones((1, 1, 4), np.float32))
    with pytest.raises(InvalidCase, match=r"gradient of shape \(1, 1, 5\)"):
        evaluate("MaxPool-1-backward", inputs, PLAIN)
    vector = vector_of(Case("x", "MaxPool-1-backward", PLAIN, inputs))
    assert [type(outcome) for outcome in vector.outcomes] == [Raises]


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


def test_a_reading_with_another_extent_refuses_the_gradient():
    """The output has two windows by one reading and one by the other: only one has its gradient."""
    attributes = {**PLAIN, "kernel": [1], "strides": [3], "auto_pad": "same_upper"}
    attributes |= {"rounding_type": "ceil"}
    inputs = (np.ones((1, 1, 2), np.float32), np.ones((1, 1, 4), np.float32))
    vector = vector_of(Case("x", "MaxPool-1-backward", attributes, inputs))
    assert "same-output-size" in vector.clauses
    kinds = {
        combination["same-output-size"]: type(outcome).__name__
        for outcome in vector.outcomes
        for combination in outcome.readings
    }
    assert kinds == {"divided": "Values", "same-as-input": "Raises"}


@pytest.mark.parametrize("counts", [False, True])
def test_the_gradient_of_an_ill_defined_output_may_be_refused(counts):
    """Where the average of padding alone is 0 of something, it is defined, and so is all else."""
    attributes = {**PLAIN, "pads_begin": [1], "exclude_pad": not counts}
    attributes |= {"kernel": [1], "strides": [2]}
    inputs = (np.ones((1, 1, 2), np.float32), np.ones((1, 1, 2), np.float32))
    vector = vector_of(Case("x", "AvgPool-1-backward", attributes, inputs))
    assert ("gradient-of-undefined" in vector.clauses) == (not counts)
    values, raises = vector.outcomes
    accepts = {"pads-not-below-kernel": "accepted"}
    assert accepts in values.readings
    assert (accepts in raises.readings) == (not counts)


def test_a_window_whose_maximum_is_what_padding_holds_says_nothing():
    """Minus infinity beside padding: its cells are undefined, and the clause says so."""
    attributes = {**PLAIN, "pads_begin": [1], "strides": [2]}
    inputs = (np.ones((1, 1, 2), np.float32), np.array([[[-np.inf, 1, 2]]], np.float32))
    vector = vector_of(Case("x", "MaxPool-1-backward", attributes, inputs))
    assert "gradient-of-padding" in vector.clauses
    assert (vector.values[0].outputs[0].addends == MARK).tolist() == [True, False, False]


def test_every_operator_with_an_average_maximum_or_norm_has_a_gradient():
    """But for those that say otherwise; and a gradient has none."""
    others = [name for name in FORWARD if name not in DERIVED]
    without = ("TOSA-", "LiteRT-", "ORT-")
    assert all(name.startswith(without) for name in others if not OPERATORS[name].scatters)
    assert not any(backward(OPERATORS[name]) for name in others)
    for name in DERIVED:
        assert operator_named(name + "-backward").forward is OPERATORS[name]
        assert backward(OPERATORS[name + "-backward"]) is None
