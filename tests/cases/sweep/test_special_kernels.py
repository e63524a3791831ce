"""Numbers that kernels specialise on occur on every rank, with everything else."""

from functools import cache
from itertools import product

import pytest
from support.made_up import MADE_UP

from conformance.cases.sweep import sweep_of
from conformance.cases.sweep.special_kernels import kinds_of
from conformance.cases.sweep.sweep_model import Sweep
from conformance.operators import OPERATORS

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]

WINDOWED = [name for name in ALL_LEVELS if OPERATORS[name].has_windows]


@cache
def specs(name):
    """Return the rows of the covering array as cases without data."""
    (array,) = Sweep(name, sweep_of(name).specs[-1:]).arrays(3, 0)
    return [array.concrete(row, turn) for turn, row in enumerate(array.rows)]


def lists(spec):
    """Return kernel, strides and begin pads of a case."""
    operator = OPERATORS[spec.operator]
    keys = [operator.attribute(role).key for role in ("kernel", "strides", "pads_begin")]
    return tuple(tuple(spec.attributes[key]) for key in keys)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(
    "numbers", [(2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1), (1, 1, 0), (3, 3, 0), (4, 4, 0)]
)
def test_equal_axes_of_every_kind_occur(name, axes, numbers):
    """Kernel, stride and pad, the same on all axes."""
    assert tuple((number,) * axes for number in numbers) in [lists(spec) for spec in specs(name)]


@pytest.mark.parametrize("name", WINDOWED)
def test_rows_columns_and_whole_planes_occur(name):
    """Of every rank that has them."""
    for axes in (2, 3):
        kernels = [lists(spec)[0] for spec in specs(name) if len(spec.shape) == axes + 2]
        assert (1, *(5,) * (axes - 1)) in kernels
        assert (5, *(1,) * (axes - 1)) in kernels
        assert any(
            lists(spec)[0] == spec.shape[2:] for spec in specs(name) if len(spec.shape) == axes + 2
        )


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_every_axis_is_long_in_turn(name):
    """Longer than a register of 16 lanes, and the others short."""
    shapes = [spec.shape[2:] for spec in specs(name)]
    for axes in (2, 3):
        for axis in range(axes):
            assert any(
                len(shape) == axes and shape[axis] > 16 and sorted(shape)[-2] < 12
                for shape in shapes
            )


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_channels_have_many_values(name):
    """Multiples of the blocks of kernels, and their tails; on every rank from few to above 256."""
    channels = {spec.shape[1] for spec in specs(name)}
    assert len([number for number in channels if 48 <= number <= 1031]) >= 20
    for block in (8, 16, 32, 64, 128, 256):
        rests = {number % block > 0 for number in channels if block <= number < 2 * block}
        assert rests == {False, True}
    for axes in (1, 2, 3):
        of_rank = {spec.shape[1] for spec in specs(name) if len(spec.shape) == axes + 2}
        assert {min(number // 64, 4) for number in of_rank} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_special_values_meet_every_kind(name):
    """NaN of all encodings and infinities of both signs, with every kernel."""
    (array,) = Sweep(name, sweep_of(name).specs[-1:]).arrays(2, 0)
    met = {(row["kernel"], row["pattern"]) for row in array.rows}
    assert met >= set(product(kinds_of(OPERATORS[name]), ("nan-encodings", "infinities")))


@pytest.mark.parametrize("name", MADE_UP)
def test_kinds_are_those_that_an_operator_can_say(name):
    """Without strides there is no kernel of stride 2."""
    operator = MADE_UP[name]
    kinds = kinds_of(operator)
    assert "global" in kinds
    assert ("halves" in kinds) == (operator.is_adaptive or "strides" in operator.roles)
    assert ("threes padded" in kinds) == ({"pads_begin", "pads_end"} <= operator.roles)
