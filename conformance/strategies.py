"""The public strategies of Hypothesis: cases, attributes and data within the documents' rules."""

from __future__ import annotations

from conformance.cases.strategies import MIXES, arrays, attributes, cases, invalid_cases

__all__ = ["MIXES", "arrays", "attributes", "cases", "invalid_cases"]
