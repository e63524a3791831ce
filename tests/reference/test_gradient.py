"""Sums of what windows give to cells: both ways are right, and so is what the bound depends on."""

import importlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS, PATTERNS, assert_same
from support.oracle import exact_mean, exact_value, rounded

from conformance.reference.gradient import Shares, pairs_of

MODULE = importlib.import_module("conformance.reference.gradient")
SEEDS = st.integers(0, 2**32)


def shares_of(rng, dtype, pattern, cells=4, pairs=12):
    """Return two planes of terms for some cells, over divisors of 1 to 9."""
    values = PATTERNS[pattern](rng, 2 * pairs, dtype).reshape(2, pairs)
    return Shares(values, rng.integers(1, 10, pairs), rng.integers(0, cells, pairs))


def exact_terms(shares, plane, cell):
    """Return the terms of a cell."""
    given_to = np.flatnonzero(shares.cells == cell)
    over = np.broadcast_to(shares.divisor, shares.values.shape)
    values = [(exact_value(shares.values[plane, i]), int(over[plane, i])) for i in given_to]
    return [value / n if isinstance(value, Fraction) else value for value, n in values]


def test_pairs_are_the_cells_of_each_window_in_order():
    """Windows 0:2 and 1:3 of three rows, and 0:1 and nothing of two columns."""
    lo, hi = [np.array([0, 1]), np.array([0, 2])], [np.array([2, 3]), np.array([1, 2])]
    pairs = pairs_of(lo, hi, (3, 2))
    assert pairs.windows.tolist() == [0, 0, 2, 2]
    assert pairs.cells.tolist() == [0, 2, 2, 4]
    assert pairs.of_window(np.array([1, 5, 2, 3]), np.maximum).tolist() == [5, 5, 3, 3]


@pytest.mark.parametrize("exactly", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
@given(seed=SEEDS, pattern=st.sampled_from(list(PATTERNS)))
def test_a_sum_is_rounded_once(dtype, exactly, seed, pattern):
    """Hard values equal sums of fractions, in the way that is taken and in integers."""
    shares = shares_of(np.random.default_rng(seed), dtype, pattern)
    with pytest.MonkeyPatch.context() as patch:
        if not exactly:
            patch.setattr(MODULE, "sums_exactly", lambda *_: False)
        got = shares.sums((1, 2, 4))
    wanted = [
        [rounded(exact_mean(exact_terms(shares, plane, cell), 1), got.dtype) for cell in range(4)]
        for plane in range(2)
    ]
    assert_same(got[0], np.array(wanted, got.dtype))


@pytest.mark.parametrize("exactly", [True, False])
@given(seed=SEEDS, pattern=st.sampled_from(list(PATTERNS)))
def test_a_factor_multiplies_each_term(exactly, seed, pattern):
    """As if a term were there so many times, in either way, and so does its magnitude."""
    rng = np.random.default_rng(seed)
    once = shares_of(rng, "float32", pattern)
    times = rng.integers(1, 6, once.cells.size)
    again = Shares(
        *(np.repeat(each, times, axis=-1) for each in (once.values, once.divisor, once.cells))
    )
    weighted = replace(once, factor=times)
    with pytest.MonkeyPatch.context() as patch:
        if not exactly:
            patch.setattr(MODULE, "sums_exactly", lambda *_: False)
        assert_same(weighted.sums((1, 2, 4)), again.sums((1, 2, 4)))
    np.testing.assert_allclose(
        weighted.measures((1, 2, 4)).magnitude, again.measures((1, 2, 4)).magnitude, rtol=2**-10
    )


def test_plain_doubles_are_taken_where_they_are_exact(monkeypatch):
    """Small integers need no integers of any length."""
    monkeypatch.setattr(MODULE, "as_integers", None)
    shares = Shares(np.float32([[1, 2, 3]]), np.array([4, 6, 9]), np.array([0, 0, 0]))
    assert shares.sums((1, 1, 1))[0, 0, 0] == np.float32(1 / 4 + 2 / 6 + 3 / 9)


@given(seed=SEEDS, pattern=st.sampled_from(["normal", "sparse", "huge", "subnormal"]))
def test_measures_are_those_of_the_terms(seed, pattern):
    """Terms that are not zero are counted; their magnitudes are added, and rounded up a little."""
    shares = shares_of(np.random.default_rng(seed), "float32", pattern)
    addends, divisor, magnitude = (each.reshape(2, 4) for each in shares.measures((1, 2, 4)))
    for plane in range(2):
        for cell in range(4):
            terms = exact_terms(shares, plane, cell)
            total = sum(map(abs, terms), Fraction())
            assert addends[plane, cell] == sum(term != 0 for term in terms)
            assert total <= Fraction(magnitude[plane, cell]) <= total * Fraction(1001, 1000)
            assert divisor[plane, cell] == max(shares.divisor[shares.cells == cell], default=1)
