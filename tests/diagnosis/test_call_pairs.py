"""Two calls: what they differ in, calls in between, and what of the first comes back."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.diagnosis.calls import differences, instead, mixed, with_other_data
from conformance.vector import Case

ONE = vector(ramp(1, 1, 6), pool(kernel=[2], pads_begin=[1]))
OTHER = vector(ramp(1, 1, 8, dtype="float64"), pool(kernel=[3]))


def outputs(made):
    """Return the right outputs of a vector."""
    return tuple(expected.values for expected in made.values[0].outputs)


def test_what_differs_is_named():
    """Attributes, shape, element type and data."""
    assert differences(ONE.case, ONE.case) == []
    assert differences(ONE.case, OTHER.case) == [
        "element type",
        "shape",
        "kernel",
        "pads_begin",
        "data",
    ]


def test_calls_of_gradients_differ_in_the_gradient_or_in_the_data():
    """Neither is an attribute."""
    data, gradient = ramp(1, 1, 6), ramp(1, 1, 3)

    def call(gradient, data):
        return Case("1", "AvgPool-1-backward", pool(), (gradient, data))

    one = call(gradient, data)
    assert differences(one, call(gradient.copy(), data.copy())) == []
    assert differences(one, call(gradient + 1, data)) == ["data"]
    assert differences(one, call(gradient, data + 1)) == ["data"]


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ([], []),
        (["pads_begin"], ["pads_begin"]),
        (["shape", "data"], ["shape", "data"]),
        (["kernel", "element type"], ["element type", "kernel", "data"]),
    ],
)
def test_a_mixed_call_differs_in_what_is_kept(kept, found):
    """And in nothing else; data of another element type are other data."""
    assert differences(mixed(ONE.case, OTHER.case, kept).case, OTHER.case) == found


def test_everything_kept_is_the_earlier_call():
    """Bit for bit."""
    made = mixed(ONE.case, OTHER.case, differences(ONE.case, OTHER.case))
    assert differences(made.case, ONE.case) == []


def test_an_undefined_mixture_is_none():
    """A kernel beyond the input, for example."""
    large = vector(ramp(1, 1, 20), pool(kernel=[15]))
    assert mixed(large.case, ONE.case, ["kernel"]) is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_other_data_are_other_data_twice(dtype):
    """Also where they are made of data that were made so."""
    case = vector(ramp(1, 2, 6, dtype=dtype)).case
    once = with_other_data(case).case
    again = with_other_data(once).case
    assert differences(case, once) == differences(once, again) == ["data"]


class TestInstead:
    """What comes back is named where it is simple and true."""

    def test_the_earlier_output(self):
        """Bit for bit, of the same shape or not."""
        before, got, alone = outputs(ONE), outputs(ONE), outputs(OTHER)
        words = instead(OTHER, ONE, ["data"], (before, got, alone))
        assert words == "it is the output of the call before"

    def test_right_for_attributes_of_the_earlier_call(self):
        """The data are those of the later one."""
        meant = mixed(ONE.case, OTHER.case, ["pads_begin"])
        words = instead(OTHER, ONE, ["pads_begin"], (outputs(ONE), outputs(meant), outputs(OTHER)))
        assert words == "it is what is right with the pads_begin of the call before"

    def test_elements_that_were_left_in_memory(self):
        """Only the wrong elements count."""
        alone = outputs(vector())
        later, earlier = vector(), vector(ramp(1, 1, 6) * np.float32(10))
        got = (np.where([[[False, True, True]]], outputs(earlier)[0], alone[0]),)
        words = instead(later, earlier, ["data"], (outputs(earlier), got, alone))
        assert words == "its wrong elements are those of the output of the call before"

    def test_a_sum(self):
        """Of both outputs."""
        later, earlier = vector(), vector(ramp(1, 1, 6) * np.float32(10))
        alone, before = outputs(later), outputs(earlier)
        words = instead(later, earlier, ["data"], (before, (alone[0] + before[0],), alone))
        assert words == "it is added to the output of the call before"

    @pytest.mark.parametrize("got", [None, (np.full((1, 1, 3), np.float32(77)),)])
    def test_anything_else_is_not_named(self, got):
        """An exception, or numbers from nowhere."""
        later, earlier = vector(), vector(ramp(1, 1, 6) * np.float32(10))
        assert instead(later, earlier, ["data"], (outputs(earlier), got, outputs(later))) == ""
