"""The numbers of one axis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operators import OPERATORS
from conformance.operators.axis import Axis, by_role, sizes

SMALL = st.integers(1, 5)
AXES = st.builds(
    Axis,
    *(st.integers(1, 20), SMALL, SMALL, st.integers(0, 4), st.integers(0, 4)),
    dilations=st.integers(1, 3),
)
MODES = pytest.mark.parametrize("auto_pad", ["explicit", "same_upper", "same", "valid"])


@MODES
@given(axis=AXES, extent=st.integers(1, 6))
def test_the_least_size_has_so_many_windows_and_one_cell_less_has_not(auto_pad, axis, extent):
    """A size below 1 has too: then pads hold more windows than asked for."""
    least = axis._replace(size=axis.least_size(extent, auto_pad))
    assert least.extent(auto_pad) == extent
    assert least._replace(size=least.size - 1).extent(auto_pad) == extent - 1


@given(axis=AXES)
def test_an_axis_has_the_windows_that_the_pipeline_makes(axis):
    """Under each mode, as the reference computes them."""
    operator = OPERATORS["MaxPool-8"]
    for auto_pad in ("explicit", "same_upper", "same_lower", "valid"):
        meanings = {role: list(numbers) for role, numbers in by_role([axis]).items()}
        attributes = operator.attributes_of({**meanings, "auto_pad": auto_pad})
        params = operator.translate(sizes([axis]), attributes)
        pads = operator.pipeline.pads(params)
        assert operator.pipeline.extent(params, pads) == (axis.extent(auto_pad),)


def test_numbers_that_an_operator_has_no_attribute_for_are_left_out():
    """MaxPool-1 has no dilations."""
    axis = Axis(9, 3, 2, 1, 0, dilations=2)
    assert not axis.is_sayable(OPERATORS["MaxPool-1"])
    assert axis.said(OPERATORS["MaxPool-1"]) == axis._replace(dilations=1)
    assert axis.is_sayable(OPERATORS["MaxPool-8"])
