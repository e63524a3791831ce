"""The catalogue of wrong behaviours: every fault the suite is measured against.

A fault is one value in the tuple `FAULTS` of the module of its step or topic.
"""

from __future__ import annotations

from itertools import chain

from conformance.errors import UsageError
from conformance.faults.catalogue import (
    adaptive,
    arithmetic,
    cells,
    counts,
    divisor,
    extent,
    further,
    maximum,
    output,
    refusals,
    resolve,
    same,
    validate,
    windows,
)
from conformance.faults.fault import Fault

__all__ = ["CATALOGUE", "fault_named"]

_TOPICS = (
    resolve,
    same,
    extent,
    windows,
    adaptive,
    divisor,
    counts,
    cells,
    maximum,
    arithmetic,
    output,
    validate,
    refusals,
    further,
)

CATALOGUE: tuple[Fault, ...] = tuple(chain.from_iterable(topic.FAULTS for topic in _TOPICS))
"""Distinct faults, none equivalent to a right backend under any combination of readings."""

_BY_NAME = {fault.name: fault for fault in CATALOGUE}


def fault_named(name: str) -> Fault:
    """Return a fault by name; UsageError if there is none."""
    if name not in _BY_NAME:
        raise UsageError(f"unknown fault {name!r}")
    return _BY_NAME[name]
