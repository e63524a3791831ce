"""The search for slips that reproduce failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, islice

import numpy as np

from conformance.budget import Share
from conformance.diagnosis.elements import layout_of
from conformance.diagnosis.features import thinned
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.instead import Instead
from conformance.diagnosis.planting import Planting, Together, with_gradients
from conformance.diagnosis.shares import SLIPS
from conformance.diagnosis.slips import cells, gradients, indices, lists, values, windows
from conformance.diagnosis.slips.learned import of_common_numbers
from conformance.diagnosis.slips.slip import Slip, SlipFault
from conformance.faults.fault import Fault
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import Vector

_SEEDS = 3
"""Failures that slips are looked for which reproduce them."""
_TELLING = 4
"""So many wrong elements of a failure are seldom all reproduced by chance."""
_HELD_AGAINST = 48
"""Failures that slips are held against, at most."""
_LARGEST = 1 << 14
"""Elements of an output that is looked at, at most."""
_FEW = 3
"""Larger ones that are looked at, at most."""
_LEAST_SHARE = 4
"""A slip reproduces one in so many of them at least."""
_NEAR = 2.0**-4
"""By how much of the right value results differ at most that are near to it."""
_NEARLY_ALL = 0.9
_SUSPECTS = 3
_ALTERNATIVES = 16


def likely_slips(
    left: Sequence[Sample],
    conforming: Sequence[Sample],
    planting: Planting,
    most: int = _SUSPECTS,
) -> list[list[Together]]:
    """Return suspects: slips that reproduce many of the failures that are left, likeliest first.

    Each suspect holds alternatives, those first that reproduce most, and of these the simplest; all
    but the first do not show in any of a few vectors that conform. The next suspect reproduces most
    of what the first one leaves, alone or together with it.
    """
    left = [s for s in left if s.vector.values and (s.outputs or _is_of_gradient(s))]
    # Large ones take long: they are looked at where there are no others.
    left = [s for s in left if _weight(s) <= _LARGEST] or sorted(left, key=_weight)[:_FEW]
    right = [s.vector for s in thinned(conforming, _HELD_AGAINST) if _weight(s) <= _LARGEST]
    suspects: list[list[Together]] = []
    share = planting.budget.share(SLIPS)
    while left and len(suspects) < most:
        first = suspects[0][0] if suspects else ()
        alternatives = _alternatives(left, right, first, planting, share)
        if not alternatives:
            break
        suspects.append(alternatives)
        left = [s for s in left if not _reproduces(alternatives[0], first, s, planting)]
    return suspects


def _is_of_gradient(sample: Sample) -> bool:
    """Say so: of gradients, slips raise exceptions where windows are more or fewer."""
    return operator_named(sample.vector.case.operator).forward is not None


def _alternatives(
    left: Sequence[Sample],
    right: Sequence[Vector],
    first: Together,
    planting: Planting,
    share: Share,
) -> list[Together]:
    """Return the slips that reproduce most of some failures, alone or together with the first."""
    sample = sorted(thinned(left, _HELD_AGAINST), key=_as_seed)
    of_common = (*of_common_numbers(sample, planting.readings),)
    counts: dict[Together, int] = {}
    for seed in thinned(sample[: len(sample) // 2 + 1], _SEEDS):
        operator = operator_named(seed.vector.case.operator)
        for slip in (*_slips_for(seed, planting), *of_common):
            if share.is_spent:
                break
            if not slip.concerns(operator):
                continue
            if (slip,) not in counts and _reproduces((slip,), first, seed, planting):
                counts[slip,] = sum(_reproduces((slip,), first, s, planting) for s in sample)
        if max(counts.values(), default=0) >= _NEARLY_ALL * len(sample):
            break
    likely = [each for each, count in counts.items() if _LEAST_SHARE * count >= len(sample)]
    likely.sort(key=lambda each: -counts[each])
    for each in likely[:_ALTERNATIVES] if any(map(_is_of_gradient, sample)) else ():
        both = with_gradients(each)
        counts[both] = sum(_reproduces(both, first, s, planting) for s in sample)
        if counts[both] > counts[each]:
            likely.append(both)
    likely.sort(key=lambda each: -counts[each])
    narrowed = (_narrowed(each, sample, right, planting) for each in likely)
    without = islice((each for each in narrowed if each is not None), _ALTERNATIVES)
    return [*dict.fromkeys((*likely[:1], *without))]


def _narrowed(
    slip: Together, failing: Sequence[Sample], right: Sequence[Vector], planting: Planting
) -> Together | None:
    """Return a slip, or that of one reduction, which shows in no vector that conforms; or None."""
    shown = planting.shows(slip, right)
    conforming = {_reduction(v) for v, shows in zip(right, shown, strict=True) if shows}
    if not conforming:
        return slip
    of_failing = {_reduction(sample.vector) for sample in failing}
    if len(of_failing) > 1 or of_failing & conforming:
        return None
    return tuple(_of_reduction(fault, *of_failing) for fault in slip)


def _reduction(vector: Vector) -> str:
    return operator_named(vector.case.operator).reduction.name


@lru_cache(maxsize=4096)  # what is planted is known by its identity; learned ones have no end
def _of_reduction(slip: Fault, reduction: str) -> Fault:
    words = f"{slip.summary}, where the reduction is {reduction}"
    return replace(slip, summary=words, needs=replace(slip.needs, reduction=reduction))


def _slips_for(seed: Sample, planting: Planting) -> tuple[SlipFault, ...]:
    """Return the slips that may reproduce a failure, the likelier ones first."""
    if seed.outputs is None:
        return _of_shapes()
    if seed.wrong is None:
        return (*_of_shapes(), *_of_indices())
    if seed.further is not None:
        return _of_indices()
    own = _of_gradients() if _is_of_gradient(seed) else ()
    if _is_near(seed, planting):
        return (*_of_numbers(), *own, *_of_places(), *_of_shapes())
    # Of large cases, what goes by the number of an entry is likeliest to be wrong.
    return (*_of_entries(), *own, *_of_shapes(), *_of_numbers(), *_of_places())


def _is_near(failure: Sample, planting: Planting) -> bool:
    """Say whether all that is wrong in a failure is near to what is right."""
    layout = layout_of(failure.vector, planting.readings(failure.vector))
    if failure.wrong is None or not failure.outputs or failure.wrong.shape != layout.shape:
        return False
    returned = widen(failure.outputs[0])[failure.wrong]
    right = widen(layout.expected.values)[failure.wrong]
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((np.abs(returned - right) <= _NEAR * np.abs(right)).all())


def slips_instead(left: Sequence[Sample], planting: Planting) -> list[Instead]:
    """Return what slips make of all that is wrong in failures, though not of all that is right."""
    sample = [s for s in thinned(left, _HELD_AGAINST) if s.wrong is not None and s.outputs]
    sample = sorted((s for s in sample if _weight(s) <= _LARGEST), key=_as_seed)
    share = planting.budget.share(SLIPS)
    every = (*slips(), *of_common_numbers(sample, planting.readings)) if sample else ()
    candidates = [_instead(slip, planting) for slip in every]
    for failure in sample:
        layout = layout_of(failure.vector, planting.readings(failure.vector))
        kept = []
        for candidate in candidates:
            alike, told = candidate.matches(failure, layout)
            if 0 < told == alike and not share.is_spent:
                kept.append(candidate)
        candidates = kept
    return candidates


def _instead(slip: SlipFault, planting: Planting) -> Instead:
    return Instead(slip.instead, lambda layout: planting.values((slip,), layout.vector))


def _reproduces(slip: Together, first: Together, failure: Sample, planting: Planting) -> bool:
    """Say whether a slip reproduces a failure, together with the first where that shows, too."""
    if first and slip != first and planting.shows(first, [failure.vector])[0]:
        slip = (*first, *slip)
    return planting.matched(slip, [failure])[0]


def _as_seed(sample: Sample) -> tuple[bool, int]:
    """Order failures: light ones first, but those that slips reproduce by chance last."""
    wrong = _weight(sample) if sample.wrong is None else int(sample.wrong.sum())
    return wrong < _TELLING, _weight(sample)


def _weight(sample: Sample) -> int:
    """Return how many cells a case and what a backend made of it have, about."""
    returned = sample.outputs[0].size if sample.outputs else 0
    return max(returned, sample.vector.case.data.size)


def slips() -> tuple[SlipFault, ...]:
    """Return every slip."""
    return (
        *(*_of_entries(), *_of_shapes(), *_of_numbers(), *_of_places()),
        *(*_of_indices(), *_of_gradients()),
    )


@cache
def _of_indices() -> tuple[SlipFault, ...]:
    """Return the slips of indices, which leave values as they are."""
    return _faults("slip-of-indices", indices.of_indices)


@cache
def _of_gradients() -> tuple[SlipFault, ...]:
    """Return the slips that gradients alone can have."""
    return _faults("slip-of-gradients", gradients.of_gradients)


@cache
def _of_entries() -> tuple[SlipFault, ...]:
    """Return the slips that go by the numbers of entries, of those alike the simplest first."""
    return _faults("slip-of-entries", cells.of_entries)


@cache
def _of_shapes() -> tuple[SlipFault, ...]:
    """Return the slips that may change the shape or the type of an output, and a few more."""
    return _faults("slip-of-shapes", lists.of_words, lists.of_lists, cells.of_layouts)


@cache
def _of_numbers() -> tuple[SlipFault, ...]:
    """Return the slips of what is done to the cells of a window."""
    return _faults(
        "slip-of-numbers",
        lists.of_exponents,
        values.of_norms,
        values.of_numbers,
        values.of_reductions,
        values.of_kinds,
    )


@cache
def _of_places() -> tuple[SlipFault, ...]:
    """Return the slips of windows: what they hold, and what they divide by."""
    return _faults(
        "slip-of-places", windows.of_divisors, windows.of_windows, cells.of_steps, cells.of_padding
    )


def _faults(name: str, *made: Callable[[], Iterable[Slip]]) -> tuple[SlipFault, ...]:
    together = [*chain.from_iterable(each() for each in made)]
    faults = [slip.fault(f"{name}-{number}") for number, slip in enumerate(together)]
    backward = (slip.fault_of_gradients(f.name) for slip, f in zip(together, faults, strict=True))
    return (*faults, *(fault for fault in backward if fault is not None))
