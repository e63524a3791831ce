"""Exact values: the correctly rounded mean, the maximum, and the error bounds of sound backends.

A *box* is the cells that a window reads: a product of ranges, one per spatial axis. Attributes,
documents and files are not known at this level.
"""

from __future__ import annotations

from conformance.reference.bound import mean_overflows, overflow_allowed, tolerance
from conformance.reference.maximum import choose, maximum, maximum_ignoring_nan
from conformance.reference.mean import integer_mean, mean
from conformance.reference.measures import Measures, measures, norm_measures
from conformance.reference.norm import is_judged, norm, weighted_norms
from conformance.reference.quantised import (
    Encoding,
    depends_on_order,
    leaves_int32,
    reciprocal_mean,
    rounded_integer_mean,
)

__all__ = [
    "Encoding",
    "Measures",
    "choose",
    "depends_on_order",
    "integer_mean",
    "is_judged",
    "leaves_int32",
    "maximum",
    "maximum_ignoring_nan",
    "mean",
    "mean_overflows",
    "measures",
    "norm",
    "norm_measures",
    "overflow_allowed",
    "reciprocal_mean",
    "rounded_integer_mean",
    "tolerance",
    "weighted_norms",
]
