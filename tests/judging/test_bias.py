"""Results that lie to one side: directed rounding is named, and nothing that is sound."""

from dataclasses import replace

import numpy as np
import pytest
from support.fakes import pool, ran, right, vector
from support.random_cases import noise
from support.rendered import in_terminal
from support.sound import SOUND

from conformance.api.merge import merge
from conformance.dtypes import FLOATS
from conformance.record.jsonl import read, write
from conformance.record.report import Bias
from conformance.report.check_report import describe

VECTORS = 36
SIDES = ("downwards", "upwards", "towards zero", "away from zero")


def vectors(dtype, *, positive=False, count=VECTORS):
    """Return vectors of averages of two cells and of three, of both signs unless `positive`."""
    made = []
    for seed in range(count):
        for k in (2, 3):
            data = noise((1, 2, 48), dtype, seed)
            data = np.abs(data) if positive else data
            attributes = pool(kernel=[k], strides=[k])
            made.append(vector(data, attributes, id=f"AvgPool-1/{dtype}-{seed}-{k}"))
    return made


def rounding(side):
    """Return a backend that rounds exact averages to a side."""

    def backend(operator, inputs, attributes):
        (data,) = inputs
        exact = right(operator, [data.astype(np.float64)], attributes)
        nearest = right(operator, inputs, attributes)
        lower, upper = (np.nextafter(nearest, data.dtype.type(end)) for end in (-np.inf, np.inf))
        below = np.where(nearest.astype(np.float64) > exact, lower, nearest)
        above = np.where(nearest.astype(np.float64) < exact, upper, nearest)
        inward, outward = np.where(exact > 0, below, above), np.where(exact > 0, above, below)
        return dict(zip(SIDES, (below, above, inward, outward), strict=True))[side]

    return backend


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("side", SIDES)
def test_rounding_to_a_side_is_named(side, dtype):
    """It conforms: the verdict is that of the bound."""
    report = ran(rounding(side), *vectors(dtype))
    (bias,) = report.bias
    assert report.ok
    assert (bias.operator, bias.dtype, bias.directions) == ("AvgPool-1", dtype, (side,))
    mean = bias.mean_outward_ulp if "zero" in side else bias.mean_ulp
    assert (mean > 0) is (side in {"upwards", "away from zero"})
    said = " ".join(line.strip() for line in in_terminal(describe(report)))
    assert f"AvgPool-1, {dtype}: biased {side}, mean error " in said


def test_positive_results_cannot_tell_down_from_towards_zero():
    """Both are named."""
    (bias,) = ran(rounding("downwards"), *vectors("float32", positive=True)).bias
    assert bias.directions == ("downwards", "towards zero")


@pytest.mark.parametrize("positive", [False, True], ids=["both signs", "positive"])
@pytest.mark.parametrize("sound", [sound for _, sound in SOUND], ids=lambda sound: sound.name)
def test_no_sound_backend_is_biased(sound, positive):
    """Whatever the order of its sums, their type, and how it divides."""
    made = [each for dtype in FLOATS for each in vectors(dtype, positive=positive, count=4)]
    report = ran(sound, *made, variations=[])
    assert report.ok
    # Not even one vector lies to a side: no number of them makes a bias.
    assert all(bias.above == bias.below == 0 for bias in report.bias)


def test_stagnating_sums_are_no_bias():
    """A sum in float16 to which addends are lost lies below, and is sound under a reading."""

    def backend(operator, inputs, attributes):
        (data,) = inputs
        windows = data.reshape(*data.shape[:2], -1, 8)
        return np.add.accumulate(windows, axis=-1)[..., -1] / data.dtype.type(8)

    made = []
    for seed in range(VECTORS):
        data = np.random.default_rng(seed).integers(1, 3, (1, 1, 16)).astype(np.float16)
        data[..., ::8] = 2048
        made.append(vector(data, pool(kernel=[8], strides=[8]), id=f"AvgPool-1/{seed}"))
    (bias,) = ran(backend, *made).bias
    assert bias.mean_ulp < 0
    assert bias.directions == ()


@pytest.mark.parametrize(
    ("most", "least", "biased"), [(30, 0, False), (31, 0, True), (90, 10, True), (60, 30, False)]
)
def test_chance_is_excluded_at_one_in_a_thousand_millions(most, least, biased):
    """By vectors of one side and of the other."""
    bias = Bias("AvgPool-1", "float32", off=1, above=most, below=least)
    assert bias.directions == (("upwards",) if biased else ())


def test_any_numbers_are_looked_at_in_no_time():
    assert Bias("a", "b", above=2**63 - 1, below=2**62).directions == ("upwards",)


def test_shards_and_saved_reports_say_the_same(tmp_path):
    """Figures are added up, and what they say is told anew."""
    both = vectors("float32")
    whole = ran(rounding("downwards"), *both)
    shards = {
        str(n): ran(rounding("downwards"), *both, shard=f"{n}/3", variations=[]) for n in (1, 2, 3)
    }
    shards = {name: replace(shard, vectors=whole.vectors) for name, shard in shards.items()}
    assert merge(shards).bias == whole.bias
    write(whole, tmp_path / "whole.json")
    assert read(tmp_path / "whole.json").bias == whole.bias
