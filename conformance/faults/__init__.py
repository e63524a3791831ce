"""Faults: the catalogue, and planting them."""

from __future__ import annotations

from conformance.faults.catalogue import CATALOGUE, fault_named
from conformance.faults.fault import Fault
from conformance.faults.planted import FaultyBackend, faulty

__all__ = ["CATALOGUE", "Fault", "FaultyBackend", "fault_named", "faulty"]
