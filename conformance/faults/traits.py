"""What can be said of an output that no fault explains, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.dtypes import FLOATS, float_format, name_of
from conformance.reference.rounding import narrow, widen
from conformance.vector import UNDEFINED, Array, Vector


def traits(vector: Vector, got: Array | None) -> frozenset[str]:
    """Return what an output has that the expected ones lack, each as words."""
    if got is None:
        return frozenset({"an exception was raised"})
    expected = [o.expected for o in vector.outcomes if o.expected is not None]
    if not expected:
        return frozenset({"a result was returned for an invalid case"})
    if got.shape not in [right.shape for right in expected]:
        return frozenset(_of_shape(got, expected[0]))
    if got.dtype != expected[0].dtype:
        return frozenset({f"the result is of type {got.dtype}"})
    defined = _defined(vector, got)
    right = next(each for each in expected if each.shape == got.shape)
    return frozenset(_of_values(got.ravel()[defined])) - frozenset(
        _of_values(right.ravel()[defined])
    )


def _of_shape(got: Array, right: Array) -> Iterator[str]:
    if got.ndim != right.ndim:
        yield f"the result has {got.ndim} dimensions"
        return
    if sorted(got.shape) == sorted(right.shape):
        yield "the axes of the result are in another order"
        return
    yield "the result has another shape"
    if all(a <= b for a, b in zip(got.shape, right.shape, strict=True)):
        yield "the result is too small"
    elif all(a >= b for a, b in zip(got.shape, right.shape, strict=True)):
        yield "the result is too large"


def _of_values(values: Array) -> Iterator[str]:
    name = name_of(values.dtype)
    if not values.size:
        return
    if name not in FLOATS:
        if not values.any():
            yield "every value is 0"
        return
    wide = widen(values)
    if np.isnan(wide).any():
        yield "the result holds NaN"
    if np.isinf(wide).any():
        yield "the result holds an infinity"
    finite = wide[np.isfinite(wide)]
    if not finite.any():
        yield "every value is 0"
        return
    if np.ptp(finite) == 0:
        yield "every value is the same"
    if (finite == np.rint(finite)).all():
        yield "every value is an integer"
    if (finite >= 0).all():
        yield "no value is negative"
    for kind in ("bfloat16", "float16", "float32"):
        if float_format(kind).precision >= float_format(name).precision:
            continue
        with np.errstate(all="ignore"):
            if (widen(narrow(finite, kind)) == finite).all():
                yield f"every value is exact in {kind}"
                break


def _defined(vector: Vector, got: Array) -> Array:
    for outcome in vector.outcomes:
        if outcome.expected is not None and outcome.expected.shape == got.shape:
            assert outcome.addends is not None
            return outcome.addends != UNDEFINED
    return np.ones(got.size, np.bool_)
