"""The numbers found for levels satisfy the levels."""

from itertools import product

import pytest

from conformance.cases.sweep.axis_geometry import (
    FITS,
    KERNELS,
    PADS,
    STRIDES,
    WIDTHS,
    Levels,
    candidates,
    fit_of,
    plain,
)

MODES = ("explicit", "same", "valid")
EVERY = [
    (levels, axis)
    for levels in product(MODES, KERNELS, STRIDES, PADS, FITS)
    for axis in candidates(Levels(*levels), None)
]


def test_there_are_numbers_for_most_levels():
    """The search finds thousands of axes."""
    assert len(EVERY) > 5000


def test_kernels_are_what_their_level_says():
    """One, even, odd, equal to and above the input, above 7, above 255."""
    right = {
        "one": lambda a: a.kernel == 1,
        "even": lambda a: a.kernel % 2 == 0,
        "odd": lambda a: a.kernel % 2 == 1 and a.kernel > 1,
        "input": lambda a: a.kernel == a.size,
        "above-input": lambda a: a.kernel > a.size,
        "large": lambda a: a.kernel > 7,
        "huge": lambda a: a.kernel > 255,
    }
    assert [case for case in EVERY if not right[case[0][1]](case[1])] == []


def test_strides_are_what_their_level_says():
    """One, below, equal to and above the kernel."""
    right = {
        "one": lambda a: a.strides == 1,
        "below-kernel": lambda a: 1 < a.strides < a.kernel,
        "kernel": lambda a: a.strides == a.kernel > 1,
        "above-kernel": lambda a: a.strides > a.kernel,
    }
    assert [case for case in EVERY if not right[case[0][2]](case[1])] == []


def test_pads_are_what_their_level_says():
    """On one end, unequal both ways, above the stride, equal to and above the kernel."""
    right = {
        "none": lambda a: a.pads_begin == a.pads_end == 0,
        "begin": lambda a: 0 < a.pads_begin < a.kernel and a.pads_end == 0,
        "end": lambda a: 0 < a.pads_end < a.kernel and a.pads_begin == 0,
        "begin-larger": lambda a: a.kernel > a.pads_begin > a.pads_end > 0,
        "end-larger": lambda a: a.kernel > a.pads_end > a.pads_begin > 0,
        "above-stride": lambda a: a.kernel > max(a.pads_begin, a.pads_end) > a.strides,
        "kernel": lambda a: max(a.pads_begin, a.pads_end) == a.kernel,
        "above-kernel": lambda a: max(a.pads_begin, a.pads_end) > a.kernel,
    }
    assert [case for case in EVERY if not right[case[0][3]](case[1])] == []


def test_fits_are_what_their_level_says():
    """Windows end with the padded input or not; the padding of same_* is even or odd."""
    assert [case for case in EVERY if fit_of(case[1], case[0][0]) != case[0][4]] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_number_of_windows_is_within_its_level(width):
    """The level of width bounds the number of windows."""
    low, _, high = width.partition("-")
    counts = [
        axis.extent(mode)
        for mode, fit in product(MODES, FITS)
        for axis in candidates(Levels(mode, "odd", "one", "begin", fit), width)
    ]
    assert counts
    assert int(low) <= min(counts) <= max(counts) <= int(high or low)


def test_nothing_is_past_the_padding():
    """Explicit and valid axes leave at least one window; sizes are positive."""
    assert all(axis.size >= 1 and axis.extent(levels[0]) >= 1 for levels, axis in EVERY)


def test_plain_axes_are_small_and_of_every_kind():
    """The axes beside the one a row is about have kernels and strides of one to three."""
    axes = plain("explicit", None, padded=True)
    assert {axis.kernel for axis in axes} == {1, 2, 3}
    assert {axis.strides for axis in axes} == {1, 2, 3}
