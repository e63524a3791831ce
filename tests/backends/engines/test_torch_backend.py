"""The torch backend against the oracle, where torch can say what the case says."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from support.oracle import FORMATS, WholeCaseUndefined, array, oracle
from support.random_cases import (
    INVALID,
    OPERATORS,
    cases,
    noise,
    pooling,
    worst_share,
)

from conformance.errors import Unsupported

pytest.importorskip("torch")

from conformance.backends.engines import torch_backend
from conformance.backends.engines.torch_backend import backend

pytestmark = pytest.mark.needs_engine("torch")

NOT_TOLD = {"strides-empty", "pad-negative", "rounding", "auto-pad", "exclude-pad"}
READINGS = {"ceil-window-past-input": "dropped"}
ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


def attempt(case, readings=READINGS):
    """Return torch's output and the oracle's; give the case up where there is none."""
    try:
        result = oracle(*case, readings)
        return backend(*case), result
    except (WholeCaseUndefined, NotImplementedError):
        assume(False)
    except RuntimeError as error:
        # avg_pool3d wants the input without its padding to be as large as the kernel
        if "smaller than kernel size" not in str(error):
            raise
        assume(False)


@pytest.mark.parametrize("operator", OPERATORS)
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents under the readings of torch.

    Sums are exact; adaptive pooling divides by one axis after the other.
    """

    @given(cases([operator], ["float32", "float64"], symmetric=True))
    def check(case):
        got, result = attempt(case)
        assert worst_share(got, result, case[1][0].ndim - 2) <= 1

    check()


@given(cases(OPERATORS, ["float16", "bfloat16", "float32"], fill=noise, symmetric=True))
def test_is_within_rounding_on_noise(case):
    """Half types keep their type, and errors are what rounding explains."""
    got, result = attempt(case)
    assert worst_share(got, result, case[1][0].ndim - 2) <= 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_input_memory_is_shared(dtype):
    """A pooling of one cell per window reads the array in place, and the array stays as it is."""
    data = array([[[1, 2, 3]]], dtype)
    data.flags.writeable = False
    got = backend("MaxPool-1", [data], pooling([1]))
    assert (got.dtype, got.tolist()) == (data.dtype, data.tolist())


def test_read_only_inputs_make_no_noise():
    """The first read-only array of a process draws no warning on stderr."""
    code = """
import numpy as np
from conformance.backends.engines.torch_backend import backend
data = np.ones((1, 1, 2), np.float32)
data.flags.writeable = False
backend("nGraph-AvgPool", [data], {"window_shape": [2]})
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", INVALID)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_invalid_attributes_raise(name, axes):
    """Torch refuses what it is told, and what it cannot be told is unsupported."""
    given = pooling([2] * axes, exclude_pad=True)
    change = {key: v * axes if isinstance(v, list) else v for key, v in INVALID[name].items()}
    with pytest.raises((TypeError, RuntimeError)) as caught:
        backend("AvgPool-1", [np.ones((1, 1, *[4] * axes), np.float32)], given | change)
    assert isinstance(caught.value, Unsupported) == (name in NOT_TOLD)


@pytest.mark.parametrize("error", [RuntimeError, NotImplementedError])
def test_a_type_that_torch_does_not_implement_is_unsupported(monkeypatch, error):
    """Whichever of the two exceptions a release raises."""

    def refuse(*_, **__):
        raise error('"avg_pool2d" not implemented for "Half"')

    monkeypatch.setitem(torch_backend._SLIDING, "average", (refuse,) * 3)
    with pytest.raises(NotImplementedError, match="not implemented for"):
        backend("AvgPool-1", [ROW], pooling([2], exclude_pad=True))


@pytest.mark.parametrize(
    ("operator", "attributes", "expected"),
    [
        ("AvgPool-1", pooling([2], exclude_pad=True), [0.5, 2.5, 7, 5]),
        ("MaxPool-14", pooling([2]), [0, 1, 14, 0]),
    ],
)
def test_a_gradient_is_that_of_autograd(operator, attributes, expected):
    """Of an average shares, of a maximum all of it; a gradient of another shape is refused."""
    attributes = {key: value for key, value in attributes.items() if key != "dilations"}
    gradient = np.array([[[1.0, 4.0, 10.0]]], np.float32)
    got = backend(f"{operator}-backward", [gradient, ROW], attributes)
    assert got.tolist() == [[expected]]
    with pytest.raises(RuntimeError):
        backend(f"{operator}-backward", [gradient[..., :2], ROW], attributes)
