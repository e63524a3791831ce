"""Kinds of kernels that engines specialise on, as an operator can say them."""

import pytest
from support.made_up import MADE_UP

from conformance.cases.sweep.special_kernels import kinds_of


@pytest.mark.parametrize("name", MADE_UP)
def test_kinds_are_those_that_an_operator_can_say(name):
    """Without strides there is no kernel of stride 2."""
    operator = MADE_UP[name]
    kinds = kinds_of(operator)
    assert "global" in kinds
    assert ("halves" in kinds) == (operator.is_adaptive or "strides" in operator.roles)
    assert ("threes padded" in kinds) == ({"pads_begin", "pads_end"} <= operator.roles)
