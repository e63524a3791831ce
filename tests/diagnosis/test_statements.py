"""Diagnoses in words, and those of the parts of a run joined."""

from dataclasses import replace

from support.fakes import pool, ramp, vector
from support.samples import sample

from conformance.diagnosis.statements import Failures, by_failures, caused, united
from conformance.record.report import Diagnosis, Proof, WrongCalls, told_apart


def test_parts_of_a_run_keep_what_is_common_to_their_unknown_causes():
    """Where failures lie, for example; and of how many failures those looked at are a sample."""
    place = "wrong only in the first channel"
    one = Diagnosis("", (), 2, 0, 2, kind="unknown", observed=("every value is 0", place))
    other = Diagnosis("", (), 3, 0, 3, kind="unknown", observed=(place,), sample_of=8)
    (joined,) = united([[one], [other]])
    assert joined.summary == f"5 of a sample of 5 failures are of unknown cause; {place}"
    assert joined.sample_of == 10


def test_parts_of_a_run_that_learned_the_same_rule_are_one():
    """Their proofs add up; what was not tried to the end stays apart, and says why."""
    rule = "wrong values in channels from 17 on"
    proofs = Proof(40, 40, 0), Proof(8, 8, 0, "time was up"), Proof(8, 8, 0)
    parts = [
        [Diagnosis("", (), 2, 0, 4, kind="rule", proof=proof, behaviour=rule)] for proof in proofs
    ]
    joined, open_yet = united(parts)
    assert joined.summary == f"4 of 12 failures are of one kind: {rule}"
    assert (joined.name, joined.kind) == (rule, "rule")
    assert joined.proof == Proof(48, 48, 0)
    assert open_yet.proof == proofs[1]


def test_wrong_values_and_wrong_types_of_unknown_cause_are_told_apart():
    """Each with what all of its failures have in common."""
    right = vector(ramp(1, 1, 6), pool(kernel=[2], strides=[1]))
    failing = [
        sample(right, lambda _vector, output: output + 1),
        sample(right, lambda _vector, output: output.astype("float64")),
    ]
    values, types = Failures(failing, [(), ()], []).unknown([0, 1])
    assert values.observed == ("every element is wrong",)
    assert types.observed == ("in each of them, the result is of type float64",)


def test_a_cause_under_another_condition_stays_apart():
    said = {"behaviour": "answers 0", "condition": "the kernel is even"}
    even = Diagnosis("", ("f",), 1, 1, 1, kind="fault", **said)
    assert caused(even) == "answers 0, where the kernel is even"
    other = replace(even, condition="the kernel is 2")
    assert [caused(one) for one in united([[even], [even, other]])] == [*map(caused, (even, other))]


def test_failures_that_have_a_cause_before_they_are_searched_count():
    one = Diagnosis("", ("f",), 1, 1, 1, behaviour="answers 0", kind="fault")
    state = told_apart("state", "a buffer is kept", ["a", "b"])
    first, second = united([[state], [one]], failures=9)
    assert first.summary == "2 of a sample of 3 failures are of one kind: a buffer is kept"
    assert second.summary.startswith("1 of a sample of 3 failures ")
    assert first.sample_of == second.sample_of == 9


def test_calls_of_variations_add_up_over_the_parts_of_a_run():
    """What fails in the same variations for the same reason is one cause."""
    parts = [
        [
            Diagnosis(
                *("", (), n, 0, n),
                kind="variation",
                behaviour="strides of inputs are ignored",
                calls=(WrongCalls("slice", n, 4),),
            )
        ]
        for n in (1, 2)
    ]
    (joined,) = united(parts)
    assert joined.summary == (
        "3 of 3 failures are of one kind: strides of inputs are ignored: "
        "wrong when called with inputs that are slices of larger arrays (3 of 8), "
        "and right in plain calls"
    )


def test_causes_of_more_failures_come_first_and_those_of_none_not_at_all():
    """What is unknown is last, however many failures it has."""
    few, many = (Diagnosis("", ("f",), n, n, 9, kind="fault") for n in (2, 5))
    none = Diagnosis("", (), 0, 0, 9, kind="state")
    unknown = Diagnosis("", (), 7, 0, 9, kind="unknown")
    assert by_failures([unknown, none, few, many]) == [many, few, unknown]
