"""Pinned readings: what follows another one is a mismatch that says so."""

import numpy as np
import pytest
from support.fakes import check, following, only, pool, ramp, right, vector

from conformance.dtypes import dtype_of
from conformance.errors import UsageError
from conformance.judging.profiles import PROFILES
from conformance.operators import CLAUSES
from conformance.report import phrases

SAME = vector(ramp(1, 1, 5), pool(auto_pad="same_upper"))
WIDE_PADS = vector(attributes=pool(pads_end=[2], exclude_pad=False))


def test_the_pinned_reading_conforms():
    """A backend that follows what is required conforms, and the report says what was required."""
    report = check(right, [SAME], require={"same-output-size": "divided"})
    assert (report.ok, report.required) == (True, {"same-output-size": "divided"})


def test_a_profile_requires_nothing_where_its_engine_follows_no_reading():
    """ONNX's text and its runtime leave open whether a negative padding of same_* crops."""
    assert "same-never-crops" not in PROFILES["onnx"]
    assert PROFILES["openvino"]["same-never-crops"] == "clamped"


def test_another_reading_is_a_mismatch():
    """The detail names the clause, the reading followed and the one required."""
    backend = following(same_output_size="same-as-input")
    result = only(backend, SAME, require={"same-output-size": "divided"})
    assert result.verdict == "mismatch"
    assert result.detail == "follows same-output-size=same-as-input, divided is required"
    assert result.readings == ()


def test_refusing_what_must_be_accepted():
    """An exception that is right under another reading is a mismatch too."""

    def refusing(*case):
        raise ValueError("pad too large")

    result = only(refusing, WIDE_PADS, require={"pads-not-below-kernel": "accepted"})
    assert result.verdict == "mismatch"
    assert result.detail == "follows pads-not-below-kernel=rejected, accepted is required"


def test_accepting_what_must_be_refused():
    """A value where the pinned reading wants an exception is a mismatch."""
    result = only(right, WIDE_PADS, require={"pads-not-below-kernel": "rejected"})
    assert result.detail == "follows pads-not-below-kernel=accepted, rejected is required"


def test_a_wrong_value_is_explained_by_the_pinned_outcome():
    """An answer that no reading explains is held against the outcomes that are left."""
    result = only(lambda *case: ramp(1, 1, 4), SAME, require={"same-output-size": "divided"})
    assert (result.verdict, result.detail) == ("mismatch", "shape (1, 1, 4) instead of (1, 1, 3)")


def test_only_the_pins_that_are_broken_are_named():
    """Of several pins that touch a vector the detail names those decided otherwise."""
    halves = vector(ramp(1, 1, 5, dtype="float16"), pool(auto_pad="same_upper"))
    require = {"accumulator": "element-type", "same-output-size": "same-as-input"}
    result = only(right, halves, require=require)
    assert set(require) < set(halves.clauses)
    assert result.detail == "follows same-output-size=divided, same-as-input is required"


def test_a_strict_arithmetic():
    """Where sums in a wider type are required, a sum that overflows is a mismatch."""
    halves = vector(np.full((1, 1, 4), 60000, np.float16))
    result = only(
        lambda *case: np.full((1, 1, 2), np.inf, np.float16),
        halves,
        require={"accumulator": "wider"},
    )
    assert (result.verdict, result.worst.wrong) == ("mismatch", 2)
    assert result.detail == "follows accumulator=element-type, wider is required"


def test_a_sum_that_overflows_in_a_wider_type():
    """Whether sums overflow is a clause of its own: float32 has the range of bfloat16."""
    large = vector(np.full((1, 1, 4), 3e38, dtype_of("bfloat16")))

    def backend(*case):
        return np.full((1, 1, 2), np.inf, dtype_of("bfloat16"))

    assert only(backend, large, require={"accumulator": "wider"}).verdict == "conforms"
    result = only(backend, large, require={"sum-overflow": "finite"})
    assert result.detail == "follows sum-overflow=overflows, finite is required"


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_pin_what_an_engine_follows(profile):
    """A profile pins the readings that name its engine, and a backend that has them conforms."""
    engine = {"openvino": "OpenVINO", "onnx": "ONNX Runtime", "torch": "PyTorch"}[profile]
    for clause in (each for each in CLAUSES.values() if each.kind == "disputed"):
        named = [reading.name for reading in clause.readings if engine in reading.followed_by]
        assert PROFILES[profile].get(clause.name) == (named[0] if named else None)
    backend = following(**PROFILES[profile])
    report = check(backend, [SAME], profile=profile)
    assert (report.ok, report.required) == (True, PROFILES[profile])


def test_a_pin_wins_over_the_profile():
    """`require` changes single readings of a profile."""
    require = {"same-output-size": "same-as-input"}
    report = check(following(same_output_size="same-as-input"), [SAME], profile="torch",
                   require=require)  # fmt: skip
    assert report.ok
    assert report.required == PROFILES["torch"] | require


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"require": {"ceil": "kept"}}, "no disputed clause 'ceil': see conformance clauses"),
        (
            {"require": {"stride-zero": "kept"}},
            "no disputed clause 'stride-zero', it is ruling: see",
        ),
        (
            {"require": {"subnormals": "ignored"}},
            "clause subnormals has no reading 'ignored'; it has kept, flushed",
        ),
        ({"profile": "jax"}, "no profile 'jax'; there are openvino, onnx, torch"),
    ],
)
def test_unknown_names(options, message):
    """An unknown clause, reading or profile is refused with those there are."""
    with pytest.raises(UsageError) as error:
        check(right, [SAME], **options)
    assert str(error.value).startswith(message)


def test_the_verdict_names_readings_that_are_not_the_default():
    """A maximum without the NaN conforms, and who relies on NaN has to hear of it."""
    data = np.array([[[1, np.nan, 3, 4]]], np.float32)
    found = vector(data, pool("MaxPool-1"), operator="MaxPool-1")
    backend = following(nan_in_maximum="ignored")
    said = "not by the default reading: nan-in-maximum=ignored (--require CLAUSE=READING)"
    sentence = phrases.verdict(check(backend, [found])).sentence
    assert sentence == f"1 of 1 answered vector; standard; {said}"
    required = check(backend, [found], require={"nan-in-maximum": "ignored"})
    for silent in (required, check(right, [found])):
        assert "default" not in phrases.verdict(silent).sentence
