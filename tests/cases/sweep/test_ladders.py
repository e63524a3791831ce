"""Cases in which one dimension is large are small in all others."""

from functools import cache
from math import prod

import pytest
from support.made_up import MADE_UP, registered

from conformance.cases.sweep.ladders import ladder_specs
from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]


@cache
def specs(name):
    """Return the cases of an operator, without data, and their parameters' numbers."""
    return list(ladder_specs(OPERATORS[name]))


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_what_is_large_is_large_alone(name):
    """So a file of the suite stays small, and in memory while it is checked."""
    for spec in specs(name):
        assert prod(spec.shape) * dtype_of(spec.dtype).itemsize <= 2**18
        assert sorted(spec.shape)[-2] <= 258


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_ladders_of_what_they_have(name):
    """All follows from roles and traits; half types have windows whose bound says something."""
    with registered():
        found = list(ladder_specs(MADE_UP[name]))
    assert {spec.dtype for spec in found} <= set(MADE_UP[name].dtypes)
    assert len({spec.tags for spec in found}) > 40
