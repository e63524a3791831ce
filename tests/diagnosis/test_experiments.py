"""Causes held against a live backend: what is true is confirmed, what fits by chance is refuted."""

from dataclasses import replace
from functools import partial
from itertools import repeat
from zlib import crc32

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import pool, ramp, right, vector
from support.fault_probes import light_probes
from support.samples import Everything

from conformance.api import check as api
from conformance.backends.answer import RAISED, Answer
from conformance.backends.runner import InProcess
from conformance.cases.perturb import Feature
from conformance.diagnosis import of_report, trying
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import planted
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.experiments import Experiments, _kinds_of
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory, as_expected, sample_of
from conformance.diagnosis.limits import CONFIRMING
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import FailureKind, Sample
from conformance.diagnosis.search import Fit
from conformance.diagnosis.trying import Trying
from conformance.faults import fault_named, faulty
from conformance.faults.atoms import by_words
from conformance.operators import evaluate, vector_of
from conformance.record.why import Raised
from conformance.vector import Case


def diagnosed(backend, *operators, every=3):
    """Return the diagnoses of a backend that was asked about held-out cases."""
    return api.check(backend, light_probes(*operators)[::every]).diagnoses


def altered(change, *, when):
    """Return a backend that changes its outputs in place for some calls."""

    def backend(operator, inputs, attributes):
        output = np.array(evaluate(operator, inputs, attributes))
        if output.ndim > 2 and when(inputs[0], attributes):
            change(output)
        return output

    return backend


@pytest.mark.parametrize(
    "name", one_in(3, ["same-lower-as-upper", "not-divided", "maximum-from-zero"])
)
def test_a_fault_that_is_there_is_confirmed(name):
    """On as many held-out cases as are needed, all as predicted, with a minimal reproducer."""
    fault = fault_named(name)
    first = diagnosed(faulty(fault), *fault.operators[:1])[0]
    assert first.faults == (name,)
    assert first.kind == "fault"
    assert first.proof.predicted == first.proof.asked >= CONFIRMING
    assert str(first.proof).startswith(f"confirmed on {first.proof.asked} of")
    assert first.smallest.startswith(f"backend('{fault.operators[0]}', [")


@pytest.mark.slow("a fault is held against all that conforms")
def test_a_fault_that_fits_by_chance_is_not_named():
    """One failure of a maximum of a single cell looks like many faults, and is none of them."""

    def change(output):
        output[:, 16:] = 0

    backend = altered(change, when=lambda data, _: data.shape[1] > 16)
    found = diagnosed(backend, "MaxPool-1")
    assert found
    assert not [cause.faults for cause in found if cause.faults]


@pytest.mark.slow("rules are learned in test_rule_learning")
def test_a_threshold_is_learned_and_sharpened():
    """Where it lies exactly, no vector of the run needs to show."""

    def change(output):
        output[:, 19:] = 7

    backend = altered(change, when=lambda data, _: True)
    first = diagnosed(backend, "MaxPool-1", every=4)[0]
    assert first.kind == "rule"
    assert "wrong values in channels from 19 on" in first.summary
    assert first.proof.predicted >= CONFIRMING
    assert not first.proof.missing


@pytest.mark.slow("a condition is tried on both sides and on its far side")
def test_a_condition_that_nothing_needs_is_left_out():
    """Vectors of the run with many channels hide the fault: their data are all the same."""
    kernel = pool(kernel=[1], strides=[1])
    told = [ramp(1, channels, 5) for channels in range(1, 40)]
    flat = [np.full((1, channels, 5), 7, np.float32) for channels in range(40, 60)]
    probes = [vector(data, kernel, id=f"case-{n}") for n, data in enumerate([*told, *flat])]

    def backend(operator, inputs, attributes):
        output = np.array(evaluate(operator, inputs, attributes))
        output[:, 8:] = output[:, :1]
        return output

    first = api.check(backend, probes).diagnoses[0]
    assert "wrong values in channels from 8 on: they are" in first.summary
    assert not first.proof.missing


