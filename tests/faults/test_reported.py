"""Faults return what public reports of the same behaviour print."""

import numpy as np
import pytest
from support.fakes import ramp

from conformance.faults import fault_named, faulty


def with_fault(fault, operator, data, **attributes):
    """Return what an operator with a fault makes of data."""
    return faulty(fault_named(fault))(operator, [data], attributes)


def test_dilated_cells_are_read_as_neighbours():
    """CanReader/FastNN#4: an output of dilated windows, over pixels side by side."""
    data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    given = {"kernel_shape": [2, 2], "dilations": [2, 2]}
    got, _ = with_fault("windows-dilations-ignored", "ONNX-MaxPool-22", data, **given)
    assert got.ravel().tolist() == [5, 6, 9, 10]


def test_a_dilated_window_starts_at_the_clamped_cell():
    """microsoft/onnxruntime#29637: one wrong value and one wrong index."""
    data = np.array([[[1, 9, 2, 8, 3, 7, 4, 6, 5]]], np.float32)
    given = {"kernel_shape": [2], "pads": [1, 1], "dilations": [2]}
    values, indices = with_fault("dilated-start-clamped", "ONNX-MaxPool-22", data, **given)
    assert values.ravel().tolist() == [1, 2, 9, 3, 8, 4, 7, 5, 6]
    assert indices.ravel().tolist() == [0, 2, 1, 4, 3, 6, 5, 8, 7]


def test_the_padding_of_same_leaves_dilations_out():
    """huggingface/pytorch-image-models#2779: 2 x 3 instead of 3 x 4."""
    given = {
        "kernel_shape": [3, 3],
        "strides": [2, 2],
        "dilations": [2, 2],
        "auto_pad": "SAME_UPPER",
    }
    got, _ = with_fault("pads-dilations-ignored", "ONNX-MaxPool-22", ramp(1, 1, 5, 7), **given)
    assert got.shape == (1, 1, 2, 3)


def test_ceil_keeps_a_window_that_starts_in_the_padding():
    """tracel-ai/burn#5791: four outputs instead of three, the last of padding alone."""
    given = {"kernel_shape": [2], "strides": [2], "pads": [1, 1], "ceil_mode": 1}
    got, _ = with_fault("torch-as-ceil", "ONNX-MaxPool-22", ramp(1, 1, 5), **given)
    assert got.ravel().tolist() == [1, 3, 5, -np.inf]


def test_indices_are_of_one_plane_in_row_major_order():
    """sonos/tract#2860: neither the planes before nor storage_order count."""
    data = np.zeros((2, 3, 2, 3), np.float32)
    data[..., 0, 1] = 1
    given = {"kernel_shape": [2, 3], "storage_order": 1}
    _, in_plane = with_fault("index-in-plane", "ONNX-MaxPool-22", data, **given)
    _, row_major = with_fault("storage-order-ignored", "ONNX-MaxPool-22", data, **given)
    assert in_plane.ravel().tolist() == [2] * 6
    assert row_major.ravel().tolist() == [1, 7, 13, 19, 25, 31]


def test_an_index_is_never_updated_in_a_window_of_minus_infinity():
    """tile-ai/TileOPs#832: no cell is above the first value, so that no index is written."""
    data = np.full((1, 1, 4), -np.inf, np.float32)
    _, indices = with_fault(
        "index-of-minus-infinity-missing",
        "ONNX-MaxPool-22",
        data,
        kernel_shape=[2],
        strides=[2],
    )
    assert indices.ravel().tolist() == [-1, -1]


def test_indices_are_counted_with_channels_last_in_a_batch():
    """tensorflow/tensorflow#7090: (y * width + x) * channels + c."""
    got = with_fault(
        "index-channels-last-in-batch", "ONNX-MaxPool-22", ramp(2, 3, 2, 2), kernel_shape=[1, 1]
    )[1]
    assert got[1, 2].ravel().tolist() == [2, 5, 8, 11]


