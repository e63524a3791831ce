"""PyTorch's functions: what torch was seen to return, and what it returns for drawn cases."""

from importlib import import_module
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples
from support.oracle import WholeCaseUndefined, plan
from support.random_cases import TORCH, TORCH_ADAPTIVE, cases, noise

from conformance import load_backend
from conformance.judging.judge import accepts
from conformance.operators import evaluate, vector_of
from conformance.vector import Case

EVERY = (*TORCH, *TORCH_ADAPTIVE)
NORMS = tuple(name for name in TORCH if "lp_pool" in name)


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


def test_a_cell_that_no_window_holds_gets_nothing():
    """Whatever it is: torch gives NaN (finding 74)."""
    for beyond in (2e38, np.inf, np.nan):
        data = np.array([[[3, 4, beyond]]], np.float32)
        inputs = [np.ones((1, 1, 1), np.float32), data]
        got = evaluate("PyTorch-lp_pool1d-backward", inputs, {"norm_type": 2, "kernel_size": 2})
        assert got.ravel().tolist() == np.float32([0.6, 0.8, 0]).tolist()


@pytest.mark.parametrize(("returned", "conforms"), [(0, True), (12345, False), (np.nan, False)])
def test_a_gradient_of_a_window_of_zeros_is_judged(returned, conforms):
    inputs = (np.ones((1, 1, 1), np.float32), np.zeros((1, 1, 2), np.float32))
    attributes = {"norm_type": 2, "kernel_size": 2}
    vector = vector_of(Case("x", "PyTorch-lp_pool1d-backward", attributes, inputs))
    assert accepts(vector, (np.full((1, 1, 2), returned, np.float32),)) is conforms


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
