"""The search for cases that a backend gets wrong, each shrunk to the smallest of its cause."""

from __future__ import annotations

from conformance.fuzz.findings import Finding, FuzzReport
from conformance.fuzz.fuzzing import fuzz
from conformance.fuzz.saving import save

__all__ = ["Finding", "FuzzReport", "fuzz", "save"]
