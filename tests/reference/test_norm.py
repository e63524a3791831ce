"""The correctly rounded norm, and that each of its two ways is used and right."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS, PATTERNS, assert_same
from support.oracle import array, exact_value, power_sum, rounded_root

from conformance.reference import norm

# The package's name `norm` is the function.
MODULE = importlib.import_module("conformance.reference.norm")
SEEDS = st.integers(0, 2**32)
EXPONENTS = (1, 2, 3, 4, 5, 8, 17, 200)


@pytest.fixture
def settled(monkeypatch):
    """Return the shares of elements that two doubles settle, one for each call."""
    shares = []
    in_pairs = MODULE._norm_in_pairs

    def counted(*args):
        result, certain = in_pairs(*args)
        shares.append(float(certain.mean()))
        return result, certain

    monkeypatch.setattr(MODULE, "_norm_in_pairs", counted)
    return shares


def of_rows(data, p):
    """Return the norm of each row of (1, C, cells)."""
    return norm(data, [np.array([0])], [np.array([data.shape[2]])], p)


def assert_rows(data, p):
    """Assert that the norm of every row is the exact one, rounded once."""
    sums = [power_sum([exact_value(x) for x in row], p) for row in data[0]]
    expected = np.array([rounded_root(total, p, data.dtype) for total in sums], data.dtype)
    assert_same(of_rows(data, p), expected.reshape(1, -1, 1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(seed=SEEDS, cells=st.integers(1, 9), p=st.sampled_from(EXPONENTS))
def test_a_norm_is_rounded_once(dtype, pattern, seed, cells, p):
    """Norms of hard values equal exact ones, which are found by powers alone."""
    data = PATTERNS[pattern](np.random.default_rng(seed), 3 * cells, dtype)
    assert_rows(data.reshape(1, 3, cells), p)


@pytest.mark.parametrize("p", EXPONENTS)
def test_windows_of_planes_are_independent(p):
    """Each window of each plane has its own norm, and one without a cell has 0."""
    data = array(np.arange(-12, 12).reshape(2, 2, 6) / 8, "float32")
    lo, hi = np.array([0, 1, 3, 2]), np.array([3, 3, 6, 2])
    got = norm(data, [lo], [hi], p)
    for n, c in np.ndindex(2, 2):
        for window, (a, b) in enumerate(zip(lo, hi, strict=True)):
            total = power_sum([exact_value(x) for x in data[n, c, a:b]], p)
            assert got[n, c, window] == rounded_root(total, p, data.dtype)
    assert not got[..., 3].any()


class TestWays:
    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("p", [2, 3, 7])
    def test_plain_numbers_are_settled_in_two_doubles(self, dtype, p, settled):
        """Of a thousand windows of normal numbers, integers settle none, or hardly one."""
        data = array(np.random.default_rng(p).standard_normal((1, 1000, 9)), dtype)
        of_rows(data, p)
        assert settled[0] >= 0.999

    def test_a_tie_is_settled_by_integers(self, settled):
        """An exact tie goes to the even number; two doubles leave it open."""
        # 1233**2 + 1644**2 = 411**2 (3**2 + 4**2) = 2055**2; in float16 2054 and 2056 are next to
        # it, and 2056 = 1028 * 2 has an even significand
        data = array([[[1233, 1644], [-1644, 1233]]], "float16")
        assert of_rows(data, 2).ravel().tolist() == [2056, 2056]
        assert settled == [0.0]

    def test_powers_that_underflow_are_settled_by_integers(self, settled):
        """A cell far below another still decides a tie."""
        data = array([[[1.0, 2.0**-1070]], [[2.0**-1074, 0.0]]], "float64").transpose(1, 0, 2)
        assert_rows(np.ascontiguousarray(data), 2)
        assert settled[0] < 1


@given(root=st.integers(0, 2**80), more=st.integers(0, 2**40), p=st.integers(1, 12))
def test_integer_roots_are_exact(root, more, p):
    """The root of a number between two neighbouring powers is the smaller one's."""
    number = min(root**p + more, (root + 1) ** p - 1)
    assert MODULE.integer_root(number, p) == root


def test_powers_are_known_to_a_hundred_bits():
    """A power of two doubles is off by at most nine units of 2**-106 for each product."""
    rng = np.random.default_rng(3)
    high = 1 + rng.random(200)
    low = high * 2.0**-54 * rng.random(200)
    for p in (2, 3, 7, 40):
        powers = MODULE._power((high, low), p)
        for a, b, c, d in zip(high, low, *powers, strict=True):
            exact = (Fraction(a) + Fraction(b)) ** p
            assert abs((Fraction(c) + Fraction(d)) / exact - 1) <= (p - 1) * 9 * Fraction(2) ** -106
