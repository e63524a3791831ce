"""The tier `large`: tensors that do not fit into a file, as recipes."""

from conformance.cases.large.recipe import Recipe, differences
from conformance.cases.large.source import LargeBatch, Recipes, large_sources
from conformance.cases.large.tier import LIMITS, Limits, recipe_named, recipes

__all__ = [
    "LIMITS",
    "LargeBatch",
    "Limits",
    "Recipe",
    "Recipes",
    "differences",
    "large_sources",
    "recipe_named",
    "recipes",
]
