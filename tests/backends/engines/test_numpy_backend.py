"""The numpy backend against the oracle."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.effort import examples
from support.oracle import WholeCaseUndefined, oracle
from support.random_cases import (
    EVERY,
    NEWER,
    OPERATORS,
    assert_equals,
    cases,
    noise,
    pooling,
    small_integers,
    worst_share,
)

from conformance.backends.engines.numpy_backend import backend
from conformance.fuzz import fuzz
from conformance.vector import outputs_of

PAIR = np.array([[[1.0, 3.0, 5.0]]], np.float32)


def defined(case):
    """Return what the oracle says; give a case up that is undefined as a whole."""
    try:
        return oracle(*case)
    except WholeCaseUndefined:
        assume(False)


@examples(2)
@given(cases([name for name in EVERY if "lp" not in name.lower()]))
def test_equals_the_oracle_on_integers(case):
    """Exact sums divided once are correctly rounded, whatever the element type."""
    result = defined(case)
    got = backend(*case)
    assert_equals(got, result)
    undefined = outputs_of(got)[0][result.undefined].astype(np.float64)
    assert np.all(np.isneginf(undefined) if "max" in case[0].lower() else np.isnan(undefined))


@given(cases((*OPERATORS, *NEWER), fill=noise))
def test_is_within_rounding_on_noise(case):
    """On any data the error is what the additions and one division explain."""
    result = defined(case)
    assert worst_share(backend(*case), result, case[1][0].ndim - 2) <= 1


@pytest.mark.slow("the shipped vectors hold the same kinds of cases")
@pytest.mark.parametrize("seed", range(6))
def test_a_search_finds_nothing(seed):
    """Drawn cases of all operators, the same ones in every run."""
    report = fuzz(backend, max_examples=6000, seed=seed)
    assert (report.ok, report.findings, report.inconsistent) == (True, (), ())


@pytest.mark.parametrize(
    ("operator", "data", "given"),
    [
        ("AvgPool-2", PAIR, pooling([2])),
        ("AvgPool-1", PAIR, pooling([2])),
        ("MaxPool-1", PAIR, pooling([9])),
        ("nGraph-AvgPool", PAIR.astype(np.int32), {"window_shape": [2]}),
    ],
    ids=["unknown operator", "invalid", "nothing to pool", "integers"],
)
def test_cases_without_an_answer_are_refused(operator, data, given):
    """Also those that may be answered in any way."""
    with pytest.raises(ValueError, match=r"."):
        backend(operator, [data], given)


@st.composite
def minima(draw):
    """Draw data and attributes of MinimumPool-1; there may be nothing to pool."""
    axes = draw(st.integers(1, 3))
    entry = st.integers(1, 4)
    sizes = tuple(draw(entry) + 1 for _ in range(axes))
    data = small_integers((1, 2, *sizes), draw(st.sampled_from(["float32", "uint8"])), 0)
    return data, {
        "window": [draw(entry) for _ in sizes],
        "step": [draw(entry) for _ in sizes],
        "pads": [draw(entry) - 1 for _ in (*sizes, *sizes)],
        "round_up": draw(st.integers(0, 1)),
        "mode": draw(st.sampled_from(["explicit", "valid", "same_upper", "same_lower"])),
    }


def test_an_operator_from_outside_is_computed_by_its_roles(minimum_pool):
    """The first output of MinimumPool-1 is that of loops over windows, or both refuse."""
    from minimum_backends import right  # noqa: PLC0415 - on the path while the test runs

    @given(minima())
    def compare(case):
        data, attributes = case
        try:
            expected, _ = right(minimum_pool.name, [data], attributes)
        except ValueError:
            with pytest.raises(ValueError, match=r"kernel .* is longer"):
                backend(minimum_pool.name, [data], attributes)
            return
        got = backend(minimum_pool.name, [data], attributes)
        assert got.dtype == data.dtype
        np.testing.assert_array_equal(got, expected)

    compare()
