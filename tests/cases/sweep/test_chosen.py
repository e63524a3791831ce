"""The cases chosen for the smoke tier: small, there, and of that tier."""

import pytest

from conformance.cases.sweep import chosen, of_no_array
from conformance.operators import OPERATORS


@pytest.mark.parametrize("operator", ["AvgPool-14", "ONNX-GlobalLpPool-22", "MaxPool-8-backward"])
@pytest.mark.parametrize("seed", [0, 7])
def test_every_name_is_that_of_a_case(operator, seed):
    """Whatever the seed of its data; and what has the name is small."""
    names = {name for name in chosen.NAMES if name.startswith(f"{operator}/")}
    cases = [
        case
        for case in of_no_array(OPERATORS[operator], seed)
        if chosen.name_of(case) in chosen.NAMES
    ]
    assert 1 <= len(names) <= 14
    assert {chosen.name_of(case) for case in cases} == names
    assert all(case.data.size <= 1000 for case in cases)


def test_every_name_is_of_an_operator():
    """All have some but those whose likes stand for them, which have no scales."""
    named = {name.split("/")[0] for name in chosen.NAMES}
    assert named == {
        name for name, each in OPERATORS.items() if each.levels != "least" or each.requantises
    }
