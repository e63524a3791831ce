"""Cases that are hard to compute: values chosen to round, cancel, overflow and underflow."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.oracle import FORMATS, READINGS, array
from support.random_cases import cases

Array = np.ndarray[Any, np.dtype[Any]]
Rng = np.random.Generator

FLOATS = tuple(FORMATS)
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
# Exponents of the smallest subnormal and of the first power of two that is too large.
TINY = {name: lowest for name, (_, lowest, _) in FORMATS.items()}
HUGE = {name: too_large for name, (_, _, too_large) in FORMATS.items()}


def bits(rng: Rng, count: int, dtype: str) -> Array:
    """Draw any bit pattern that is a finite number."""
    size = array(0, dtype).dtype.itemsize
    values = np.frombuffer(rng.bytes(count * size), array(0, dtype).dtype).copy()
    with np.errstate(invalid="ignore"):  # of NaN
        values[~np.isfinite(values.astype(np.float64))] = 1
    return values


def normal(rng: Rng, count: int, dtype: str) -> Array:
    """Draw numbers around zero, every bit of the significand in use."""
    return array(rng.standard_normal(count), dtype)


def ties(rng: Rng, count: int, dtype: str) -> Array:
    """Draw neighbours with an odd last bit and their halves: means lie on and beside ties."""
    precision = FORMATS[dtype][0]
    last = 2.0 ** (1 - precision)
    choice = [1.0, 1 + last, 1 + 2 * last, 1 + 3 * last, last, last / 2, 2 - last, 2.0]
    return array(rng.choice([*choice, -1.0, -1 - last, 0.0], count), dtype)


def near_ties(rng: Rng, count: int, dtype: str) -> Array:
    """Draw a tie, and specks far below it that decide it, of either sign."""
    values = ties(rng, count, dtype).astype(np.float64)
    specks = np.ldexp(rng.choice([-1.0, 1.0], count), max(TINY[dtype] + 4, -700))
    return array(np.where(rng.random(count) < 0.3, specks, values), dtype)


def cancelling(rng: Rng, count: int, dtype: str) -> Array:
    """Draw large numbers of both signs, and small ones that survive their difference."""
    return array(rng.choice([1e4, -1e4, 9999.0, -9992.0, 1.0, -1.0, 0.5, 1e-3], count), dtype)


def subnormal(rng: Rng, count: int, dtype: str) -> Array:
    """Draw a few of the smallest steps there are, up to just above the subnormal range."""
    most = 2 ** rng.integers(2, FORMATS[dtype][0] + 2)
    return array(np.ldexp(rng.integers(-most, most + 1, count).astype(float), TINY[dtype]), dtype)


def huge(rng: Rng, count: int, dtype: str) -> Array:
    """Draw numbers whose sums overflow though their means do not."""
    largest = (1 - 2.0 ** -FORMATS[dtype][0]) * 2.0 ** (HUGE[dtype] - 1) * 2
    return array(rng.choice([1.0, 1.0, 0.75, -1.0, 2.0**-8], count) * largest, dtype)


def exponents(rng: Rng, count: int, dtype: str) -> Array:
    """Draw from the whole range of exponents."""
    powers = rng.integers(TINY[dtype], HUGE[dtype] - 1, count)
    return array(np.ldexp(rng.choice([-1.0, 1.0, 1.5, 1.25], count), powers), dtype)


def sparse(rng: Rng, count: int, dtype: str) -> Array:
    """Draw zeros of both signs and here and there a number."""
    return array(np.where(rng.random(count) < 0.2, rng.standard_normal(count), -0.0), dtype)


def special(rng: Rng, count: int, dtype: str) -> Array:
    """Draw NaN, infinities and zeros among small integers."""
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 2.0, -3.0]
    return array(rng.choice(values, count, p=[0.1, 0.1, 0.05, 0.05, 0.1, 0.2, 0.2, 0.2]), dtype)


def constant(rng: Rng, count: int, dtype: str) -> Array:
    """Draw one number for all cells."""
    return array(np.full(count, rng.standard_normal()), dtype)


PATTERNS: dict[str, Callable[[Rng, int, str], Array]] = {
    draw.__name__: draw
    for draw in (
        normal,
        ties,
        near_ties,
        cancelling,
        subnormal,
        huge,
        exponents,
        sparse,
        special,
        constant,
        bits,
    )
}


def fill(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Fill an array with one of the patterns, integers of a type with any of its values."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype in INTEGERS:
        return np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype).reshape(shape)
    pattern = list(PATTERNS.values())[seed % len(PATTERNS)]
    return pattern(rng, count, dtype).reshape(shape)


def hard_cases(**options: Any) -> st.SearchStrategy[Any]:
    """Draw (operator, inputs, attributes): valid, of a float type, with hard values."""
    return cases(fill=fill, **options)


def integer_cases() -> st.SearchStrategy[Any]:
    """Draw a maximum of integers; their averages have no defined element."""
    return cases(operators=("MaxPool-1",), dtypes=INTEGERS, fill=fill)


def combinations() -> st.SearchStrategy[dict[str, str]]:
    """Draw a reading for some of the clauses that replace a step."""
    return st.fixed_dictionaries(
        {}, optional={clause: st.sampled_from(names) for clause, names in READINGS.items()}
    )


def assert_same(got: Array, expected: Array) -> None:
    """Assert equal type, shape and values; NaN equals NaN, and zeros have no sign."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
        np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))
