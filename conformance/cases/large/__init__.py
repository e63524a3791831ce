"""The tier `large`: tensors that do not fit into a file, as recipes."""

from conformance.cases.large.recipe import Recipe, differences
from conformance.cases.large.tier import LIMITS, Limits, recipe_named, recipes

__all__ = [
    "LIMITS",
    "Limits",
    "Recipe",
    "differences",
    "recipe_named",
    "recipes",
]
