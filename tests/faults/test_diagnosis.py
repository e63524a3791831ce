"""Diagnosis: the planted cause is named first, and nothing is named that was not seen."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import pool, ramp, right, vector
from fault_probes import light_probes

from conformance.check import check
from conformance.faults import CATALOGUE, fault_named, faulty
from conformance.faults.diagnosis import diagnose
from conformance.faults.explained import explained
from conformance.faults.features import condition, features, spread
from conformance.faults.traits import traits
from conformance.operators import evaluate


def causes_of(backend, vectors=None):
    """Check a backend and return the diagnoses of its report."""
    vectors = light_probes() if vectors is None else vectors
    return explained(check(backend, vectors), vectors).diagnoses


@pytest.mark.parametrize(
    "fault", [fault for fault in CATALOGUE if fault.operators][3::23], ids=lambda fault: fault.name
)
def test_a_planted_fault_comes_first(fault):
    """The fault a backend has is named first, and explains every mismatch bit for bit."""
    if fault.remembers:
        pytest.skip("what it does depends on earlier calls")
    first = causes_of(faulty(fault))[0]
    assert fault.name in (*first.faults, *first.alternatives)
    assert (first.explained, first.exact) == (first.total, first.total)
    assert first.contradicted == 0


@pytest.mark.parametrize(
    "names",
    [
        ("same-lower-as-upper", "divisor-axes-reversed"),
        ("exclude-pad-ignored", "ceil-exact-as-remainder"),
        ("batch-first-for-all", "maximum-from-zero"),
        ("windows-kernel-apart", "column-tail-4-unwritten"),
    ],
)
def test_two_planted_faults_are_both_named(names):
    """Where two faults of different steps act at once, both are named."""
    found = causes_of(faulty([fault_named(name) for name in names]))
    assert set(names) <= {name for diagnosis in found for name in diagnosis.faults}


def test_the_sentence_says_how_much_is_explained_and_by_what():
    """The summary is one sentence with counts and the fault in words."""
    first = causes_of(faulty(fault_named("same-lower-as-upper")))[0]
    assert first.summary == (
        f"{first.explained} of {first.total} failures are reproduced bit for bit by: "
        "same_lower treated as same_upper"
    )


def test_reports_of_the_same_kind_are_linked():
    """A diagnosis carries the public threads of the fault it names."""
    first = causes_of(faulty(fault_named("strides-reversed")))[0]
    assert first.threads == fault_named("strides-reversed").threads


def test_a_right_backend_has_nothing_to_diagnose():
    """No mismatch, no diagnosis."""
    assert causes_of(right) == ()


def test_a_reading_that_is_not_the_required_one_is_no_fault():
    """What conforms but for a pinned reading is not diagnosed."""
    vectors = light_probes("AvgPool-1")
    report = check(right, vectors, require={"same-output-size": "same-as-input"})
    assert report.counts["mismatch"] > 0
    assert explained(report, vectors).diagnoses == ()


def test_rounding_of_the_engine_does_not_hide_a_fault():
    """A fault is found in a backend that rounds differently from the reference."""
    fault = faulty(fault_named("exclude-pad-ignored"))

    def backend(operator, inputs, attributes):
        result = fault(operator, inputs, attributes)
        finite = result.dtype == np.float32 and np.isfinite(result).all()
        return np.nextafter(result, np.float32(0)) if finite else result

    first = causes_of(backend, light_probes("AvgPool-1"))[0]
    assert first.faults == ("exclude-pad-ignored",)
    assert 0 < first.exact < first.explained
    assert first.explained >= 0.95 * first.total
    assert "the others but for rounding" in first.summary


def test_the_readings_a_backend_follows_are_taken_into_account():
    """A fault is found in a backend that follows other readings than the default."""
    readings = {"same-output-size": "same-as-input", "overhang-divisor": "whole-kernel"}
    first = causes_of(faulty(fault_named("not-divided"), readings), light_probes("AvgPool-1"))[0]
    assert first.faults == ("not-divided",)
    assert first.explained == first.total


def test_a_fault_under_a_condition_is_named_with_it():
    """A fault that shows for one element type alone is named, with the type."""
    wrong = faulty(fault_named("strides-ignored"))

    def backend(operator, inputs, attributes):
        chosen = wrong if inputs[0].dtype == np.float64 else evaluate
        return chosen(operator, inputs, attributes)

    first = causes_of(backend, light_probes("AvgPool-1"))[0]
    assert first.faults == ("strides-ignored",)
    assert first.condition == "data of float64"
    assert first.summary.endswith("where all have data of float64")


def test_an_unknown_cause_is_said_to_be_unknown():
    """Where no fault explains mismatches, none is named, and what they share is told."""

    def backend(operator, inputs, attributes):
        result = evaluate(operator, inputs, attributes)
        return result * 3 + 7 if attributes.get("auto_pad") == "same_lower" else result

    vectors = [v for v in light_probes("AvgPool-1") if v.case.pattern != "zeros"]
    only = causes_of(backend, vectors)[-1]
    assert only.faults == ()
    assert only.condition == "auto_pad=same_lower"
    assert only.summary == (
        f"{only.total} of {only.total} failures are of unknown cause; all have auto_pad=same_lower"
    )


def test_two_independent_faults_are_two_diagnoses():
    """Two faults that never meet are named apart, each with its share."""
    averages = faulty(fault_named("not-divided"))
    maxima = faulty(fault_named("maximum-from-zero"))

    def backend(operator, inputs, attributes):
        return (maxima if operator == "MaxPool-1" else averages)(operator, inputs, attributes)

    found = causes_of(backend, [*light_probes("AvgPool-1")[::4], *light_probes("MaxPool-1")[::4]])
    assert [diagnosis.faults for diagnosis in found] == [("not-divided",), ("maximum-from-zero",)]


def test_progress_counts_the_mismatches_looked_at():
    """Progress never passes its total and is told before the first search."""
    told = []
    wrong = vector(ramp(1, 1, 4))
    diagnose(
        [(wrong, (np.zeros((1, 1, 2), np.float32),))],
        [],
        {},
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[0] == (0, 1)
    assert all(done <= total for done, total in told)


def test_nothing_in_nothing_out():
    """Without mismatches there is no diagnosis."""
    assert diagnose([], [vector()], {}) == []


def test_a_condition_holds_for_all_and_excludes_the_others():
    """The fewest features that these share and the others do not all have are named."""
    these = [frozenset("abx"), frozenset("aby")]
    others = [frozenset("a"), frozenset("b"), frozenset("xy")]
    assert condition(these, others) == ("a and b", 0)


def test_no_condition_where_nothing_tells_apart():
    """Features that the others share too are no condition."""
    assert condition([frozenset("a")], [frozenset("ab")]) == ("", 1)


def test_features_tell_what_attributes_are_about():
    """Features name attributes left out and relations between numbers."""
    found = features(vector(ramp(1, 1, 6), pool(strides=[3], pads_begin=[1])))
    assert {"no auto_pad", "a stride above the kernel", "pads", "exclude_pad=true"} <= found
    assert "a batch above 1" not in found


def test_a_spread_has_every_kind_before_a_second_of_one():
    """A sample holds vectors of as many kinds as possible."""
    same = [vector(ramp(1, 1, 6 + i), id=f"same{i}") for i in range(5)]
    other = vector(ramp(2, 1, 6), id="other")
    assert {v.case.id for v in spread([*same, other], 2)} == {"same0", "other"}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "an exception was raised"),
        (np.zeros((1, 1, 3), np.float32), "every value is 0"),
        (np.full((1, 1, 3), np.nan, np.float32), "the result holds NaN"),
        (np.zeros((1, 1, 2), np.float32), "the result is too small"),
        (np.zeros((1, 3), np.float32), "the result has 2 dimensions"),
        (np.zeros((1, 1, 3), np.float64), "the result is of type float64"),
        (np.array([[[1, 2, 3]]], np.float32), "every value is an integer"),
    ],
)
def test_traits_say_what_is_odd_about_an_output(output, words):
    """What an output has and no expected one has is told in words."""
    assert words in traits(vector(), None if output is None else (output,))
