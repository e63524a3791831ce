"""Sums of every shape to plant in a backend, written as plain loops; see `sound` for more."""

from functools import reduce

import numpy as np
from support.sound import Arithmetic, Array, Sound, sequential, sum_then_divide


def summing(order, accumulator="element", **changes):
    """Return a right backend whose sums over a window are made by `order(arithmetic, cells)`."""

    def average(on, cells, geometry):
        return sum_then_divide(on, cells, geometry, order=order)

    return Sound("planted", average, accumulator, **changes)


def lanes_joined(width, join):
    """Sum cells in lanes, which `join(arithmetic, list of sums)` adds up."""

    def order(on, cells):
        each = [cells[..., lane::width] for lane in range(min(width, cells.shape[-1]))]
        return join(on, [sequential(on, lane) for lane in each])

    return order


def in_blocks(size):
    """Sum the cells of each block, then the blocks."""

    def order(on, cells):
        starts = range(0, cells.shape[-1], size)
        return reduce(on.add, [sequential(on, cells[..., at : at + size]) for at in starts])

    return order


def in_order(on, sums):
    """Add the lanes from the first to the last."""
    return reduce(on.add, sums)


def backwards(on, sums):
    """Add the lanes from the last to the first."""
    return reduce(on.add, sums[::-1])


def folded(on, sums):
    """Add the upper half of the lanes to the lower half, until one is left."""
    while len(sums) > 1:
        half = (len(sums) + 1) // 2
        upper = sums[half:]
        sums = [on.add(a, b) for a, b in zip(sums, upper, strict=False)] + sums[len(upper) : half]
    return sums[0]


def neighbours(on, sums):
    """Add lanes two by two, until one is left."""
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        sums = [on.add(a, b) for a, b in pairs] + sums[len(sums) // 2 * 2 :]
    return sums[0]


def fixed_point(_on: Arithmetic, cells: Array) -> Array:
    """Sum integers of 2^-10, exactly as far as 64 bits go."""
    steps = np.clip(np.rint(cells.astype(np.float64) * 2**10), -(2.0**40), 2.0**40)
    return (steps.astype(np.int64).sum(axis=-1) / 2**10).astype(cells.dtype)


def running(_on: Arithmetic, cells: Array) -> Array:
    """Sum each window as the difference of two prefix sums over all of them."""
    flat = cells.reshape(-1)
    total = np.concatenate([[0], np.cumsum(flat, dtype=cells.dtype)]).astype(cells.dtype)
    ends = total[:: cells.shape[-1]]
    return (ends[1:] - ends[:-1]).reshape(cells.shape[:-1])
