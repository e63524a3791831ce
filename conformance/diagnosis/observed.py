"""What is observed of failures that no fault explains: their outputs, and where these are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from conformance.diagnosis.conditions import Places, any_holds, places_written
from conformance.diagnosis.elements import exact_in, layout_of
from conformance.diagnosis.features import spread
from conformance.diagnosis.sample import Bools, Manner, Sample
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.judging.comparison import defined
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import Array, Expected, Vector

OF_MANNER: Mapping[Manner | None, str] = {
    "exception": "an exception was raised",
    "crash": "the backend crashed",
    "hang": "no answer came in time",
    "accepted": "a result was returned for an invalid case",
}
"""What is said of failures without outputs that could be compared."""
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


def traits(failure: Sample) -> frozenset[str]:
    """Return properties of the outputs that the expected ones do not have, each as a clause.

    One that not all outputs have names the output.
    """
    vector, got = failure.vector, failure.outputs
    if said := OF_MANNER.get(failure.as_failed.manner):
        return frozenset({said})
    assert got is not None
    outputs = operator_named(vector.case.operator).outputs
    if not 0 < len(got) <= len(outputs):
        return frozenset({f"{len(got)} outputs were returned"})
    of_each = [
        _traits([outcome.outputs[k] for outcome in vector.values], array)
        for k, array in enumerate(got)
    ]
    of_all = frozenset.intersection(*of_each)
    of_one = (
        f"{words} (output {outputs[k].name})"
        for k, found in enumerate(of_each)
        for words in found - of_all
    )
    return of_all | frozenset(of_one)


def _traits(expected: list[Expected], got: Array) -> frozenset[str]:
    same_shape = [right for right in expected if right.values.shape == got.shape]
    if not same_shape:
        return frozenset(_of_shape(got, expected[0].values))
    right = same_shape[0]
    if got.dtype != right.values.dtype:
        return frozenset({f"the result is of type {got.dtype}"})
    of_expected = frozenset(_of_values(right.values.ravel()[defined(right)]))
    return frozenset(_of_values(got.ravel()[defined(right)])) - of_expected


def _of_shape(got: Array, right: Array) -> Iterator[str]:
    if got.ndim != right.ndim:
        yield f"the result has {got.ndim} dimensions"
        return
    if sorted(got.shape) == sorted(right.shape):
        yield "the axes of the result are in another order"
        return
    if all(a <= b for a, b in zip(got.shape, right.shape, strict=True)):
        yield "the result is too small"
    elif all(a >= b for a, b in zip(got.shape, right.shape, strict=True)):
        yield "the result is too large"
    else:
        yield "the result has another shape"


def _of_values(values: Array) -> Iterator[str]:
    name = name_of(values.dtype)
    wide = widen(values)
    finite = wide[np.isfinite(wide)]
    if np.isnan(wide).any():
        yield "the result holds NaN"
    if np.isinf(wide).any():
        yield "the result holds an infinity"
    if not finite.size:
        return
    for words, holds in (
        ("every value is 0", not finite.any()),
        ("every value is the same", finite.min() == finite.max()),
        ("no value is negative", (finite >= 0).all()),
        ("every value is an integer", (finite == np.rint(finite)).all()),
    ):
        if holds:
            yield words
    for kind in ("bfloat16", "float16", "float32"):
        narrower = name in FLOATS and float_format(kind).precision < float_format(name).precision
        if narrower and exact_in(finite, kind).all():
            yield f"every value is exact in {kind}"


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
