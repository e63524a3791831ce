"""Geometry of one spatial axis: pads, number of windows, their positions, counts of cells.

Every function does one step of a pipeline for one axis, in exact integers. d is the input size, k
the kernel, from the first to the last cell of a window, s the stride, o the number of windows. With
a dilation n, a window holds every n-th cell from its start on. Positions are in input coordinates:
the input is 0..d-1, padding lies below 0 and from d on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded towards plus infinity, for b > 0."""
    return -(-a // b)


def span_of(k: int, dilation: int) -> int:
    """Return the cells from the first to the last of a window of k cells, (k - 1) dilation + 1."""
    return (k - 1) * dilation + 1


def exact_total(d: int, k: int, s: int, o: int) -> int:
    """Return the total padding with which the last of o windows ends where the padding does.

    (o - 1) s + k - d cells: negative where the windows leave cells at the end of the input.
    """
    return (o - 1) * s + k - d


def same_total(d: int, k: int, s: int, o: int) -> int:
    """Return the least total padding with which o windows fit, max(0, (o - 1) s + k - d) cells."""
    return max(0, exact_total(d, k, s, o))


def split(total: int, *, larger_at_end: bool) -> tuple[int, int]:
    """Return (begin, end) of a total padding; of an odd total, one end gets a cell more."""
    smaller = total // 2
    return (smaller, total - smaller) if larger_at_end else (total - smaller, smaller)


def slack(d: int, k: int, begin: int, end: int) -> int:
    """Return the slack t = d + begin + end - k in cells: how far the first window can slide.

    Negative where the kernel is larger than the padded input.
    """
    return d + begin + end - k


def extent(t: int, s: int, *, ceil: bool) -> int:
    """Return the number of windows for a slack of t cells: t / s, rounded up or down, plus 1."""
    return (ceil_div(t, s) if ceil else t // s) + 1


def unpooled(d: int, k: int, s: int, begin: int, end: int) -> int:
    """Return the cells that d windows cover, less the padding: (d - 1) s + k - begin - end."""
    return exact_total(0, k, s, d) - begin - end


def sliding(o: int, k: int, s: int, begin: int) -> tuple[Positions, Positions]:
    """Return start and stop (o,) of windows of k cells, s apart, the first at -begin."""
    start = np.arange(o, dtype=np.int64) * s - begin
    return start, start + k


def adaptive(d: int, o: int) -> tuple[Positions, Positions]:
    """Return start floor(i d / o) and stop ceil((i + 1) d / o) of the blocks i = 0..o-1, (o,)."""
    i = np.arange(o, dtype=np.int64)
    return i * d // o, -(-(i + 1) * d // o)


def clipped(positions: Positions, d: int) -> Positions:
    """Return positions clamped to 0..d."""
    inside: Positions = np.minimum(np.maximum(positions, 0), d)
    return inside


def cells_within(
    start: Positions, stop: Positions, low: int, high: int, dilation: int = 1
) -> Positions:
    """Return how many cells of each window start:stop:dilation lie in low:high."""
    first = first_from(start, low, dilation)
    counts: Positions = np.maximum(-((first - np.minimum(stop, high)) // dilation), 0)
    return counts


def first_from(start: Positions, low: int, dilation: int) -> Positions:
    """Return the first position of each window that is not below `low`."""
    first: Positions = np.where(start < low, low + (start - low) % dilation, start)
    return first


def by_remainder(d: int, dilation: int) -> Positions:
    """Return the positions 0..d-1 in order of their remainder by a dilation, (d,).

    In this order, the cells of a dilated window are neighbours.
    """
    positions = np.arange(d, dtype=np.int64)
    order: Positions = np.argsort(positions % dilation, kind="stable")
    return order if dilation > 1 else positions


def ranges_by_remainder(
    start: Positions, stop: Positions, d: int, dilation: int
) -> tuple[Positions, Positions]:
    """Return lo and hi of each window's cells in the input, in the order of `by_remainder`."""
    if dilation == 1:
        return clipped(start, d), clipped(stop, d)
    first = first_from(start, 0, dilation)
    remainder = first % dilation
    least, more = divmod(d, dilation)  # cells of each remainder; the first have one more
    lo = np.where(first < d, remainder * least + np.minimum(remainder, more) + first // dilation, d)
    return lo, lo + cells_within(start, stop, 0, d, dilation)