def test_powers_of_negative_cells_have_no_root():
    """FluxML/Flux.jl#2166, of PyTorch: NaN for the power 3, and negative norms for 1."""
    data = np.array([[[-1, -2, -3, 1, 2, 3]]], np.float32)
    for p, negative in ((3, [np.nan] * 3), (1, [-1, -2, -3])):
        got = with_fault("norm-of-signed-cells", "ONNX-LpPool-22", data, kernel_shape=[1], p=p)
        np.testing.assert_allclose(got.ravel(), [*negative, 1, 2, 3], rtol=1e-6)


def test_sizes_of_same_padding_without_dilations_are_not_checked():
    """Finding 25, ONNX Runtime: as many windows as a truncated division says, also none."""
    fault = "pads-dilations-ignored-unchecked"
    same = {"kernel_shape": [2], "dilations": [2], "auto_pad": "SAME_UPPER"}
    data = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6)
    got, _ = with_fault(fault, "ONNX-MaxPool-22", data, **same)
    assert got.ravel().tolist() == [3, 4, 5, 6, 5]
    got, _ = with_fault(fault, "ONNX-MaxPool-22", data[..., :2], **same | {"dilations": [3]})
    assert got.shape == (1, 1, 0)


@pytest.mark.parametrize(
    ("operator", "fault", "expected"),
    [
        ("ONNX-MaxPool-22", "pads-dilations-ignored-unchecked", 8),
        ("ONNX-AveragePool-22", "pads-dilations-ignored-cropping", 2),
    ],
)
def test_negative_padding_of_undilated_kernels_cuts_cells_off(operator, fault, expected):
    """Finding 25, ONNX Runtime: the last cell of 0, 4 and 8 is beyond it, for averages alone."""
    data = np.arange(9, dtype=np.float32).reshape(1, 1, 9)
    same = {"kernel_shape": [3], "strides": [5], "dilations": [4], "auto_pad": "SAME_LOWER"}
    assert np.ravel(with_fault(fault, operator, data, **same)[0]).tolist() == [expected]


def test_a_nan_is_kept_in_the_last_row_of_the_last_column():
    """Finding 7, ONNX Runtime: cells are compared down each column, and then the columns."""
    kernel = {"kernel_shape": [2, 2]}
    for place, kept in (((0, 0), False), ((0, 1), False), ((1, 0), False), ((1, 1), True)):
        data = np.ones((1, 1, 2, 2), np.float32)
        data[0, 0, *place] = np.nan
        got, _ = with_fault("nan-kept-if-last-of-columns", "ONNX-MaxPool-22", data, **kernel)
        assert np.isnan(got).all() == kept


def test_a_nan_is_lost_by_its_place_in_a_vector():
    """Finding 7, ONNX Runtime: vectors of four columns keep the last, scalar code drops NaN."""
    nan, lowest = np.nan, float(np.finfo(np.float32).min)

    def values(rows, **given):
        data = np.array(rows, np.float32)[None, None]
        return with_fault("maximum-in-vectors", "ONNX-MaxPool-22", data, **given)[0].ravel()

    # Padding takes part, as the lowest number: a NaN is lost before it.
    padded = values([[nan, -4, -7, nan]], kernel_shape=[1, 4], strides=[1, 2], pads=[0, 2, 0, 2])
    np.testing.assert_array_equal(padded, np.float32([-4, nan, lowest]))
    # Two rows: each column keeps its second cell; a fifth column, which no vector holds, the first.
    columns = values([[nan] * 5, [1] * 5], kernel_shape=[2, 1])
    np.testing.assert_array_equal(columns, np.float32([1, 1, 1, 1, nan]))
    columns = values([[1] * 5, [nan] * 5], kernel_shape=[2, 1])
    np.testing.assert_array_equal(columns, np.float32([nan, nan, nan, nan, 1]))
    # A whole plane of five cells, which four lanes and one cell more hold.
    assert values([[nan, 2, 3, 4, 5]], kernel_shape=[1, 5]) == [5]
    assert np.isnan(values([[1, 2, 3, nan, -5]], kernel_shape=[1, 5])).all()
    # Windows that lie more than two columns apart are scalar code.
    apart = values([[nan, 2, 3, 4, nan, 6]], kernel_shape=[1, 2], strides=[1, 3])
    assert apart.tolist() == [2, 4]


