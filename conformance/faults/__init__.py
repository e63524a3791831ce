"""Faults: the catalogue, the strength of vectors, and the likely cause of a mismatch."""

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
