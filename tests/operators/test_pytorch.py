"""PyTorch's functions: what torch was seen to return, and what it returns for drawn cases."""

from importlib import import_module
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples
from support.oracle import WholeCaseUndefined, plan
from support.random_cases import TORCH, TORCH_ADAPTIVE, cases, noise

from conformance import load_backend
from conformance.errors import InvalidCase
from conformance.judging.judge import accepted
from conformance.operators import OPERATORS, evaluate, vector_of
from conformance.vector import Case

EVERY = (*TORCH, *TORCH_ADAPTIVE)
NORMS = tuple(name for name in TORCH if "lp_pool" in name)
ROW = np.arange(1.0, 7.0).reshape(1, 1, 6)
PLANE = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)


def averages(data=ROW, **attributes):
    """Return averages as a flat list."""
    name = f"PyTorch-avg_pool{data.ndim - 2}d"
    return evaluate(name, [data], {"kernel_size": 3, "stride": 2, **attributes}).ravel().tolist()


@pytest.mark.parametrize(
    ("attributes", "seen"),
    [
        ({"ceil_mode": True}, [2, 4, 5.5]),
        ({"ceil_mode": True, "padding": 1}, [1, 3, 5, 3]),
        ({"ceil_mode": True, "padding": [1], "count_include_pad": False}, [1.5, 3, 5, 6]),
        ({"stride": []}, [2, 5]),
    ],
)
def test_averages_are_those_that_torch_was_seen_to_return(attributes, seen):
    assert averages(**attributes) == seen


def test_a_divisor_that_is_given_is_that_of_every_window():
    got = averages(PLANE, kernel_size=2, divisor_override=3)
    assert got == pytest.approx([14 / 3, 22 / 3, 46 / 3, 18])


def test_indices_count_the_cells_of_a_plane():
    _, indices = evaluate(
        "PyTorch-max_pool2d", [np.concatenate([PLANE, PLANE], 1)], {"kernel_size": 2}
    )
    assert indices.ravel().tolist() == [5, 7, 13, 15] * 2


@pytest.mark.parametrize(("padding", "dilation"), [*product((2, [0, 2]), (1, 3))])
def test_padding_of_more_than_half_a_kernel_is_refused(padding, dilation):
    """Whatever the dilation."""
    attributes = {"kernel_size": 3, "padding": padding, "dilation": dilation}
    with pytest.raises(InvalidCase, match="padding is at most half of the kernel"):
        evaluate("PyTorch-max_pool2d", [PLANE], attributes)


@pytest.mark.parametrize("divisor", [0, -2, 1.5, True, 1 << 31, 10**30])
def test_a_divisor_is_an_integer_from_one(divisor):
    with pytest.raises(InvalidCase, match="divisor_override"):
        averages(PLANE, divisor_override=divisor)


@pytest.mark.needs_engine("torch")
@examples(20)
@given(case=cases(operators=EVERY, dtypes=["float64"], fill=noise))
def test_drawn_cases_are_those_of_torch(case):
    """Averages but for the last bits, maxima and indices exactly; but for what torch refuses."""
    torch = import_module("torch")
    operator, (data,), attributes = case
    try:
        planned = plan(operator, [data], attributes)
    except (ValueError, WholeCaseUndefined):
        return
    is_maximum = "max" in operator
    if operator == "PyTorch-lp_pool1d":  # which takes no list
        kernel = attributes["kernel_size"]
        attributes = {
            **attributes,
            "kernel_size": kernel[0] if isinstance(kernel, list) else kernel,
        }
    empty = any(not window.inside for windows in planned.axes for window in windows)
    kernel = np.broadcast_to(attributes.get("kernel_size", 1), data.ndim - 2)
    above = np.max(np.subtract(kernel, data.shape[2:]))
    is_refused = operator in ("PyTorch-avg_pool3d", "PyTorch-lp_pool3d") and above > 0
    if empty or is_refused:  # findings 48 and 8
        return
    pool = getattr(torch.nn.functional, operator.removeprefix("PyTorch-"))
    more = {"return_indices": True} if is_maximum else {}
    got = pool(torch.from_numpy(data), **attributes, **more)
    readings = {"lp-overhang": "whole-kernel"} if "lp" in operator else {}
    expected = evaluate(operator, [data], attributes, readings)
    if is_maximum:
        assert all(np.array_equal(a.numpy(), b) for a, b in zip(got, expected, strict=True))
    else:
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-13, atol=1e-13)


