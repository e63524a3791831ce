"""Rounding once, at and beside every kind of tie, against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS
from support.oracle import FORMATS, array, rounded

from conformance.reference.rounding import (
    narrow,
    round_pair,
    round_ratios,
    to_float32,
    two_sum,
    widen,
)

NARROW = ("float16", "bfloat16", "float32")
BITS = {"float16": np.uint16, "bfloat16": np.uint16, "float32": np.uint32}


def all_halves(dtype):
    """Return every finite number of a half type that is not negative, ascending, as doubles."""
    patterns = np.arange(1 << 15, dtype=np.uint16).view(array(0, dtype).dtype)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
        values = patterns.astype(np.float64)
    return values[np.isfinite(values)]


def some_floats():
    """Return numbers of float32 in all binades with their successors, ascending, as doubles."""
    starts = np.arange(255, dtype=np.uint32) << 23
    offsets = [0, 1, 2, 0x2AAAAA, 0x555555, 0x7FFFFD, 0x7FFFFE, 0x7FFFFF]
    patterns = np.array([start + offset for start in starts for offset in offsets], np.uint32)
    return patterns.view(np.float32).astype(np.float64)


def neighbours(dtype):
    """Return (lower, upper, which of them is even) for pairs of adjacent numbers.

    Beyond the largest number stands the first power of two that is too large; it is even.
    """
    lower = some_floats() if dtype == "float32" else all_halves(dtype)
    patterns = narrow(lower, dtype).view(BITS[dtype])
    with np.errstate(over="ignore"):
        upper = (patterns + BITS[dtype](1)).view(array(0, dtype).dtype).astype(np.float64)
    upper[np.isinf(upper)] = 2.0 ** FORMATS[dtype][2]
    return lower, upper, np.where(patterns % 2 == 0, lower, upper)


def as_type(values, dtype):
    """Return doubles that the element type holds, too large ones as infinity, in that type."""
    too_large = 2.0 ** FORMATS[dtype][2]
    return array(np.where(np.abs(values) >= too_large, np.copysign(np.inf, values), values), dtype)


def doubles():
    """Draw doubles of all sizes, and doubles near ties of narrower types."""
    near = st.builds(
        lambda m, e, steps: math.ldexp(m, e) * (1 + steps * 2.0**-52),
        st.integers(-(2**26), 2**26),
        st.integers(-180, 110),
        st.integers(-2, 2),
    )
    return st.one_of(st.floats(allow_nan=False, allow_infinity=False), near)


@pytest.mark.parametrize("dtype", NARROW)
class TestTies:
    """Between adjacent numbers: every pair of the half types, eight in each binade of float32."""

    @pytest.mark.parametrize("sign", [1, -1])
    def test_narrow_takes_the_even_neighbour_at_a_tie(self, dtype, sign):
        """A double half way between two numbers goes to the even one, subnormal or overflowing."""
        lower, upper, even = neighbours(dtype)
        got = narrow(sign * (lower + upper) / 2, dtype)
        np.testing.assert_array_equal(got, as_type(sign * even, dtype))

    @pytest.mark.parametrize("sign", [1, -1])
    def test_narrow_sees_on_which_side_of_a_tie_a_double_lies(self, dtype, sign):
        """One step of a double beside a tie decides it."""
        lower, upper, _ = neighbours(dtype)
        tie = (lower + upper) / 2
        for towards, expected in ((-np.inf, lower), (np.inf, upper)):
            got = narrow(sign * np.nextafter(tie, towards), dtype)
            np.testing.assert_array_equal(got, as_type(sign * expected, dtype))

    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("speck", [2.0**-1074, 2.0**-300])
    def test_a_pair_sees_far_below_a_double(self, dtype, sign, speck):
        """The smallest second part decides a tie of the first."""
        lower, upper, even = neighbours(dtype)
        tie = sign * (lower + upper) / 2
        for second, expected in ((-speck, lower), (0.0, even), (speck, upper)):
            got = round_pair(tie, np.full_like(tie, sign * second), dtype)
            np.testing.assert_array_equal(got, as_type(sign * expected, dtype))

    def test_a_pair_may_cross_a_double(self, dtype):
        """The second part may be as large as an ulp of the first, and change its binade."""
        lower, upper, _ = neighbours(dtype)
        tie = (lower + upper) / 2
        step = np.spacing(tie)
        for part, expected in ((-0.75, lower), (0.75, upper)):
            got = round_pair(tie, part * step, dtype)
            np.testing.assert_array_equal(got, as_type(expected, dtype))

    def test_a_ratio_sees_far_below_a_double(self, dtype):
        """A ratio that misses a tie by one part in 2**2000 is on the right side."""
        some = np.array(neighbours(dtype))[:, :: len(neighbours(dtype)[0]) // 97]
        for lower, upper, even in some.T:
            tie = (Fraction(lower) + Fraction(upper)) / 2
            speck = Fraction(1, 2**2000)
            for sign in (1, -1):
                for value, expected in ((tie - speck, lower), (tie, even), (tie + speck, upper)):
                    got = round_ratios([sign * value.numerator], [value.denominator], dtype)[0]
                    assert got == as_type(np.float64(sign * expected), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
class TestAgainstTheOracle:
    """Random values, rounded by exact fractions."""

    @given(high=doubles(), part=st.floats(-1, 1))
    def test_round_pair(self, dtype, high, part):
        """The sum of two doubles is rounded once."""
        low = part * math.ulp(high)
        if math.isinf(high + low):
            return
        got = round_pair(np.array([high]), np.array([low]), dtype)
        assert got[0] == rounded(Fraction(high) + Fraction(low), got.dtype)

    @given(value=doubles(), denominator=st.integers(1, 10**6), extra=st.integers(-2, 2))
    def test_round_ratios(self, dtype, value, denominator, extra):
        """A ratio of integers is rounded once, however long they are."""
        above, below = value.as_integer_ratio()
        numerator = (above * denominator << 80) + extra
        ratio = Fraction(numerator, below * denominator << 80)
        got = round_ratios([numerator], [below * denominator << 80], dtype)[0]
        assert got.shape == ()
        assert got == rounded(ratio, got.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_ratio_can_overflow(dtype):
    """A quotient beyond every double is an infinity, half an ulp below it the largest double."""
    assert round_ratios([-(2**1024)], [1], dtype) == -np.inf
    assert round_ratios([2**4000], [3], dtype) == np.inf
    below = round_ratios([2**1024 - 2**970 - 1], [1], dtype)[0]
    assert below == (np.finfo(np.float64).max if dtype == "float64" else np.inf)


@given(a=st.floats(-1e300, 1e300), b=st.floats(-1e300, 1e300))
def test_two_sum_is_exact(a, b):
    """A sum and its rounding error add up to the sum, subnormals included."""
    total, rest = two_sum(np.array([a]), np.array([b]))
    assert total[0] == a + b
    assert Fraction(total[0]) + Fraction(rest[0]) == Fraction(a) + Fraction(b)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_half_widens_exactly(dtype):
    """All bit patterns of the half types keep their value in float32 and in double."""
    patterns = np.arange(1 << 16, dtype=np.uint16).view(array(0, dtype).dtype)
    with np.errstate(invalid="ignore"):
        expected = np.array([float(value) for value in patterns])
        np.testing.assert_array_equal(widen(patterns), expected)
        np.testing.assert_array_equal(to_float32(patterns), expected.astype(np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_widening_takes_any_layout(dtype):
    """Strided views are read like arrays."""
    values = array(np.arange(24.0).reshape(4, 6), dtype)
    np.testing.assert_array_equal(widen(values[::2, ::3]), [[0, 3], [12, 15]])


@pytest.mark.parametrize(("name", "bits"), [("float16", 0x7C01), ("float32", 0x7F800001)])
def test_signalling_nans_are_widened_without_a_warning(name, bits):
    """A backend may return them; a warning would be on standard error, and is an error here."""
    kind = np.dtype(name)
    values = np.array([bits], f"u{kind.itemsize}").view(kind)
    assert np.isnan(widen(values)).all()


def decoded(code, exponent_bits, bias):
    """Return the value of a code of 8 bits as its sign, exponent and fraction say it."""
    fraction_bits = 7 - exponent_bits
    sign, rest = (-1 if code & 0x80 else 1), code & 0x7F
    exponent, fraction = divmod(rest, 1 << fraction_bits)
    scaled = fraction if exponent == 0 else fraction + (1 << fraction_bits)
    return sign * math.ldexp(scaled, max(exponent, 1) - bias - fraction_bits)


@pytest.mark.parametrize(
    ("dtype", "exponent_bits", "bias", "largest"),
    [("float8_e4m3fn", 4, 7, 448.0), ("float8_e5m2", 5, 15, 57344.0)],
)
class TestOf8Bits:
    """Every number of the types, each tie between two, and one step of a double beside it."""

    def test_every_code_widens_to_what_its_bits_say(self, dtype, exponent_bits, bias, largest):
        """Numbers up to the largest; beyond are NaN, and of float8_e5m2 infinities first."""
        codes = np.arange(256, dtype=np.uint8)
        wide = widen(codes.view(array(0, dtype).dtype))
        exact = np.array([decoded(code, exponent_bits, bias) for code in codes.tolist()])
        finite = np.abs(exact) <= largest
        np.testing.assert_array_equal(wide[finite], exact[finite])
        beyond = wide[~finite].tolist()
        assert sum(map(math.isinf, beyond)) == (2 if dtype == "float8_e5m2" else 0)
        assert not any(map(math.isfinite, beyond))
        np.testing.assert_array_equal(narrow(wide[finite], dtype).view(np.uint8), codes[finite])

    def test_a_double_is_rounded_once(self, dtype, exponent_bits, bias, largest):
        """To nearest, ties to even, also half way between the largest number and what is beyond."""
        lower = np.array([decoded(code, exponent_bits, bias) for code in range(128)])
        lower = lower[lower <= largest]
        upper = np.append(lower[1:], decoded(len(lower), exponent_bits, bias))
        tie = (lower + upper) / 2
        for value in (tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf)):
            for sign in (1, -1):
                got = narrow(sign * value, dtype)
                expected = [rounded(Fraction(each), got.dtype) for each in (sign * value).tolist()]
                np.testing.assert_array_equal(widen(got), widen(np.array(expected, got.dtype)))
