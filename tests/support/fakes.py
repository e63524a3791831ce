"""Small vectors and small backends: the reference, and the reference with one thing changed."""

from functools import partial
from typing import Any

import numpy as np

from conformance.api import check as api
from conformance.operators import evaluate, vector_of
from conformance.record.report import Report
from conformance.vector import Array, Case, Vector


def pool(operator: str = "AvgPool-1", **changes: Any) -> dict[str, Any]:
    """Return attributes of a pool over one axis, kernel 2, stride 2, no pads."""
    attributes = {"kernel": [2], "strides": [2], "pads_begin": [0], "pads_end": [0]}
    if operator == "AvgPool-1":
        attributes["exclude_pad"] = True
    return attributes | changes


def ramp(*shape: int, dtype: str = "float32") -> Array:
    """Return 1, 2, 3, ... in a shape."""
    return (np.arange(int(np.prod(shape))) + 1).reshape(shape).astype(dtype)


def vector(
    data: Any = None,
    attributes: dict[str, Any] | None = None,
    *,
    operator: str = "AvgPool-1",
    id: str = "case",  # noqa: A002 - it is called so in the vector
    tier: Any = "standard",
) -> Vector:
    """Return the vector of a case; by default pairs of 1 .. 6 are averaged."""
    data = ramp(1, 1, 6) if data is None else data
    attributes = pool(operator) if attributes is None else attributes
    return vector_of(Case(id, operator, attributes, (np.asarray(data),), tier=tier))


def following(**readings: str) -> Any:
    """Return a backend that is right, under readings given as `same_with_ceil="..."`."""
    chosen = {clause.replace("_", "-"): reading for clause, reading in readings.items()}
    rejects = chosen.pop("pads-not-below-kernel", "") == "rejected"

    def backend(operator: str, inputs: Any, attributes: Any) -> Array:
        pads = zip(attributes.get("pads_end", []), attributes.get("kernel", []), strict=False)
        if rejects and any(pad >= k for pad, k in pads):
            raise ValueError("pads should be smaller than the kernel")
        return evaluate(operator, inputs, attributes, chosen)

    return backend


right = following()


def altered(change: Any) -> Any:
    """Return a backend whose outputs are the right ones, changed."""
    return lambda *case: change(right(*case))


def check(backend: Any, vectors: Any = None, **options: Any) -> Report:
    """Return the report of a backend called in this process, without likely causes.

    No vector is called in other ways unless `variations` asks for it.
    """
    return api.check(backend, vectors, **{"diagnose": False, "variations": "none", **options})


check_varied = partial(check, variations="sample")


def ran(backend: Any, *vectors: Vector, **options: Any) -> Report:
    """Return the report of a backend over some vectors, a plain one if none are given."""
    return check(backend, vectors or [vector()], **options)


def only(backend: Any, *vectors: Vector, **options: Any) -> Any:
    """Return the result of a backend on its only vector."""
    (result,) = ran(backend, *vectors, **options).results
    return result
