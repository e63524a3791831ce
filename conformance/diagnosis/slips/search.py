"""The search for slips that reproduce failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from time import perf_counter
from typing import TypeVar

import numpy as np

from conformance.diagnosis.hypothesis import Bools, Sample
from conformance.diagnosis.planting import Planting, Together
from conformance.diagnosis.slips import cells, lists, values, windows
from conformance.diagnosis.slips.slip import Slip
from conformance.faults.fault import Fault
from conformance.reference.rounding import widen

_SEEDS = 4
"""Failures that slips are looked for which reproduce them."""
_TELLING = 4
"""So many wrong elements of a failure are seldom all reproduced by chance."""
_HELD_AGAINST = 48
"""Failures that slips are held against, at most."""
_LARGEST = 1 << 14
"""Elements of an output that is looked at, at most."""
_LEAST_SHARE = 8
"""The slips of a suspect reproduce one in so many of them at least."""
_SUSPECTS = 3
_ALTERNATIVES = 16
_NUMBERS = 3
"""Numbers that wrong elements have in common, at most, of which slips are made."""
_SECONDS = 4.0
"""For one search, at most."""
_T = TypeVar("_T")


def likely_slips(left: Sequence[Sample], planting: Planting) -> list[list[Together]]:
    """Return suspects: slips that reproduce many of the failures that are left, likeliest first.

    Each suspect holds alternatives, those first that reproduce most, and of these the simplest.
    The next suspect reproduces most of what the ones before it leave.
    """
    usable = [s for s in left if s.outputs and s.vector.values and _weight(s) <= _LARGEST]
    sample = sorted(_some(usable, _HELD_AGAINST), key=_as_seed)
    of_values = (*slips(), *_of_common_numbers(sample))
    reproduced: dict[Fault, Bools] = {}
    suspects: list[list[Together]] = []
    seeds = np.ones(len(sample), np.bool_)
    until = perf_counter() + _SECONDS
    for _ in range(_SEEDS):
        if not seeds.any():
            break
        number = int(seeds.argmax())
        seed = sample[number]
        for slip in of_values if seed.wrong is not None else _of_shapes():
            if perf_counter() > until:
                break
            if slip not in reproduced and planting.matched((slip,), [seed])[0]:
                reproduced[slip] = np.array(planting.matched((slip,), sample))
        suspects = list(_suspects(reproduced, len(sample)))
        seeds[number] = False
        for (slip,), *_ in suspects:
            seeds &= ~reproduced[slip]
    return suspects


def _suspects(reproduced: Mapping[Fault, Bools], count: int) -> Iterator[list[Together]]:
    """Yield alternatives that reproduce most of so many failures, then most of what is left."""
    left = np.ones(count, np.bool_)
    for _ in range(_SUSPECTS):
        counts = {slip: int((shown & left).sum()) for slip, shown in reproduced.items()}
        most = max(counts.values(), default=0)
        if not most or _LEAST_SHARE * most < count:
            return
        alike = [slip for slip in counts if 2 * counts[slip] >= most]
        alike.sort(key=lambda slip: -counts[slip])
        yield [(slip,) for slip in alike[:_ALTERNATIVES]]
        left &= ~reproduced[alike[0]]


def _as_seed(sample: Sample) -> tuple[bool, int]:
    """Order failures: light ones first, but those that slips reproduce by chance last."""
    wrong = _weight(sample) if sample.wrong is None else int(sample.wrong.sum())
    return wrong < _TELLING, _weight(sample)


def _weight(sample: Sample) -> int:
    """Return how many cells a case and what a backend made of it have, about."""
    assert sample.outputs is not None
    return max(sample.outputs[0].size, sample.vector.case.inputs[0].size)


def _some(of: Sequence[_T], most: int) -> Sequence[_T]:
    return of[:: -(-len(of) // most) or 1]


@cache
def slips() -> tuple[Fault, ...]:
    """Return every slip, the simplest first."""
    made = (
        values.of_numbers,
        values.of_reductions,
        values.of_kinds,
        windows.of_divisors,
        windows.of_windows,
        cells.of_padding,
        cells.of_taps,
        cells.of_entries,
    )
    return (*_of_shapes(), *_faults("slip", *made))


@cache
def _of_shapes() -> tuple[Fault, ...]:
    """Return the slips that may change the shape or the type of an output, and a few more."""
    return _faults("slip-of-shapes", lists.of_words, lists.of_lists, cells.of_layouts)


def _faults(name: str, *made: Callable[[], Iterable[Slip]]) -> tuple[Fault, ...]:
    together = chain.from_iterable(each() for each in made)
    return tuple(slip.fault(f"{name}-{number}") for number, slip in enumerate(together))


def _of_common_numbers(samples: Sequence[Sample]) -> Iterator[Fault]:
    """Yield slips in which numbers occur that stand in many wrong elements."""
    seen: Counter[float] = Counter()
    for sample in samples:
        if sample.wrong is not None and sample.outputs is not None:
            wrong = widen(sample.outputs[0])[sample.wrong]
            seen.update(np.unique(wrong[np.isfinite(wrong)]).tolist())
    for value, count in seen.most_common(_NUMBERS):
        if count > 1:
            yield from _of_number(value)


@cache
def _of_number(value: float) -> tuple[Fault, ...]:
    words = f"{value:g}"
    return _faults(
        f"slip-of-{words}",
        lambda: values.of_number(value, words),
        lambda: cells.padding_of(value, words),
    )
