"""What is found out about state, in words."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.diagnosis.calls import by_number, depends_on, described, described_calls


def case(**changes):
    """Return a case of a pool over one axis."""
    return vector(attributes=pool(**changes)).case


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("10000", "the first call is wrong"),
        ("11000", "the first 2 calls are wrong"),
        ("00111", "calls from the 3rd on are wrong"),
        ("010101", "every 2nd call is wrong"),
        ("00100100", "every 3rd call is wrong"),
        ("00100", "the 3rd call is wrong"),
        ("01100", "the 2nd and 3rd calls are wrong"),
        ("0" * 11 + "100", "the 12th call is wrong"),
        ("0" * 21 + "100", "the 22nd call is wrong"),
        ("10110100", "the 1st, 3rd and 4th calls are wrong"),
    ],
)
def test_which_calls_are_wrong(wrong, words):
    """By the plainest words that say it."""
    assert by_number([call == "1" for call in wrong]) == words


def test_a_call_is_described():
    """Operator, type, shape and attributes, and what else is an input."""
    assert described(case(exclude_pad=False)) == (
        "AvgPool-1 of float32 [1, 1, 6] with kernel=[2], strides=[2], pads_begin=[0], "
        "pads_end=[0] and exclude_pad=false"
    )
    adaptive = vector(ramp(1, 1, 4), {}, operator="MaxPool-1").case
    assert described(adaptive).startswith("MaxPool-1 of float32 [1, 1, 4]")


def test_earlier_calls_are_described_by_how_they_differ():
    """One earlier call alone; of several, each is told."""
    last, pads, wide = case(), case(pads_begin=[1]), case(kernel=[3])
    data = vector(ramp(1, 1, 6) + np.float32(1)).case
    assert described_calls([last]) == f"{described(last)}, when it is called first"
    assert described_calls([last, last]) == f"{described(last)}, after a call of the same"
    assert described_calls([last] * 3) == f"{described(last)}, after 2 calls of the same"
    assert described_calls([pads, last]).endswith(", after the same with pads_begin=[1]")
    assert described_calls([data, last]).endswith(", after the same with other data")
    two = f"{described(last)}, after {described(pads)}, then {described(wide)}"
    assert described_calls([pads, wide, last]) == two
    five = described_calls([data, data, pads, wide, wide, last])
    assert five.startswith(f"{described(last)}, after 2 calls, then {described(pads)}, then ")


def test_an_attribute_that_only_the_later_call_has_is_unset():
    """In the earlier one."""
    without = case()
    given = case(rounding_type="ceil")
    assert described_calls([without, given]).endswith(", after the same with rounding_type=unset")


def test_what_has_to_differ_is_named():
    assert depends_on(1, ()) == "the output depends on an earlier call"
    assert depends_on(2, ()) == "the output depends on 2 earlier calls"
    assert depends_on(1, ["shape", "kernel"]).endswith(
        "an earlier call with other shape and kernel"
    )
