"""Which cases: covering arrays over levels, data patterns, worked examples, tiers.

All of it is asked of an operator by roles and traits: what its attributes mean, whether it slides
a kernel, takes its output size or pools whole planes, and how it reduces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from math import prod

from conformance.cases.sweep import chosen, suited
from conformance.cases.sweep.adaptive_sweep import adaptive_arrays
from conformance.cases.sweep.every_kind import every_kind
from conformance.cases.sweep.few_shapes import few_shapes
from conformance.cases.sweep.further_words import further_words
from conformance.cases.sweep.hard_divisions import hard_divisions
from conformance.cases.sweep.integer_sums import integer_sums
from conformance.cases.sweep.invalid_cases import invalid
from conformance.cases.sweep.ladders import (
    axes_alone,
    deep_windows,
    ladders,
    long_rows,
)
from conformance.cases.sweep.layouts import layouts
from conformance.cases.sweep.lookalikes import lookalikes, of_one_checksum
from conformance.cases.sweep.narrow_floats import narrow_floats
from conformance.cases.sweep.neighbours import neighbours
from conformance.cases.sweep.output_sizes import output_sizes
from conformance.cases.sweep.special_cases import special, specials
from conformance.cases.sweep.special_kernels import special_kernels
from conformance.cases.sweep.sweep_model import Covered, Sweep, build, has_one_answer
from conformance.cases.sweep.told_apart import told_apart
from conformance.cases.sweep.unpooling_sweep import unpoolings
from conformance.cases.sweep.whole_sweep import whole_arrays
from conformance.cases.sweep.window_sweep import window_arrays
from conformance.cases.sweep.worked_examples import examples
from conformance.operators import operator_named
from conformance.operators.operator import Operator
from conformance.progress import Progress
from conformance.vector import TIERS, Case, Tier

__all__ = ["Collection", "collect", "of_no_array", "sweep_of"]

_SMOKE_VECTORS, _FEWEST_ROWS, _SPECIAL_KERNELS, _GRADIENT_ROWS = 60, 12, 20, 8
_SMOKE_CELLS = 4096
_OF_GRADIENTS = {
    "special": 2,
    "neighbours": 4,
    "invalid": 3,
    "ladders": 6,
    "hard divisions": 4,
    "lookalikes": 6,
    "layouts": 3,
    "output sizes": 3,
    "invalid apart": 6,
}
"""Of which cases gradients have every how many: steps that they share with their operators are
tested there. Their covering arrays are of less strength for the same reason."""
_SMALL, _BRIEF = 2048, 160
"""Cells of such a case at most, and where they are to be brief."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The cases of one operator and tier, streamed, and the covering arrays behind them."""

    operator: str
    cases: Iterator[Case]
    arrays: list[Covered]


def sweep_of(operator: str) -> Sweep:
    """Return the covering arrays of an operator; an unpooling has none."""
    definition = operator_named(operator)
    if definition.scatters:
        return Sweep(operator, ())
    if definition.is_adaptive:
        arrays = adaptive_arrays(definition)
    else:
        arrays = (window_arrays if definition.has_windows else whole_arrays)(definition)
    if definition.levels == "all":
        arrays = (*arrays, special_kernels(definition))
    if definition.is_gradient or definition.levels == "least":
        arrays = tuple(replace(array, more=-1) for array in arrays)
    elif definition.rank is not None:
        arrays = tuple(replace(array, more=0) for array in arrays)
    return Sweep(operator, arrays)


def collect(
    operator: str,
    *,
    tier: Tier,
    strength: int,
    seed: int,
    max_shapes: int = 0,
    progress: Progress | None = None,
) -> Collection:
    """Return the cases of the smoke or the standard tier, which are part of every larger one.

    With `max_shapes`, return instead those of so many shapes, see `few_shapes`. Ids are unique.
    What the exhaustive tier adds is in `sweep.exhaustive`.
    """
    definition = operator_named(operator)
    arrays = sweep_of(operator).arrays(strength, seed, progress)
    if max_shapes:
        return Collection(operator, _unique(few_shapes(definition, arrays, seed, max_shapes)), [])
    return Collection(
        operator,
        (
            case
            for case in _unique(
                chain(
                    examples(definition, seed),
                    _swept(definition, arrays, tier, seed),
                    map(_with_tier, of_no_array(definition, seed)),
                )
            )
            if TIERS.index(case.tier) <= TIERS.index(_largest(definition, tier))
            and has_one_answer(case)
        ),
        arrays,
    )


