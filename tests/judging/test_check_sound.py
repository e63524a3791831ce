"""Right answers in odd clothes conform, and a careless backend harms only itself."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.effort import examples
from support.fakes import altered, check, only, pool, ramp, ran, right, vector
from support.random_cases import cases, noise
from support.sound import SOUND, Sound

from conformance import load_backend
from conformance.dtypes import FLOATS, dtype_of
from conformance.operators import vector_of
from conformance.reference import tolerance
from conformance.vector import UNDEFINED, Arithmetic, Case


@pytest.mark.parametrize("name", FLOATS)
def test_the_sign_of_zero(name):
    """-0 is 0, in every element type."""
    zeros = vector(np.zeros((1, 1, 4), dtype_of(name)))
    assert only(altered(lambda out: -out), zeros).verdict == "conforms"


@pytest.mark.parametrize("name", FLOATS)
def test_any_nan_is_nan(name):
    """The sign and payload of a NaN do not matter."""
    data = np.array([[[1, np.nan]]], np.float32).astype(dtype_of(name))
    assert only(altered(lambda out: -out), vector(data)).verdict == "conforms"


def test_one_buffer_for_every_output():
    """A backend may return the same array each time: outputs are copied before the next call.

    Not where threads call it at once: they would disturb each other.
    """
    buffer = np.empty((1, 1, 3), np.float32)

    def reusing(*case):
        buffer[...] = right(*case)
        return buffer

    vectors = [vector(ramp(1, 1, 6) * i, id=str(i)) for i in range(4)]
    assert check(reusing, vectors, variations="again").ok


class TestCareless:
    """A backend that changes its arguments."""

    def spoiling(self, operator, inputs, attributes):
        """Compute, then overwrite every argument."""
        output = right(operator, inputs, attributes)
        for array in inputs:
            array[...] = 0
        inputs.clear()
        for value in attributes.values():
            if isinstance(value, list):
                value[:] = [7] * 3
        attributes.clear()
        return output

    def test_other_vectors_see_nothing_of_it(self):
        """Vectors that share their input array are judged as if nothing had happened."""
        data = ramp(1, 1, 6)
        vectors = [vector(data, id=str(i), attributes=pool(strides=[i])) for i in (1, 2, 3)]
        assert ran(self.spoiling, *vectors).ok
        assert data.tolist() == [[[1, 2, 3, 4, 5, 6]]]

    def test_arguments_are_fresh(self):
        """A backend gets arrays it may write, in C order, and plain attributes."""

        def looking(operator, inputs, attributes):
            assert [type(array) for array in inputs] == [np.ndarray]
            assert all(array.flags.writeable and array.flags.c_contiguous for array in inputs)
            assert type(attributes) is dict
            return right(operator, inputs, attributes)

        assert ran(looking, vector(np.asfortranarray(ramp(1, 2, 6)))).ok


def test_warnings_of_a_backend_stay_its_own():
    """What a backend warns of is neither silenced nor turned into an error by the checker."""

    def warning(*case):
        warnings.warn("half of this is untested", UserWarning, stacklevel=1)
        return right(*case)

    with pytest.warns(UserWarning, match="untested"):
        assert ran(warning).ok


class TestStrictCallers:
    """A caller to whom every warning, and every step over the range of numbers, is an error."""

    @pytest.fixture(autouse=True)
    def _strict(self):
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            yield

    @pytest.mark.slow("the smoke tier of all operators")
    def test_it_makes_no_difference_to_the_smoke_tier(self):
        """Every vector of the smoke tier is judged."""
        report = check(load_backend("numpy"), tier="smoke")
        assert report.ok
        assert report.counts["conforms"] == len(report.results) > 0

    def test_it_makes_no_difference_where_huge_cells_cancel(self):
        """The error is more spacings of the result than a double holds, and none of the cells."""
        big = float(np.finfo(np.float64).max)
        data = np.array([[[big, 1e290, -big, -1e290]]])

        def forward(operator, inputs, attributes):
            with np.errstate(all="ignore"):
                return np.array([[[sum(inputs[0].ravel().tolist()) / 4]]])

        report = ran(forward, vector(data, pool(kernel=[4])))
        (accuracy,) = report.accuracy
        assert report.ok
        assert 0 < accuracy.worst_ulp < 1
        assert 0 < accuracy.worst_of_bound <= 1


def test_judging_warns_of_nothing():
    """Infinities, NaN and overflow in outputs and expected values pass in silence."""
    wild = [np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 0]
    data = np.array(wild * 2, np.float32).reshape(1, 1, 14)
    for name in FLOATS:
        with np.errstate(over="ignore"):
            case = vector(data.astype(dtype_of(name)), pool(strides=[1]), id=name)
        for value in wild:
            with warnings.catch_warnings(), np.errstate(all="warn"):
                warnings.simplefilter("error")
                changed = altered(
                    lambda out, value=value: np.full(out.shape, value).astype(out.dtype)
                )
                with np.errstate(over="ignore"):
                    only(changed, case)


@pytest.mark.parametrize(("name", "backend"), SOUND, ids=[name for name, _ in SOUND])
@examples(0.2)
@given(data=st.data())
def test_sound_backends_conform(name, backend: Sound, data):
    """Every sound way to compute an operator conforms, on any data."""
    drawn = [data.draw(cases(fill=noise)) for _ in range(3)]
    vectors = [vector_of(Case(str(i), *parts(*case))) for i, case in enumerate(drawn)]
    report = check(backend, vectors)
    assert [(r.verdict, r.detail, r.worst) for r in report.results if r.verdict != "conforms"] == []


def parts(operator, inputs, attributes):
    """Return a drawn case as the fields of Case."""
    return operator, attributes, tuple(inputs)


@given(case=cases(fill=noise), which=st.integers(0, 10**6))
def test_the_values_of_any_outcome_conform(case, which):
    """Whichever outcome of a case a backend returns, it conforms, under readings of that one."""
    vector = vector_of(Case("case", *parts(*case)))
    outcomes = [outcome for outcome in vector.outcomes if outcome.kind == "values"]
    assume(outcomes)
    outcome = outcomes[which % len(outcomes)]
    result = only(lambda *_: outcome.outputs[0].values, vector)
    assert result.verdict == "conforms"
    assert all(dict(reading) in result.readings for reading in outcome.readings)


@given(case=cases(fill=noise), where=st.integers(0, 10**6), sign=st.sampled_from([-1, 1]))
def test_twice_the_bound_is_a_mismatch(case, where, sign):
    """One defined element that is twice its bound off, any of them, is found."""
    vector = vector_of(Case("case", *parts(*case)))
    assume("lp-range" not in vector.clauses)  # powers that nearly vanish may be farther off
    outcomes = [outcome for outcome in vector.outcomes if outcome.kind == "values"]
    assume(outcomes)
    first = outcomes[0]
    # Of other readings, what is wrong under one may be right under another.
    assume(
        all(
            np.array_equal(o.outputs[0].values, first.outputs[0].values, equal_nan=True)
            for o in outcomes
        )
    )
    defined = np.flatnonzero(first.outputs[0].addends != UNDEFINED)
    assume(defined.size)
    at = defined[where % defined.size]
    wrong = first.outputs[0].values.copy()
    value = wrong.flat[at]
    bounds = [bound_of(vector, o, below=sign < 0)[at] for o in outcomes]
    shift = 2 * max(*bounds, float(np.spacing(abs(value))))
    wrong.flat[at] = value + wrong.dtype.type(sign * shift)
    worst = only(lambda *_: wrong, vector).worst
    assert (worst.wrong, worst.index) == (1, np.unravel_index(at, wrong.shape))


def bound_of(vector, outcome, *, below):
    """Return the tolerance of each element of an outcome, for results below or above it."""
    return tolerance(
        outcome.outputs[0],
        vector.case.inputs[0].ndim - 2,
        outcome.arithmetic & ~Arithmetic.OVERFLOWS,
        average=vector.case.operator != "MaxPool-1",
        below=below,
    )


def test_a_sum_that_overflows_before_it_meets_an_infinity():
    """Sums in the element type may end as NaN there; the opposite infinity is never right."""
    largest = np.finfo(np.float32).max
    data = np.array([[[-largest, -largest, np.inf]]], np.float32)
    case = vector(data, pool(kernel=[3], strides=[1]))

    def answering(value):
        return lambda *_: np.array([[[value]]], np.float32)

    verdicts = [only(answering(value), case).verdict for value in (np.inf, np.nan, -np.inf, 1.0)]
    assert verdicts == ["conforms", "conforms", "mismatch", "mismatch"]


def test_a_mean_that_overflows_may_do_so_to_either_side():
    """A divisor below the number of cells makes one; partial sums may overflow the other way."""
    largest = np.finfo(np.float16).max
    data = np.array([[[[-largest] * 2 + [largest] * 4]]], np.float16)
    attributes = {"kernel_size": [1, 6], "divisor_override": 1}
    case = vector(data, attributes, operator="PyTorch-avg_pool2d")

    def answering(value):
        return lambda *_: np.array([[[[value]]]], np.float16)

    verdicts = [only(answering(value), case).verdict for value in (np.inf, -np.inf, np.nan, 1.0)]
    assert verdicts == ["conforms", "conforms", "conforms", "mismatch"]


def test_no_nan_in_place_of_an_infinity_where_nothing_overflows():
    """The infinity of a window of moderate numbers stays what it is."""
    case = vector(np.array([[[1.0, 2.0, np.inf]]], np.float32), pool(kernel=[3], strides=[1]))
    nan = only(lambda *_: np.array([[[np.nan]]], np.float32), case)
    assert nan.verdict == "mismatch"
