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
    # float32 is no wider than bfloat16 in range: its sums overflow where those of bfloat16 do.
    same_range = FORMATS[accumulator.name][2] == FORMATS[dtype.name][2]
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
        off &= ~(overflow & ~np.isfinite(got) & same_range)
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


class TestStrength:
    """The bound is not vacuous: wrong divisors leave it."""

    @pytest.mark.parametrize("flushes", [False, True], ids=["kept", "flushed"])
    @pytest.mark.parametrize("element_type", [False, True], ids=["wider", "element-type"])
    @pytest.mark.parametrize("dtype", FLOATS)
    def test_a_divisor_wrong_by_one_is_caught_on_an_impulse(self, dtype, element_type, flushes):
        """One cell that is not zero shows a divisor of up to 16 that is one off, on 1-4 axes."""
        impulse = 2.0**12
        for n, axes in product(range(2, 17), range(1, 5)):
            cells = np.zeros((1, n))
            cells[0, n // 2] = impulse
            box = ([np.array([0])], [np.array([n])], np.array([n]))
            data = array(cells[np.newaxis], dtype)
            expected = mean(data, *box).ravel()
            addends, _, magnitude = measures(data, *box)
            allowed = tolerance(
                expected,
                addends,
                magnitude,
                axes,
                average=True,
                element_type=element_type,
                flushed=flushes,
            )
            for wrong in {n - 1, n + 1}:
                got = float(array(impulse / wrong, dtype))
                assert abs(got - float(expected[0])) > allowed[0]

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_wider_sums_are_held_to_one_ulp(self, dtype):
        """Whoever sums half types in float32 is at most an ulp off where nothing cancels."""
        cells = array(np.random.default_rng(2).uniform(1, 2, (40, 9)), dtype)
        expected, allowed, _ = bound_of(cells, (9,))
        ulp = 2.0 ** (1 - FORMATS[dtype][0])
        assert (allowed > 0.5 * ulp).all()
        assert (allowed < 1.01 * np.maximum(1, expected) * ulp).all()

    def test_the_bound_grows_with_the_sum_of_magnitudes_alone(self):
        """Zeros cost nothing: one addend among hundreds has the bound of one addend."""
        one, many = np.zeros((1, 1)), np.zeros((1, 400))
        one[0, 0], many[0, 7] = 1.0, 400.0
        alone = bound_of(array(one, "float16"), (1,), element_type=True)[1]
        assert bound_of(array(many, "float16"), (400,), element_type=True)[1] <= alone * 1.001


class TestMeaning:
    """Where a bound for sums in the element type says nothing."""

    def test_many_addends_of_half_types_are_not_meaningful(self):
        """(m + 2r) u may not pass one half."""
        assert is_meaningful(128 - 4, 2, "bfloat16")
        assert not is_meaningful(129 - 4, 2, "bfloat16")
        assert is_meaningful(1024 - 2, 1, "float16")
        assert not is_meaningful(1025 - 2, 1, "float16")
        assert is_meaningful(10**6, 3, "float32")

    def test_nothing_passes_for_free_beyond(self):
        """A bound that would be infinite or negative is as good as zero."""
        expected = array([1.0, 1.0], "bfloat16")
        addends, magnitude = np.array([125, 10**6], np.int32), np.ones(2)
        allowed = tolerance(expected, addends, magnitude, 2, average=True, element_type=True)
        assert (allowed < 2.0**-7).all()


class TestOverflow:
    """Where sums in the element type may overflow."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_sums_beyond_the_largest_number_may_overflow(self, dtype):
        """The sum of magnitudes decides, whatever the mean."""
        largest = float_format(dtype).largest
        rows = array([[largest, largest], [largest, -largest], [largest / 4, largest / 2]], dtype)
        assert bound_of(rows, (2,))[2].tolist() == [True, True, False]

    def test_infinite_means_are_compared_as_they_are(self):
        """Where infinity is the exact answer no other may replace it."""
        rows = array([[np.inf, 1.0]], "float32")
        assert bound_of(rows, (2,))[2].tolist() == [False]


class TestMaximum:
    """A maximum is exact, but for subnormals that count as zero."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_only_flushed_subnormals_have_a_tolerance(self, dtype):
        """A maximum may be off by two smallest normal numbers if subnormals count as zero."""
        least = float_format(dtype).smallest_normal
        expected = array([0.0, least / 2, least, -1.0], dtype)
        nothing = np.zeros(4, np.int32), np.zeros(4), 2
        kept = tolerance(expected, *nothing, average=False)
        flush = tolerance(expected, *nothing, average=False, flushed=True)
        assert (kept.tolist(), flush.tolist()) == ([0.0] * 4, [2 * least, 2 * least, 0.0, 0.0])


def test_readings_may_differ_per_element():
    """Columns of readings give each element its own bound, and so do columns of axes."""
    expected, addends = array([1.0, 1.0, 1.0], "float16"), np.full(3, 4, np.int32)
    magnitude, axes = np.ones(3), np.array([2, 2, 3])
    own, flush = np.array([False, True, True]), np.array([True, False, False])
    columns = {"element_type": own, "flushed": flush}
    together = tolerance(expected, addends, magnitude, axes, average=True, **columns)
    each = [
        tolerance(
            expected[i : i + 1],
            addends[i : i + 1],
            magnitude[i : i + 1],
            int(axes[i]),
            average=True,
            element_type=bool(own[i]),
            flushed=bool(flush[i]),
        )[0]
        for i in range(3)
    ]
    assert together.tolist() == each
