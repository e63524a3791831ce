"""Calls for which engines have code of their own: layouts, blocks of channels, sliding windows."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from conformance.cases.sweep.kernel_paths import channel_blocks, in_either_layout, sliding
from conformance.cases.sweep.key_collisions import key_collisions
from conformance.cases.sweep.sweep_model import build, case_of_axes
from conformance.operators import OPERATORS
from conformance.operators.axis import Axis

WEBNN = OPERATORS["WebNN-maxPool2d"]
SMALL = case_of_axes(WEBNN, (1, 2), (Axis(4, 2, 2), Axis(5, 2)), "index")


def test_a_small_call_is_followed_by_itself_with_channels_last():
    one, other = in_either_layout(WEBNN, [SMALL])
    assert one == SMALL
    assert other.attributes == {**SMALL.attributes, "layout": "nhwc"}
    assert np.array_equal(build(one, seed=0).data, build(other, seed=0).data)


def test_in_the_smoke_tier_layouts_take_turns():
    every = in_either_layout(WEBNN, [replace(SMALL, tier="smoke")] * 2)
    assert [spec.tier for spec in every] == ["smoke", "standard", "standard", "smoke"]


def test_pairs_that_a_key_takes_for_one_stay_together():
    pairs = list(key_collisions(WEBNN))
    assert list(in_either_layout(WEBNN, pairs)) == pairs


def test_an_operator_of_one_layout_has_its_cases_alone():
    torch = OPERATORS["PyTorch-max_pool2d"]
    spec = case_of_axes(torch, (1, 2), (Axis(4, 2, 2), Axis(5, 2)), "index")
    assert list(in_either_layout(torch, [spec])) == [spec]


@pytest.mark.parametrize("name", ["PyTorch-avg_pool1d", "TOSA-MAX_POOL2D", "MaxPool-14"])
def test_every_type_but_the_plain_one_has_channels_in_blocks_and_past_256(name):
    operator = OPERATORS[name]
    channels = {}
    for spec in channel_blocks(operator):
        channels.setdefault(spec.dtype, []).append(spec.shape[1])
    assert channels
    assert "float32" not in channels
    for counts in channels.values():
        assert {count % 8 == 0 for count in counts if count > 256} == {True, False}
        assert any(count % 16 == 0 for count in counts)


@pytest.mark.parametrize("name", ["PyTorch-avg_pool1d", "AvgPool-16", "PyTorch-lp_pool3d"])
def test_windows_that_slide_share_cells_with_the_one_before(name):
    operator = OPERATORS[name]
    specs = list(sliding(operator))
    assert {spec.pattern for spec in specs} == {"nan", "infinities", "contrasts", "spikes"}
    for spec in specs:
        params = operator.validate(build(spec, seed=0).inputs, spec.attributes)
        steps = zip(params.kernel, params.strides, strict=True)
        assert any(kernel >= 4 and stride == 1 for kernel, stride in steps)
        assert prod(spec.shape) <= 100
