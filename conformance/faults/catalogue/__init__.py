"""The catalogue of faults, which the strength of vectors is measured against.

A fault is one entry of `FAULTS` in the module of its step or topic: a name and a behaviour.
"""

from __future__ import annotations

from conformance.errors import UsageError
from conformance.faults.catalogue import (
    activations,
    adaptive,
    arithmetic,
    beyond_windows,
    cells,
    dilations,
    divisor,
    encodings,
    geometry,
    gradients,
    index_arithmetic,
    indices,
    integers,
    layouts,
    maxima,
    narrow_floats,
    norms,
    output,
    output_sizes,
    refusals,
    resolve,
    sizes,
    special_kernels,
    state,
    torch_rounding,
    unpooling,
    validate,
    whole_plane,
)
from conformance.faults.fault import BACKWARD, Fault, of_gradients

__all__ = ["CATALOGUE", "fault_named"]

_TOPICS = (
    resolve,
    geometry,
    torch_rounding,
    dilations,
    adaptive,
    whole_plane,
    divisor,
    cells,
    index_arithmetic,
    maxima,
    narrow_floats,
    indices,
    arithmetic,
    integers,
    norms,
    beyond_windows,
    encodings,
    output,
    layouts,
    output_sizes,
    activations,
    sizes,
    special_kernels,
    state,
    validate,
    refusals,
    gradients,
    unpooling,
)

CATALOGUE: tuple[Fault, ...] = tuple(
    Fault(name, **behaviour._asdict())
    for topic in _TOPICS
    for name, behaviour in topic.FAULTS.items()
)
"""All faults: no two are equivalent, and none to a right backend under any readings."""

_BY_NAME = {fault.name: fault for fault in CATALOGUE}


def fault_named(name: str) -> Fault:
    """Return a fault by name, also that of gradients which operators have; UsageError if none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    forward = _BY_NAME.get(name.removeprefix(BACKWARD))
    backward = of_gradients(forward) if forward and name.startswith(BACKWARD) else None
    if backward is None:
        raise UsageError(f"unknown fault {name!r}")
    return backward
