"""Pairs of cases that a careless key takes for one, in both orders."""

from functools import cache
from itertools import pairwise

import pytest
from support.made_up import MADE_UP, registered

from conformance.api.strength import not_conforming
from conformance.cases.sweep.key_collisions import key_collisions, of_one_checksum
from conformance.cases.sweep.sweep_model import cases_of
from conformance.faults import fault_named
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.operators import OPERATORS, vector_of

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]


@cache
def calls(name):
    """Return what is called in turn: shape, type, attributes and output size of each case."""
    return [
        (
            case.inputs[0].shape,
            case.inputs[0].dtype,
            dict(case.attributes),
            [size.tolist() for size in case.inputs[1:]],
        )
        for case in cases_of(key_collisions(OPERATORS[name]))
    ]


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_a_case_is_followed_by_its_like_and_comes_again(name):
    """First a, b, a for each pair in turn; then b, a, b from the last to the first."""
    found = calls(name)
    half = len(found) // 2
    forth = [found[i : i + 3] for i in range(0, half, 3)]
    back = [found[i : i + 3] for i in range(half, len(found), 3)][::-1]
    for (a, b, again), (last, other, end) in zip(forth, back, strict=True):
        assert a == again == other != b
        assert last == b == end


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_no_case_is_called_twice(name):
    """Each call has other data: what was kept of a result shows."""
    ids = [case.id for case in cases_of(key_collisions(OPERATORS[name]))]
    assert len(set(ids)) == len(ids)


CARELESS = {
    "joined": lambda numbers: "".join(map(str, numbers)),
    "sorted": sorted,
    "added": sum,
    "of one byte": lambda numbers: [number % 256 for number in numbers],
}


@pytest.mark.parametrize("name", ALL_LEVELS)
@pytest.mark.parametrize("key", CARELESS)
def test_every_list_has_a_pair_that_a_careless_key_joins(name, key):
    """Shapes, every list among the attributes, output sizes."""
    careless = CARELESS[key]
    found = calls(name)
    pairs = [(a, b) for a, b in pairwise(found) if a != b]

    def joins(select):
        return any(
            select(a) != select(b) and careless(select(a)) == careless(select(b)) for a, b in pairs
        )

    assert joins(lambda call: call[0])
    for attribute in OPERATORS[name].attributes:
        if attribute.is_list:
            assert joins(lambda call, name=attribute.key: call[2][name])
    if OPERATORS[name].is_adaptive:
        assert joins(lambda call: call[3][0])


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_pairs(name):
    """Of the lists that they have, and valid."""
    operator = MADE_UP[name]
    with registered():
        cases = list(cases_of(key_collisions(operator)))
    assert len(cases) >= 30
    for case in cases:
        operator.validate(case.inputs, case.attributes)


@pytest.mark.parametrize("operator", [name for name, each in OPERATORS.items() if each.is_gradient])
def test_gradients_of_one_shape_come_twice(operator):
    """So that one that is added to what the call before left in memory fails."""
    planted = PlantedFaults((fault_named("gradient-not-cleared"),), operator)
    right = right_operator(operator, None)
    least = OPERATORS[operator].levels == "least"
    cases = list(cases_of(of_one_checksum(OPERATORS[operator])))
    assert any(
        not_conforming([planted], vector_of(case), Baseline(case, right))
        for case in cases
        if case.tier == "smoke" or not least
    )