def test_a_fault_under_a_condition_is_confirmed_on_both_sides():
    """It shows where the condition holds and nowhere else."""
    wrong = faulty(fault_named("strides-ignored"))

    def backend(operator, inputs, attributes):
        chosen = wrong if inputs[0].dtype == np.float64 else evaluate
        return chosen(operator, inputs, attributes)

    first = diagnosed(backend, "AvgPool-1", every=4)[0]
    assert first.faults == ("strides-ignored",)
    assert first.condition == "the type is float64"
    assert first.summary.endswith(", where the type is float64")
    assert not first.proof.missing


@pytest.mark.slow("a fault under a condition is confirmed in the test of both sides")
def test_a_fault_of_two_code_paths_is_one_cause():
    """No one condition says when it shows: in each type there is another."""
    wrong = faulty(fault_named("strides-ignored"))

    def backend(operator, inputs, attributes):
        (data,) = inputs
        shows = {"float64": data.shape[1] > 1, "float32": attributes["exclude_pad"]}
        chosen = wrong if shows.get(data.dtype.name) else evaluate
        return chosen(operator, inputs, attributes)

    (cause,) = diagnosed(backend, "AvgPool-1", every=2)
    assert cause.faults == ("strides-ignored",)
    assert "; also where " in cause.condition
    assert cause.explained == cause.total
    assert not cause.proof.missing


def two_bugs(operator, inputs, attributes):
    """Ignore dilations, and leave channels from the third on at zero."""
    dilations = {"dilations": [1] * (inputs[0].ndim - 2)} if "dilations" in attributes else {}
    values, *indices = evaluate(operator, inputs, {**attributes, **dilations})
    values[:, 2:] = 0
    return (values, *indices)


@pytest.fixture(scope="module")
def of_two_bugs():
    """Return the diagnoses of a backend that has two."""
    return diagnosed(two_bugs, "MaxPool-8", every=2)


@pytest.mark.slow("two faults at once are both confirmed")
def test_of_two_bugs_neither_hides_the_other(of_two_bugs):
    """What fails otherwise where the second one shows, too, refutes the first one nowhere."""
    found = [cause for cause in of_two_bugs if cause.is_known]
    said = [cause.faults[0] if cause.faults else cause.behaviour for cause in found]
    assert all(not cause.proof.missing for cause in found)
    assert any(each in {"dilations-ignored", "every dilation taken as 1"} for each in said)
    assert any(each.startswith("wrong values in channels from 2 on") for each in said)


