"""Gradients of norms: planes, and weights of their sums of powers."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reference.gradient import pairs_of
from conformance.reference.norm_gradient import NormShares

MODULE = importlib.import_module("conformance.reference.norm_gradient")
SHAPE = (3, 1, 5)


def shares_of(seed, p, weights=(1, 1)):
    """Return the terms of windows 0:3 and 2:5 of three planes of five cells."""
    rng = np.random.default_rng(seed)
    pairs = pairs_of([np.array([0, 2])], [np.array([3, 5])], (5,))
    data = rng.normal(size=(3, 5))[:, pairs.cells]
    gradient = rng.normal(size=(3, 2))[:, pairs.windows]
    above, below = (np.full(pairs.cells.size, each) for each in weights)
    return NormShares(gradient, data, pairs, pairs.cells, p, (above, below))


@given(seed=st.integers(0, 2**32), p=st.integers(2, 7))
def test_planes_that_are_rounded_together_are_as_alone(seed, p):
    """However many are taken at once."""
    together = shares_of(seed, p).sums(SHAPE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "_AT_ONCE", 1)
        assert np.array_equal(shares_of(seed, p).sums(SHAPE), together)


@given(seed=st.integers(0, 2**32), power=st.integers(1, 3), p=st.integers(2, 5))
def test_a_weight_that_has_a_root_multiplies_the_gradient_by_it(seed, power, p):
    """A weight of 2**p, however it is said, doubles it exactly, and its magnitude."""
    plain, weighted = shares_of(seed, p), shares_of(seed, p, (2**p * power, power))
    assert np.array_equal(weighted.sums(SHAPE), 2 * plain.sums(SHAPE))
    magnitudes = [each.measures(SHAPE).magnitude for each in (plain, weighted)]
    np.testing.assert_allclose(magnitudes[1], 2 * magnitudes[0], rtol=2**-10)


def test_a_mean_that_leaves_the_normal_numbers_makes_cells_undefined():
    """A sum of 2**-1000 is a normal number, a hundredth of it, too, and not one of 2**30."""
    data, cells = np.array([[2.0**-500]]), np.zeros(1, np.int64)
    pairs = pairs_of([np.array([0])], [np.array([1])], (1,))
    for count, is_undefined in ((1, False), (100, False), (2**30, True)):
        weights = (np.array([count]), np.array([count]))
        shares = NormShares(np.ones((1, 1)), data, pairs, cells, 2, weights)
        assert shares.undefined.all() == is_undefined
