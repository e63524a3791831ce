"""Faults of an operator that no document of the suite has, with two outputs."""

from dataclasses import replace

import numpy as np
import pytest
from support.effort import one_in
from support.outside import installed

from conformance.api.strength import strength
from conformance.cases.sweep import collect
from conformance.diagnosis.laboratory import samples_from
from conformance.diagnosis.likely_causes import diagnose
from conformance.faults import CATALOGUE, fault_named, faulty
from conformance.faults.baseline import Baseline, PlantedFaults, Raised, right_operator
from conformance.faults.planted import planted
from conformance.judging.judge import accepts
from conformance.operators import Output, vector_of
from conformance.vector import Case

NAME = "MinimumPool-1"
DATA = np.array([[[3.0, 1.0, 2.0, 5.0]]], np.float32)
PAIRS = {"window": [2], "step": [2], "pads": [1, 1]}


def conforms(vector, outputs):
    """Say whether an answer to a vector conforms."""
    return accepts(vector, outputs)


@pytest.fixture(scope="module")
def vectors():
    """Return the vectors of the standard tier, of covering arrays of strength 2."""
    with installed():
        cases = collect(NAME, tier="standard", strength=2, seed=0).cases
        return [vector_of(case) for case in cases]


@pytest.fixture
def vector(minimum_pool):
    """Return a vector with windows of one and of two cells."""
    return vector_of(Case("case", minimum_pool.name, PAIRS, (DATA,)))


def answers(fault, vectors):
    """Yield the vectors and what a fault makes of them, where it is wrong."""
    right, faulty_one = right_operator(NAME, None), PlantedFaults((fault,), NAME)
    for each in vectors:
        got = faulty_one.answer(Baseline(each.case, right))
        outputs = None if isinstance(got, Raised) else got
        if got is not None and not conforms(each, outputs):
            yield each, outputs


def test_faults_follow_from_roles_and_traits(minimum_pool):
    """It has the faults of its windows, pads and attributes, none of averages or divisors."""
    names = {fault.name for fault in CATALOGUE if fault.concerns(minimum_pool)}
    assert {"pads-swapped", "ceil-ignored", "same-all-at-end", "integers-through-float32"} <= names
    assert {"default-auto-pad-valid", "required-padding-below", "further-outputs-zero"} <= names
    assert not names & {"not-divided", "maximum-from-zero", "adaptive-global", "accepts-integers"}
    # Pads in one list are absent together, and there is nothing to put in reverse order.
    assert not names & {"default-padding-below-above", "required-padding-above"}
    assert "further-outputs-reversed" not in names


def test_every_fault_is_caught(minimum_pool, vectors):
    """Every ninth fault that the operator may have, by the tier that follows from its roles."""
    faults = CATALOGUE[::9]
    strong = strength(vectors, faults=faults)
    assert strong.missed == ()
    assert {catch.fault for catch in strong.catches} == {
        fault.name for fault in faults if fault.concerns(minimum_pool)
    }


def test_a_faulty_backend_returns_every_output(minimum_pool):
    """Two outputs come as a tuple."""
    first, cells = faulty()(minimum_pool.name, [DATA], PAIRS)
    np.testing.assert_array_equal(first, [[[3, 1, 5]]])
    np.testing.assert_array_equal(cells, [[[1, 2, 1]]])


@pytest.mark.parametrize("name", ["output-flattened", "output-negated", "added-to-previous-output"])
def test_a_fault_of_values_changes_the_first_output_alone(minimum_pool, name):
    """The second follows from the right first one, whatever became of it."""
    backend = faulty(fault_named(name))
    for _ in range(2):
        _, cells = backend(minimum_pool.name, [-DATA.reshape(1, 1, 2, 2)], {"window": [1, 1]})
        np.testing.assert_array_equal(cells, np.ones((1, 1, 2, 2), np.int64))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("further-outputs-zero", [0, 0, 0]),
        ("further-outputs-of-first-window", [1, 1, 1]),
        ("further-outputs-one-more", [2, 3, 2]),
    ],
)
def test_a_fault_of_further_outputs_leaves_the_first_alone(vector, name, cells):
    """Only the second is wrong, and for that the answer does not conform."""
    ((_, outputs),) = answers(fault_named(name), [vector])
    np.testing.assert_array_equal(outputs[0], vector.outcomes[0].outputs[0].values)
    np.testing.assert_array_equal(outputs[1], [[cells]])
    assert conforms(vector, outputs[:1])


def test_further_outputs_may_change_places(minimum_pool):
    """With three outputs, the last two may come in reverse order."""

    def further(gathered, divisor, first):
        (cells,) = minimum_pool.pipeline.further(gathered, divisor, first)
        return cells, first

    three = replace(
        minimum_pool,
        outputs=(*minimum_pool.outputs, Output("again")),
        pipeline=minimum_pool.pipeline.replace(further=further),
    )
    fault = fault_named("further-outputs-reversed")
    first, again, cells = planted([fault], three, three.pipeline)([DATA], PAIRS)
    assert again.tolist() == first.tolist()
    assert cells.tolist() == [[[1, 2, 1]]]


@pytest.mark.parametrize(
    "name", one_in(3, ["windows-one-late", "further-outputs-zero", "same-all-at-end"])
)
@pytest.mark.parametrize("count", one_in(2, [1, 2]))
@pytest.mark.usefixtures("minimum_pool")
def test_a_fault_is_diagnosed(vectors, name, count):
    """The fault a backend has is named, also if the backend returns the first output alone."""
    vectors = vectors[::3]
    wrong = list(answers(fault_named(name), vectors))
    seen = [(each, got and got[:count]) for each, got in wrong]
    seen = [(each, got) for each, got in seen if not conforms(each, got)]
    if name.startswith("further") and count == 1:
        assert seen == []
        return
    failed = {each.case.id for each, _ in wrong}
    first = diagnose(
        samples_from(seen), [each for each in vectors if each.case.id not in failed], {}
    )[0]
    assert name in (*first.faults, *first.alternatives)
    assert (first.exact, first.contradicted) == (first.total, 0)


def test_an_own_clause_is_taken_into_account(minimum_pool):
    """A backend that follows the other reading of the document's own clause has no fault more."""
    data = DATA.copy()
    data[..., 1] = np.nan
    vector = vector_of(Case("nan", minimum_pool.name, {"window": [2], "step": [2]}, (data,)))
    (got,) = (
        outcome.outputs[0].values
        for outcome in vector.outcomes
        if outcome.readings[0]["nan-in-minimum"] == "ignored"
    )
    wrong = (got, np.zeros((1, 1, 2), np.int64))
    first = diagnose(samples_from([(vector, wrong)]), [], {})[0]
    assert (first.faults, first.exact) == (("further-outputs-zero",), 1)
