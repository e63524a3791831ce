"""The bound of norms: sound ways to compute one are within it, wrong ones are not."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_params import FLOATS, PATTERNS
from support.oracle import FORMATS, array, exact_value, power_sum, rounded, rounded_root

from conformance.reference import norm, norm_measures, overflow_allowed, tolerance
from conformance.reference.bound import leaves_range
from conformance.vector import Arithmetic as Admitted
from conformance.vector import Array, Expected

SEEDS = st.integers(0, 2**32)
ULPS = 4  # that a power function may be off by


class Arithmetic:
    """Numbers of one type, each operation rounded once; a power function is off by some ulp."""

    def __init__(self, dtype: str, rng: np.random.Generator) -> None:
        self.dtype = array(0, dtype).dtype
        self.unit = Fraction(2) ** -FORMATS[dtype][0]
        self.rng = rng

    def round(self, value: Fraction) -> Fraction:
        """Round once; OverflowError where a type ends."""
        number = exact_value(rounded(value, self.dtype))
        if not isinstance(number, Fraction):
            raise OverflowError
        return number

    def power(self, base: Fraction, exponent: int | Fraction) -> Fraction:
        """Raise to a power, as wrong as a power function may be, in either direction."""
        if not base:
            return base
        with localcontext(prec=60):
            decimal = Decimal(base.numerator) / Decimal(base.denominator)
            over = Decimal(Fraction(exponent).numerator) / Decimal(Fraction(exponent).denominator)
            exact = Fraction(decimal**over)
        worst = int(self.rng.choice([-2 * ULPS + 1, 0, 2 * ULPS - 1]))
        return self.round(exact * (1 + worst * self.unit))

    def products(self, base: Fraction, exponent: int) -> Fraction:
        """Raise to a power by products alone."""
        result = base
        for _ in range(exponent - 1):
            result = self.round(result * base)
        return result

    def total(self, values: list[Fraction]) -> Fraction:
        """Add in a random order."""
        values = [values[i] for i in self.rng.permutation(len(values))]
        result = Fraction(0)
        for value in values:
            result = self.round(result + value)
        return result


def direct(a: Arithmetic, cells: list[Fraction], p: int) -> Fraction:
    """Add powers, and raise their sum to a rounded 1/p."""
    return a.power(a.total([a.power(x, p) for x in cells]), a.round(Fraction(1, p)))


def by_products(a: Arithmetic, cells: list[Fraction], p: int) -> Fraction:
    """Take powers by products; the root as above."""
    return a.power(a.total([a.products(x, p) for x in cells]), a.round(Fraction(1, p)))


def from_mean(a: Arithmetic, cells: list[Fraction], p: int) -> Fraction:
    """Take the mean of powers times their number."""
    n = a.round(Fraction(len(cells) + 3))
    mean = a.round(a.total([a.products(x, p) for x in cells]) / n)
    return a.power(a.round(mean * n), a.round(Fraction(1, p)))


def scaled(a: Arithmetic, cells: list[Fraction], p: int) -> Fraction:
    """Divide cells by the largest of them first."""
    largest = max(cells)
    if not largest:
        return largest
    root = direct(a, [a.round(x / largest) for x in cells], p)
    return a.round(largest * root)


WAYS = (direct, by_products, from_mean, scaled)


class Judged:
    """The norm of one row and what conforms; `own` says that sums are in the element type."""

    def __init__(self, data: Array, p: int, *, own: bool) -> None:
        row = data.reshape(1, 1, -1)
        window = [np.array([0])], [np.array([data.size])]
        norms = norm(row, *window, p)
        self.expected = Expected(norms, *norm_measures(norms.reshape(1, 1, 1), row, *window, p))
        self.sums = Admitted.ELEMENT_TYPE if own else Admitted.USUAL
        self.may_overflow = bool(overflow_allowed(self.expected, 1, self.sums)[0])
        self.leaves_range = bool(leaves_range(self.expected, 1, self.sums)[0])

    def admits(self, got: Fraction | None, *, direct: bool = False, flushed: bool = False) -> bool:
        """Say whether a number, or an infinity, conforms, `direct` being a reading of lp-range."""
        e = exact_value(self.expected.values.flat[0])
        if got is None:
            return e == "inf" or (direct and self.may_overflow)
        if not isinstance(e, Fraction):
            return False
        arithmetic = self.sums
        arithmetic |= Admitted.FLUSHED if flushed else Admitted.USUAL
        arithmetic |= Admitted.OVERFLOWS if direct else Admitted.USUAL
        bound = tolerance(self.expected, 1, arithmetic, average=True, below=got < e)
        return abs(got - e) <= Fraction(float(bound[0]))


def computed(way, arithmetic: Arithmetic, cells: list[Fraction], p: int, dtype) -> Fraction | None:
    """Return what a way makes of cells, rounded to a type; None for an infinity."""
    try:
        got = exact_value(rounded(way(arithmetic, cells, p), dtype))
    except OverflowError:
        return None
    return got if isinstance(got, Fraction) else None


def drawn(pattern: str, dtype: str, seed: int, cells: int) -> tuple[Array, list[Fraction]]:
    """Return hard cells of a type, and their exact magnitudes."""
    data = PATTERNS[pattern](np.random.default_rng(seed), cells, dtype)
    return data, [abs(exact_value(x)) for x in data]


def arithmetic_of(dtype: str, seed: int, *, own: bool) -> Arithmetic:
    """Return the arithmetic of the element type or of the narrowest wider one."""
    wide = dtype if own or dtype in FLOATS[2:] else "float32"
    return Arithmetic(wide, np.random.default_rng(seed))


@pytest.mark.parametrize("own", [True, False], ids=["element-type", "wider"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pattern", ["normal", "ties", "constant", "sparse", "exponents"])
@given(seed=SEEDS, cells=st.integers(1, 12), p=st.sampled_from([1, 2, 3, 5, 8, 11]))
def test_sound_ways_are_within_the_bound(dtype, pattern, own, seed, cells, p):
    """Norms that are scaled conform, and so do direct ones whose powers stay in the range."""
    data, values = drawn(pattern, dtype, seed, cells)
    judged = Judged(data, p, own=own)
    for way in WAYS:
        if way is scaled or not judged.leaves_range:
            got = computed(way, arithmetic_of(dtype, seed, own=own), values, p, data.dtype)
            assert judged.admits(got) or judged.may_overflow, way


@pytest.mark.parametrize("own", [True, False], ids=["element-type", "wider"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pattern", ["exponents", "huge", "subnormal", "bits", "normal"])
@given(seed=SEEDS, cells=st.integers(1, 9), p=st.sampled_from([1, 2, 3, 5, 8]))
def test_direct_ways_conform_whatever_becomes_of_powers(dtype, pattern, own, seed, cells, p):
    """Powers that overflow or vanish conform under the reading direct."""
    data, values = drawn(pattern, dtype, seed, cells)
    judged = Judged(data, p, own=own)
    for way in (direct, by_products):
        got = computed(way, arithmetic_of(dtype, seed, own=own), values, p, data.dtype)
        overflows_by_little = judged.expected.values.flat[0] == np.inf and got is not None
        assert judged.admits(got, direct=True) or overflows_by_little, (way, got)


@pytest.mark.parametrize("dtype", FLOATS)
@given(seed=SEEDS, cells=st.integers(1, 9), p=st.sampled_from([2, 3, 5]))
def test_powers_that_count_as_zero_conform_if_flushed(dtype, seed, cells, p):
    """Subnormal powers in place of which there is zero are within the bound of both readings."""
    data, values = drawn("exponents", dtype, seed, cells)
    judged = Judged(data, p, own=True)
    arithmetic = arithmetic_of(dtype, seed, own=True)
    precision, lowest, _ = FORMATS[dtype]
    least = Fraction(2) ** (lowest + precision - 1)

    def flushing(a: Arithmetic, given: list[Fraction], exponent: int) -> Fraction:
        kept = [x if x >= least and x**exponent >= least else Fraction(0) for x in given]
        return direct(a, kept, exponent)

    got = computed(flushing, arithmetic, values, p, data.dtype)
    assert judged.admits(got, direct=True, flushed=True) or judged.expected.values.flat[0] == np.inf


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_wrong_norms_are_outside(dtype, p):
    """Another exponent, a forgotten root or power, a mean, a sign or a cell are no sound norm."""
    data = array([3.0, -5.0, 2.0, 1.5, -7.0, 6.0], dtype)
    values = [exact_value(x) for x in data]
    judged = Judged(data, p, own=dtype in FLOATS[2:])
    total = power_sum(values, p)
    wrong = {
        "exponent above": rounded_root(power_sum(values, p + 1), p + 1, data.dtype),
        "no power": rounded_root(power_sum(values, 1), p, data.dtype),
        "no root": rounded(total, data.dtype),
        "mean": rounded_root(total / len(values), p, data.dtype),
        "cell lost": rounded_root(power_sum(values[:-1], p), p, data.dtype),
        "signed": rounded_root(abs(sum(x**p for x in values)), p, data.dtype),
    }
    right = [] if p % 2 else ["signed"]
    if p == 1:
        right += ["no power", "no root"]
    for name, got in wrong.items():
        assert judged.admits(exact_value(got), direct=True) == (name in right), name


def test_a_norm_of_nothing_is_exact():
    """Zeros and windows without cells have a norm of 0 and no tolerance."""
    data = np.zeros((1, 1, 3), np.float32)
    window = [np.array([0, 2])], [np.array([2, 2])]
    measures = norm_measures(norm(data, *window, 3), data, *window, 3)
    assert [column.tolist() for column in measures] == [[0, 0], [-3, -3], [0, 0]]
    assert Judged(data.ravel(), 2, own=True).admits(Fraction(0))
    assert not Judged(array([1.0]), 2, own=True).admits(None, direct=True)
