"""Where in the outputs wrong elements lie, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.diagnosis.conditions import Places, any_holds, places_written
from conformance.diagnosis.elements import layout_of
from conformance.diagnosis.features import spread
from conformance.diagnosis.sample import Bools, Sample
from conformance.vector import Vector

_LOOKED_AT = 60
_NAMED = 2

_ON_AXIS = (
    *("position.{0}=0", "position_end.{0}=0", "position.{0}>=1", "position_end.{0}>=1"),
    "position.{0}=0|position_end.{0}=0",
)
_PLACES: Sequence[Places] = [
    places_written(said)
    for said in (
        *("batch_index=0", "batch_index>=1", "channel=0"),
        *(f"channel>={least}" for least in (1, 4, 8, 16, 32)),
        *(said.format(axis) for axis in (1, 2, 3) for said in _ON_AXIS),
        *("in_padding.some=yes", "in_padding.every=no"),
    )
]


def where_wrong(failures: Sequence[Sample]) -> str:
    """Say where the wrong elements of all failures lie; "" where no elements can be compared.

    Some failures of different kinds are looked at.
    """
    some = [s for s in failures if s.outputs is not None and s.vector.values]
    wrong_in: list[tuple[Vector, Bools]] = []
    shares = []
    for sample in spread(some, _LOOKED_AT, lambda sample: sample.vector):
        wrong = sample.wrong if sample.further is None else sample.further
        if wrong is not None and wrong.any():
            wrong_in.append((sample.vector, wrong))
            shares.append(wrong[sample.defined].mean())
    if not wrong_in:
        return ""
    if min(shares) == 1:
        return "every element is wrong"
    of_place = {place: [_marked(place, *each) for each in wrong_in] for place in _PLACES}
    for place, masks in [*of_place.items()]:
        if any((wrong & ~mask).any() for (_, wrong), mask in zip(wrong_in, masks, strict=True)):
            del of_place[place]
    left = [np.ones(wrong.shape, np.bool_) for _, wrong in wrong_in]
    named: list[str] = []
    while of_place and len(named) < _NAMED:
        narrowed = {
            place: [part & mask for part, mask in zip(left, masks, strict=True)]
            for place, masks in of_place.items()
        }
        best = min(narrowed, key=lambda place: _share(narrowed[place]))
        # A place that is all of what is left of every output tells nothing.
        if _share(narrowed[best]) == _share(left):
            break
        named.append(f"in {' or '.join(condition.words for (condition,) in best)}")
        left = narrowed[best]
        del of_place[best]
    if named:
        return f"wrong only {' and '.join(named)}"
    return f"about {np.mean(shares):.0%} of the elements are wrong, in no place common to all"


def _marked(places: Places, vector: Vector, wrong: Bools) -> Bools:
    """Mark the elements of places in an output of the shape of what is wrong there."""
    readings = next(
        outcome.readings[0]
        for outcome in vector.values
        if outcome.outputs[0].values.shape == wrong.shape
    )
    return any_holds(places, layout_of(vector, readings))


def _share(parts: Sequence[Bools]) -> float:
    return float(np.mean([part.mean() for part in parts]))