def test_there_is_an_operator_for_each_number_of_axes():
    assert [OPERATORS[name].rank for name in EVERY] == [1, 2, 3] * 5


@pytest.mark.parametrize(("output_size", "extent"), [((None, 2), (3, 2)), (2, (2, 2))])
def test_an_output_size_of_none_is_that_of_the_input(output_size, extent):
    data = np.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    values, indices = evaluate("PyTorch-adaptive_max_pool2d", [data], {"output_size": output_size})
    assert values.shape[2:] == indices.shape[2:] == extent


def test_a_window_past_the_input_weighs_as_its_document_or_as_torch_does():
    attributes = {"norm_type": 1, "kernel_size": 3, "stride": 2, "ceil_mode": True}
    assert evaluate("PyTorch-lp_pool1d", [ROW], attributes).ravel().tolist() == [6, 12, 11]
    whole = evaluate("PyTorch-lp_pool1d", [ROW], attributes, {"lp-overhang": "whole-kernel"})
    assert whole.ravel().tolist() == [6, 12, 16.5]


@pytest.mark.parametrize(
    ("reading", "expected"),
    [("cells", [1, 1, 2, 1, 2, 1]), ("whole-kernel", [1, 1, 2, 1, 2.5, 1.5])],
)
def test_the_gradient_of_a_window_past_the_input_weighs_as_its_norm_does(reading, expected):
    """Of a sum, each cell gets the weight of its windows: 3 / 2 that of the last."""
    attributes = {"norm_type": 1, "kernel_size": 3, "stride": 2, "ceil_mode": True}
    inputs = [np.ones((1, 1, 3)), ROW]
    got = evaluate("PyTorch-lp_pool1d-backward", inputs, attributes, {"lp-overhang": reading})
    assert got.ravel().tolist() == expected


def test_a_cell_that_no_window_holds_gets_nothing():
    """Whatever it is: torch gives NaN (finding 74)."""
    for beyond in (2e38, np.inf, np.nan):
        data = np.array([[[3, 4, beyond]]], np.float32)
        inputs = [np.ones((1, 1, 1), np.float32), data]
        got = evaluate("PyTorch-lp_pool1d-backward", inputs, {"norm_type": 2, "kernel_size": 2})
        assert got.ravel().tolist() == np.float32([0.6, 0.8, 0]).tolist()


@pytest.mark.parametrize(("norm_type", "expected"), [(1, [0, 0, 5, 5]), (2, [0, 0, 3, 4])])
def test_a_window_of_zeros_gives_a_gradient_of_zero(norm_type, expected):
    """As the document says; of 3 and 4, the norm is 5, so that each gets itself for p = 2."""
    data = np.array([[[0, 0, 3, 4]]], np.float32)
    inputs = (np.array([[[5, 5]]], np.float32), data)
    attributes = {"norm_type": norm_type, "kernel_size": 2}
    got = evaluate("PyTorch-lp_pool1d-backward", inputs, attributes)
    assert got.ravel().tolist() == expected
    vector = vector_of(Case("x", "PyTorch-lp_pool1d-backward", attributes, inputs))
    assert "gradient-of-no-norm" not in vector.clauses
    assert (vector.values[0].outputs[0].addends >= 0).all()


