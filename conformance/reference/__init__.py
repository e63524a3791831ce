"""Exact values: the correctly rounded mean, the maximum, and how far a sound backend may be off.

Knows arrays and boxes of cells; knows nothing of attributes, documents or files.
"""

from __future__ import annotations

from conformance.reference.bound import overflow_allowed, tolerance
from conformance.reference.maximum import choose, maximum, maximum_ignoring_nan
from conformance.reference.mean import integer_mean, mean
from conformance.reference.measures import Measures, measures

__all__ = [
    "Measures",
    "choose",
    "integer_mean",
    "maximum",
    "maximum_ignoring_nan",
    "mean",
    "measures",
    "overflow_allowed",
    "tolerance",
]
