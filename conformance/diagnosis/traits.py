"""Short descriptions of an output that no fault explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from conformance.diagnosis.elements import exact_in
from conformance.diagnosis.sample import Manner, Sample
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Expected

OF_MANNER: Mapping[Manner | None, str] = {
    "exception": "an exception was raised",
    "crash": "the backend crashed",
    "hang": "no answer came in time",
    "accepted": "a result was returned for an invalid case",
}
"""What is said of failures without outputs that could be compared."""


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
    """Return the traits of one output."""
    same_shape = [right for right in expected if right.values.shape == got.shape]
    if not same_shape:
        return frozenset(_of_shape(got, expected[0].values))
    right = same_shape[0]
    if got.dtype != right.values.dtype:
        return frozenset({f"the result is of type {got.dtype}"})
    defined = right.addends != UNDEFINED
    of_expected = frozenset(_of_values(right.values.ravel()[defined]))
    return frozenset(_of_values(got.ravel()[defined])) - of_expected


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
