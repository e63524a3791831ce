"""Cases in which everything is drawn: reproducible, small, of every role, and chosen from."""

from contextlib import suppress
from math import prod

import numpy as np
import pytest

from conformance import InvalidCase
from conformance.cases.sweep import collect, random_draws
from conformance.cases.sweep.random_draws import BLOCKED, CHOSEN, SMOKE, draw
from conformance.operators import OPERATORS
from conformance.operators.attributes import MEANINGS, SCALARS

SOME = ["PyTorch-avg_pool1d", "WebNN-maxPool2d", "LiteRT-AVERAGE_POOL_2D", "MaxPool-8-backward"]


def drawn(operator, numbers):
    """Return the draws of some numbers, but for those of which no gradient can be made."""
    specs = []
    for number in numbers:
        with suppress(InvalidCase):
            specs.append(draw(operator, number))
    return specs


@pytest.mark.parametrize("name", OPERATORS)
def test_a_draw_is_the_same_each_time_and_small(name):
    """Whatever is drawn before: a number stands for one case."""
    first = drawn(OPERATORS[name], range(30))
    again = drawn(OPERATORS[name], reversed(range(30)))
    assert [spec.name for spec in first] == [spec.name for spec in reversed(again)]
    assert all(prod(spec.shape) <= 20_000 for spec in first)


@pytest.mark.parametrize("name", SOME)
def test_draws_in_blocks_have_channels_that_mostly_fill_them(name):
    """Of the other draws, few have."""
    in_blocks, usual = (
        [spec.shape[1] % 4 == 0 for spec in drawn(OPERATORS[name], numbers)]
        for numbers in (BLOCKED[:200], range(200))
    )
    assert np.mean(in_blocks) > 0.5 > 1.5 * np.mean(usual)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_word_scalar_and_type_is_drawn(name):
    """In each of its values, so that no role of an operator is swept less than another."""
    operator = OPERATORS[name]
    specs = drawn(operator, range(300))
    for attribute in operator.of_roles((*MEANINGS, *SCALARS)).values():
        said = {
            attribute.meaning_of(spec.attributes[attribute.key])
            for spec in specs
            if attribute.key in spec.attributes and "invalid" not in spec.tags
        }
        if attribute.meanings:
            assert said == set(attribute.meanings), attribute.key
        else:
            assert len(said) > 1, attribute.key
    assert len({spec.dtype for spec in specs}) >= min(3, len(operator.dtypes))


@pytest.mark.parametrize("name", SOME)
def test_the_draws_that_were_chosen_are_in_the_suite(name):
    """Those marked so in the smoke tier, all others in the standard one."""
    specs = [*random_draws.chosen_draws(OPERATORS[name])]
    assert [spec.tier == "smoke" for spec in specs] == [n.endswith(SMOKE) for n in CHOSEN[name]]
    ids = {case.id for case in collect(name, tier="standard", strength=3, seed=0).cases}
    names = {each.rpartition("-")[0] for each in ids}
    assert {spec.name for spec in specs} <= names


def test_every_operator_that_has_draws_is_known():
    """The list names operators, and each number once."""
    assert set(CHOSEN) <= set(OPERATORS)
    assert all(len(set(numbers)) == len(numbers) for numbers in CHOSEN.values())
