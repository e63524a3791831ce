"""Faults that atoms make are named without any catalogue."""

from functools import partial

import numpy as np
import pytest
from support.effort import one_in
from support.fault_probes import light_probes

from conformance.api import check as api
from conformance.diagnosis import of_report
from conformance.diagnosis.candidates import Candidates
from conformance.faults import fault_named
from conformance.faults.atoms import by_words
from conformance.operators import evaluate, operator_named

EXCHANGED = "every pad taken as that at the other end"


@pytest.fixture(autouse=True)
def _without_catalogue(monkeypatch):
    """Let no fault of the catalogue explain anything."""
    monkeypatch.setattr(of_report, "Candidates", partial(Candidates, ()))


def first_cause(backend, operator):
    return api.check(backend, light_probes(operator)[::2]).diagnoses[0]


def called_with(change):
    """Return a right backend that is called with other attributes."""

    def backend(operator, inputs, attributes):
        return evaluate(operator, inputs, change(dict(attributes)))

    return backend


def unit_strides(attributes):
    return attributes | {"strides": [1] * len(attributes["strides"])}


def first_kernel(attributes):
    kernel = attributes["kernel"]
    return attributes | {"kernel": kernel[:1] * len(kernel)}


def exchanged_pads(attributes):
    begin, end = attributes["pads_begin"], attributes["pads_end"]
    return attributes | {"pads_begin": end, "pads_end": begin}


@pytest.mark.parametrize(
    ("change", "words"),
    one_in(
        3,
        [
            (exchanged_pads, EXCHANGED),
            (unit_strides, "every stride taken as 1"),
            (first_kernel, "every kernel size taken as that of the first axis"),
        ],
    ),
)
def test_attributes_that_are_read_as_others_are_named(change, words):
    """The cause says which numbers are read in place of which."""
    cause = first_cause(called_with(change), "AvgPool-1")
    assert cause.kind == "fault"
    assert cause.summary.endswith(f"bit for bit by: {words}")
    assert not cause.proof.missing


@pytest.mark.slow("half a minute: all that explains them is tried")
def test_a_fault_is_told_from_one_that_explains_the_failures_as_well():
    """Exceptions of gradients are alike: another fault explains the few, and all cases near."""

    def reversed_strides(attributes):
        return attributes | {"strides": attributes["strides"][::-1]}

    cause = first_cause(called_with(reversed_strides), "AvgPool-1-backward")
    assert cause.explained == cause.total > 3
    assert cause.summary.endswith("every stride taken as that of the axis in reverse order")
    assert not cause.proof.missing


@pytest.mark.slow("other faults are named in the same way")
def test_an_output_with_exchanged_axes_is_named():
    """Its shape is wrong where the axes differ in size, else its values."""

    def backend(operator, inputs, attributes):
        output = np.asarray(evaluate(operator, inputs, attributes))
        return output.swapaxes(-1, -2) if output.ndim > 3 else output

    cause = first_cause(backend, "AvgPool-1")
    assert cause.summary.endswith("the last two axes of the output are exchanged")


@pytest.mark.slow("other faults are named in the same way")
def test_integers_that_come_as_another_type_are_named():
    """Their values are right, so a rule could tell no more than where."""

    def backend(operator, inputs, attributes):
        outputs = evaluate(operator, inputs, attributes)
        return outputs.astype(np.float32) if outputs.dtype.kind in "iu" else outputs

    cause = first_cause(backend, "MaxPool-1")
    assert cause.summary.endswith("an output of integers is float32")


@pytest.mark.slow("other faults are named in the same way")
def test_integers_that_pass_through_a_type_are_said_to_pass_through_no_narrower_one():
    """The largest of int64 come back from float32 as they do from float64."""

    def backend(operator, inputs, attributes):
        with np.errstate(invalid="ignore"):  # the largest become 2**63
            return np.asarray(evaluate(operator, inputs, attributes)).astype(float).astype(np.int64)

    probes = [v for v in light_probes("MaxPool-1") if v.case.data.dtype == np.int64]
    cause = api.check(backend, probes).diagnoses[0]
    assert cause.summary.endswith("results that are integers are converted to float64 and back")


@pytest.mark.parametrize(
    ("change", "words"),
    one_in(
        3,
        [
            (lambda output: output + 0.5, "results are 0.5 more"),
            (lambda output: output * 0.75, "results are 0.75 times as large"),
            (lambda output: np.minimum(output, 3), "results are at most 3"),
        ],
    ),
)
def test_numbers_that_wrong_elements_have_in_common_are_named(change, words):
    """No atoms could list them."""

    def backend(operator, inputs, attributes):
        outputs = np.asarray(evaluate(operator, inputs, attributes))
        return change(outputs.astype(np.float64)).astype(outputs.dtype)

    assert first_cause(backend, "AvgPool-1").summary.endswith(words)


def test_a_fault_of_other_operators_does_not_stand_for_what_atoms_enumerate():
    """The catalogue rounds the cells of norms: those of averages are said by an atom alone."""
    of_norms, said = fault_named("norm-of-cells-in-float16"), "cells are rounded to float16"
    assert of_norms.summary == said
    candidates = Candidates([of_norms])
    for operator, by_atoms in (("AvgPool-1", True), ("ONNX-LpPool-22", False)):
        every = {fault.summary for (fault,) in candidates.every(operator_named(operator))}
        assert (said in every) == by_atoms


@pytest.mark.slow("a fault that fits by chance stands for it")
def test_what_no_atom_makes_is_no_fault():
    """A rule about elements is learned for it instead."""

    def backend(operator, inputs, attributes):
        output = np.array(evaluate(operator, inputs, attributes))
        output[:, 3:] = 7
        return output

    found = api.check(backend, light_probes("MaxPool-1")).diagnoses
    assert "channels from 3 on" in found[0].summary
    said = " ".join(cause.summary for cause in found)
    assert "as if" not in said
    assert [words for words in by_words() if words in said] == []


@pytest.mark.slow("a fault under a condition stands for it")
def test_a_fault_in_some_elements_alone_is_named_with_these():
    """What it would make of the others is right there."""

    def backend(operator, inputs, attributes):
        output = np.array(evaluate(operator, inputs, attributes))
        output[:, 1:] += output.dtype.type(0.5)
        return output

    assert first_cause(backend, "AvgPool-1").summary.endswith(
        "wrong values in channels from 1 on: they are those of this fault: results are 0.5 more"
    )


@pytest.mark.slow("that such exceptions alone prove nothing is tested without a search")
def test_exceptions_of_gradients_are_those_of_a_fault():
    """Windows of other strides are more or fewer than the gradients that are given."""

    def backend(operator, inputs, attributes):
        return evaluate(operator, inputs, attributes | {"strides": attributes["strides"][::-1]})

    cause = api.check(backend, light_probes("AvgPool-1-backward")).diagnoses[0]
    assert cause.summary.endswith("every stride taken as that of the axis in reverse order")


@pytest.mark.slow("other faults are named in the same way")
def test_indices_have_faults_of_their_own():
    """Values are right, and nothing of them is searched."""

    def backend(operator, inputs, attributes):
        values, indices = evaluate(operator, inputs, attributes)
        return values, indices.astype(np.int8).astype(indices.dtype)

    cause = first_cause(backend, "MaxPool-8")
    assert cause.summary.endswith("indices are kept in int8")
