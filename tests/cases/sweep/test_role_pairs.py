"""Pairs of calls alike but for one role: what a key leaves out shows."""

from functools import cache

import numpy as np
import pytest

from conformance import InvalidCase
from conformance.cases.sweep.role_pairs import role_pairs
from conformance.cases.sweep.sweep_model import build
from conformance.faults.baseline import right_operator
from conformance.judging.judge import accepts
from conformance.operators import OPERATORS, vector_of
from conformance.operators.attributes import Attribute

CHANGING_NO_ANSWER = {"ignored", "accumulator"}
"""Roles of no pair: one changes nothing, sums in either of two types are mostly near enough."""
OF_ONE_GRADIENT = {"include_pad", "exponent", "fixed_divisor"}
"""Roles that change no shape: calls that differ in one of them may have the same gradient."""


@cache
def vectors_of(name):
    """Return the vectors of an operator by the role that they are about."""
    pairs = {}
    for spec in role_pairs(OPERATORS[name]):
        role = spec.tags[0].removeprefix("alike but for one role: ")
        pairs.setdefault(role, []).append(vector_of(build(spec, seed=0)))
    return pairs


def keeping(leaves_out):
    """Return a right backend that keeps outputs under all of a call but for one role."""
    kept = {}

    def backend(operator, inputs, attributes):
        given = OPERATORS[operator].convention_of(attributes).array_given  # as a backend sees it
        numbers = [
            (given(array).shape, given(array).tobytes())
            for number, array in enumerate(inputs)
            if number != leaves_out
        ]
        rest = sorted((key, str(each)) for key, each in attributes.items() if key != leaves_out)
        key = str((operator, inputs[-1].dtype, numbers, rest))
        if key not in kept:
            kept[key] = right_operator(operator, None)(inputs, attributes)
        return kept[key]

    return backend


def is_caught(name, leaves_out):
    """Say whether some vector of a pair is answered wrongly by what keeps outputs."""
    backend = keeping(leaves_out)
    vectors = [vector for each in vectors_of(name).values() for vector in each]
    answers = []
    for vector in vectors:
        try:
            answers.append(backend(name, vector.case.inputs, vector.case.attributes))
        except InvalidCase:
            answers.append(None)
    return not all(map(accepts, vectors, answers))


def expected_roles(operator):
    """Yield the keys of attributes and the numbers of inputs that a call may differ in."""
    for attribute in operator.attributes:
        if operator.is_gradient and attribute.role not in OF_ONE_GRADIENT:
            continue
        if attribute.role not in CHANGING_NO_ANSWER:
            yield attribute.key
    if operator.is_gradient or operator.scatters:
        yield 0  # the gradient, or the data beside indices
    if operator.scatters or (operator.takes_output_size and not operator.is_gradient):
        yield len(operator.input_names) - 1


@pytest.mark.parametrize("name", OPERATORS)
def test_what_is_kept_under_a_key_without_a_role_shows(name):
    """Of every role: each attribute that changes an answer, a gradient, indices, an output size."""
    missed = [role for role in expected_roles(OPERATORS[name]) if not is_caught(name, role)]
    assert not missed


@pytest.mark.parametrize("name", ["LiteRT-MAX_POOL_2D", "WebNN-maxPool2d-backward"])
def test_a_right_backend_that_keeps_outputs_conforms(name):
    """One whose key leaves nothing out."""
    assert not is_caught(name, None)


@pytest.mark.parametrize("name", ["PyTorch-avg_pool2d", "MaxPool-8", "ORT-QLinearAveragePool-1"])
def test_the_calls_of_a_pair_hold_the_same_data(name):
    """And the same attributes but one."""
    vectors = [vector.case for each in vectors_of(name).values() for vector in each]
    keys = [each.key for each in OPERATORS[name].attributes if isinstance(each, Attribute)]
    for case in vectors:
        like = [
            other
            for other in vectors
            if other is not case
            and np.array_equal(other.data, case.data)
            and sum(other.attributes.get(key) != case.attributes.get(key) for key in keys) == 1
        ]
        assert like
