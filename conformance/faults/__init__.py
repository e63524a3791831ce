"""Faults: the catalogue, planting them, and the strength of vectors."""

from __future__ import annotations

from conformance.faults.catalogue import CATALOGUE, fault_named
from conformance.faults.fault import Fault, FaultyBackend, faulty
from conformance.faults.strength import Catch, Strength, strength

__all__ = [
    "CATALOGUE",
    "Catch",
    "Fault",
    "FaultyBackend",
    "Strength",
    "fault_named",
    "faulty",
    "strength",
]
