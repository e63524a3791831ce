"""Steps alone, and a pipeline as a value whose steps can be replaced."""

import dataclasses

import numpy as np
import pytest

from conformance.operators import OPERATORS, Params
from conformance.operators import pipeline as steps

PARAMS = Params(
    sizes=(5,), kernel=(3,), strides=(2,), pads_begin=(1,), pads_end=(2,), include_pad=True
)
AVERAGE = OPERATORS["AvgPool-1"].pipeline
ROW = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
SIX = Params(sizes=(6,), kernel=(2,), strides=(2,), pads_begin=(0,), pads_end=(0,))


def params(**changes):
    """Return the parameters above with changes."""
    return dataclasses.replace(PARAMS, **changes)


class TestReplacing:
    """A reading or a fault is a pipeline with a step replaced."""

    def test_a_pipeline_runs_from_parameters_to_outputs(self):
        """Without a replacement it is the operator, which has one output."""
        (output,) = AVERAGE.values(ROW, AVERAGE.plan(SIX))
        assert output.ravel().tolist() == [0.5, 2.5, 4.5]

    def test_a_replaced_step_changes_the_result(self):
        """One more window, and sums instead of means."""
        longer = AVERAGE.replace(
            extent=lambda params, pads: tuple(o + 1 for o in steps.count_windows(params, pads)),
            divide=lambda params, pads, windows: np.full(4, 1),
        )
        (output,) = longer.values(ROW, longer.plan(SIX))
        assert output.ravel().tolist() == [1, 5, 9, 0]

    def test_further_outputs_follow_the_first(self):
        """The last step gets the first output too, and returns the others."""
        twice = AVERAGE.replace(further=lambda _gathered, _divisor, first: (first * 2,))
        first, second = twice.values(ROW, twice.plan(SIX))
        assert second.tolist() == (first * 2).tolist()

    def test_the_original_is_left_alone(self):
        """Replacing returns a new pipeline."""
        assert AVERAGE.replace(gather=None).gather is None
        assert AVERAGE.gather is steps.clip


def test_plans_are_alike_if_they_read_and_divide_alike():
    """Padding that no window shows makes no other key; a divisor does."""
    plan = AVERAGE.plan
    clipped = params(include_pad=False, strides=(9,))
    assert plan(clipped).key == plan(dataclasses.replace(clipped, pads_end=(3,))).key
    assert plan(clipped).key != plan(dataclasses.replace(clipped, include_pad=True)).key
    assert plan(clipped).key != plan(dataclasses.replace(clipped, pads_begin=(0,))).key


@pytest.mark.parametrize(("kernel", "alike"), [(2, False), (1, True)])
def test_plans_of_other_dilations_are_alike_where_windows_have_one_cell(kernel, alike):
    """Their cells lie apart otherwise, however many there are and wherever they begin."""
    one = params(kernel=(kernel,), strides=(9,), pads_begin=(0,), pads_end=(0,), dilations=(1,))
    apart = dataclasses.replace(one, dilations=(3,))
    assert (AVERAGE.plan(one).key == AVERAGE.plan(apart).key) is alike