@pytest.mark.slow("of two bugs, neither hides the other")
def test_what_fits_where_no_other_cause_shows_is_not_confirmed_by_that_alone():
    """Columns beyond groups of 8 are zero in rows of up to 12, and right in longer ones."""

    def backend(operator, inputs, attributes):
        output = np.array(evaluate(operator, inputs, attributes))
        columns = np.arange(output.shape[-1] if output.ndim > 2 else 0)
        output[..., columns // 4 == 2] = 0
        return output

    found = diagnosed(backend, "MaxPool-1", every=1)
    confirmed = [cause for cause in found if cause.proof and not cause.proof.missing]
    assert not [cause.faults for cause in confirmed if cause.faults]
    assert not [cause for cause in confirmed if "in columns from 8 on, where" in cause.behaviour]


@pytest.mark.slow("the same seed gives the same proof")
def test_the_same_causes_are_found_each_time(of_two_bugs):
    """Work is counted: neither the clock nor what was asked before has a say."""
    assert diagnosed(two_bugs, "MaxPool-8", every=2) == of_two_bugs


def test_what_an_operator_and_its_gradient_share_is_one_cause():
    """It is said of both at once."""
    fault = fault_named("same-lower-as-upper")
    both = faulty([fault, fault.in_gradients()])
    (cause,) = diagnosed(both, "AvgPool-1", "AvgPool-1-backward", every=5)
    assert cause.faults == (fault.name, f"backward-{fault.name}")
    assert cause.behaviour == f"{fault.summary}, in gradients too"
    assert not cause.proof.missing


@pytest.mark.slow("a fault under a condition is confirmed on both sides")
def test_a_condition_is_tried_on_its_far_side():
    """What is so where all numbers are 2 is not said of smaller ones."""
    ignored = faulty(fault_named("dilations-ignored"))

    def backend(operator, inputs, attributes):
        lists = (attributes["kernel"], attributes["strides"])
        special = all(number == 2 for numbers in lists for number in numbers)
        return (ignored if special else evaluate)(operator, inputs, attributes)

    first = diagnosed(backend, "MaxPool-8", every=1)[0]
    assert "at most 2" not in first.condition
    assert not first.proof.missing


def test_a_rule_says_what_of_an_invalid_case_is_accepted(monkeypatch):
    """As soon as fresh invalid cases confirm it, where no fault is known."""
    nothing = partial(Candidates, left_out=Everything())
    monkeypatch.setattr(of_report, "Candidates", nothing)

    def backend(operator, inputs, attributes):
        strides = [max(1, stride) for stride in attributes["strides"]]
        return evaluate(operator, inputs, {**attributes, "strides": strides})

    report = api.check(backend, operators="AvgPool-1", select="*invalid*", variations="none")
    (cause,) = report.diagnoses
    assert "a result for an invalid case where what is invalid is strides" in cause.summary
    assert not cause.proof.missing


def no_dilation_as_one(operator, inputs, attributes):
    """Take a dilation of 0 for 1."""
    given = attributes.get("dilations")
    if isinstance(given, list):
        attributes = {**attributes, "dilations": [number or 1 for number in given]}
    return evaluate(operator, inputs, attributes)


@pytest.mark.slow("an atom says what is accepted")
def test_zero_that_is_accepted_where_less_is_refused_is_told_by_its_number():
    """A dilation of 0 taken for 1: -1 is refused as it should be."""
    operators = ["MaxPool-8", "MaxPool-14", "AvgPool-16", "ONNX-MaxPool-22"]
    report = api.check(no_dilation_as_one, operators=operators, tier="smoke", variations="none")
    (cause,) = report.diagnoses
    assert "by: a dilation of 0 accepted" in cause.summary
    assert not cause.proof.missing


def test_a_run_of_invalid_vectors_alone_has_causes_too():
    """Held-out cases are made of valid vectors that were not run; gradients accept the same."""
    operators = ["MaxPool-8", "MaxPool-8-backward"]
    (cause,) = api.check(no_dilation_as_one, operators=operators, select="*invalid*").diagnoses
    assert cause.behaviour == "a dilation of 0 accepted, in gradients too"
    assert not cause.proof.missing


def test_a_fault_is_said_of_the_operators_that_have_it():
    """What is right in another operator, which is other code, is no evidence against it."""
    wrong = faulty(fault_named("strides-ignored"))

    def backend(operator, inputs, attributes):
        return (wrong if operator == "AvgPool-1" else evaluate)(operator, inputs, attributes)

    silent = [
        probe
        for probe in light_probes("ONNX-AveragePool-22")
        if set(probe.case.attributes.get("strides", ())) <= {1}
    ]
    probes = [probe for probe in light_probes("AvgPool-1") if probe.case.pattern]
    first = api.check(backend, [*probes[::9], *silent[::9]]).diagnoses[0]
    assert first.faults == ("strides-ignored",)
    assert first.condition == ""
    assert [*first.operators] == ["AvgPool-1"]
    assert not first.proof.missing


@pytest.mark.slow("it is held against operators in which no vector shows it")
def test_a_fault_is_held_against_all_that_conforms():
    """Also against vectors that it was not made of, and that no held-out case is like."""
    fault = fault_named("strides-ignored")
    wrong = faulty(fault)

    def backend(operator, inputs, attributes):
        chosen = evaluate if inputs[0].flat[0] == 7.25 else wrong
        return chosen(operator, inputs, attributes)

    laboratory = Laboratory(InProcess(backend), lambda _: {})
    failing = [s for s in laboratory.ask(light_probes("nGraph-AvgPool")[::9]) if s.failed]
    odd = vector(
        ramp(1, 1, 6) + 6.25,
        {"window_shape": [2], "window_movement_strides": [2]},
        operator="nGraph-AvgPool",
    )
    fits = [Fit(planted(fault), {}, frozenset())]
    predictions = Predictions(lambda _: {})
    trials = [
        Experiments(
            Knowledge(laboratory, predictions, failing, (), others, Candidates())
        ).on_faults(fits)[0]
        for others in ((), [as_expected(odd)])
    ]
    assert trials[0].is_confirmed
    assert trials[1] is None


@pytest.fixture
def of_float64():
    """Return what is known of a backend that ignores strides of float64, and the claim of that."""
    fault = fault_named("strides-ignored")
    wrong = faulty(fault)

    def backend(operator, inputs, attributes):
        chosen = wrong if inputs[0].dtype == np.float64 else evaluate
        return chosen(operator, inputs, attributes)

    laboratory = Laboratory(InProcess(backend), lambda _: {})
    samples = laboratory.ask(light_probes("AvgPool-1")[::9])
    parts = [[s for s in samples if s.failed == failed] for failed in (True, False)]
    known = Knowledge(laboratory, Predictions(lambda _: {}), *parts, (), Candidates())
    float64 = Condition(Feature("dtype"), "is", frozenset({"float64"}))
    return known, replace(planted(fault), places=((float64,),))


def test_no_other_data_tell_what_is_hidden_in_a_case_that_is_to_be_refused():
    """It stays unclear: there are no elements that other data could tell apart."""
    assumed = {"pads-not-below-kernel": "rejected"}

    def refuses(_operator, _inputs, _attributes):
        raise ValueError

    laboratory = Laboratory(InProcess(refuses), lambda _: {}, assumed)
    known = Knowledge(laboratory, Predictions(lambda _: {}), [], [], (), Candidates())
    attributes = pool("MaxPool-1", pads_begin=[2])
    refused = vector(ramp(1, 1, 6), attributes, operator="MaxPool-1").under(assumed)
    trial = known.trial(planted(fault_named("pads-ignored")))
    trial.unclear = [Sample(refused, None, failed=False)]
    Trying(known).see(trial, [])
    assert [each.vector for each in trial.unclear] == [refused]


def test_what_there_is_no_work_left_for_is_supposed_under_its_condition(of_float64):
    """Recorded answers tell a cause: that it is not so without a condition refutes nothing."""
    known, claim = of_float64
    known.laboratory.begin(1)
    others = planted(fault_named("dilations-ignored"))
    fits = [Fit(each, {}, frozenset()) for each in (claim, others)]
    trial, _ = Experiments(known).on_faults(fits)
    assert trial.claim == claim
    assert trial.stands
    assert not trial.is_confirmed


@pytest.mark.parametrize("raises", [True, False])
def test_what_fails_in_another_manner_speaks_not_against_a_cause(of_float64, raises):
    """A bad engine fails in other ways wherever one looks: a wider fault would fail in this way."""
    known, claim = of_float64
    trial = Trying(known).tried(claim, known.failing)
    outputs = None if raises else known.failing[0].outputs
    trial.strays = [Sample(each.vector, outputs, failed=True) for each in known.conforming]
    trial.quiet = 0
    missing = Experiments(known).proof(trial).missing
    assert missing == "" if raises else missing.endswith("fail as well")


def test_what_fails_where_a_fault_changes_nothing_speaks_not_against_it(of_float64):
    """One that holds wherever it shows is there; other defects are a bad engine's as well."""
    known, claim = of_float64
    trial = Trying(known).tried(claim, known.failing)
    outputs = known.failing[0].outputs
    trial.strays = [Sample(each.vector, outputs, failed=True) for each in known.conforming]
    trial.quiet, trial.claim = 0, planted(*claim.faults)
    assert not Experiments(known).proof(trial).missing


def test_exceptions_are_of_kinds_and_rare_ones_are_looked_at_together():
    """What a text says beside numbers and lists mostly has one cause."""
    case = vector(ramp(1, 1, 4))
    texts = [f"no kernel of ({n},), array([{n}]) or [{n}, 2" for n in range(7)]
    texts += ["too large: -1.5", "no room"]
    answers = [Answer(RAISED, why=Raised("ValueError", text)) for text in texts]
    kinds = _kinds_of([sample_of(case, answer) for answer in answers])
    assert kinds == [
        FailureKind("exception", "ValueError: no kernel of …, … or …"),
        FailureKind("exception"),
    ]
    rare = sample_of(case, answers[-1])
    assert [rare in kind for kind in kinds] == [False, True]


@pytest.mark.slow("failures of several manners are looked at together at last")
def test_a_code_path_that_fails_in_one_manner_or_another_is_one_rule():
    """Nothing tells which call of doubles over three axes raises, and which has wrong values."""

    def backend(operator, inputs, attributes):
        (data,) = inputs
        output = evaluate(operator, inputs, attributes)
        if data.dtype != np.float64 or data.ndim != 5:
            return output
        seed = crc32(data.tobytes())
        if seed % 2:
            raise ValueError("no luck")
        return output + np.random.default_rng(seed).random(output.shape)

    first = diagnosed(backend, "AvgPool-1", every=1)[0]
    assert first.behaviour.startswith(
        "an exception or a wrong result where the type is float64 and "
    )
    assert not first.proof.missing


def test_failures_of_several_manners_are_looked_at_together_at_last():
    """A code path may raise exceptions and return wrong values; invalid calls are no part of it."""
    case, invalid = vector(ramp(1, 1, 4)), vector(ramp(1, 1, 4), pool(strides=[0]))
    some = (ramp(1, 1, 9),)
    raised, shape = Sample(case, None, failed=True), Sample(case, some, failed=True)
    accepted = Sample(invalid, some, failed=True)
    manners = [kind.manner for kind in _kinds_of([raised, shape, accepted])]
    assert manners == ["exception", "shape", "accepted", "any"]
    assert [each in FailureKind("any") for each in (raised, shape, accepted)] == [True, True, False]
    assert [kind.manner for kind in _kinds_of([shape, accepted])] == ["shape", "accepted"]


def test_what_no_held_out_case_shows_is_named_and_not_confirmed(monkeypatch):
    """Many wrong elements, bit for bit, are no chance: as where powers leave their range."""
    monkeypatch.setattr(Laboratory, "near", lambda *_, **__: repeat(None))
    fault = fault_named("strides-ignored")
    probe = vector(ramp(1, 1, 200), pool(kernel=[2], strides=[2]))
    (cause,) = api.check(faulty(fault), [probe]).diagnoses
    assert cause.faults == ("strides-ignored",)
    assert cause.proof.missing == "few such cases can be drawn"


def test_a_condition_that_is_not_tried_far_from_its_cases_is_not_confirmed(of_float64, monkeypatch):
    """All cases may have something else in common, which nobody has looked for."""
    known, claim = of_float64

    def until_it_ends(*_):
        known.laboratory.begin(0)
        yield from ()

    trials = []
    for far in (trying._far, until_it_ends):
        monkeypatch.setattr(trying, "_far", far)
        trials.append(Trying(known).tried(claim, known.failing))
    assert [len(trial.predicted) >= CONFIRMING for trial in trials] == [True, True]
    assert [trial.is_confirmed for trial in trials] == [True, False]
    assert trials[1].stands


@pytest.mark.slow("each of two is named in test_likely_causes")
def test_two_faults_at_once_are_both_confirmed():
    """Cases in which both show are explained by both together."""
    names = {"same-lower-as-upper", "maximum-from-zero"}
    found = diagnosed(faulty(list(map(fault_named, sorted(names)))), "MaxPool-1", every=2)
    assert {name for cause in found if cause.is_confirmed for name in cause.faults} == names


@pytest.mark.slow("the parts are confirmed alone")
def test_one_fault_is_named_in_place_of_those_that_are_parts_of_it():
    """Both of these are there, each where the other is not."""

    def backend(operator, inputs, attributes):
        return evaluate(
            operator, inputs, attributes | {"exclude_pad": not attributes["exclude_pad"]}
        )

    first = diagnosed(backend, "AvgPool-1", every=1)[0]
    assert first.summary.endswith("include_pad=false taken as true, and true taken as false")


@pytest.mark.slow("what is accepted is told by a rule as well")
def test_exceptions_are_told_by_a_rule():
    """They have no elements: the rule is about cases."""

    def backend(operator, inputs, attributes):
        if inputs[0].dtype == np.float16 and attributes.get("auto_pad") == "same_upper":
            raise RuntimeError("no kernel")
        return right(operator, inputs, attributes)

    first = diagnosed(backend, "AvgPool-1")[0]
    assert "an exception where the type is float16 and the padding mode is same_upper" in (
        first.summary
    )
    assert not first.proof.missing


def test_a_fault_of_what_is_refused_when_it_is_computed_shows_nowhere():
    """There is no norm of p = 0, under any fault."""
    case = Case("1", "ONNX-GlobalLpPool-22", {"p": 0}, (np.ones((1, 1, 3), np.float32),))
    fault = by_words()["results are negated"]
    assert not Predictions(lambda _: {}).fails(planted(fault), vector_of(case))