@pytest.mark.parametrize("norm_type", [1, 2])
def test_a_window_of_zeros_gives_nothing_to_cells_of_others(norm_type):
    """Of windows (0, 0), (0, 4), the second alone gives: its gradient, to the 4."""
    inputs = [np.array([[[7, 5]]], np.float64), np.array([[[0, 0, 4]]], np.float64)]
    attributes = {"norm_type": norm_type, "kernel_size": 2, "stride": 1}
    got = evaluate("PyTorch-lp_pool1d-backward", inputs, attributes).ravel()
    assert (got[0], got[2]) == (0, 5)
    assert got[1] == 0 if norm_type == 2 else np.isnan(got[1])


@pytest.mark.parametrize("norm_type", [1, 2])
@pytest.mark.parametrize("gradient", [np.inf, np.nan])
def test_what_a_window_of_zeros_makes_of_no_number_is_left_open(norm_type, gradient):
    inputs = (np.array([[[gradient]]], np.float32), np.zeros((1, 1, 2), np.float32))
    attributes = {"norm_type": norm_type, "kernel_size": 2}
    vector = vector_of(Case("x", "PyTorch-lp_pool1d-backward", attributes, inputs))
    assert "gradient-of-no-norm" in vector.clauses


@pytest.mark.parametrize(("returned", "conforms"), [(0, True), (12345, False), (np.nan, False)])
def test_a_gradient_of_a_window_of_zeros_is_judged(returned, conforms):
    inputs = (np.ones((1, 1, 1), np.float32), np.zeros((1, 1, 2), np.float32))
    attributes = {"norm_type": 2, "kernel_size": 2}
    vector = vector_of(Case("x", "PyTorch-lp_pool1d-backward", attributes, inputs))
    assert accepted([vector], [(np.full((1, 1, 2), returned, np.float32),)]) == [conforms]


def test_cases_without_ceil_mode_are_under_no_reading_of_overhangs():
    """A window reaches past the input with ceil_mode alone; powers may be averaged in either."""
    tiny = np.array([[[2.0**-60, 0, 0, 0, 0, 0, 0, 0, 0]]], np.float32)
    inputs = (np.ones((1, 1, 1), np.float32), tiny)
    for ceil_mode in (False, True):
        attributes = {"norm_type": 2, "kernel_size": 9, "ceil_mode": ceil_mode}
        case = Case("x", "PyTorch-lp_pool1d-backward", attributes, inputs)
        assert "lp-overhang" not in vector_of(case).clauses


@pytest.mark.needs_engine("torch")
@examples(20)
@given(case=cases(operators=NORMS, dtypes=["float64"], fill=noise), p=st.sampled_from((2, 4, 6)))
def test_gradients_of_drawn_norms_are_those_of_autograd(case, p):
    operator, (data,), attributes = case
    attributes = {**attributes, "norm_type": p}
    try:
        planned = plan(operator, [data], attributes)
    except (ValueError, WholeCaseUndefined):
        return
    kernel = np.broadcast_to(attributes["kernel_size"], data.ndim - 2)
    empty = any(not window.inside for windows in planned.axes for window in windows)
    if empty or np.max(np.subtract(kernel, data.shape[2:])) > 0 or not data.any():
        return
    gradient = np.cos(np.arange(prod(map(len, planned.axes)) * prod(data.shape[:2])))
    gradient = gradient.reshape(*data.shape[:2], *map(len, planned.axes))
    got = load_backend("torch")(f"{operator}-backward", [gradient, data], attributes)
    expected = evaluate(
        f"{operator}-backward", [gradient, data], attributes, {"lp-overhang": "whole-kernel"}
    )
    defined = ~np.isnan(expected)
    np.testing.assert_allclose(got[defined], expected[defined], rtol=1e-12, atol=1e-12)


def test_an_odd_power_of_a_negative_number_is_left_open():
    attributes, gradient = {"norm_type": 3, "kernel_size": 2}, np.ones((1, 1, 3))
    with pytest.raises(InvalidCase, match="p = 3 of a negative cell"):
        evaluate("PyTorch-lp_pool1d", [-ROW], attributes)
    with pytest.raises(InvalidCase, match="p = 3 of a negative cell"):
        evaluate("PyTorch-lp_pool1d-backward", [gradient, -ROW], attributes)
