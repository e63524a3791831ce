"""Which cases: covering arrays over levels, data patterns, worked examples, tiers.

All of it is asked of an operator by roles and traits: what its attributes mean, whether it slides
a kernel, takes its output size or pools whole planes, and how it reduces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import prod

from conformance.cases.sweep import levels, smoke_choice
from conformance.cases.sweep.activations import activations
from conformance.cases.sweep.clause_probes import clause_probes
from conformance.cases.sweep.few_shapes import few_shapes
from conformance.cases.sweep.hard_divisions import hard_divisions
from conformance.cases.sweep.invalid_cases import invalid
from conformance.cases.sweep.kernel_paths import channel_blocks, in_either_layout, sliding
from conformance.cases.sweep.key_collisions import key_collisions, of_one_checksum
from conformance.cases.sweep.ladders import axes_alone, deep_windows, ladders, long_rows
from conformance.cases.sweep.layouts import layouts, output_sizes
from conformance.cases.sweep.narrow_types import accumulators, integer_sums, narrow_floats
from conformance.cases.sweep.one_off import one_off
from conformance.cases.sweep.plane_sweep import adaptive_arrays, whole_arrays
from conformance.cases.sweep.random_draws import chosen_draws
from conformance.cases.sweep.role_pairs import role_pairs
from conformance.cases.sweep.special_cases import special, specials
from conformance.cases.sweep.special_kernels import special_kernels, usual_kernels
from conformance.cases.sweep.sweep_model import ArraySpec, CaseSpec, Covered, cases_of
from conformance.cases.sweep.unpooling_sweep import unpoolings
from conformance.cases.sweep.value_kinds import further_exponents, value_kinds
from conformance.cases.sweep.window_sweep import window_arrays
from conformance.cases.sweep.worked_examples import examples
from conformance.operators import operator_named
from conformance.operators.operator import Operator
from conformance.progress import Progress, counts_of, from_counts
from conformance.vector import TIERS, Case, Tier

__all__ = ["Collection", "arrays_of", "collect", "of_no_array"]

_SMOKE_VECTORS, _FEWEST_ROWS, _SPECIAL_KERNELS, _GRADIENT_ROWS = 60, 12, 20, 8
_SMOKE_CELLS = 4096
Table = Callable[[Operator], Iterator[CaseSpec]]
"""Cases of a kind, as rows for any operator: none for one that has no such."""


_SHARED: dict[Table, int] = {
    special: 2,
    one_off: 4,
    invalid: 3,
    ladders: 6,
    hard_divisions: 4,
    key_collisions: 6,
    layouts: 3,
    output_sizes: 3,
    partial(invalid, apart=True): 6,
}
"""Tables of steps that gradients share with their operators, which test them: of which cases
gradients have every how many. Their covering arrays are of less strength for the same reason."""
_TABLES: tuple[Table, ...] = (
    clause_probes,
    value_kinds,
    of_one_checksum,
    long_rows,
    narrow_floats,
    activations,
    integer_sums,
    axes_alone,
    deep_windows,
    sliding,
    channel_blocks,
    usual_kernels,
    accumulators,
    further_exponents,
)
_SMALL, _BRIEF, _LEAST = 2048, 160, 128
"""Cells of such a case at most, and where they are to be brief; of a case of an operator whose
siblings have the same with more cells."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The cases of one operator and tier, streamed, and the covering arrays behind them."""

    cases: Iterator[Case]
    arrays: list[Covered]


def arrays_of(
    operator: str, strength: int, seed: int, progress: Progress | None = None
) -> list[Covered]:
    """Return the covering arrays of an operator, first that of every factor."""
    return [
        array.covered(strength, seed, from_counts(counts_of(progress, f"{operator}: {array.name}")))
        for array in _arrays(operator_named(operator))
    ]


