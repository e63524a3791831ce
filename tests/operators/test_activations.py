"""Fused activations of LiteRT, and the scale and the zero point that their limits depend on."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples
from support.oracle import array, exact_maximum, exact_mean, exact_value, rounded

from conformance.cases.strategies import cases
from conformance.cases.sweep.activations import activations
from conformance.cases.sweep.sweep_model import cases_of
from conformance.errors import InvalidCase
from conformance.fuzz.drawing import Place, group_at
from conformance.operators import OPERATORS, as_called, evaluate, vector_of
from conformance.vector import Case

AVERAGE, MAXIMUM = "LiteRT-AVERAGE_POOL_2D", "LiteRT-MAX_POOL_2D"
BOTH = (AVERAGE, MAXIMUM)
WORDS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")


def called(operator, cells, activation, width=1, dtype="float32", readings=None, **encoding):
    """Return results of windows of `width` cells in one row, side by side."""
    windows = {"filter_height": 1, "filter_width": width, "stride_h": 1, "stride_w": width}
    others = {"padding": "VALID", "fused_activation_function": activation}
    attributes = windows | others | encoding
    data = array(cells, dtype).reshape(1, 1, -1, 1)
    return evaluate(operator, [data], attributes, readings).ravel().tolist()


def case_with(activation, cells):
    """Return an average of two cells as it is stored; an activation of None is left out."""
    attributes = {"filter": [1, 2], "stride": [1, 2], "padding": "VALID"}
    if activation is not None:
        attributes["fused_activation_function"] = activation
    return Case("two", AVERAGE, attributes, (array(cells).reshape(1, 1, 1, -1),))


# By hand ------------------------------------------------------------------------------------------

NEAR_HALF = float(np.float32(12 / 255))
"""6 over it is 127.4999974, between the numbers 127.4999924 and 127.5 of float32."""


@pytest.mark.parametrize("operator", BOTH)
@pytest.mark.parametrize(("reading", "limit"), [("exact", 127), ("float32", 128)])
def test_a_quotient_rounds_to_float32_before_it_does_to_an_integer_or_not(operator, reading, limit):
    readings, encoding = {"activation-limits": reading}, {"scale": NEAR_HALF, "zero_point": 0}
    found = called(operator, [250, 90], "RELU6", dtype="uint8", readings=readings, **encoding)
    assert found == [limit, 90]


@pytest.mark.parametrize(
    ("activation", "scale", "is_open"),
    [("RELU6", NEAR_HALF, True), ("RELU6", 0.25, False), ("RELU", NEAR_HALF, False)],
)
def test_it_is_open_only_where_the_limit_depends_on_it(activation, scale, is_open):
    attributes = {"filter": [1, 1], "stride": [1, 1], "padding": "VALID", "scale": scale}
    attributes |= {"fused_activation_function": activation, "zero_point": 0}
    vector = vector_of(Case("", MAXIMUM, attributes, (array([250], "uint8").reshape(1, 1, 1, 1),)))
    assert ("activation-limits" in vector.clauses) == is_open
    assert len(vector.values) == 1 + is_open


# What is handed over, and refused -----------------------------------------------------------------


@pytest.mark.parametrize("activation", [None, *WORDS])
def test_an_activation_is_always_handed_over(activation):
    case = case_with(activation, [1, 2])
    inputs, attributes = as_called(case)
    assert attributes["fused_activation_function"] == (activation or "NONE")
    assert not {"scale", "zero_point"} & set(attributes)
    taken = OPERATORS[AVERAGE].convention.taken(inputs, attributes)[1]
    usual = {key: value for key, value in case.attributes.items() if value != "NONE"}
    assert taken == usual


@pytest.mark.parametrize(
    ("activation", "encoding", "dtype", "why"),
    [
        ("TANH", {}, "float32", "fused_activation_function"),
        ("relu", {}, "float32", "fused_activation_function"),
        ("", {}, "int8", "fused_activation_function"),
        ("RELU", {"scale": 0.5}, "float32", r"scale=0.5: must be 1.0 for float32"),
        ("RELU", {"scale": 0.0}, "int8", "scale=0.0: must be a number of float32 above 0"),
        ("RELU", {"scale": 0.1}, "int8", "scale=0.1: must be a number of float32 above 0"),
        ("RELU", {"zero_point": 3}, "int16", "zero_point=3: must be 0 for int16"),
        ("RELU", {"zero_point": 128}, "int8", "zero point 128: int8 holds -128 to 127"),
        ("RELU", {"zero_point": -1}, "uint8", "zero point -1: uint8 holds 0 to 255"),
    ],
)
@pytest.mark.parametrize("operator", BOTH)
def test_what_is_no_activation_and_no_encoding_is_refused(
    operator, activation, encoding, dtype, why
):
    with pytest.raises(InvalidCase, match=why):
        called(operator, [1, 2], activation, dtype=dtype, **encoding)


# Plain loops --------------------------------------------------------------------------------------


def limits(activation, dtype, scale, zero_point):
    """Return the limits as they are specified, in exact fractions."""
    least, most = {"RELU": (0, None), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}[activation]
    if dtype.kind == "f":
        return least, math.inf if most is None else most
    ends = np.iinfo(dtype)

    def held(limit):
        half = abs(Fraction(limit) / Fraction(scale)) + Fraction(1, 2)
        away = half.numerator // half.denominator * (1 if limit > 0 else -1)
        return min(max(zero_point + away, int(ends.min)), int(ends.max))

    return held(least), int(ends.max) if most is None else held(most)


def value_of(operator, cells, activation, dtype, scale, zero_point):
    """Return what the cells of a window become, as a scalar of the type."""
    if operator == MAXIMUM:
        exact = exact_maximum(cells)
    else:
        exact = exact_mean(cells, len(cells))
        if dtype.kind in "iu":
            half = abs(exact) + Fraction(1, 2)
            exact = Fraction(half.numerator // half.denominator * (1 if exact > 0 else -1))
    value = rounded(exact, dtype)
    if activation == "NONE":
        return value
    least, most = limits(activation, dtype, scale, zero_point)
    return dtype.type(max(least, min(value, most)))


def by_loops(operator, data, attributes):
    """Return results of data (N, C, H, W) and attributes as they are stored."""
    (batch, channels, *sizes), kernel = data.shape, attributes["filter"]
    begins, extent = [], []
    for d, k, s in zip(sizes, kernel, attributes["stride"], strict=True):
        same = attributes["padding"] == "SAME"
        extent.append((d + s - 1) // s if same else (d + s - k) // s)
        begins.append(max(0, (extent[-1] - 1) * s + k - d) // 2 if same else 0)
    got = np.zeros((batch, channels, *extent), data.dtype)
    for n, c, *place in product(*map(range, got.shape)):
        first = [i * s - b for i, s, b in zip(place, attributes["stride"], begins, strict=True)]
        axes = zip(first, kernel, sizes, strict=True)
        rows, columns = ([i for i in range(a, a + k) if 0 <= i < d] for a, k, d in axes)
        got[(n, c, *place)] = value_of(
            operator,
            [exact_value(data[n, c, y, x]) for y, x in product(rows, columns)],
            attributes.get("fused_activation_function", "NONE"),
            data.dtype,
            attributes.get("scale", 1.0),
            attributes.get("zero_point", 0),
        )
    return got


@pytest.mark.parametrize("operator", BOTH)
def test_every_shipped_activation_equals_plain_loops(operator):
    for case in cases_of(activations(OPERATORS[operator])):
        if case.pattern not in {"nan", "infinities"}:
            (expected, *_) = vector_of(case).values
            computed = by_loops(operator, case.data, case.attributes)
            np.testing.assert_array_equal(expected.outputs[0].values, computed)


@pytest.mark.parametrize("operator", BOTH)
@examples(4)
@given(st.data())
def test_drawn_activations_equal_plain_loops(operator, data):
    case = data.draw(cases(operator, mixes=["integers"], max_elements=64))
    vector = vector_of(case)
    if vector.values:
        expected = vector.values[0].outputs[0].values
        np.testing.assert_array_equal(expected, by_loops(operator, case.data, case.attributes))


# Vectors, backends and faults ---------------------------------------------------------------------


def test_fuzz_draws_every_activation_and_encodings():
    places = [Place(0, MAXIMUM, number) for number in range(4)]
    drawn = [case.attributes for place in places for case in group_at(place)]
    assert {each.get("fused_activation_function") for each in drawn} >= {None, *WORDS}
    assert len({(each.get("scale"), each.get("zero_point")) for each in drawn}) > 6
