"""The JAX backend against the oracle, and what it does not support."""

import numpy as np
import pytest
from support.engines import assert_equals_oracle
from support.oracle import FORMATS, array, oracle
from support.random_cases import assert_equals, pooling

from conformance.errors import Unsupported

pytest.importorskip("jax")

from conformance.backends.engines import jax_backend
from conformance.backends.engines.jax_backend import backend

pytestmark = pytest.mark.needs_engine("jax")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "nGraph-AvgPool"])
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents."""
    assert_equals_oracle(backend, operator, readings={}, factor=0.15)


@pytest.mark.parametrize("dtype", [*FORMATS, "int8", "uint8", "int32", "int64"])
def test_maximum_keeps_its_type(dtype):
    """Every type, 64 bits too, whatever jax is set to elsewhere."""
    case = ("MaxPool-1", [array([[[1, 5, 3]]], dtype)], pooling([2]))
    assert_equals(backend(*case), oracle(*case))


def test_ceil_that_adds_a_window():
    """JAX rounds down: ceil is unsupported unless it comes to the same."""
    given = pooling([2], [3], rounding_type="ceil")
    assert backend("MaxPool-1", [ROW[..., :2]], given).tolist() == [[[3]]]
    with pytest.raises(Unsupported, match="rounding_type=ceil"):
        backend("MaxPool-1", [ROW], given)


def test_adaptive_and_other_operators():
    """There is no adaptive pooling."""
    for operator in ("AdaptiveAvgPool-8", "SumPool-1"):
        with pytest.raises(Unsupported, match=operator):
            backend(operator, [ROW, np.array([2])], {})


@pytest.mark.parametrize("change", [{"strides": [0]}, {"kernel": [0]}, {"kernel": [2, 2]}], ids=str)
def test_invalid_attributes_raise(change):
    """JAX refuses what the document does not allow."""
    with pytest.raises(TypeError, match="reduce_window"):
        backend("MaxPool-1", [ROW], pooling([2]) | change)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pads_end": [0, 0]}, "no pairs"),
        ({"auto_pad": "same"}, "auto_pad='same'"),
        ({"auto_pad": "valid", "pads_end": [-1]}, "pads_end"),
    ],
)
def test_what_jax_would_not_see(change, reason):
    """Unsupported: the right exception would be no merit of JAX."""
    with pytest.raises(Unsupported, match=reason):
        backend("MaxPool-1", [ROW], pooling([2]) | change)


def test_what_jax_answers_is_not_refused():
    """JAX is more general than the document: a negative pad crops, and any rank will do."""
    cropped = backend("MaxPool-1", [ROW], pooling([2]) | {"pads_end": [-1]})
    assert cropped.tolist() == [[[3, 5]]]
    assert backend("MaxPool-1", [np.ones((1,) * 6, np.float32)], pooling([1] * 4)).ndim == 6


def test_computations_are_compiled_once():
    """A second call with other values of one shape takes the compiled computation."""
    given = pooling([3], [2])
    backend("MaxPool-1", [ROW], given)
    compiled = jax_backend._pool.cache_info().misses
    assert backend("MaxPool-1", [ROW + 1], given).tolist() == [[[6]]]
    assert jax_backend._pool.cache_info().misses == compiled
