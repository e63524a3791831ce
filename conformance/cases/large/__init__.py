"""The tier `large`: tensors that do not fit into a file, as recipes."""

from conformance.cases.large.recipe import Group, Recipe, Run, differences, groups
from conformance.cases.large.tier import LIMITS, Limits, recipe_named, recipes

__all__ = [
    "LIMITS",
    "Group",
    "Limits",
    "Recipe",
    "Run",
    "differences",
    "groups",
    "recipe_named",
    "recipes",
]
