"""Steps alone, and a pipeline as a value whose steps can be replaced."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from cases import pooling

from conformance.operators import OPERATORS, Params, evaluate
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


@pytest.mark.parametrize(
    ("auto_pad", "expected"),
    [
        ("explicit", ((1, 2),)),
        ("valid", ((0, 0),)),
        # o = 3, T = 2 * 2 + 4 - 5 = 3
        ("same_upper", ((1, 2),)),
        ("same_lower", ((2, 1),)),
    ],
)
def test_pads_follow_auto_pad(auto_pad, expected):
    """Given pads count for explicit alone."""
    assert steps.resolve_pads(params(auto_pad=auto_pad, kernel=(4,))) == expected


def test_given_pads_do_not_leak_into_same():
    """same_* computes its own pads whatever is given."""
    given = steps.resolve_pads(params(auto_pad="same_upper", pads_begin=(9,), pads_end=(9,)))
    assert given == steps.resolve_pads(params(auto_pad="same_upper"))


def test_same_does_not_crop():
    """With a kernel below the stride the total padding is zero, not negative."""
    assert steps.resolve_pads(params(auto_pad="same_lower", kernel=(1,), strides=(3,))) == ((0, 0),)


def test_same_does_not_round():
    """By default rounding_type=ceil adds no window to same_*."""
    same = params(auto_pad="same_upper", kernel=(1,), strides=(3,), rounding="ceil")
    assert steps.count_windows(same, steps.resolve_pads(same)) == (2,)


def test_overhang_never_counts():
    """The divisor counts cells in input + pads; what ceil adds beyond lies in neither."""
    # t = 5 + 1 + 2 - 3 = 5 and 5 / 2 rounds up to 3: windows -1:2, 1:4, 3:6, 5:8, the frame -1:7
    plan = AVERAGE.plan(params(rounding="ceil"))
    assert plan.extent == (4,)
    assert plan.divisor.tolist() == [3, 3, 3, 2]
    assert AVERAGE.plan(params(rounding="ceil", include_pad=False)).divisor.tolist() == [2, 3, 2, 0]


def test_pipelines_planned_together_have_their_own_plans():
    """Whatever steps they share."""
    one_more = AVERAGE.replace(extent=lambda *_: (9,))
    undivided = one_more.replace(divide=steps.no_divisor)
    together = steps.plans([AVERAGE, one_more, undivided], PARAMS)
    alone = [each.plan(PARAMS) for each in (AVERAGE, one_more, undivided)]
    assert [plan.key for plan in together] == [plan.key for plan in alone]


def test_a_step_that_pipelines_share_runs_once():
    """And where a step that differs finds the same, so do those after it."""
    calls = []

    def divide(*given):
        calls.append(given)
        return steps.count_cells(*given)

    counted = AVERAGE.replace(divide=divide)
    other_pads = counted.replace(pads=lambda _: ((1, 2),))  # as PARAMS has them
    plans = steps.plans([counted, counted, other_pads], PARAMS)
    assert (len(calls), plans[0] is plans[1], plans[0] is plans[2]) == (1, True, True)


def test_divisors_multiply_over_axes():
    """The divisor of a box is the product of its counts, one per axis."""
    counts = [np.array([1, 2]), np.array([3, 4, 5]), np.array([7])]
    expected = [[[21], [28], [35]], [[42], [56], [70]]]
    assert steps.outer(counts).tolist() == expected


def test_attributes_belong_to_axes_in_order():
    """Attribute i is for tensor axis 2 + i."""
    data = np.zeros((1, 1, 9, 7, 5), np.float32)
    got = evaluate("MaxPool-1", [data], pooling([1, 2, 3], [4, 3, 2]))
    assert got.shape == (1, 1, 3, 2, 2)


def test_batches_and_channels_are_pooled_apart():
    """Each plane of (N, C) has the result it has alone."""
    data = np.random.default_rng(0).standard_normal((2, 3, 5, 4)).astype(np.float32)
    attributes = pooling([2, 3], exclude_pad=True)
    together = evaluate("AvgPool-1", [data], attributes)
    for n, c in np.ndindex(2, 3):
        alone = evaluate("AvgPool-1", [data[n : n + 1, c : c + 1]], attributes)
        np.testing.assert_array_equal(together[n : n + 1, c : c + 1], alone)


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
