"""Which cases: covering arrays over levels, data patterns, worked examples, tiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from math import prod

from conformance.operators import operator_named
from conformance.sweep.adaptive import adaptive_sweep
from conformance.sweep.examples import examples
from conformance.sweep.invalid import invalid
from conformance.sweep.model import Covered, Progress, Sweep, build
from conformance.sweep.neighbours import neighbours
from conformance.sweep.pooling import ngraph_sweep, openvino_sweep
from conformance.sweep.special import special
from conformance.vector import TIERS, Case, Tier

__all__ = ["Collection", "collect", "sweep_of"]

# The first rows of a greedy covering array cover the most interactions each.
_SMOKE_ROWS = {
    "AvgPool-1": {"all factors": 38, "geometry": 16},
    "MaxPool-1": {"all factors": 35, "geometry": 12},
    "AdaptiveAvgPool-8": {"all factors": 50},
    "nGraph-AvgPool": {"all factors": 34, "geometry": 1},
}
_SMOKE_CELLS = 4096


@dataclass(frozen=True, slots=True)
class Collection:
    """The cases of one operator and tier, streamed, and the covering arrays behind them."""

    operator: str
    cases: Iterator[Case]
    arrays: list[Covered]


def sweep_of(operator: str) -> Sweep:
    """Return the covering-array sweep of an operator."""
    if operator == "AdaptiveAvgPool-8":
        return adaptive_sweep()
    return ngraph_sweep() if operator == "nGraph-AvgPool" else openvino_sweep(operator)


def collect(
    operator: str,
    *,
    tier: Tier,
    strength: int,
    seed: int,
    progress: Progress | None = None,
) -> Collection:
    """Return the cases of the smoke or the standard tier, which are part of every larger one.

    Ids are unique. What the exhaustive tier adds is in `sweep.exhaustive`.
    """
    sweep = sweep_of(operator)
    arrays = sweep.arrays(strength, seed, progress)
    return Collection(
        operator,
        _unique(
            case
            for case in chain(
                examples(operator_named(operator), seed),
                _swept(sweep, arrays, tier, seed),
                special(operator, seed),
                neighbours(operator, seed),
                invalid(operator),
            )
            if TIERS.index(case.tier) <= TIERS.index(tier)
        ),
        arrays,
    )


def _swept(sweep: Sweep, arrays: list[Covered], tier: Tier, seed: int) -> Iterator[Case]:
    first = 0
    for array in arrays:
        left = _SMOKE_ROWS[sweep.operator][array.name]
        for turn, row in enumerate(array.rows, first):
            if tier == "smoke" and not left:
                break
            plan = sweep.concrete(row, turn)
            smoke = left > 0 and prod(plan.shape) <= _SMOKE_CELLS
            yield build(plan, seed=seed, tier="smoke" if smoke else "standard")
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
