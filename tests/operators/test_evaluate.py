"""`evaluate` against the oracle, bit for bit."""

import numpy as np
import pytest
from hypothesis import event, given
from support.drawn_params import FLOATS, combinations, hard_cases, integer_cases
from support.oracle import READINGS, OracleResult, WholeCaseUndefined, array, oracle
from support.random_cases import EVERY, assert_equals, pooling

from conformance.errors import InvalidCase
from conformance.operators import CLAUSES, concerned, evaluate


def expected_of(operator, inputs, attributes, readings) -> OracleResult | None:
    """Return the oracle's answer, None where nothing is defined."""
    try:
        return oracle(operator, inputs, attributes, readings)
    except WholeCaseUndefined:
        return None


def assert_agrees(case, readings):
    """Assert that a case is refused or computed as the oracle does."""
    operator, inputs, attributes = case
    expected = expected_of(operator, inputs, attributes, readings)
    if expected is None:
        event("undefined as a whole")
        with pytest.raises(InvalidCase):
            evaluate(operator, inputs, attributes, readings)
        return
    assert_equals(evaluate(operator, inputs, attributes, readings), expected)


@pytest.mark.parametrize("operator", EVERY)
@pytest.mark.parametrize("dtype", FLOATS)
def test_values_equal_the_oracle(operator, dtype):
    """Hard values of every type, under any combination of readings."""

    @given(case=hard_cases(operators=(operator,), dtypes=(dtype,)), readings=combinations())
    def agrees(case, readings):
        assert_agrees(case, readings)

    agrees()


@given(case=integer_cases(), readings=combinations())
def test_maxima_of_integers_equal_the_oracle(case, readings):
    """Integers of every type are compared as integers."""
    assert_agrees(case, readings)


@pytest.mark.parametrize(
    ("clause", "reading"), [(clause, name) for clause, names in READINGS.items() for name in names]
)
def test_each_reading_alone_equals_the_oracle(clause, reading):
    """Each reading of each clause, the others at their default."""
    operators = [name for name in concerned(CLAUSES[clause]) if name in EVERY]

    @given(case=hard_cases(operators=operators))
    def agrees(case):
        assert_agrees(case, {clause: reading})

    agrees()


@given(case=hard_cases())
def test_inputs_are_left_alone(case):
    """Evaluating writes neither to data nor to attributes."""
    operator, inputs, attributes = case
    before = [given.tobytes() for given in inputs], repr(attributes)
    for given_array in inputs:
        given_array.flags.writeable = False
    try:
        evaluate(operator, inputs, attributes)
    except InvalidCase:
        return
    assert ([given.tobytes() for given in inputs], repr(attributes)) == before


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
def test_the_layout_of_memory_does_not_matter(operator):
    """Transposed, reversed and big strides read the same values."""
    data = np.random.default_rng(0).standard_normal((2, 3, 6, 5)).astype(np.float32)
    attributes = pooling([2, 3], [2, 1])
    if operator == "AvgPool-1":
        attributes["exclude_pad"] = False
    expected = evaluate(operator, [data], attributes)
    spread = np.zeros((4, 3, 12, 5), np.float32)
    spread[::2, :, ::2] = data
    for view in (np.asfortranarray(data), spread[::2, :, ::2], data[::-1].copy()[::-1]):
        np.testing.assert_array_equal(evaluate(operator, [view], attributes), expected)


class TestUndefined:
    """What evaluate does where no value is defined."""

    def test_elements_of_an_average_are_nan(self):
        """A window of padding alone has no mean; the others have."""
        attributes = pooling([2], [3]) | {"pads_begin": [2], "exclude_pad": True}
        got = evaluate("AvgPool-1", [array([[[4, 2]]])], attributes)
        np.testing.assert_array_equal(got.ravel(), [np.nan])

    def test_elements_of_a_maximum_are_the_lowest(self):
        """-inf for floats, the lowest number for integers."""
        attributes = pooling([1], [1]) | {"pads_begin": [1]}
        assert evaluate("MaxPool-1", [array([[[4]]])], attributes).ravel().tolist() == [-np.inf, 4]
        whole = evaluate("MaxPool-1", [array([[[4]]], "int16")], attributes).ravel().tolist()
        assert whole == [-(2**15), 4]

    def test_a_kernel_past_the_padding_is_refused(self):
        with pytest.raises(InvalidCase, match=r"kernel \[4\]"):
            evaluate("MaxPool-1", [array([[[1, 2, 3]]])], pooling([4]))

    def test_a_spatial_size_of_zero_is_refused(self):
        with pytest.raises(InvalidCase, match="size of 0"):
            evaluate("MaxPool-1", [np.zeros((1, 1, 0), np.float32)], pooling([1]))

    @pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3)])
    def test_an_empty_batch_gives_an_empty_output(self, shape):
        data = np.zeros(shape, np.float32)
        assert evaluate("MaxPool-1", [data], pooling([2])).shape == (*shape[:2], 2)
        average = pooling([2], exclude_pad=True)
        assert evaluate("AvgPool-1", [data], average).shape == (*shape[:2], 2)
