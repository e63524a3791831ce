"""A case of planes and axes, which tables of cases are rows of."""

from conformance.cases.sweep.sweep_model import case_of_axes
from conformance.operators import OPERATORS
from conformance.operators.axis import Axis

AXIS = Axis(9, 3, 2, 1, 0, output=4, dilations=2)


def test_an_operator_is_given_the_numbers_that_it_knows():
    """Of one and the same axis."""
    plain = ((2, 3), (AXIS,), {}, "float32", "index")
    maximum = case_of_axes(OPERATORS["MaxPool-1"], *plain)
    assert maximum.shape == (2, 3, 9)
    assert maximum.attributes == {
        "kernel": [3],
        "strides": [2],
        "pads_begin": [1],
        "pads_end": [0],
    }
    dilated = case_of_axes(OPERATORS["MaxPool-8"], *plain)
    assert dilated.attributes == maximum.attributes | {"dilations": [2]}
    adaptive = case_of_axes(OPERATORS["AdaptiveAvgPool-8"], *plain)
    assert (adaptive.attributes, adaptive.output_size) == ({}, ((4,), "int64"))


def test_axes_that_must_be_more_have_one_cell():
    """Those before the others."""
    planes = OPERATORS["AvgPool-1"].extended(
        name="Planes", document="Planes of two axes", axes=(2, 2)
    )
    spec = case_of_axes(planes, (1, 1), (AXIS,), {"include_pad": True}, "float32", "index")
    assert spec.shape == (1, 1, 1, 9)
    assert spec.attributes["kernel"] == [1, 3]
    assert spec.attributes["exclude_pad"] is False


def test_lists_and_their_order_are_chosen_by_role():
    """Attributes are given in this order; a list that is not chosen is left out."""
    spec = case_of_axes(
        OPERATORS["MaxPool-8"],
        *((1, 1), (AXIS,), {}, "float32", "index"),
        roles=("pads_begin", "kernel"),
    )
    assert list(spec.attributes) == ["pads_begin", "kernel"]
