"""No sound way to sum ever leaves the bound, and the bound still catches wrong divisors."""

import math
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from support.drawn_params import FLOATS, PATTERNS
from support.effort import one_in
from support.oracle import FORMATS, array
from support.sound import (
    Arithmetic,
    ascending,
    backwards,
    divided_first,
    flushed,
    fused,
    kahan,
    lanes,
    pairwise,
    scaled_first,
    separable,
    sequential,
    sum_then_divide,
    sum_times_reciprocal,
)

from conformance.dtypes import float_format
from conformance.reference import mean, measures, overflow_allowed, tolerance
from conformance.reference.bound import is_meaningful
from conformance.vector import Arithmetic as Admitted
from conformance.vector import Expected

ELEMENT_TYPE, FLUSHED = Admitted.ELEMENT_TYPE, Admitted.FLUSHED
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


MEANS = {
    "divided once": sum_then_divide,
    "multiplied once": sum_times_reciprocal,
    "scaled first": scaled_first,
    "divided first": divided_first,
    **{
        f"axis after axis, divided {how}": partial(separable, divide=how)
        for how in ("each", "once", "by reciprocals", "before")
    },
}


WAYS = list(product(ORDERS, MEANS))


def flat_rows(cells):
    """Return one row of cells for each window."""
    return cells.reshape(len(cells), -1)


def averaged(average, on, cells, n):
    """Return the averages of windows (windows, *cells) over n cells an axis."""
    ones = (1,) * len(n)
    geometry = SimpleNamespace(
        cells=n, divisor=np.full(ones, math.prod(n)), divisors=[np.array([each]) for each in n]
    )
    placed = cells.reshape(1, len(cells), *ones, *cells.shape[1:])
    return average(on, placed, geometry).ravel()


def bound_of(cells, n, arithmetic=Admitted.USUAL, *, below=False):
    """Return exact means of windows (windows, *cells), their bound and where sums may overflow.

    The bound is that of results above the mean; those below have it with `below=True`.
    """
    data = flat_rows(cells)[np.newaxis]
    width = data.shape[2]
    box = ([np.array([0])], [np.array([width])], np.array([math.prod(n)]))
    expected = Expected(mean(data, *box).ravel(), *measures(data, *box))
    allowed = tolerance(expected, len(n), arithmetic, average=True, below=below)
    overflow = overflow_allowed(expected, len(n), arithmetic)
    return expected.values.astype(np.float64), allowed, overflow


def assert_within(cells, n, accumulator, *, flushes):
    """Assert that no way to average, in any order, leaves the bound for its arithmetic."""
    dtype = cells.dtype
    arithmetic = ELEMENT_TYPE if accumulator == dtype else Admitted.USUAL
    arithmetic |= FLUSHED if flushes else Admitted.USUAL
    expected, above, overflow = bound_of(cells, n, arithmetic)
    _, below, _ = bound_of(cells, n, arithmetic, below=True)
    on = Arithmetic(flushes=flushes)
    own = flushed(cells) if flushes else cells
    ways = [(name, partial(MEANS[way], order=ORDERS[name]), way) for name, way in WAYS]
    for name, average, way in [*ways, ("in turn", fused, "fused")]:
        if flushes and name == "Kahan":
            continue
        with np.errstate(all="ignore"):
            got = averaged(average, on, own.astype(accumulator), n).astype(dtype)
            got = (flushed(got) if flushes else got).astype(np.float64)
            allowed = np.where(got < expected, below, above)
            off = np.abs(got - expected) > allowed
        off |= ~np.isfinite(got)
        off &= ~(overflow & ~np.isfinite(got))
        worst = int(np.argmax(off))
        assert not off.any(), (
            f"{way}, {name}: {flat_rows(cells)[worst].tolist()} over {n} in {accumulator} "
            f"gives {got[worst]} for {expected[worst]} +- {allowed[worst]}"
        )