def test_a_nan_is_lost_by_its_place_in_a_tree():
    """XNNPACK: of pairs the second is kept, cells are those of one column after the other."""
    nan, lowest = np.nan, float(np.finfo(np.float32).min)

    def values(rows, width=len, stride=1):
        data = np.array(rows, np.float32)[None, :, :, None]
        given = {"filter_height": len(rows), "filter_width": width(rows[0])}
        given |= {"stride_h": 1, "stride_w": stride, "padding": "VALID"}
        given |= {"fused_activation_function": "NONE"}
        return np.ravel(with_fault("maximum-in-nines", "LiteRT-MAX_POOL_2D", data, **given))

    # Cells that are missing are the first, which comes last; a NaN before the lowest bound is lost.
    assert values([[nan, 1]]) == [-np.inf]
    assert values([[1, nan]]) == [1]
    # Columns of 1 3 and of 4: the third cell is lost to the fourth, and that to what follows.
    assert values([[1, 4], [3, nan]]) == [3]
    # The tenth begins another tree, after which a NaN is lost to the upper bound.
    assert values([[*range(9), nan]]) == [np.inf]
    # Windows with cells between them are scalar code.
    apart = values([[nan, 1, 5]], width=lambda _: 1, stride=2)
    np.testing.assert_array_equal(apart, np.float32([lowest, 5]))


def test_a_maximum_starts_at_the_lowest_number_of_the_first_cell():
    """OpenVINO: windows of minus infinity give that number and the first index of the plane."""
    data = np.full((1, 2, 1, 4), -np.inf, np.float32)
    data[0, 0, 0, 3] = 1
    got = with_fault(
        "maximum-above-lowest-alone",
        "MaxPool-8",
        data,
        kernel=[1, 2],
        strides=[1, 2],
        pads_begin=[0, 0],
        pads_end=[0, 0],
    )
    lowest = float(np.finfo(np.float32).min)
    assert got[0].ravel().tolist() == [lowest, 1, lowest, lowest]
    assert got[1].ravel().tolist() == [0, 3, 4, 4]


def test_in_a_half_type_a_maximum_that_starts_at_the_lowest_float32_loses_its_index_alone():
    """OpenVINO computes these in float32; rounded back, that number is minus infinity."""
    got = with_fault(
        "maximum-above-lowest-of-float32-alone",
        "MaxPool-8",
        np.full((1, 2, 1, 2), -np.inf, np.float16),
        kernel=[1, 1],
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
    )
    assert got[0].ravel().tolist() == [-np.inf] * 4
    assert got[1].ravel().tolist() == [0, 0, 2, 2]


def test_integers_saturate_at_the_largest_number_that_fits():
    """OpenVINO: int32 through float32, which holds no number between 2147483520 and 2^31."""
    data = np.array([[[[2**31 - 1, 16777217]]]], np.int32)
    kernel = {"kernel": [1, 1], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    got = with_fault("integers-through-float32-clamped", "MaxPool-1", data, **kernel)
    assert got.ravel().tolist() == [2147483520, 16777216]


def test_a_kernel_of_raw_integers_cuts_off_and_overflows_with_the_zero_point():
    """The zero point is none of theirs: 1.5 becomes 1, and 200 in 8 bits is -56."""
    given = {"filter_height": 1, "filter_width": 2, "stride_h": 1, "stride_w": 2}
    given |= {"padding": "VALID", "fused_activation_function": "NONE"}
    given |= {"scale": 0.75, "zero_point": 3}

    def average(fault, *numbers):
        data = np.array(numbers, np.int8).reshape(1, 1, -1, 1)
        return with_fault(fault, "LiteRT-AVERAGE_POOL_2D", data, **given).item()

    assert average("integers-truncated-of-raw", 1, 2) == 1
    assert average("integers-truncated", 1, 2) == 2
    assert average("integers-summed-in-own-type-of-raw", 100, 100) == -28
    assert average("integers-summed-in-16-bits-of-raw", 100, 100) == 100
