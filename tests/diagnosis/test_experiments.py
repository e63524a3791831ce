"""Causes held against a live backend: what is true is confirmed, what fits by chance is refuted."""

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import pool, ramp, right, vector
from support.fault_probes import light_probes

from conformance.api import check as api
from conformance.backends.runner import InProcess
from conformance.diagnosis import likely_causes
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.laboratory import Laboratory, as_expected
from conformance.diagnosis.planting import Planting
from conformance.diagnosis.slips import slips
from conformance.diagnosis.trial import CONFIRMING
from conformance.faults import fault_named, faulty
from conformance.operators import evaluate, vector_of
from conformance.vector import Case


def diagnosed(backend, *operators, every=3):
    """Return the diagnoses of a backend that was asked about fresh cases."""
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
    """On as many fresh cases as are needed, all as predicted; a small call shows it."""
    fault = fault_named(name)
    first = diagnosed(faulty(fault), *fault.operators[:1])[0]
    assert first.faults == (name,)
    assert first.kind == "fault"
    assert first.proof.predicted == first.proof.asked >= CONFIRMING
    assert str(first.proof).startswith(f"confirmed on {first.proof.asked} of")
    assert first.smallest.startswith(f"backend('{fault.operators[0]}', [")


def test_a_fault_that_fits_by_chance_is_not_named():
    """One failure of a maximum of a single cell looks like many faults, and is none of them."""

    def change(output):
        output[:, 16:] = 0

    backend = altered(change, when=lambda data, _: data.shape[1] > 16)
    found = diagnosed(backend, "MaxPool-1")
    assert found
    assert not [cause.faults for cause in found if cause.faults]


def test_a_threshold_is_learned_and_sharpened():
    """Where it lies exactly, no vector of the run needs to show."""

    def change(output):
        output[:, 19:] = 7

    backend = altered(change, when=lambda data, _: True)
    first = diagnosed(backend, "MaxPool-1", every=1)[0]
    assert first.kind == "rule"
    assert "wrong values in channels from 19 on" in first.summary
    assert first.proof.predicted >= CONFIRMING
    assert not first.proof.missing


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

    first = diagnosed(backend, "AvgPool-1", every=1)[0]
    assert first.faults == ("strides-ignored",)
    assert first.condition == "the type is float64"
    assert first.summary.endswith(", where the type is float64")
    assert not first.proof.missing


def test_a_fault_is_held_against_operators_in_which_no_vector_shows_it():
    """What is wrong in one document's operator is not said of another's, which is right."""
    wrong = faulty(fault_named("strides-ignored"))

    def backend(operator, inputs, attributes):
        return (wrong if operator == "AvgPool-1" else evaluate)(operator, inputs, attributes)

    silent = [
        probe
        for probe in light_probes("ONNX-AveragePool-22")
        if set(probe.case.attributes.get("strides", ())) <= {1}
    ]
    first = api.check(backend, [*light_probes("AvgPool-1")[::9], *silent[::9]]).diagnoses[0]
    assert first.faults == ("strides-ignored",)
    assert first.condition == "the standard is OpenVINO"
    assert not first.proof.missing


def test_a_fault_is_held_against_all_that_conforms():
    """Also against vectors that it was not made of, and that no fresh case is like."""
    fault = fault_named("strides-ignored")
    wrong = faulty(fault)

    def backend(operator, inputs, attributes):
        chosen = evaluate if inputs[0].flat[0] == 7.25 else wrong
        return chosen(operator, inputs, attributes)

    planting, laboratory = Planting(lambda _: {}), Laboratory(InProcess(backend), lambda _: {})
    failing = [s for s in laboratory.ask(light_probes("nGraph-AvgPool")[::9]) if s.failed]
    odd = vector(
        ramp(1, 1, 6) + 6.25,
        {"window_shape": [2], "window_movement_strides": [2]},
        operator="nGraph-AvgPool",
    )
    trials = [
        Experiments(laboratory, planting, failing, (), others).on_faults([[(fault,)]])[0]
        for others in ((), [as_expected(odd)])
    ]
    assert trials[0].is_confirmed
    assert trials[1] is None


def test_two_faults_at_once_are_both_confirmed():
    """Cases in which both show are explained by both together."""
    names = {"same-lower-as-upper", "maximum-from-zero"}
    found = diagnosed(faulty(list(map(fault_named, sorted(names)))), "MaxPool-1", every=1)
    assert {name for cause in found if not cause.proof.missing for name in cause.faults} == names


@pytest.mark.slow("the parts are confirmed alone")
def test_one_slip_is_named_in_place_of_faults_that_are_parts_of_it(monkeypatch):
    """Both faults are there, each where the other is not."""
    names = ("exclude-pad-ignored", "include-pad-ignored")
    parts = tuple(fault_named(name) for name in names)
    monkeypatch.setitem(likely_causes.diagnose.__kwdefaults__, "catalogue", parts)

    def backend(operator, inputs, attributes):
        return evaluate(
            operator, inputs, attributes | {"exclude_pad": not attributes["exclude_pad"]}
        )

    first = diagnosed(backend, "AvgPool-1", every=1)[0]
    assert first.summary.endswith("include_pad=false and include_pad=true were exchanged")


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


@pytest.mark.slow("what is drawn from a seed is tested alone")
def test_the_same_seed_gives_the_same_proof():
    """Fresh cases are drawn from a seed, which the report names."""
    backend = faulty(fault_named("maximum-from-zero"))
    one, other = (diagnosed(backend, "MaxPool-1")[0] for _ in range(2))
    assert one.proof == other.proof
    assert "seed 0" in str(one.proof)


def test_a_slip_of_what_is_refused_when_it_is_computed_shows_nowhere():
    """There is no norm of p = 0, under any slip."""
    case = Case("1", "ONNX-GlobalLpPool-22", {"p": 0}, (np.ones((1, 1, 3), np.float32),))
    (slip,) = [s for s in slips() if s.summary == "answers as if results were negated"]
    assert Planting(lambda _: {}).shows((slip,), [vector_of(case)]) == [False]
