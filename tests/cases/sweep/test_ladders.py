"""Every dimension of every operator is large in turn, and alone."""

from functools import cache
from math import prod

import pytest
from support.made_up import MADE_UP, registered

from conformance.cases.sweep import suited
from conformance.cases.sweep.ladders import RUNGS, ladder_specs
from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]

WINDOWED = [name for name in ALL_LEVELS if OPERATORS[name].has_windows]


@cache
def specs(name):
    """Return the cases of an operator, without data, and their parameters' numbers."""
    return list(ladder_specs(OPERATORS[name]))


def numbers(spec, role):
    """Return the numbers of a role in a case, one for each axis."""
    given = OPERATORS[spec.operator].attribute(role)
    return tuple(spec.attributes[given.key])


@pytest.mark.parametrize("name", ALL_LEVELS)
@pytest.mark.parametrize("rung", RUNGS)
def test_batch_and_channels_reach_every_rung(name, rung):
    """The other one is 1 then."""
    planes = {spec.shape[:2] for spec in specs(name)}
    assert {(rung, 1), (1, rung)} <= planes


@pytest.mark.parametrize("name", ALL_LEVELS)
@pytest.mark.parametrize("rung", RUNGS)
def test_every_axis_of_every_rank_reaches_every_rung(name, rung):
    """Up to three axes, where memory allows no more."""
    operator = OPERATORS[name]
    ranks = suited.axes(operator) if rung < RUNGS[-1] else suited.axes(operator)[:3]
    reached = {
        (len(spec.shape) - 2, axis)
        for spec in specs(name)
        for axis, size in enumerate(spec.shape[2:])
        if rung <= size <= rung + 2
    }
    assert reached >= {(axes, axis) for axes in ranks for axis in range(axes)}


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("role", ["kernel", "strides", "pads_begin", "pads_end"])
@pytest.mark.parametrize("rung", RUNGS)
def test_every_list_of_numbers_reaches_every_rung(name, role, rung):
    """On every axis of up to three, at the largest too: padding takes no memory."""
    reached = {
        (len(spec.shape) - 2, axis)
        for spec in specs(name)
        for axis, number in enumerate(numbers(spec, role))
        if rung <= number <= rung + 1
    }
    assert reached >= {(axes, axis) for axes in (1, 2, 3) for axis in range(axes)}


@pytest.mark.parametrize("role", ["elements", "rows"])
@pytest.mark.parametrize("name", ALL_LEVELS)
def test_products_of_dimensions_reach_every_rung(name, role):
    """Rows of all planes, and all elements, of every rank: the rung, or not twice as many."""
    for axes in (1, 2, 3):
        rungs = RUNGS if axes < 3 else RUNGS[:-1]
        found = [
            prod(spec.shape[:-1] if role == "rows" else spec.shape)
            for spec in specs(name)
            if len(spec.shape) == axes + 2 and f"{role} of {axes} axes" in spec.tags[0]
        ]
        assert all(rung <= n < max(60, 2 * rung) for n, rung in zip(found, rungs, strict=True))


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_what_is_large_is_large_alone(name):
    """So a file of the suite stays small, and in memory while it is checked."""
    for spec in specs(name):
        assert prod(spec.shape) * dtype_of(spec.dtype).itemsize <= 2**18
        assert sorted(spec.shape)[-2] <= 258


@pytest.mark.parametrize("name", [name for name in ALL_LEVELS if name != "nGraph-AvgPool"])
def test_early_axes_are_large_padded_and_unpadded(name):
    """Depth and height as much as width."""
    operator = OPERATORS[name]
    if not operator.has_windows:
        pytest.skip("it takes no padding")
    for axes in (2, 3):
        for axis in range(axes):
            found = {
                numbers(spec, "pads_begin")[axis] > 0
                for spec in specs(name)
                if len(spec.shape) == axes + 2 and spec.shape[2 + axis] > 16
            }
            assert found == {False, True}


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_ladders_of_what_they_have(name):
    """All follows from roles and traits; half types have windows whose bound says something."""
    with registered():
        found = list(ladder_specs(MADE_UP[name]))
    assert {spec.dtype for spec in found} <= set(MADE_UP[name].dtypes)
    assert len({spec.tags for spec in found}) > 40
