"""Faults that the shipped vectors do not show yet; `fault_probes` has a case of each."""

from __future__ import annotations

AWAITING_VECTORS = frozenset(
    {
        "3-stride-1-pad-1-nan-as-infinity",
        "batch-by-float32-reciprocal",
        "batch-stride-of-16-bits",
        "first-windows-kept-by-joined-numbers",
        "negative-nan-as-minus-infinity",
        "negative-nan-as-zero",
        "payload-nan-as-infinity",
        "plane-stride-of-16-bits",
        "row-by-16-bit-quotient",
        "row-by-float32-reciprocal",
        "rows-above-512-unwritten",
        "signalling-nan-as-infinity",
        "slices-above-16-unwritten",
        "slices-above-32-repeated",
        "slices-above-64-unwritten",
    }
)
