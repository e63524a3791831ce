"""No sound way to sum ever leaves the bound, and the bound still catches wrong divisors."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from oracle import FORMATS, array
from sound import Arithmetic, ascending, backwards, flushed, kahan, lanes, pairwise, sequential
from strategies import FLOATS, PATTERNS

from conformance.dtypes import float_format
from conformance.reference import mean, measures, overflow_allowed, tolerance
from conformance.reference.bound import is_meaningful

WINDOWS = 60
SHAPES = [(1,), (2,), (7,), (13,), (3, 3), (1, 4), (5, 2), (2, 3, 2), (3, 3, 3)]
ORDERS = {
    "sequential": sequential,
    "backwards": backwards,
    "ascending": ascending,
    "pairwise": pairwise,
    "4 lanes": partial(lanes, width=4),
    "8 lanes": partial(lanes, width=8),
    "16 lanes": partial(lanes, width=16),
    "Kahan": kahan,
}


def shuffled(on, cells):
    """Add in an order of no pattern."""
    order = np.random.default_rng(cells.shape[-1]).permutation(cells.shape[-1])
    return sequential(on, cells[..., order])


ORDERS["shuffled"] = shuffled


def divide_once(on, cells, n, order):
    """Divide the sum of all cells."""
    return on.divide(order(on, flat(cells)), cells.dtype.type(math.prod(n)))


def multiply_once(on, cells, n, order):
    """Multiply the sum by a rounded reciprocal."""
    return on.multiply(order(on, flat(cells)), inverse(on, cells, math.prod(n)))


def scale_first(on, cells, n, order):
    """Multiply each cell by a rounded reciprocal, then add."""
    return order(on, on.multiply(flat(cells), inverse(on, cells, math.prod(n))))


def divide_first(on, cells, n, order):
    """Divide each cell, then add."""
    return order(on, on.divide(flat(cells), cells.dtype.type(math.prod(n))))


def divide_each_axis(on, cells, n, order):
    """Reduce an axis and divide by its count, the last axis first."""
    for count in reversed(n):
        cells = on.divide(order(on, cells), cells.dtype.type(count))
    return cells


def multiply_each_axis(on, cells, n, order):
    """Reduce an axis and multiply by the reciprocal of its count, the last axis first."""
    for count in reversed(n):
        cells = on.multiply(order(on, cells), inverse(on, cells, count))
    return cells


def divide_at_the_end(on, cells, n, order):
    """Reduce axis after axis, then divide once."""
    for _ in n:
        cells = order(on, cells)
    return on.divide(cells, cells.dtype.type(math.prod(n)))


def scale_each_axis(on, cells, n, order):
    """Multiply by the reciprocal of an axis's count, then reduce it."""
    for count in reversed(n):
        cells = order(on, on.multiply(cells, inverse(on, cells, count)))
    return cells


def fused(on, cells, n, order):
    """Add cell * reciprocal with one rounding; where doubles cannot emulate it, with two."""
    if cells.dtype == np.float64:
        return scale_first(on, cells, n, sequential)
    scale = inverse(on, cells, math.prod(n)).astype(np.float64)
    total = np.zeros(len(cells), cells.dtype)
    for cell in np.moveaxis(flat(cells).astype(np.float64), -1, 0):
        total = (cell * scale + total.astype(np.float64)).astype(cells.dtype)
        total = flushed(total) if on.flushes else total
    return total


MEANS = (
    divide_once,
    multiply_once,
    scale_first,
    divide_first,
    divide_each_axis,
    multiply_each_axis,
    divide_at_the_end,
    scale_each_axis,
    fused,
)


def flat(cells):
    """Return one row of cells for each window."""
    return cells.reshape(len(cells), -1)


def inverse(on, cells, count):
    """Return 1 / count, rounded."""
    return on.divide(np.ones((), cells.dtype), cells.dtype.type(count))


def bound_of(cells, n, **readings):
    """Return exact means of windows (windows, *cells), their bound and where they may overflow."""
    data = flat(cells)[np.newaxis]
    width = data.shape[2]
    box = ([np.array([0])], [np.array([width])], np.array([math.prod(n)]))
    expected = mean(data, *box).ravel()
    addends, divisor, magnitude = measures(data, *box)
    allowed = tolerance(expected, addends, magnitude, len(n), average=True, **readings)
    overflow = overflow_allowed(expected, addends, divisor, magnitude, len(n))
    return expected.astype(np.float64), allowed, overflow


def assert_within(cells, n, accumulator, *, flushes):
    """Assert that no way to average, in any order, leaves the bound for its arithmetic."""
    dtype = cells.dtype
    element_type = accumulator == dtype
    expected, allowed, overflow = bound_of(cells, n, element_type=element_type, flushed=flushes)
    on = Arithmetic(flushes=flushes)
    own = flushed(cells) if flushes else cells
    for average, (name, order) in product(MEANS, ORDERS.items()):
        if average is fused and name != "sequential":
            continue
        with np.errstate(all="ignore"):
            got = average(on, own.astype(accumulator), n, order).astype(dtype)
            got = (flushed(got) if flushes else got).astype(np.float64)
            off = np.abs(got - expected) > allowed
        off |= ~np.isfinite(got)
        off &= ~(overflow & ~np.isfinite(got) & element_type)
        worst = int(np.argmax(off))
        assert not off.any(), (
            f"{average.__name__}, {name}: {flat(cells)[worst].tolist()} over {n} in {accumulator} "
            f"gives {got[worst]} for {expected[worst]} +- {allowed[worst]}"
        )


def accumulators(dtype):
    """Return the types a sound backend may sum in."""
    wider = {"float64": ["float64"]}.get(dtype, ["float32", "float64"])
    return list(dict.fromkeys([array(0, dtype).dtype, *map(np.dtype, wider)]))


@pytest.mark.parametrize("flushes", [False, True], ids=["kept", "flushed"])
@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "special"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_no_sound_mean_leaves_the_bound(dtype, pattern, flushes):
    """Every order, way to divide and accumulator stays within tolerance, on hard data."""
    rng = np.random.default_rng([FLOATS.index(dtype), list(PATTERNS).index(pattern)])
    for shape in SHAPES:
        cells = PATTERNS[pattern](rng, WINDOWS * math.prod(shape), dtype)
        n = tuple(size + int(rng.integers(0, 3)) for size in shape)
        for accumulator in accumulators(dtype):
            assert_within(cells.reshape(WINDOWS, *shape), n, accumulator, flushes=flushes)
