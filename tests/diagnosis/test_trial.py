"""A supposed cause and its held-out cases: what confirms it and what refutes it."""

import numpy as np
from support.fakes import pool, ramp, vector
from support.samples import sample

from conformance.diagnosis.claim import planted
from conformance.diagnosis.limits import CONFIRMING
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.trial import Trial
from conformance.faults import fault_named


def supposed(name, **readings):
    """Return the trial of a fault, under readings that a backend follows."""
    return Trial(planted(fault_named(name)), Predictions(lambda _: readings))


def test_a_few_cases_in_which_more_is_wrong_do_not_refute_a_fault():
    """Another fault may be there as well; but one in many, not every second."""
    kernel = pool("MaxPool-1", kernel=[1], strides=[1], pads_begin=[0], pads_end=[0])
    data = np.array([[[-4, -3, 5, 6]]], np.float32)
    probe = vector(data, kernel, operator="MaxPool-1")

    def returned(*outputs):
        return sample(probe, lambda _v, _output: np.array([[outputs]], np.float32))

    trial = supposed("maximum-from-zero")
    for _ in range(2):
        trial.see(returned(0, 0, 5, 7))
    assert (len(trial.in_part), len(trial.other)) == (2, 0)
    assert trial.is_refuted
    for _ in range(CONFIRMING):
        trial.see(returned(0, 0, 5, 6))
    assert trial.is_confirmed
    trial.see(returned(7, 7, 5, 7))
    assert (len(trial.beside), trial.is_confirmed) == (1, True)
    trial.see(returned(-4, 0, 5, 7))
    assert len(trial.other) == 1
    assert trial.is_refuted


def test_exceptions_hide_a_fault_and_refute_it_only_if_they_are_many():
    """Where a backend raises one it returns no values that could be those of the fault."""
    trial, made = supposed("not-divided"), vector(ramp(1, 1, 6), pool())
    case = Sample(made, (ramp(1, 1, 3),), failed=True)
    trial.predicted = [case] * CONFIRMING
    trial.beside = [Sample(made, None, failed=True)] * (CONFIRMING // 2)
    assert trial.is_confirmed
    trial.beside += trial.beside[:1]
    assert trial.is_refuted
    trial.beside = [sample(made, lambda _v, output: -output)] * 2
    assert trial.is_refuted


def test_an_exception_of_a_known_kind_tells_nothing_of_a_fault_that_raises_none():
    """Another defect raises it, wherever one looks: how often says nothing of this one."""
    trial, made = supposed("not-divided"), vector(ramp(1, 1, 6), pool())
    trial.known = {"IndexError: …"}
    for raised in (*["IndexError: …"] * 9, "ValueError"):
        trial.see(Sample(made, None, failed=True, raised=raised))
    assert [each.raised for each in trial.beside] == ["ValueError"]


def test_a_result_of_another_shape_hides_a_fault_that_leaves_shapes_as_they_are():
    """There is no element to compare; a fault of shapes is refuted by another one."""
    made = vector(ramp(1, 1, 6), pool())
    case = Sample(made, (ramp(1, 1, 3),), failed=True)
    for name, is_refuted in (("not-divided", False), ("strides-ignored", True)):
        trial = supposed(name)
        trial.predicted = [case] * CONFIRMING
        for _ in range(2):
            trial.see(Sample(made, (ramp(1, 1, 2),), failed=True))
        assert (len(trial.beside), trial.is_refuted) == (2, is_refuted)


def test_a_case_that_is_right_under_another_reading_refutes_no_fault():
    """One window fewer, unless rounding_type counts with same_*, which may be due to the fault."""
    trial = supposed("pads-dilations-ignored", **{"same-with-ceil": "rounding-ignored"})
    attributes = pool("MaxPool-8", kernel=[4], strides=[7], dilations=[3]) | {
        "auto_pad": "same_upper",
        "rounding_type": "ceil",
    }
    data = np.zeros((1, 1, 10), np.float32)
    probe = vector(data, attributes, operator="MaxPool-8")
    assert trial.fails(probe)
    trial.see(sample(probe, lambda _v, _output: None))
    assert (len(trial.absent), len(trial.unclear)) == (0, 1)


def test_exceptions_of_gradients_alone_prove_no_fault():
    """Whatever makes windows more or fewer raises them; a few wrong values have to be predicted."""
    made = vector(ramp(1, 1, 6), pool())
    trial = supposed("backward-strides-reversed")
    trial.predicted = [Sample(made, None, failed=True)] * CONFIRMING
    assert not trial.is_confirmed
    trial.predicted += [Sample(made, (ramp(1, 1, 3),), failed=True)] * 6
    assert trial.is_confirmed


def test_what_nearly_all_cases_bear_out_stands_and_is_not_confirmed():
    """It is true but for its condition: one case in ten or more went another way."""
    made = vector(ramp(1, 1, 6), pool())
    trial = supposed("not-divided")
    case, raised = Sample(made, (made.case.data,), failed=True), Sample(made, None, failed=True)
    trial.predicted, trial.absent = [case] * 9 + [raised] * CONFIRMING, [case]
    assert (trial.holds_mostly, trial.stands) == (False, False)
    trial.predicted += [case]
    assert (trial.holds_mostly, trial.stands, trial.is_confirmed) == (True, True, False)


def test_what_is_invalid_may_be_refused_for_another_reason():
    """Two accepted for each refused bear a fault out, once that is excused; two thirds do not."""
    invalid = vector(ramp(1, 1, 6), pool(kernel=[2, 2]))
    assert not invalid.values
    accepted = Sample(invalid, (ramp(1, 1, 3),), failed=True)
    trial = supposed("not-divided")
    trial.predicted = [accepted] * (CONFIRMING // 2)
    trial.absent = [Sample(invalid, None, failed=False)] * (CONFIRMING // 4 + 1)
    assert not trial.is_refused_at_times
    trial.absent.pop()
    assert trial.is_refused_at_times
    assert not trial.is_confirmed
    trial.predicted += [accepted] * (CONFIRMING // 4)
    assert trial.excused.is_confirmed
