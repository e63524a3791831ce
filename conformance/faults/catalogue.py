"""The catalogue of wrong behaviours: every fault the suite is measured against."""

from __future__ import annotations

from itertools import chain

from conformance.errors import UsageError
from conformance.faults import (
    catalogue_adaptive,
    catalogue_arithmetic,
    catalogue_cells,
    catalogue_counts,
    catalogue_divisor,
    catalogue_extent,
    catalogue_maximum,
    catalogue_output,
    catalogue_refusals,
    catalogue_resolve,
    catalogue_same,
    catalogue_validate,
    catalogue_windows,
)
from conformance.faults.fault import Fault

_PARTS = (
    catalogue_resolve,
    catalogue_same,
    catalogue_extent,
    catalogue_windows,
    catalogue_adaptive,
    catalogue_divisor,
    catalogue_counts,
    catalogue_cells,
    catalogue_maximum,
    catalogue_arithmetic,
    catalogue_output,
    catalogue_validate,
    catalogue_refusals,
)

CATALOGUE: tuple[Fault, ...] = tuple(chain.from_iterable(part.FAULTS for part in _PARTS))
"""Distinct faults, none equivalent to a right backend under any combination of readings."""

_BY_NAME = {fault.name: fault for fault in CATALOGUE}


def fault_named(name: str) -> Fault:
    """Return a fault by name; UsageError if there is none."""
    if name not in _BY_NAME:
        raise UsageError(f"unknown fault {name!r}")
    return _BY_NAME[name]