def _arrays(operator: Operator) -> tuple[ArraySpec, ...]:
    """Return the covering arrays to be made; an unpooling has none."""
    if operator.scatters:
        return ()
    if operator.is_adaptive:
        arrays = adaptive_arrays(operator)
    else:
        arrays = (window_arrays if operator.has_windows else whole_arrays)(operator)
    if operator.levels == "all":
        arrays = (*arrays, special_kernels(operator))
    if operator.is_gradient or operator.levels == "least":
        return tuple(replace(array, more=-1) for array in arrays)
    if operator.rank is not None:
        return tuple(replace(array, more=0) for array in arrays)
    return arrays


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
    arrays = arrays_of(operator, strength, seed, progress)
    if max_shapes:
        few = few_shapes(definition, arrays, max_shapes)
        return Collection(cases_of(few, seed=seed), [])
    swept: Iterator[CaseSpec] = chain(
        examples(definition),
        _swept(definition, arrays, tier),
        map(_with_tier, of_no_array(definition)),
    )
    if definition.levels == "least":
        swept = map(_left_to_siblings, swept)
    one_layout = chain(swept, role_pairs(definition), chosen_draws(definition))
    every = in_either_layout(definition, one_layout, seed=seed)
    cases = cases_of(every, seed=seed, tiers=TIERS[: 1 + TIERS.index(tier)])
    return Collection(cases, arrays)


def of_no_array(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases beside the covering arrays and the worked examples."""
    if operator.scatters:
        yield from chain(unpoolings(operator), invalid(operator))
        return
    for table, step in _SHARED.items():
        yield from (
            _some(operator, table(operator), step) if operator.is_gradient else table(operator)
        )
    for table in _TABLES:
        yield from table(operator)


def _left_to_siblings(spec: CaseSpec) -> CaseSpec:
    """Return a case in no tier that is made here if it is large: its siblings have such."""
    is_small = spec.tier == "smoke" or prod(spec.shape) <= _LEAST
    return spec if is_small else replace(spec, tier="exhaustive")


def _with_tier(spec: CaseSpec) -> CaseSpec:
    """Return a case in the smoke tier if it is chosen for that."""
    return replace(spec, tier="smoke") if spec.name in smoke_choice.NAMES else spec


def _some(operator: Operator, cases: Iterator[CaseSpec], step: int) -> Iterator[CaseSpec]:
    """Yield every `step`-th of the small cases, and all that are about the gradient."""
    most = _BRIEF if levels.is_brief(operator) else _SMALL
    small = (spec for spec in cases if prod(spec.shape) <= most)
    for number, spec in enumerate(small):
        if number % step == 0 or any(tag.startswith("gradient") for tag in spec.tags):
            yield spec


def _smoke_rows(operator: Operator, arrays: list[Covered]) -> tuple[int, ...]:
    """Return how many rows of each covering array are in the smoke tier.

    Twenty of the array of special kernels, the last. Of the others, unless they are chosen, as many
    as make it about 60 vectors with its worked examples, special and invalid cases, but a dozen at
    least; a quarter of them is of the geometry. The first rows of a greedy covering array cover the
    most interactions each.
    """
    last = (_SPECIAL_KERNELS,) if operator.levels == "all" else ()
    before = len(arrays) - len(last)
    if operator.name in smoke_choice.ROWS:
        return (*(*smoke_choice.ROWS[operator.name], *(0,) * before)[:before], *last)
    if operator.is_gradient or operator.levels == "least":
        return (_GRADIENT_ROWS, _GRADIENT_ROWS // 2)[:before]
    others = len(operator.examples)
    others += sum(spec.tier == "smoke" for spec in chain(specials(operator), invalid(operator)))
    rows = max(_FEWEST_ROWS, _SMOKE_VECTORS - others)
    geometry = rows // 4 if before > 1 else 0
    return (*(rows - geometry, geometry)[:before], *last)


def _swept(operator: Operator, arrays: list[Covered], tier: Tier) -> Iterator[CaseSpec]:
    first = 0
    for array, rows in zip(arrays, _smoke_rows(operator, arrays), strict=True):
        left = rows
        for turn, row in enumerate(array.rows, first):
            if tier == "smoke" and not left:
                break
            spec = array.concrete(row, turn)
            smoke = left > 0 and prod(spec.shape) <= _SMOKE_CELLS
            yield replace(spec, tier="smoke" if smoke else "standard")
            left -= smoke
        first += len(array.rows)
