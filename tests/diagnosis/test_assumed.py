"""Causes of backends that follow one reading of a clause here and another one there."""

import numpy as np
import pytest
from support.fakes import following, pool, vector

from conformance import check
from conformance.diagnosis import statements
from conformance.diagnosis.assumed import Assumed, assumptions
from conformance.diagnosis.sample import Sample

ROW = np.array([[[np.nan, 1, 2, 3, 4, np.nan, 6]]], np.float32)
ATTRIBUTES = pool("MaxPool-1") | {"kernel": [2], "strides": [1]}
CLAUSE = "nan-in-maximum"


def case(data, name="case"):
    return vector(data, ATTRIBUTES, operator="MaxPool-1", id=name)


def failure(returned, data=ROW):
    return Sample(case(data), (np.array(returned, np.float32),), failed=True)


def tail_ignores_nan(operator, inputs, attributes):
    """NaN is the maximum in columns of whole groups of four alone."""
    returned = following(nan_in_maximum="propagates")(operator, inputs, attributes)
    ignored = following(nan_in_maximum="ignored")(operator, inputs, attributes)
    whole = returned.shape[-1] // 4 * 4
    returned[..., whole:] = ignored[..., whole:]
    return returned


def test_readings_of_the_clauses_of_an_operator_are_assumed():
    """Nothing is assumed first; clauses of other operators are left alone."""
    assert assumptions(["MaxPool-1"], {CLAUSE, "overhang-divisor"}) == [
        {},
        {CLAUSE: "propagates"},
        {CLAUSE: "ignored"},
    ]
    assert assumptions(["AvgPool-1"], {CLAUSE}) == [{}]


@pytest.mark.parametrize(
    ("reading", "wrong"), [("propagates", [0, 0, 0, 0, 1, 1]), ("ignored", [1, 0, 0, 0, 0, 0])]
)
def test_what_is_wrong_depends_on_what_is_assumed(reading, wrong):
    """The elements are judged again, under that reading alone."""
    failures = [failure([[[np.nan, 2, 3, 4, 4, 6]]])]
    (judged,) = Assumed.of({CLAUSE: reading}, failures, [], {}).failing
    assert judged.failed
    assert judged.wrong.astype(int).tolist() == [[wrong]]


def test_what_conforms_by_another_reading_alone_is_taken_as_a_failure():
    """What the clause does not concern conforms as before."""
    touched, other = case(ROW, "touched"), case(ROW[..., 1:5], "other")
    accepted = {"touched": ({CLAUSE: "ignored"},), "other": ({},)}
    assumed = Assumed.of({CLAUSE: "propagates"}, [], [touched, other], accepted)
    assert [each.case.id for each in assumed.conforming] == ["other"]
    assert [each.outputs[0].tolist() for each in assumed.failing] == [[[[1, 2, 3, 4, 4, 6]]]]
    assumed = Assumed.of({CLAUSE: "ignored"}, [], [touched, other], accepted)
    assert (len(assumed.conforming), assumed.failing) == (2, [])


def two_by_two_ignores_nan(operator, inputs, attributes):
    """Ignore NaN for a kernel of 2x2, which has code of its own."""
    is_plain = attributes["kernel"] == [2, 2]
    reading = "ignored" if is_plain else "propagates"
    return following(nan_in_maximum=reading)(operator, inputs, attributes)


def test_vectors_that_conform_by_two_readings_have_a_cause_though_none_fails():
    """Each conforms alone: the condition under which the other reading is followed is the fault."""
    report = check(two_by_two_ignores_nan, operators=["MaxPool-1"])
    assert not report.counts["mismatch"]
    assert report.inconsistent == {CLAUSE}
    (cause,) = report.diagnoses
    assert cause.is_confirmed
    assert (cause.kind, cause.total) == ("clause", 0)
    assert "kernel on every axis is 2" in cause.summary
    assert cause.summary.startswith(f"{cause.explained} vectors follow another reading: ")
    assert cause.behaviour.endswith(f" (elsewhere {CLAUSE}=propagates)")


def test_a_clause_that_is_read_in_two_ways_has_a_cause():
    """It says which reading is followed elsewhere, and counts failures of the run alone."""
    report = check(tail_ignores_nan, operators=["MaxPool-1"])
    (cause,) = report.diagnoses
    assert cause.is_confirmed
    assert cause.faults == ("nan-dropped-in-width-tail",)
    assert cause.behaviour.endswith(f" (elsewhere {CLAUSE}=propagates)")
    failed = {result.id for result in report.results if result.verdict == "mismatch"}
    assert (cause.total, {*cause.vectors}) == (len(failed), failed)


def test_what_conforms_is_not_counted_among_failures():
    """Neither in a run nor in the parts of one that are joined."""
    report = check(two_by_two_ignores_nan, operators=["MaxPool-1"])
    (of_clause,) = report.diagnoses
    of_failures = check(tail_ignores_nan, operators=["MaxPool-1"], diagnose="seen").diagnoses
    joined = statements.united([of_failures, [of_clause]])
    assert {each.total for each in joined if each.kind != "clause"} == {of_failures[0].total}
    assert [each.summary for each in joined if each.kind == "clause"] == [of_clause.summary]
