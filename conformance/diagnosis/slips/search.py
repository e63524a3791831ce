"""The search for slips that reproduce failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from time import thread_time
from typing import TypeVar

import numpy as np

from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.planting import Planting, Together
from conformance.diagnosis.slips import cells, lists, values, windows
from conformance.diagnosis.slips.slip import Slip
from conformance.faults.fault import Fault
from conformance.reference.rounding import widen

_SEEDS = 4
"""Failures that slips are looked for which reproduce them."""
_HELD_AGAINST = 48
"""Failures that these are held against, at most."""
_LARGEST = 1 << 14
"""Elements of an output that is looked at, at most."""
_LEAST_SHARE = 4
"""A slip reproduces one in so many of them at least."""
_ALTERNATIVES = 16
_NUMBERS = 3
"""Numbers that wrong elements have in common, at most, of which slips are made."""
_T = TypeVar("_T")

_SECONDS = 4.0
"""For one search, at most."""


def likely_slips(left: Sequence[Sample], planting: Planting) -> list[Together]:
    """Return the slips that reproduce most of the failures that are left, the likeliest first.

    Of those that reproduce as many, the simplest is first. There are none where all reproduce few.
    """
    usable = [s for s in left if s.outputs and s.vector.values and _weight(s) <= _LARGEST]
    sample = _some(usable, _HELD_AGAINST)
    counts: dict[Together, int] = {}
    of_values = (*slips(), *_of_common_numbers(sample))
    until = thread_time() + _SECONDS
    for seed in _lightest(sample):
        for slip in of_values if seed.wrong is not None else _of_shapes():
            if thread_time() > until:
                break
            if (slip,) not in counts and planting.matched((slip,), [seed])[0]:
                counts[slip,] = sum(planting.matched((slip,), sample))
        if max(counts.values(), default=0) == len(sample):
            break
    likely = [each for each, count in counts.items() if _LEAST_SHARE * count >= len(sample)]
    return sorted(likely, key=lambda each: -counts[each])[:_ALTERNATIVES]


def _lightest(sample: Sequence[Sample]) -> Iterator[Sample]:
    """Yield the lightest failure with a wrong shape and with wrong values, and the next ones."""
    by_weight = sorted(sample, key=_weight)
    shapes = [s for s in by_weight if s.wrong is None]
    others = [s for s in by_weight if s.wrong is not None]
    in_turn = chain.from_iterable(zip_longest(_some(shapes, _SEEDS), _some(others, _SEEDS)))
    return islice(filter(None, in_turn), _SEEDS)


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
