"""The cases chosen for the smoke tier: small, there, and of that tier."""

from math import prod

import pytest

from conformance.cases.sweep import of_no_array, smoke_choice
from conformance.operators import OPERATORS


@pytest.mark.parametrize("operator", ["AvgPool-14", "ONNX-GlobalLpPool-22", "MaxPool-8-backward"])
def test_every_name_is_that_of_a_case(operator):
    """And what has the name is small."""
    names = {name for name in smoke_choice.NAMES if name.startswith(f"{operator}/")}
    specs = [spec for spec in of_no_array(OPERATORS[operator]) if spec.name in smoke_choice.NAMES]
    assert 1 <= len(names) <= 14
    assert {spec.name for spec in specs} == names
    assert all(prod(spec.shape) <= 1000 for spec in specs)


def test_every_name_is_of_an_operator():
    """All have some but those whose likes stand for them, which have no scales."""
    named = {name.split("/")[0] for name in smoke_choice.NAMES}
    assert named == {
        name for name, each in OPERATORS.items() if each.levels != "least" or each.requantises
    }
