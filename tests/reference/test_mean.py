"""The correctly rounded mean, and that each of its three ways is used and right."""

import importlib
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS, PATTERNS, assert_same
from support.oracle import FORMATS, array, exact_mean, exact_value, rounded

from conformance.reference import integer_mean, mean
from conformance.reference.rounding import two_product

# The package's name `mean` is the function.
MODULE = importlib.import_module("conformance.reference.mean")
SEEDS = st.integers(0, 2**32)


@pytest.fixture
def ways(monkeypatch):
    """Count elements by the way that settled them."""
    counts = Counter()
    in_pairs, settle, exactly = MODULE._mean_in_pairs, MODULE._settle, MODULE.sums_exactly

    def count_pairs(*args):
        result, certain = in_pairs(*args)
        counts["pairs"] += int(certain.sum())
        return result, certain

    def count_settled(result, certain, *args, **options):
        counts["integers"] += int((~certain).sum())
        settle(result, certain, *args, **options)

    def count_exact(*args):
        answer = exactly(*args)
        counts["exact blocks"] += answer
        return answer

    monkeypatch.setattr(MODULE, "_mean_in_pairs", count_pairs)
    monkeypatch.setattr(MODULE, "_settle", count_settled)
    monkeypatch.setattr(MODULE, "sums_exactly", count_exact)
    return counts


def rows_by_fractions(data, divisor):
    """Average each row of (1, C, cells) exactly."""
    values = [exact_mean([exact_value(x) for x in row], divisor) for row in data[0]]
    return np.array([rounded(value, data.dtype) for value in values], data.dtype)


def assert_rows(data, divisor=None):
    """Assert that the mean of every row is the exact one, rounded once."""
    size = data.shape[2]
    n = np.array([size if divisor is None else divisor])
    got = mean(data, [np.array([0])], [np.array([size])], n)
    assert_same(got, rows_by_fractions(data, int(n[0])).reshape(1, -1, 1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(seed=SEEDS, cells=st.integers(1, 12), more=st.integers(0, 4))
def test_a_mean_is_rounded_once(dtype, pattern, seed, cells, more):
    """Means of hard values, over as many cells or more, equal exact fractions rounded once."""
    data = PATTERNS[pattern](np.random.default_rng(seed), 3 * cells, dtype)
    assert_rows(data.reshape(1, 3, cells), cells + more)


class TestWays:
    """Which way settles what; each result is compared with exact fractions."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_integers_are_summed_in_plain_doubles(self, dtype, ways):
        """Cells of like size never leave the first way; of doubles, only subnormals do not."""
        unit = 2.0**-1074 if dtype == "float64" else 1.0
        assert_rows(array(np.arange(1, 64).reshape(1, 7, 9) * unit, dtype))
        assert ways == {"exact blocks": 1}

    @pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
    def test_pairs_settle_what_is_no_tie(self, dtype, ways):
        """A wide range of exponents goes to the second way, which is certain without a tie."""
        data = np.random.default_rng(0).standard_normal((1, 50, 9))
        data[:, :, 4] *= 2.0**-60
        assert_rows(array(data, dtype))
        assert ways == {"exact blocks": 0, "pairs": 50, "integers": 0}

    @pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
    def test_integers_settle_a_tie_with_a_speck(self, dtype, ways):
        """A tie that only a speck decides is beyond pairs, and right on both sides and on it."""
        last, speck = 2.0 ** (1 - FORMATS[dtype][0]), 2.0**-110 if dtype != "float64" else 2.0**-400
        rows = [[1, 1 + last, s, t] for s in (speck, -speck, 0) for t in (speck / 4, 0)]
        assert_rows(array([rows], dtype), 2)
        assert ways["integers"] >= 5
        assert ways["exact blocks"] == 0

    def test_a_huge_divisor_leaves_the_first_two_ways(self, ways):
        """The first two ways hold for divisors up to an end of theirs; beyond, integers do."""
        assert_rows(array([[[1.0, 1.5]]], "float32"), 2**29 + 1)
        assert ways == {"exact blocks": 0, "integers": 1}

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_every_way_agrees(self, dtype, monkeypatch):
        """With cheaper ways switched off, the others give the same means."""
        rng = np.random.default_rng(7)
        rows = np.concatenate([PATTERNS[name](rng, 60, dtype) for name in ("ties", "normal")])
        data = rows.reshape(1, -1, 6)
        assert_rows(data)
        monkeypatch.setattr(MODULE, "sums_exactly", lambda *_: False)
        assert_rows(data)
        monkeypatch.setattr(MODULE, "_PAIR_LARGEST", 0.0)
        assert_rows(data)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_a_divisor_below_the_number_of_cells(dtype):
    """Sums stay exact where fewer are divided by than added, as faults do."""
    precision = FORMATS[dtype][0]
    large = 2.0 ** (53 - precision)
    row = [large] * 8 + [large * 8 * 2.0**-precision, 1 + 2.0 ** (1 - precision), -1]
    assert_rows(array([[row, row[::-1]]], dtype), 1)


@pytest.mark.parametrize("dtype", FLOATS)
class TestSpecials:
    """Values that are no numbers."""

    def test_special_cells_touch_their_own_windows_alone(self, dtype):
        """A NaN in a plane leaves the other windows of the plane as they were."""
        data = array([[[1, 2, np.nan, 4, 6]]], dtype)
        got = mean(data, [np.arange(4)], [np.arange(4) + 2], np.full(4, 2))
        assert_same(got, array([[[1.5, np.nan, np.nan, 5]]], dtype))

    def test_a_divisor_of_zero_is_nan(self, dtype):
        """An element that no document defines is NaN; its neighbours keep their value."""
        data = array([[[1, 2]]], dtype)
        got = mean(data, [np.array([0, 0])], [np.array([0, 2])], np.array([0, 2]))
        assert_same(got, array([[[np.nan, 1.5]]], dtype))


@pytest.mark.parametrize("block", [1, 5, 12, 1000])
def test_blocks_do_not_change_the_mean(block, monkeypatch):
    """However many planes are taken at once, each is computed from its own cells."""
    monkeypatch.setattr(MODULE, "_BLOCK", block)
    data = np.random.default_rng(3).standard_normal((3, 5, 4))
    data[0, 1, 2], data[1, 1, 1], data[2, 0] = 2.0**200, np.nan, 0.0
    got = mean(data, [np.array([0, 2])], [np.array([3, 4])], np.array([3, 2]))
    for plane in np.ndindex(3, 5):
        assert_same(got[plane][:1], rows_by_fractions(data[plane][None, None, :3], 3))
        assert_same(got[plane][1:], rows_by_fractions(data[plane][None, None, 2:], 2))


def test_products_are_exact():
    """A product and its error are the exact product, for every divisor a mean takes."""
    rng = np.random.default_rng(1)
    a = np.ldexp(rng.standard_normal(500), rng.integers(-870, 950, 500))
    b = rng.integers(1, 2**26, 500).astype(np.float64)
    b[:2] = 1, 2**26 - 1
    product, error = two_product(a, b)
    for x, y, p, e in zip(a, b, product, error, strict=True):
        assert Fraction(x) * Fraction(y) == Fraction(p) + Fraction(e)


@given(
    rows=st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1)
)
def test_integer_means_are_truncated(rows):
    """Sums of integers do not wrap, and the quotient is rounded towards zero."""
    data = np.array([rows], np.int64)
    got = integer_mean(data, [np.array([0])], [np.array([3])], np.array([3])).ravel().tolist()
    assert got == [int(Fraction(sum(row), 3)) for row in rows]
