"""The catalogue of faults, which the strength of vectors is measured against.

Names are in names.txt, with the words for what is wrong and who may have it. An atom of these words
says what that is or, in the module of a step or topic here, code by hand of that name.
"""

from __future__ import annotations

from conformance.errors import UsageError
from conformance.faults.catalogue import (
    geometry,
    gradients,
    integers,
    outputs,
    reductions,
    state,
    unpooling,
    windows,
)
from conformance.faults.catalogue.table import named
from conformance.faults.fault import BACKWARD, Fault
from conformance.text import did_you_mean, quoted

__all__ = ["CATALOGUE", "fault_named"]

_TOPICS = (geometry, windows, reductions, integers, outputs, state, gradients, unpooling)

_BY_HAND = {name: fault for topic in _TOPICS for name, fault in topic.FAULTS.items()}
_BY_NAME = {name: fault.but(name=name) for name, fault in named(_BY_HAND)}
CATALOGUE: tuple[Fault, ...] = tuple(_BY_NAME.values())
"""All faults: no two are equivalent, and none to a right backend under any readings."""


def fault_named(name: str) -> Fault:
    """Return a fault by name, also that of gradients which operators have; UsageError if none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    forward = _BY_NAME.get(name.removeprefix(BACKWARD))
    backward = forward.in_gradients() if forward and name.startswith(BACKWARD) else None
    if backward is None:
        meant = did_you_mean(name, _BY_NAME)
        raise UsageError(f"no fault {quoted(name)}{meant}: see conformance faults")
    return backward
