"""Tier `large` as sources of vectors: a batch is one recipe, whose tensors are not made yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, batch_of
from conformance.cases.large.recipe import Recipe
from conformance.cases.large.tier import recipes
from conformance.vector import LARGE

_BYTES_PER_SECOND = 50 << 20
"""How fast a case is made and handed over at least, in bytes of its arrays."""
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class LargeBatch(Batch):
    """The large case of a recipe, alone.

    Its inputs are descriptions, which are made when they are copied. Shapes and sizes of what is
    expected are those of the large case, and the columns of expected elements those of the small
    one, of which the comparator makes blocks.
    """

    recipe: Recipe

    @property
    def alone(self) -> bool:
        """Its arrays are too large for a pipe, or for what else a process has."""
        return True

    @property
    def handing_over(self) -> float:
        """Seconds in which its arrays are made and handed over."""
        return self.recipe.bytes / _BYTES_PER_SECOND


class Recipes:
    """The recipes of one operator, with the attributes of a vector file that a run needs."""

    path = ""
    digest = ""

    def __init__(self, operator: str, of_operator: Iterable[Recipe]) -> None:
        self.operator = operator
        self.recipes = tuple(of_operator)
        self.ids = [recipe.id for recipe in self.recipes]
        self.tiers = [LARGE] * len(self.recipes)

    def __len__(self) -> int:
        return len(self.recipes)

    def batches(self, select: npt.NDArray[np.int64]) -> Iterator[LargeBatch]:
        """Yield a batch for each of the selected recipes."""
        for number in select.tolist():
            yield _batch(self.recipes[number], number)


def large_sources() -> list[Recipes]:
    """Return the tier, a source for each operator."""
    by_operator: dict[str, list[Recipe]] = {}
    for recipe in recipes():
        by_operator.setdefault(recipe.case.operator, []).append(recipe)
    return [Recipes(operator, group) for operator, group in by_operator.items()]


def _batch(recipe: Recipe, number: int) -> LargeBatch:
    """Return the batch of a recipe, which is number `number` of its source."""
    small = batch_of([recipe.vector])
    rows = len(small.expected_dtype)
    of_large = {
        "numbers": np.array([number]),
        "ids": [recipe.id],
        "inputs": [recipe.described_inputs],
        "tier": [LARGE],
        "pattern": [recipe.what],
        "tags": [(f"needs {recipe.memory / _GIB:.1f} GiB",)],
        # Readings and undefined elements make no difference to these cases.
        "clauses": [{}],
        "expected_shape": [recipe.output_shape] * rows,
        "expected_size": np.full(rows, np.prod(recipe.output_shape, dtype=np.int64)),
    }
    of_small = {field.name: getattr(small, field.name) for field in fields(small)}
    return LargeBatch(**of_small | of_large, recipe=recipe)