def accumulators(dtype):
    """Return the types a sound backend may sum in."""
    wider = {"float64": ["float64"]}.get(dtype, ["float32", "float64"])
    return list(dict.fromkeys([array(0, dtype).dtype, *map(np.dtype, wider)]))


@pytest.mark.parametrize("shapes", one_in(2, [SHAPES[::2], SHAPES[1::2]]), ids=str)
@pytest.mark.parametrize("flushes", [False, True], ids=["kept", "flushed"])
@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "special"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_no_sound_mean_leaves_the_bound(dtype, pattern, flushes, shapes):
    """Every order, way to divide and accumulator stays within tolerance, on hard data.

    Compensated sums that flush their corrections are not covered.
    """
    rng = np.random.default_rng([FLOATS.index(dtype), list(PATTERNS).index(pattern)])
    for shape in shapes:
        cells = PATTERNS[pattern](rng, WINDOWS * math.prod(shape), dtype)
        n = tuple(size + int(rng.integers(0, 3)) for size in shape)
        for accumulator in accumulators(dtype):
            assert_within(cells.reshape(WINDOWS, *shape), n, accumulator, flushes=flushes)


@pytest.mark.parametrize("signs", [(1,), (-1, 1)], ids=["of one sign", "of both signs"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_no_flush_leaves_the_bound(dtype, signs):
    """Cells around the smallest normal number, and far above it, whatever is flushed."""
    rng = np.random.default_rng([FLOATS.index(dtype), len(signs)])
    fmt = float_format(dtype)
    for shape, reach in product([(1,), (3,), (2, 3)], [2, fmt.precision + 2]):
        size = (4 * WINDOWS, *shape)
        exponents = rng.uniform(-6, reach, size)
        cells = array(2.0**exponents * fmt.smallest_normal * rng.choice(signs, size), dtype)
        n = tuple(extent + int(rng.integers(0, 3)) for extent in shape)
        for accumulator in accumulators(dtype):
            assert_within(cells, n, accumulator, flushes=True)


class TestStrength:
    """The bound is not vacuous: wrong divisors leave it."""

    @pytest.mark.parametrize("flushed", [Admitted.USUAL, FLUSHED], ids=["kept", "flushed"])
    @pytest.mark.parametrize("sums", [Admitted.USUAL, ELEMENT_TYPE], ids=["wider", "element-type"])
    @pytest.mark.parametrize("dtype", FLOATS)
    def test_a_divisor_wrong_by_one_is_caught_on_an_impulse(self, dtype, sums, flushed):
        """One cell that is not zero shows a divisor of up to 16 that is one off, on 1-4 axes."""
        impulse = 2.0**12
        for n, axes in product(range(2, 17), range(1, 5)):
            cells = np.zeros((1, n))
            cells[0, n // 2] = impulse
            box = ([np.array([0])], [np.array([n])], np.array([n]))
            data = array(cells[np.newaxis], dtype)
            expected = Expected(mean(data, *box).ravel(), *measures(data, *box))
            allowed = tolerance(expected, axes, sums | flushed, average=True)
            for wrong in {n - 1, n + 1}:
                got = float(array(impulse / wrong, dtype))
                assert abs(got - float(expected.values[0])) > allowed[0]

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_wider_sums_are_held_to_one_ulp(self, dtype):
        """Whoever sums half types in float32 is at most an ulp off where nothing cancels."""
        cells = array(np.random.default_rng(2).uniform(1, 2, (40, 9)), dtype)
        expected, allowed, _ = bound_of(cells, (9,))
        ulp = 2.0 ** (1 - FORMATS[dtype][0])
        assert (allowed > 0.5 * ulp).all()
        assert (allowed < 1.01 * np.maximum(1, expected) * ulp).all()


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
        addends, divisor = np.array([125, 10**6], np.int32), np.ones(2, np.int32)
        expected = Expected(array([1.0, 1.0], "bfloat16"), addends, divisor, np.ones(2))
        allowed = tolerance(expected, 2, ELEMENT_TYPE, average=True)
        assert (allowed < 2.0**-7).all()


class TestOverflow:
    """Where sums in the element type may overflow."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_sums_beyond_the_largest_number_may_overflow(self, dtype):
        """The sum of magnitudes decides, whatever the mean."""
        largest = float_format(dtype).largest
        rows = array([[largest, largest], [largest, -largest], [largest / 4, largest / 2]], dtype)
        assert bound_of(rows, (2,), ELEMENT_TYPE)[2].tolist() == [True, True, False]
        # float32 has the range of bfloat16, and more than that of float16
        wider = [dtype != "float16"] * 2 + [False]
        assert bound_of(rows, (2,))[2].tolist() == wider

    def test_infinite_means_are_compared_as_they_are(self):
        """Where infinity is the exact answer no other may replace it."""
        rows = array([[np.inf, 1.0]], "float32")
        assert bound_of(rows, (2,))[2].tolist() == [False]


class TestFlushed:
    """What counts as zero takes a result towards zero, and no further than its cells go."""

    @staticmethod
    def interval(cells, dtype, n=None):
        """Return the smallest and the largest mean of one window, in smallest normal numbers."""
        least = float_format(dtype).smallest_normal
        data = array([[each * least for each in cells]], dtype)
        n = n or (len(cells),)
        expected, above, _ = bound_of(data, n, ELEMENT_TYPE | FLUSHED)
        _, below, _ = bound_of(data, n, ELEMENT_TYPE | FLUSHED, below=True)
        return float((expected - below)[0] / least), float((expected + above)[0] / least)

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("cells", [[3.0], [0.5], [6, 3, 3], [0.25, 0.5], [40.0] * 8])
    def test_nothing_is_added_and_no_sign_changes(self, dtype, cells):
        """Of positive cells, the mean of some is between zero and the mean of all."""
        mean_of_all = sum(cells) / len(cells)
        # a file stores the sum of magnitudes rounded up to twelve bits
        rounding = (20 * float_format(dtype).unit + 2.0**-12) * (1 + mean_of_all)
        low, high = self.interval(cells, dtype)
        assert -rounding <= low <= high <= mean_of_all + rounding
        negative = self.interval([-each for each in cells], dtype)
        assert negative == (-high, -low)

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_a_cell_of_the_other_sign_may_be_left(self, dtype):
        """Of +0.9 and -0.5 smallest normal numbers each may be zero: the mean is -0.25 to 0.45."""
        rounding = 20 * float_format(dtype).unit + 2.0**-12
        low, high = self.interval([0.9, -0.5], dtype)
        assert abs(low + 0.25) <= rounding
        assert abs(high - 0.45) <= rounding


class TestMaximum:
    """A maximum is exact, but for subnormals that count as zero."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_a_subnormal_maximum_may_be_anything_up_to_zero(self, dtype):
        """It may be zero, or a smaller cell beside it; no sign changes, nothing is added."""
        least = float_format(dtype).smallest_normal
        values = array([0.0, least / 2, -least / 2, least, -1.0], dtype)
        expected = Expected(values, np.zeros(5, np.int32), np.ones(5, np.int32), np.zeros(5))
        assert not tolerance(expected, 2, average=False).any()
        above, below = (
            tolerance(expected, 2, FLUSHED, average=False, below=below).tolist()
            for below in (False, True)
        )
        assert above == [0.0, 0.0, least / 2, 0.0, 0.0]
        assert below == [0.0, least / 2, 0.0, 0.0, 0.0]


def test_elements_may_have_axes_of_their_own():
    """A column of axes gives each element its own bound."""
    addends, divisor = np.full(3, 4, np.int32), np.ones(3, np.int32)
    expected = Expected(array([1.0, 1.0, 1.0], "float16"), addends, divisor, np.ones(3))
    together = tolerance(expected, np.array([2, 2, 3]), FLUSHED, average=True)
    each = [
        tolerance(expected.at(slice(i, i + 1)), axes, FLUSHED, average=True)[0]
        for i, axes in enumerate((2, 2, 3))
    ]
    assert together.tolist() == each