def _largest(operator: Operator, tier: Tier) -> Tier:
    """Return the largest tier of which an operator has cases, up to one that is asked for."""
    return "smoke" if operator.levels == "least" else tier


def of_no_array(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases beside the covering arrays and the worked examples."""
    if operator.scatters:
        yield from chain(unpoolings(operator, seed), invalid(operator))
        return
    apart = {
        "special": special(operator, seed),
        "neighbours": neighbours(operator, seed),
        "invalid": invalid(operator),
        "ladders": ladders(operator, seed),
        "hard divisions": hard_divisions(operator, seed),
        "lookalikes": lookalikes(operator, seed),
        "layouts": layouts(operator, seed),
        "output sizes": output_sizes(operator, seed),
        "invalid apart": invalid(operator, apart=True),
    }
    if operator.is_gradient:
        most = _BRIEF if suited.is_brief(operator) else _SMALL
        apart = {what: _some(cases, _OF_GRADIENTS[what], most) for what, cases in apart.items()}
    yield from chain(
        *apart.values(),
        told_apart(operator, seed),
        every_kind(operator, seed),
        of_one_checksum(operator, seed),
        long_rows(operator, seed),
        narrow_floats(operator, seed),
        further_words(operator, seed),
        integer_sums(operator),
        axes_alone(operator, seed),
        deep_windows(operator, seed),
    )


def _with_tier(case: Case) -> Case:
    """Return a case in the smoke tier if it is chosen for that."""
    return replace(case, tier="smoke") if chosen.name_of(case) in chosen.NAMES else case


def _some(cases: Iterator[Case], step: int, most: int) -> Iterator[Case]:
    """Yield every `step`-th of the cases of `most` cells, and all that are about the gradient."""
    small = (case for case in cases if case.data.size <= most)
    for number, case in enumerate(small):
        if number % step == 0 or any(tag.startswith("gradient") for tag in case.tags):
            yield case


def _smoke_rows(operator: Operator, arrays: list[Covered]) -> tuple[int, ...]:
    """Return how many rows of each covering array are in the smoke tier.

    Twenty of the array of special kernels, the last. Of the others, unless the operator says so, as
    many as make it about 60 vectors with its worked examples, special and invalid cases, but a
    dozen at least; a quarter of them is of the geometry. The first rows of a greedy covering array
    cover the most interactions each.
    """
    last = (_SPECIAL_KERNELS,) if operator.levels == "all" else ()
    before = len(arrays) - len(last)
    if operator.smoke_rows is not None:
        return (*(*operator.smoke_rows, *(0,) * before)[:before], *last)
    if operator.is_gradient or operator.levels == "least":
        return (_GRADIENT_ROWS, _GRADIENT_ROWS // 2)[:before]
    others = len(operator.examples)
    others += sum(special_case.tier == "smoke" for special_case in specials(operator))
    others += sum(case.tier == "smoke" for case in invalid(operator))
    rows = max(_FEWEST_ROWS, _SMOKE_VECTORS - others)
    geometry = rows // 4 if before > 1 else 0
    return (*(rows - geometry, geometry)[:before], *last)


def _swept(operator: Operator, arrays: list[Covered], tier: Tier, seed: int) -> Iterator[Case]:
    first = 0
    for array, rows in zip(arrays, _smoke_rows(operator, arrays), strict=True):
        left = rows
        for turn, row in enumerate(array.rows, first):
            if tier == "smoke" and not left:
                break
            spec = array.concrete(row, turn)
            smoke = left > 0 and prod(spec.shape) <= _SMOKE_CELLS
            yield build(spec, seed=seed, tier="smoke" if smoke else "standard")
            left -= smoke
        first += len(array.rows)


def _unique(cases: Iterator[Case]) -> Iterator[Case]:
    seen: set[bytes] = set()
    for case in cases:
        # A short digest of each id: little memory even for a million cases.
        key = blake2b(case.id.encode(), digest_size=8).digest()
        if key not in seen:
            seen.add(key)
            yield case
