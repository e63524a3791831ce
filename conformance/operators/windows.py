"""Geometry of one spatial axis: pads, output extent, windows, divisor counts.

Every function is one step of a pipeline for one axis, in plain integers. d is the input size, k
the kernel, s the stride; positions are in input coordinates, so padding lies at -1 and below and
at d and above.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded towards plus infinity, for b > 0."""
    return -(-a // b)


def same_total(d: int, k: int, s: int, o: int) -> int:
    """Return the total padding that makes o windows end at or after the last cell; never < 0."""
    return max(0, (o - 1) * s + k - d)


def split(total: int, *, larger_at_end: bool) -> tuple[int, int]:
    """Split a total padding into begin and end, an odd cell going to the end or to the begin."""
    smaller = total // 2
    return (smaller, total - smaller) if larger_at_end else (total - smaller, smaller)


def room(d: int, k: int, begin: int, end: int) -> int:
    """Return t = d + begin + end - k: how far the first window can slide."""
    return d + begin + end - k


def extent(t: int, s: int, *, ceil: bool) -> int:
    """Return the number of windows that start within t cells, rounded up or down."""
    return (ceil_div(t, s) if ceil else t // s) + 1


def sliding(o: int, k: int, s: int, begin: int) -> tuple[Positions, Positions]:
    """Return start and stop of o windows of k cells, s apart, the first at -begin."""
    start = np.arange(o, dtype=np.int64) * s - begin
    return start, start + k


def adaptive(d: int, o: int) -> tuple[Positions, Positions]:
    """Return start and stop of o windows that divide d cells: floor(i d / o), ceil((i+1) d / o)."""
    i = np.arange(o, dtype=np.int64)
    return i * d // o, -(-(i + 1) * d // o)


def clipped(positions: Positions, d: int) -> Positions:
    """Return positions moved into 0..d."""
    inside: Positions = np.minimum(np.maximum(positions, 0), d)
    return inside


def cells_within(start: Positions, stop: Positions, low: int, high: int) -> Positions:
    """Count the cells of each window that lie in low:high."""
    counts: Positions = np.maximum(np.minimum(stop, high) - np.maximum(start, low), 0)
    return counts
