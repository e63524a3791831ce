"""Cases in which one dimension is large are small in all others."""

from functools import cache
from math import prod

import pytest
from support.made_up import MADE_UP, registered

from conformance.api.strength import not_conforming
from conformance.cases.sweep.ladders import axes_alone, deep_windows, ladders
from conformance.cases.sweep.sweep_model import cases_of
from conformance.dtypes import dtype_of
from conformance.faults import fault_named
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.judging.judge import accepted
from conformance.operators import OPERATORS, vector_of

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]


def concerned(fault):
    """Return the operators that can have a fault."""
    return [name for name, operator in OPERATORS.items() if fault_named(fault).concerns(operator)]


@cache
def specs(name):
    """Return the cases of an operator, without data, and their parameters' numbers."""
    return list(ladders(OPERATORS[name]))


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
        found = list(ladders(MADE_UP[name]))
    assert {spec.dtype for spec in found} <= set(MADE_UP[name].dtypes)
    assert len({spec.tags for spec in found}) > 40


def failing(fault, operator, cases):
    """Return the shapes of the data of the cases that catch a fault."""
    planted = [PlantedFaults((fault_named(fault),), operator)]
    right = right_operator(operator, None)
    return [
        case.data.shape
        for case in cases
        if not_conforming(planted, vector_of(case), Baseline(case, right))
    ]


@pytest.mark.parametrize("operator", concerned("gradient-blocks-of-other-axis"))
def test_each_of_rows_and_columns_is_long_alone(operator):
    """As many blocks of rows as columns need leave rows out, and the reverse."""
    cases = cases_of(axes_alone(OPERATORS[operator]))
    assert {shape[-2:] for shape in failing("gradient-blocks-of-other-axis", operator, cases)} == {
        (33, 1),
        (1, 33),
    }


@pytest.mark.parametrize("name", [name for name, each in OPERATORS.items() if not each.scatters])
def test_many_channels_have_a_large_window(name):
    """So that channels beyond the 256th fail where they are left unwritten; so in gradients."""
    (vector,) = map(vector_of, cases_of(deep_windows(OPERATORS[name])))
    first, *others = [output.values for output in vector.values[0].outputs]
    unwritten = first.copy()
    unwritten[:, 256:] = 0
    assert accepted([vector] * 2, [(first, *others), (unwritten, *others)]) == [True, False]


@pytest.mark.parametrize("operator", concerned("channels-above-256-of-large-windows-unwritten"))
def test_channels_that_are_wrong_beside_large_windows_alone_fail(operator):
    """A fault of calls in which both are large."""
    cases = cases_of(deep_windows(OPERATORS[operator]))
    assert failing("channels-above-256-of-large-windows-unwritten", operator, cases)
