"""How a document hands over a call."""

import numpy as np
import pytest

from conformance import check
from conformance.operators import evaluate
from conformance.operators.call_convention import PLAIN, CallConvention

LAST = CallConvention(channels_last=True, numbers=("a", "b"), of_types={"t": {"int8": ("I",)}})


def test_a_plain_form_changes_nothing():
    inputs, attributes = (np.ones((1, 2, 3)),), {"k": 1}
    assert PLAIN.given(inputs, attributes) == PLAIN.taken(inputs, attributes)
    assert PLAIN.given(inputs, attributes)[0][0] is inputs[0]


def test_a_call_that_is_handed_over_and_taken_is_the_same():
    data = np.arange(24, dtype=np.int8).reshape(1, 2, 3, 4)
    given, attributes = LAST.given((data,), {"k": [1, 2], "a": 3, "b": -4})
    assert [array.tolist() for array in given[1:]] == [[3], [-4]]
    assert (given[0].shape, attributes) == ((1, 3, 4, 2), {"k": [1, 2], "t": "I"})
    taken, back = LAST.taken(given, attributes)
    np.testing.assert_array_equal(taken[0], data)
    assert back == {"k": [1, 2], "a": 3, "b": -4}


def test_a_number_that_is_left_out_is_no_input():
    given, _ = LAST.given((np.zeros((1, 1, 1), np.int8),), {"a": 3})
    assert len(given) == 2


def test_the_place_of_an_element_is_that_of_the_backend():
    assert LAST.place_given((1, 2, 3, 4)) == (1, 3, 4, 2)
    assert PLAIN.place_given((1, 2, 3, 4)) == (1, 2, 3, 4)


def channels_second(operator, inputs, attributes):
    """Take data with channels last for data with channels second."""
    data, *others = inputs
    if data.ndim == 4:
        batch, height, width, channels = data.shape
        data = data.reshape(batch, channels, height, width).transpose(0, 2, 3, 1)
    return evaluate(operator, [data, *others], attributes)


@pytest.mark.parametrize(
    ("backend", "isolate"), [(evaluate, False), ("numpy", True)], ids=["here", "in a worker"]
)
def test_a_backend_gets_the_form_of_the_document(backend, isolate):
    """A sound one conforms."""
    assert check(backend, operators="TOSA-*", tier="smoke", diagnose="none", isolate=isolate).ok


def test_a_backend_of_another_layout_does_not_conform():
    assert not check(channels_second, operators="TOSA-*", tier="smoke", diagnose="none").ok


@pytest.mark.parametrize("value", ["1", 999, True, None, [1], 1.5, 10**400])
def test_what_is_no_number_of_the_type_stays_an_attribute(value):
    """A stranger's file may hold anything: the backend sees it, and nothing breaks here."""
    given, attributes = LAST.given((np.zeros((1, 1, 1), np.int8),), {"a": value})
    assert (len(given), attributes["a"]) == (1, value)


@pytest.mark.parametrize("value", [3, None, "ab", {}])
def test_what_is_no_list_stays_an_attribute(value):
    split = CallConvention(split={"k": ("kh", "kw")})
    assert split.given((np.zeros((1, 1, 1)),), {"k": value})[1] == {"k": value}


def test_a_call_without_inputs_stays_as_it_is():
    assert LAST.given((), {"a": 1}) == ((), {"a": 1})
