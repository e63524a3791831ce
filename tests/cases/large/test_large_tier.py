"""The tier large: what it holds, and that it catches numbers that are too narrow."""

import re
from math import prod

import pytest
from support.large_cases import result_of
from support.wrapping import (
    counting,
    dividing,
    reading,
    returning_indices,
    right,
    rounded,
    saturated,
    wrapped,
    writing,
)

from conformance.cases.large import Limits, differences, recipe_named, recipes
from conformance.errors import UsageError

SIZES = {
    "axis": lambda recipe: max(recipe.shape[2:]),
    "plane": lambda recipe: prod(recipe.shape[2:]),
    "volume": lambda recipe: prod(recipe.shape[2:]),
    "window": lambda recipe: prod(recipe.shape[2:]),
    "mean": lambda recipe: prod(recipe.shape[2:]),
    "bytes": lambda recipe: prod(recipe.shape) * recipe.case.data.itemsize,
    "output": lambda recipe: prod(recipe.output_shape),
    "batch": lambda recipe: recipe.shape[0],
    "channels": lambda recipe: recipe.shape[1],
    "planes": lambda recipe: prod(recipe.shape[:2]),
    "place by size": lambda recipe: recipe.output_shape[2] * recipe.shape[2],
}
BITS, COUNT_BITS, EXACT_BITS = 16, 4, 8
SMALL = Limits(index=1 << (BITS - 1), count=1 << COUNT_BITS, exact=1 << EXACT_BITS)
"""The same tier for numbers of a few bits, and so with small tensors."""
REAL, TIER = list(recipes()), list(recipes(SMALL))
SIGNED, UNSIGNED = wrapped(BITS, signed=True), wrapped(BITS, signed=False)
COUNTS = wrapped(COUNT_BITS, signed=False)

NARROW = {
    "element, signed": (
        reading("element", SIGNED),
        {
            "axis past 2^31",
            "axis past 2^32",
            "plane past 2^31",
            "plane past 2^32",
            "volume past 2^31",
            "window past 2^31",
            "window past 2^32",
            "mean past 2^31",
            "output past 2^31",
            "channels past 2^16 and 2^31",
        },
    ),
    "element, unsigned": (
        reading("element", UNSIGNED),
        {"axis past 2^32", "plane past 2^32", "window past 2^32"},
    ),
    "byte, signed": (reading("byte", SIGNED), {"bytes past 2^31", "bytes past 2^32"}),
    "byte, unsigned": (reading("byte", UNSIGNED), {"bytes past 2^32"}),
    "plane, signed": (
        reading("plane", wrapped(COUNT_BITS, signed=True)),
        {"batch past 2^16", "channels past 2^16", "channels past 2^16 and 2^31"},
    ),
    "plane, unsigned": (
        reading("plane", COUNTS),
        {"batch past 2^16", "channels past 2^16", "channels past 2^16 and 2^31"},
    ),
    "plane of both, signed": (
        reading("plane", wrapped(2 * COUNT_BITS, signed=True)),
        {"batch and channels past 2^16", "planes past 2^31"},
    ),
    "plane of all bits, signed": (reading("plane", SIGNED), {"planes past 2^31"}),
    "plane of both, unsigned": (
        reading("plane", wrapped(2 * COUNT_BITS, signed=False)),
        {"batch and channels past 2^16"},
    ),
    "coordinate, signed": (reading("coordinate", SIGNED), {"axis past 2^31", "axis past 2^32"}),
    "coordinate, unsigned": (reading("coordinate", UNSIGNED), {"axis past 2^32"}),
    "coordinate of 16 bits": (
        reading("coordinate", COUNTS),
        {"batch past 2^16", "channels past 2^16", "batch and channels past 2^16"},
    ),
    "coordinate in float32": (reading("coordinate", rounded(EXACT_BITS)), {"axis past 2^24"}),
    "place by size, signed": (
        dividing(SIGNED),
        {"place by size past 2^31", "place by size past 2^32"},
    ),
    "place by size, unsigned": (dividing(UNSIGNED), {"place by size past 2^32"}),
    "count, signed": (counting(SIGNED), {"mean past 2^31"}),
    "count in float32": (
        counting(saturated(EXACT_BITS)),
        {"mean past 2^24", "mean past 2^31"},
    ),
    "output, signed": (writing(SIGNED), {"output past 2^31", "planes past 2^31"}),
}
WIDE = [
    *(reading(unit, wrapped(BITS + 4, signed=True)) for unit in ("element", "byte")),
    *(reading(unit, wrapped(BITS + 4, signed=True)) for unit in ("plane", "coordinate")),
    writing(wrapped(BITS + 4, signed=True)),
    returning_indices(wrapped(BITS + 4, signed=True)),
]


def verdicts(backend, kinds=None):
    """Return the verdict on each recipe of some kinds, of all by default."""
    return {
        recipe.id: result_of(recipe, backend).verdict
        for recipe in TIER
        if kinds is None or recipe.what in kinds
    }


@pytest.mark.parametrize("recipe", [*REAL, *TIER], ids=lambda recipe: recipe.id)
def test_every_recipe_is_proven_by_its_shortened_case(recipe):
    assert differences(recipe) == []


def test_ids_are_unique_and_name_the_large_shape():
    assert len({recipe.id for recipe in REAL}) == len(REAL)
    assert all(f"/{'x'.join(map(str, recipe.shape))}/" in recipe.id for recipe in REAL)


def test_the_small_data_of_each_is_kilobytes():
    assert max(recipe.case.data.nbytes for recipe in REAL) < 100_000


@pytest.mark.parametrize("recipe", REAL, ids=lambda recipe: recipe.id)
def test_the_size_that_it_names_is_just_past_the_limit_that_it_names(recipe):
    what, limit = re.match(r"(.*?)(?: and channels)? past 2\^(\d+)", recipe.what).groups()

    assert 2 ** int(limit) < SIZES[what](recipe) < 2 ** int(limit) * 1.02


def test_a_name_finds_its_recipe():
    assert recipe_named(REAL[0].id).shape == REAL[0].shape


def test_a_name_of_none_is_wrong_usage():
    with pytest.raises(UsageError, match="no recipe 'none'"):
        recipe_named("none")


@pytest.mark.parametrize("name", NARROW)
def test_is_caught_by_each_recipe_made_for_it(name):
    backend, kinds = NARROW[name]

    assert set(verdicts(backend, kinds).values()) == {"mismatch"}
    assert kinds <= {recipe.what for recipe in TIER}


@pytest.mark.parametrize("signed", [True, False], ids=["signed", "unsigned"])
def test_narrow_indices_are_caught_though_values_are_right(signed):
    what = "plane past 2^31" if signed else "plane past 2^32"
    backend = returning_indices(wrapped(BITS, signed=signed))
    recipe = next(recipe for recipe in TIER if recipe.what == what)

    assert result_of(recipe, backend).worst.output == "indices"


@pytest.mark.parametrize("backend", WIDE, ids=range(len(WIDE)))
def test_numbers_that_are_wide_enough_conform(backend):
    assert set(verdicts(backend).values()) == {"conforms"}


def test_a_sound_backend_conforms():
    assert set(verdicts(right).values()) == {"conforms"}
