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
    windows_of,
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
        "one": lambda a: a.k == 1,
        "even": lambda a: a.k % 2 == 0,
        "odd": lambda a: a.k % 2 == 1 and a.k > 1,
        "input": lambda a: a.k == a.d,
        "above-input": lambda a: a.k > a.d,
        "large": lambda a: a.k > 7,
        "huge": lambda a: a.k > 255,
    }
    assert [case for case in EVERY if not right[case[0][1]](case[1])] == []


def test_strides_are_what_their_level_says():
    """One, below, equal to and above the kernel."""
    right = {
        "one": lambda a: a.s == 1,
        "below-kernel": lambda a: 1 < a.s < a.k,
        "kernel": lambda a: a.s == a.k > 1,
        "above-kernel": lambda a: a.s > a.k,
    }
    assert [case for case in EVERY if not right[case[0][2]](case[1])] == []


def test_pads_are_what_their_level_says():
    """On one end, unequal both ways, above the stride, equal to and above the kernel."""
    right = {
        "none": lambda a: a.begin == a.end == 0,
        "begin": lambda a: 0 < a.begin < a.k and a.end == 0,
        "end": lambda a: 0 < a.end < a.k and a.begin == 0,
        "begin-larger": lambda a: a.k > a.begin > a.end > 0,
        "end-larger": lambda a: a.k > a.end > a.begin > 0,
        "above-stride": lambda a: a.k > max(a.begin, a.end) > a.s,
        "kernel": lambda a: max(a.begin, a.end) == a.k,
        "above-kernel": lambda a: max(a.begin, a.end) > a.k,
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
        windows_of(axis, mode)
        for mode, fit in product(MODES, FITS)
        for axis in candidates(Levels(mode, "odd", "one", "begin", fit), width)
    ]
    assert counts
    assert int(low) <= min(counts) <= max(counts) <= int(high or low)


def test_nothing_is_past_the_padding():
    """Explicit and valid axes leave at least one window; sizes are positive."""
    assert all(axis.d >= 1 and windows_of(axis, levels[0]) >= 1 for levels, axis in EVERY)


def test_plain_axes_are_small_and_of_every_kind():
    """The axes beside the one a row is about have kernels and strides of one to three."""
    axes = plain("explicit", None, padded=True)
    assert {axis.k for axis in axes} == {1, 2, 3}
    assert {axis.s for axis in axes} == {1, 2, 3}
