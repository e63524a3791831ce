"""The catalogue: every fault is wrong, no two are alike, every reported behaviour has its place."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from support.effort import one_in
from support.fakes import pool, ramp
from support.fault_probes import light_probes, probes
from support.random_cases import cases

from conformance.errors import InvalidCase, UsageError
from conformance.faults import CATALOGUE, Fault, fault_named, faulty
from conformance.faults.baseline import Baseline, PlantedFaults, Raised, right_operator
from conformance.faults.fault import STEPS
from conformance.faults.known_bugs import KNOWN_BUGS, NOT_FAULTS
from conformance.operators import OPERATORS, as_called, evaluate
from conformance.operators.needs import is_gradient
from conformance.vector import outputs_of


def test_names_are_unique():
    """No two faults share a name."""
    assert len({fault.name for fault in CATALOGUE}) == len(CATALOGUE)


def test_summaries_are_unique_per_operator():
    """Within an operator, a summary says which fault it is."""
    for operator in OPERATORS:
        summaries = [fault.summary for fault in CATALOGUE if fault.concerns(OPERATORS[operator])]
        assert len(set(summaries)) == len(summaries)


def test_faults_replace_known_steps_of_known_operators():
    """Steps, operators and reported behaviours that a fault names exist, and it has some step."""
    for fault in CATALOGUE:
        assert fault.step in STEPS
        assert set(fault.replaces) <= set(STEPS)
        assert not fault.bug or fault.bug in KNOWN_BUGS


def test_every_reported_behaviour_is_a_fault_or_has_a_reason():
    """A behaviour somebody reported is in the catalogue, or NOT_FAULTS says why it is not."""
    named = {fault.bug for fault in CATALOGUE if fault.bug}
    assert named | set(NOT_FAULTS) == set(KNOWN_BUGS)
    assert named & set(NOT_FAULTS) == set()


def test_a_fault_links_the_threads_of_its_behaviours():
    """The threads of a fault are those of the behaviours it names."""
    fault = fault_named("divisor-axes-reversed")
    assert fault.threads == KNOWN_BUGS["divisor_axes_reversed"]


def test_an_unknown_name_is_refused():
    """Asking for a fault that is not there is a wrong usage."""
    with pytest.raises(UsageError, match="no-such-fault"):
        fault_named("no-such-fault")


NO_FAULT = Fault("nothing", (), {})


@pytest.mark.slow("names and summaries of faults differ; each is caught")
def test_no_two_faults_are_alike():
    """Of two faults of the same operators, or one and none, some vector gets different answers."""
    groups = {}
    for fault in CATALOGUE:
        groups.setdefault(fault.operators, []).append(fault)
    groups.pop((), None)  # of outputs that no document of the suite has: test_outside.py
    alike = [
        [fault.name for fault in group]
        for operators, faults in groups.items()
        for group in _indistinguishable([*faults, NO_FAULT], operators)
    ]
    assert alike == []


def _indistinguishable(faults, operators):
    """Split faults by their answers until each is alone or the vectors are used up."""
    groups = [faults]
    for operator in operators:
        right = right_operator(operator, None)
        planted = {fault: PlantedFaults((fault,), operator) for fault in faults}
        for case in probes(operator):
            groups = [group for group in groups if len(group) > 1]
            baseline = Baseline(case, right)
            groups = [part for group in groups for part in _split(group, baseline, planted)]
    return [group for group in groups if len(group) > 1]


def _split(group, baseline, planted):
    parts = {}
    for fault in group:
        answer = planted[fault].answer(baseline)
        key = answer
        if isinstance(answer, Raised):
            key = "raised"
        elif answer is not None:
            key = tuple((each.shape, each.dtype, each.tobytes()) for each in answer)
        parts.setdefault(key, []).append(fault)
    return parts.values()


def _left_open(inputs, attributes):
    """Whether PyTorch leaves a case open: then there is no reference, and a backend may do both."""
    return attributes.get("norm_type", 2) % 2 == 1 and (inputs[0] < 0).any()


@given(cases())
def test_without_faults_a_backend_is_right(case):
    """A backend without faults computes what the reference computes, and refuses the same."""
    operator, inputs, attributes = case
    try:
        expected = evaluate(operator, inputs, attributes)
    except InvalidCase:
        if _left_open(inputs, attributes):
            return
        with pytest.raises(InvalidCase):
            faulty()(operator, inputs, attributes)
        return
    outputs = outputs_of(faulty()(operator, inputs, attributes))
    for got, right in zip(outputs, outputs_of(expected), strict=True):
        assert got.dtype == right.dtype
        np.testing.assert_array_equal(got.astype(np.float64), right.astype(np.float64))


def test_readings_are_followed():
    """A faulty backend follows the readings it is given where the fault does not show."""
    attributes = pool(kernel=[1], strides=[2], auto_pad="same_upper")
    backend = faulty(fault_named("not-divided"), {"same-output-size": "same-as-input"})
    assert backend("AvgPool-1", [ramp(1, 1, 4)], attributes).shape == (1, 1, 4)


def test_two_faults_show_together():
    """Two faults of different steps are both in force."""
    backend = faulty([fault_named("strides-ignored"), fault_named("not-divided")])
    got = backend("AvgPool-1", [ramp(1, 1, 4)], pool())
    np.testing.assert_array_equal(got, [[[3.0, 5.0, 7.0]]])


def test_faults_of_gradients_are_those_alone():
    """A gradient is code of its own: a fault concerns gradients or forward operators, not both."""
    for fault in CATALOGUE:
        kinds = {OPERATORS[name].is_gradient for name in fault.operators}
        assert kinds <= {is_gradient in fault.needs}, fault.name


def test_other_operators_stay_right():
    """A fault leaves the operators alone that it does not concern."""
    backend = faulty(fault_named("maximum-from-zero"))
    got = backend("AvgPool-1", [-ramp(1, 1, 4)], pool())
    np.testing.assert_array_equal(got, [[[-1.5, -3.5]]])


def test_what_a_fault_remembers_is_of_one_backend():
    """State kept between calls is not shared between backends."""
    fault = fault_named("first-output-kept")
    one, other = faulty(fault), faulty(fault)
    one("AvgPool-1", [ramp(1, 1, 4)], pool())
    again = one("AvgPool-1", [ramp(1, 1, 4) * 2], pool())
    fresh = other("AvgPool-1", [ramp(1, 1, 4) * 2], pool())
    assert (again.tolist(), fresh.tolist()) == ([[[1.5, 3.5]]], [[[3.0, 7.0]]])


@pytest.mark.parametrize("operator", one_in(30, OPERATORS))
def test_planted_faults_answer_as_a_faulty_backend_does(operator):
    """The short cuts of a baseline change no answer, but where any conforms."""
    small = [v for v in light_probes(operator) if v.case.inputs[0].size < 200]
    vectors = [v for v in small if v.outcomes[0].kind != "anything"][::31]
    right = right_operator(operator, None)
    baselines = [Baseline(vector.case, right) for vector in vectors]
    for fault in CATALOGUE:
        if fault.remembers or not fault.concerns(OPERATORS[operator]):
            continue
        planted, backend = PlantedFaults((fault,), operator), faulty(fault)
        for baseline in baselines:
            shown = _shown(planted.answer(baseline), baseline)
            direct = _shown(_direct(backend, baseline.case), baseline)
            assert shown == direct, (fault.name, baseline.case.id)


def _direct(backend, case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            outputs = outputs_of(backend(case.operator, *as_called(case)))
            convention = OPERATORS[case.operator].convention_of(case.attributes)
            return tuple(map(convention.array_taken, outputs))
        except Exception:  # noqa: BLE001 - a fault may fail in any way
            return Raised()


def _shown(answer, baseline):
    """Return an answer as plain values; zeros have no sign."""
    answer = baseline.right if answer is None else answer
    if isinstance(answer, Raised):
        return "raised"
    return [
        (each.shape, str(each.dtype), np.where(each == 0, 0, each).astype(np.float64).tobytes())
        for each in answer
    ]
