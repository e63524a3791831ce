"""What faults of each kind return, worked out by hand."""

import numpy as np
import pytest
from support.fakes import pool, ramp

from conformance.faults import fault_named, faulty


def maxima(fault, data, **attributes):
    """Return what a maximum over one axis becomes with a fault."""
    got = faulty(fault_named(fault))("MaxPool-1", [data], pool("MaxPool-1", **attributes))
    return got.ravel().tolist()


def copies(fault, data):
    """Return what becomes of data with a fault, which windows of one cell would copy."""
    ones, zeros = [1] * (data.ndim - 2), [0] * (data.ndim - 2)
    attributes = pool("MaxPool-1", kernel=ones, strides=ones, pads_begin=zeros, pads_end=zeros)
    return faulty(fault_named(fault))("MaxPool-1", [data], attributes)


def test_sliding_sums_lose_what_a_large_cell_covered():
    """The sum of 1e8 and 1 is 1e8 in float32: without the first cell, nothing is left."""
    data = np.array([[[1e8, 1, 1, 1]]], np.float32)
    got = faulty(fault_named("sliding-sums-of-rows"))("AvgPool-1", [data], pool(strides=[1]))
    np.testing.assert_array_equal(got, [[[5e7, 0, 0]]])


def test_sliding_sums_leave_cells_between_windows_out():
    """Where strides are above the kernel, cells that were passed over count for nothing."""
    backend = faulty(fault_named("sliding-sums-of-rows"))
    got = backend("AvgPool-1", [ramp(1, 1, 8)], pool(strides=[3]))
    np.testing.assert_array_equal(got, [[[1.5, 4.5, 7.5]]])


def test_a_special_kernel_is_wrong_alone():
    """A fault for a kernel and strides of 2 leaves other kernels right."""
    fault, data = "2-stride-2-maximum-from-zero", -ramp(1, 1, 6)
    assert maxima(fault, data) == [0, 0, 0]
    assert maxima(fault, data, kernel=[3]) == [-1, -3]


def test_a_fault_of_large_sizes_leaves_smaller_ones_right():
    """The first 512 columns are written, those beyond are not."""
    got = copies("columns-above-512-unwritten", ramp(1, 1, 514)).ravel()
    np.testing.assert_array_equal(got, [*range(1, 513), 0, 0])


@pytest.mark.parametrize(
    ("fault", "shape"),
    [
        ("last-slice-unwritten", (1, 1, 2, 1, 2)),
        ("last-row-unwritten", (1, 1, 2, 2)),
        ("last-output-unwritten", (1, 2, 2)),
        ("last-channel-unwritten", (1, 2, 2)),
        ("last-batch-unwritten", (2, 1, 2)),
    ],
)
def test_units_are_counted_along_their_own_axis(fault, shape):
    """The last of two slices, rows, outputs, channels or batches is unwritten."""
    expected = [1, 0, 3, 0] if fault == "last-output-unwritten" else [1, 2, 0, 0]
    assert copies(fault, ramp(*shape)).ravel().tolist() == expected


@pytest.mark.parametrize("fault", ["last-slice-unwritten", "last-row-unwritten"])
def test_what_an_output_has_not_got_is_not_wrong(fault):
    """An output of one axis has neither rows nor slices to leave unwritten."""
    assert copies(fault, ramp(1, 1, 2)).ravel().tolist() == [1, 2]


def test_repeated_units_start_again_from_the_first():
    """Batch 33 gets the values of the first."""
    got = copies("batches-above-32-repeated", ramp(33, 1, 1)).ravel()
    np.testing.assert_array_equal(got, [*range(1, 33), 1])


@pytest.mark.parametrize(
    ("fault", "bits", "expected"),
    [
        ("negative-nan-as-zero", [0x7FC00000, 0xFFC00000], [np.nan, 0]),
        ("payload-nan-as-infinity", [0x7FC00000, 0x7FC00001], [np.nan, np.inf]),
    ],
)
def test_nan_is_told_apart_by_its_bits(fault, bits, expected):
    """One encoding is taken as a number, the other is NaN as ever."""
    data = np.array([[bits]], np.uint32).view(np.float32)
    np.testing.assert_array_equal(copies(fault, data).ravel(), expected)


def test_starts_are_rounded_in_bfloat16():
    """Beyond 256, odd starts become even: of both neighbours, the one that is divisible by 4."""
    got = copies("starts-bfloat16", ramp(1, 1, 262)).ravel()
    # The windows at 257 and 259 read the cells at 256 and 260, whose values are one more.
    np.testing.assert_array_equal(got[255:], [256, 257, 257, 259, 261, 261, 261])


def test_a_memory_stride_wraps():
    """A row of 257 cells is taken to be 1 long: the second starts one cell after the first."""
    got = copies("row-stride-of-8-bits", ramp(1, 1, 2, 257))
    np.testing.assert_array_equal(got[0, 0], [range(1, 258), range(2, 259)])


def test_a_quotient_is_one_too_small():
    """In float32, 41 (1 / 41) is below 1: the first output of the second row is in the first."""
    got = copies("row-by-float32-reciprocal", ramp(1, 1, 2, 41))
    assert got[0, 0, :, :2].tolist() == [[1, 2], [1, 43]]


def test_a_careless_key_takes_one_call_for_another():
    """Kernels of 1x12 and 11x2 read the same without a separator: 112."""
    backend, data = faulty(fault_named("first-windows-kept-by-joined-numbers")), ramp(1, 1, 12, 12)
    shapes = []
    for kernel in ([1, 12], [11, 2]):
        attributes = pool(
            "MaxPool-1", kernel=kernel, strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0]
        )
        shapes.append(backend("MaxPool-1", [data], attributes).shape)
    assert shapes == [(1, 1, 12, 1), (1, 1, 12, 1)]  # the second should be 2 x 11


def test_memory_holds_the_previous_output():
    """The last output is what the previous call left in its place."""
    backend = faulty(fault_named("last-output-left-from-previous-call"))
    attributes = pool("MaxPool-1", kernel=[1], strides=[1])
    first = backend("MaxPool-1", [ramp(1, 1, 2)], attributes)
    second = backend("MaxPool-1", [ramp(1, 1, 2) + 4], attributes)
    assert (first.ravel().tolist(), second.ravel().tolist()) == ([1, 0], [5, 0])


def test_padding_holds_the_previous_padding_buffer():
    """The cell before the input is not -inf but what the previous call had in its place."""
    backend = faulty(fault_named("padding-left-from-previous-call"))
    padded = pool("MaxPool-1", strides=[1], pads_begin=[1])
    backend("MaxPool-1", [ramp(1, 1, 1)], pool("MaxPool-1", kernel=[1]))  # leaves 0, 1, 0
    got = backend("MaxPool-1", [-ramp(1, 1, 2)], padded)
    assert got.ravel().tolist() == [0, -1]
