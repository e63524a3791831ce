"""Replays of public threads: they answer what the threads print, and none is known otherwise."""

import sys

import numpy as np
import pytest
from support.paths import ROOT

sys.path.insert(0, str(ROOT))

from benchmarks import thread_backends
from benchmarks.thread_backends import REPLAYS
from conformance import check, evaluate

CELLS = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
ONES = np.ones((1, 1, 11, 11), np.float32)
MEAN_OF_FOUR = {"filter_height": 2, "filter_width": 2, "stride_h": 1, "stride_w": 1}
MEAN_OF_FOUR |= {"padding": "VALID", "fused_activation_function": "NONE"}
DILATED = {"kernel_shape": [4, 4], "dilations": [4, 4], "pads": [1, 1, 1, 1]}
PRINTED = [
    (
        *("pads_as_same", "ONNX-MaxPool-22", CELLS),
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        [[[[10, 11], [14, 15]]]],
    ),
    ("divisor_of_clamped_start", "ONNX-AveragePool-22", ONES, DILATED, [[[[4 / 9]]]]),
    (
        *("divided_before_added", "LiteRT-AVERAGE_POOL_2D"),
        *(np.full((1, 2, 2, 1), 5, np.int8), MEAN_OF_FOUR, [[[[4]]]]),
    ),
    (
        *("divided_before_added", "LiteRT-AVERAGE_POOL_2D"),
        *(np.full((1, 2, 2, 1), 1, np.int8), MEAN_OF_FOUR, [[[[0]]]]),
    ),
    (
        *("padded_with_the_lowest_of_int8", "MaxPool-8"),
        np.array([[[-1000, -2000, -1500, -900]]], np.int32),
        {"kernel": [4], "strides": [2], "pads_begin": [1], "pads_end": [1]},
        [[[-128, -128]]],
    ),
]
MISSED = {"onnxsim/onnxsim#290", "pytorch/pytorch#180956", "onnx/onnx#1926"}


@pytest.mark.parametrize(("name", "operator", "data", "attributes", "printed"), PRINTED)
def test_a_replay_answers_what_its_thread_prints(name, operator, data, attributes, printed):
    """Which is not what is right."""
    answer = getattr(thread_backends, name)(operator, [data], attributes)
    np.testing.assert_allclose(answer, printed, rtol=1e-6)
    right = evaluate(operator, [data], attributes)
    assert not np.array_equal(answer, right[0] if isinstance(right, tuple) else right)


@pytest.mark.slow("it checks the smoke tier; what threads print is tested above")
@pytest.mark.parametrize("replay", REPLAYS, ids=lambda replay: replay.thread)
def test_the_smoke_tier_catches_a_replay_and_some_of_it_is_right(replay):
    """But three threads: what one call of a smoke vector does not show."""
    options = {"tier": "smoke", "diagnose": "none", "variations": "none"}
    report = check(replay.backend, operators=replay.operators, **options)
    verdicts = {result.verdict for result in report.results}
    assert "conforms" in verdicts
    assert bool(verdicts & set(report.failing)) is (replay.thread not in MISSED)


def test_no_replay_is_of_a_thread_that_faults_were_made_of():
    """They are thirty threads of their own."""
    known = (ROOT / "conformance" / "faults" / "known_bugs.txt").read_text()
    threads = [replay.thread.split("#") for replay in REPLAYS]
    assert len({tuple(thread) for thread in threads}) == len(REPLAYS) == 30
    words = set(known.split())
    assert not words & {f"{name}/{w}/{n}" for name, n in threads for w in ("issues", "pull")}
