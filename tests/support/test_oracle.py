"""The oracle against values worked out by hand; the arithmetic stands beside each."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import FORMATS, READINGS, WholeCaseUndefined, array, oracle, plan, rounded

NAN, INF = math.nan, math.inf


def attributes(kernel: list[int], strides: list[int], **others: Any) -> dict[str, Any]:
    """Return AvgPool-1 attributes: no pads, exclude_pad, unless told otherwise."""
    zeros = [0] * len(kernel)
    return {
        "kernel": kernel,
        "strides": strides,
        "pads_begin": zeros,
        "pads_end": zeros,
        "exclude_pad": True,
    } | others


def average(values: list[Any], given: dict[str, Any], dtype: str = "float32", **readings: str):
    """Run AvgPool-1 on one row of one channel."""
    named = {name.replace("_", "-"): reading for name, reading in readings.items()}
    return oracle("AvgPool-1", [array([[values]], dtype)], given, named)


def maximum(values: list[Any], given: dict[str, Any], dtype: str = "float32", **readings: str):
    """Run MaxPool-1 on one row of one channel."""
    named = {name.replace("_", "-"): reading for name, reading in readings.items()}
    given = {name: value for name, value in given.items() if name != "exclude_pad"}
    return oracle("MaxPool-1", [array([[values]], dtype)], given, named)


def adaptive(values: list[Any], extent: int, dtype: str = "float32"):
    """Run AdaptiveAvgPool-8 on one row of one channel."""
    return oracle("AdaptiveAvgPool-8", [array([[values]], dtype), np.array([extent])], {})


def row(output: Any) -> list[Any]:
    """Return the only row of an output."""
    return output[0, 0].tolist()


class TestWorkedExamples:
    """What the documents print."""

    # (32 - 2) / 2 + 1 = 16 and ceil(32 / 2) = 16, yet examples 1 and 2 print 32;
    # 3: floor((32 + 2 - 5) / 3) + 1 = 9 + 1; 4: floor(29 / 2) + 1 = 14 + 1;
    # 5: floor((32 - 5) / 2) + 1 = 13 + 1, the pads ignored
    @pytest.mark.parametrize(
        ("auto_pad", "kernel", "begin", "stride", "extents"),
        [
            ("same_upper", 2, 0, 2, (16, 32)),
            ("same_upper", 5, 0, 2, (16, 32)),
            ("explicit", 5, 1, 3, (10, 10)),
            ("explicit", 5, 1, 2, (15, 15)),
            ("valid", 5, 1, 2, (14, 14)),
        ],
    )
    def test_avgpool_shapes(self, auto_pad, kernel, begin, stride, extents):
        """Examples 1 to 5 of AvgPool-1 have the printed shape under one reading at least."""
        given = attributes(
            [kernel] * 2,
            [stride] * 2,
            pads_begin=[begin] * 2,
            pads_end=[1, 1],
            auto_pad=auto_pad,
        )
        data = [np.zeros((1, 3, 32, 32), np.float32)]
        for reading, extent in zip(READINGS["same-output-size"], extents, strict=True):
            axes = plan("AvgPool-1", data, given, {"same-output-size": reading}).axes
            assert [len(axis) for axis in axes] == [extent] * 2

    @pytest.mark.parametrize(("include", "corner"), [(False, 1.0), (True, 0.25)])
    def test_ngraph_matrix(self, include, corner):
        """The top left window of nGraph's example averages to 1.0 or 0.25."""
        data = array([[[[1, 3, 5], [7, 11, 13], [17, 19, 23]]]])
        given = {
            "window_shape": [2, 2],
            "padding_below": [1, 1],
            "include_padding_in_avg_computation": include,
        }
        result = oracle("nGraph-AvgPool", [data], given)
        assert result.expected.shape == (1, 1, 3, 3)  # 1 + 3 + 0 - 2 + 1 = 3
        assert result.expected[0, 0, 0, 0] == corner
        # top row, second window: (1 + 3) / 2, or (0 + 0 + 1 + 3) / 4
        assert result.expected[0, 0, 0, 1] == (1.0 if include else 2.0)
        # second row, second window: (1 + 3 + 7 + 11) / 4 = 22 / 4 whatever the padding
        assert result.expected[0, 0, 1, 1] == 5.5

    def test_adaptive_example_shape(self):
        """The example of AdaptiveAvgPool-8: 32 x 32 to 16 x 16, its output_type ignored."""
        inputs = [np.zeros((1, 3, 32, 32), np.float32), np.array([16, 16])]
        axes = plan("AdaptiveAvgPool-8", inputs, {"output_type": "i64"}).axes
        assert [[w.inside for w in axis[:2]] for axis in axes] == [[(0, 1), (2, 3)]] * 2
        assert [len(axis) for axis in axes] == [16, 16]

    def test_maxpool_example(self):
        """MaxPool-1's example on 5 cells: ceil(5 / 2) = 3 windows of 3, one pad at each end."""
        # T = 2 * 2 + 3 - 5 = 2; windows -1:2, 1:4, 3:6
        given = attributes([3], [2], auto_pad="same_upper", pads_end=[1])
        assert row(maximum([5, 1, 2, 4, 3], given).expected) == [5, 4, 4]


class TestGeometry:
    """Windows, divisors and the readings that move them."""

    def test_adaptive_5_to_3(self):
        """Blocks 0:2, 1:4, 3:5."""
        # floor(5/3) = 1, floor(10/3) = 3; ceil(5/3) = 2, ceil(10/3) = 4
        assert row(adaptive([1, 2, 3, 4, 5], 3).expected) == [1.5, 3.0, 4.5]

    def test_adaptive_11_to_7(self):
        """The block bounds are exact integers where float32 arithmetic goes wrong."""
        # starts floor(11 i / 7): 0, 1.57, 3.14, 4.71, 6.29, 7.86, 9.43
        # ends ceil(11 (i + 1) / 7): 1.57, 3.14, 4.71, 6.29, 7.86, 9.43, 11
        inputs = [np.zeros((1, 1, 11), np.float32), np.array([7])]
        (axis,) = plan("AdaptiveAvgPool-8", inputs, {}).axes
        bounds = [(w.inside[0], w.inside[-1] + 1) for w in axis]
        assert bounds == [(0, 2), (1, 4), (3, 5), (4, 7), (6, 8), (7, 10), (9, 11)]

    def test_adaptive_more_outputs_than_inputs(self):
        """2 to 3: blocks 0:1, 0:2, 1:2."""
        # floor(2/3) = 0, floor(4/3) = 1; ceil(2/3) = 1, ceil(4/3) = 2
        assert row(adaptive([2, 4], 3).expected) == [2, 3, 4]

    def test_adaptive_blocks_multiply(self):
        """On two axes the divisor is the product of the block lengths."""
        data = array([[[[1, 2, 3], [4, 5, 6]]]])
        result = oracle("AdaptiveAvgPool-8", [data, np.array([1, 2], np.int32)], {})
        # rows 0:2; columns 0:2 and 1:3: (1+2+4+5)/4 = 3, (2+3+5+6)/4 = 4
        assert result.expected.tolist() == [[[[3, 4]]]]
        assert result.divisor.tolist() == [[[[4, 4]]]]

    # d = 4, k = 2, s = 1: o = 4, T = 3 + 2 - 4 = 1, one pad
    @pytest.mark.parametrize(
        ("auto_pad", "expected"),
        [("same_upper", [1.5, 2.5, 3.5, 4]), ("same_lower", [1, 1.5, 2.5, 3.5])],
    )
    def test_odd_same_padding(self, auto_pad, expected):
        """The odd pad goes to the end for same_upper and to the begin for same_lower."""
        given = attributes([2], [1], auto_pad=auto_pad, pads_begin=[9], pads_end=[9])
        assert row(average([1, 2, 3, 4], given).expected) == expected

    def test_same_as_input_reads_padding_alone(self):
        """Under same-as-input T = (d-1)s + k - d and a window can be padding alone."""
        # d = 3, k = 1, s = 2: T = 4 + 1 - 3 = 2, one pad at each end, windows -1:0, 1:2, 3:4
        given = attributes([1], [2], auto_pad="same_upper")
        result = average([5, 6, 7], given, same_output_size="same-as-input")
        assert row(result.undefined) == [True, False, True]
        assert result.expected[0, 0, 1] == 6
        # with the padding counted each is a mean of one zero
        given["exclude_pad"] = False
        result = average([5, 6, 7], given, same_output_size="same-as-input")
        assert row(result.expected) == [0, 6, 0]
        assert not result.undefined.any()

    def test_same_with_ceil(self):
        """rounding-applied adds one empty window."""
        # d = 4, k = 1, s = 2: o = 2, T = 0, t = 3, ceil(3 / 2) + 1 = 3, window 4:5
        given = attributes([1], [2], auto_pad="same_upper", rounding_type="ceil")
        assert row(average([1, 2, 3, 4], given).expected) == [1, 3]
        applied = average([1, 2, 3, 4], given, same_with_ceil="rounding-applied")
        assert row(applied.undefined) == [False, False, True]

    def test_valid_rounds(self):
        """rounding_type applies to valid under `applied`, and the pads do not."""
        # d = 4, k = 2, s = 3: t = 2, floor 1 window 0:2, ceil 2 windows, the second 3:5
        given = attributes([2], [3], auto_pad="valid", pads_begin=[1], rounding_type="floor")
        assert row(average([1, 2, 3, 4], given).expected) == [1.5]
        given["rounding_type"] = "ceil"
        assert row(average([1, 2, 3, 4], given).expected) == [1.5, 4]
        # ceil((4 - 2 + 1) / 3) = 1, as ONNX prints it
        ignored = average([1, 2, 3, 4], given, valid_rounds="ignored")
        assert row(ignored.expected) == [1.5]

    def test_valid_rounds_is_about_valid_alone(self):
        """Explicit pads of 0 are rounded up under either reading."""
        given = attributes([2], [3], rounding_type="ceil")
        for reading in READINGS["valid-rounds"]:
            result = average([1, 2, 3, 4], given, valid_rounds=reading)
            assert row(result.expected) == [1.5, 4]

    # k = 1. d = 5, s = 3: o = 2, T = 3 + 1 - 5 = -1, halves -1 and 0 or 0 and -1
    # d = 6, s = 3: o = 2, T = 3 + 1 - 6 = -2, -1 at each end
    # d = 8, s = 4: o = 2, T = 4 + 1 - 8 = -3, halves -2 and -1 or -1 and -2
    # the first window starts at minus the begin pad; the cells are 0, 1, 2, ...
    @pytest.mark.parametrize(
        ("size", "stride", "mode", "starts"),
        [
            (5, 3, "same_upper", (0, 1, 0)),
            (5, 3, "same_lower", (0, 0, 1)),
            (6, 3, "same_upper", (0, 1, 1)),
            (6, 3, "same_lower", (0, 1, 1)),
            (8, 4, "same_upper", (0, 2, 1)),
            (8, 4, "same_lower", (0, 1, 2)),
        ],
    )
    def test_same_never_crops(self, size, stride, mode, starts):
        """A negative total padding is 0, or crops with the half of an odd one down or to zero."""
        given = attributes([1], [stride], auto_pad=mode)
        for reading, start in zip(READINGS["same-never-crops"], starts, strict=True):
            result = average([*range(size)], given, same_never_crops=reading)
            assert row(result.expected) == [start, start + stride]
            assert row(result.divisor) == [1, 1]

    def test_cropping_leaves_other_axes_padded(self):
        """Each axis has its own total: one is cropped, the other padded."""
        # rows: d = 2, k = 2, s = 1: o = 2, T = 1, a pad at the end; columns as above: start 1
        data = array([[[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]]])
        given = attributes([2, 1], [1, 3], auto_pad="same_upper")
        result = oracle("AvgPool-1", [data], given, {"same-never-crops": "cropped-floor"})
        assert result.expected.tolist() == [[[[5, 8], [8, 11]]]]  # (2 + 8) / 2, (5 + 11) / 2

    def test_as_large_as_the_input_there_is_nothing_to_crop(self):
        """same-as-input needs T = (d - 1) s + k - d >= 0 cells of padding."""
        # d = 5, k = 1, s = 3: T = 4 * 3 + 1 - 5 = 8, 4 at each end, windows at -4, -1, 2, 5, 8
        given = attributes([1], [3], auto_pad="same_upper")
        for reading in READINGS["same-never-crops"]:
            readings = {"same_output_size": "same-as-input", "same_never_crops": reading}
            result = average([1, 2, 3, 4, 5], given, **readings)
            assert row(result.undefined) == [True, True, False, True, True]
            assert result.expected[0, 0, 2] == 3

    def test_overhang_without_pads_does_not_exist(self):
        """With no padding anywhere the overhang never counts, under either reading."""
        # d = 5, k = 2, s = 2: t = 3, o = ceil(1.5) + 1 = 3, windows 0:2, 2:4, 4:6
        given = attributes([2], [2], rounding_type="ceil", exclude_pad=False)
        for reading in READINGS["overhang-divisor"]:
            result = average([1, 2, 3, 4, 7], given, overhang_divisor=reading)
            assert row(result.expected) == [1.5, 3.5, 7]
            assert row(result.divisor) == [2, 2, 1]

    # d = 4, k = 3, s = 2, pads 1 and 1: t = 3, o = 3; the last window 3:6 holds one input cell,
    # one pad cell and one cell of overhang
    @pytest.mark.parametrize(
        ("exclude", "reading", "divisor"),
        [
            (True, "padded-extent", 1),
            (True, "whole-kernel", 1),
            (False, "padded-extent", 2),
            (False, "whole-kernel", 3),
        ],
    )
    def test_overhang_divisor(self, exclude, reading, divisor):
        """The last of three windows counts 1, 2 or 3 cells."""
        given = attributes(
            [3], [2], pads_begin=[1], pads_end=[1], rounding_type="ceil", exclude_pad=exclude
        )
        result = average([1, 2, 3, 6], given, overhang_divisor=reading)
        assert result.divisor[0, 0, 2] == divisor
        assert result.expected[0, 0, 2] == 6 / divisor

    def test_pads_of_another_axis_make_the_overhang_count(self):
        """whole-kernel needs some pad, on any axis."""
        # rows: d = 1, k = 1, pad 1 begin: windows -1:0, 0:1. columns: d = 3, k = 2, s = 2, ceil:
        # t = 1, o = 2, the second window 2:4 hangs over: divisor 1 * 2
        data = array([[[[1, 2, 6]]]])
        given = attributes(
            [1, 2], [1, 2], pads_begin=[1, 0], rounding_type="ceil", exclude_pad=False
        )
        whole = oracle("AvgPool-1", [data], given, {"overhang-divisor": "whole-kernel"})
        assert whole.expected.tolist() == [[[[0, 0], [1.5, 3]]]]
        assert oracle("AvgPool-1", [data], given).expected.tolist() == [[[[0, 0], [1.5, 6]]]]

    def test_ceil_window_past_input(self):
        """A last window in the end padding is kept or dropped."""
        # d = 3, k = 2, s = 3, end pad 1: t = 2, o = ceil(2 / 3) + 1 = 2, the second window 3:5
        given = attributes([2], [3], pads_end=[1], rounding_type="ceil", exclude_pad=False)
        kept = average([1, 3, 9], given)
        assert (row(kept.expected), row(kept.divisor)) == ([2, 0], [2, 1])
        for reading in ("dropped", "all-dropped"):
            dropped = average([1, 3, 9], given, ceil_window_past_input=reading)
            assert row(dropped.expected) == [2]

    # d = 3, k = 2, s = 1, pads 3 and 3: t = 7, o = 8, windows start at -3 .. 4; those that start
    # at 3 and 4 hold end padding alone, as those at -3 and -2 hold begin padding alone
    @pytest.mark.parametrize(
        ("reading", "extent"), [("kept", 8), ("dropped", 7), ("all-dropped", 6)]
    )
    def test_several_windows_past_the_input(self, reading, extent):
        """All are kept, or the last one or all of them are dropped."""
        given = attributes([2], [1], pads_begin=[3], pads_end=[3], rounding_type="ceil")
        result = average([1, 3, 9], given, ceil_window_past_input=reading)
        undefined = [True, True, False, False, False, False, True, True]
        assert row(result.undefined) == undefined[:extent]
        assert row(result.expected)[2:6] == [1, 2, 6, 9]

    def test_windows_past_the_input_a_stride_apart(self):
        """A window that starts at the end of the input is past it; floor drops none."""
        # d = 4, k = 2, s = 2, pads 2 and 5: t = 9, floor 5 windows, at -2, 0, 2, 4, 6, ceil 6
        given = attributes([2], [2], pads_begin=[2], pads_end=[5])
        extents = []
        for rounding in ("floor", "ceil"):
            given["rounding_type"] = rounding
            for reading in READINGS["ceil-window-past-input"]:
                result = maximum([1, 2, 3, 4], given, ceil_window_past_input=reading)
                extents.append(len(row(result.expected)))
        assert extents == [5, 5, 5, 6, 5, 3]

    def test_window_wholly_in_the_overhang(self):
        """There is no cell to divide by, not even a pad: undefined with include-pad too."""
        # d = 3, k = 1, s = 3: t = 2, o = 2, the second window 3:4
        given = attributes([1], [3], rounding_type="ceil", exclude_pad=False)
        result = average([1, 2, 3], given)
        assert (row(result.undefined), row(result.divisor)) == ([False, True], [1, 0])

    def test_exact_division_keeps_the_ceil_window_in_the_end_padding(self):
        """`dropped` drops one window only, also where the division is exact."""
        # d = 2, k = 1, s = 1, end pad 2: t = 3, o = 4, windows 2:3 and 3:4 are padding
        given = attributes([1], [1], pads_end=[2], rounding_type="ceil")
        assert row(maximum([1, 2], given).undefined) == [False, False, True, True]
        dropped = maximum([1, 2], given, ceil_window_past_input="dropped")
        assert row(dropped.undefined) == [False, False, True]
        all_dropped = maximum([1, 2], given, ceil_window_past_input="all-dropped")
        assert row(all_dropped.undefined) == [False, False]

    def test_ngraph_counts_any_number_of_axes(self):
        """Four spatial axes of 2 and a window of 2 on each: the mean of 16 cells."""
        data = np.arange(16, dtype=np.float64).reshape(1, 1, 2, 2, 2, 2)
        result = oracle("nGraph-AvgPool", [data], {"window_shape": [2, 2, 2, 2]})
        assert result.expected.tolist() == [[[[[[7.5]]]]]]  # (0 + ... + 15) / 16 = 120 / 16

    def test_batches_and_channels_stay_apart(self):
        """Each row of each batch and channel has its own mean."""
        data = array([[[1, 3], [5, 7]], [[9, 11], [13, 15]]])
        result = oracle("AvgPool-1", [data], attributes([2], [1]))
        assert result.expected.tolist() == [[[2], [6]], [[10], [14]]]


class TestValues:
    """Exact values, one rounding, special values."""

    @pytest.mark.parametrize(("dtype", "p"), [(name, FORMATS[name][0]) for name in FORMATS])
    def test_ties_go_to_even(self, dtype, p):
        """At 2**p neighbours are 2 apart, so a mean of neighbours is a tie."""
        base, pair = 2**p, attributes([2], [1])
        # base + 1 lies between base (an even count of twos) and base + 2 (odd)
        assert row(average([base, base + 2], pair, dtype).expected) == [base]
        # base + 3 lies between base + 2 (odd) and base + 4 (even)
        assert row(average([base + 2, base + 4], pair, dtype).expected) == [base + 4]
        assert row(average([-base, -base - 2], pair, dtype).expected) == [-base]
        # base + 4/3 is past the tie
        three = average([base + 2, base, base + 2], attributes([3], [1]), dtype)
        assert row(three.expected) == [base + 2]
        assert three.exact[0, 0, 0] == Fraction(3 * base + 4, 3)

    @pytest.mark.parametrize("dtype", FORMATS)
    def test_subnormals_round_the_same_way(self, dtype):
        """Half of the smallest subnormal is a tie with 0, half of three of them with 2."""
        tiny, pair = 2.0 ** FORMATS[dtype][1], attributes([2], [1])
        assert row(average([tiny, 0], pair, dtype).expected) == [0]  # 0.5 -> 0
        assert row(average([3 * tiny, 0], pair, dtype).expected) == [2 * tiny]  # 1.5 -> 2
        third = attributes([3], [1])
        assert row(average([tiny, tiny, 0], third, dtype).expected) == [tiny]  # 0.67 -> 1

    @pytest.mark.parametrize("dtype", FORMATS)
    def test_a_subnormal_rounds_up_to_a_normal(self, dtype):
        """Half way between the largest subnormal and the smallest normal is a tie: the latter."""
        p, lowest, _ = FORMATS[dtype]
        normal, tiny = 2.0 ** (lowest + p - 1), 2.0**lowest
        result = average([normal - tiny, normal], attributes([2], [1]), dtype)
        assert row(result.expected) == [normal]

    @pytest.mark.parametrize("dtype", FORMATS)
    def test_the_sum_may_overflow(self, dtype):
        """The mean of the largest finite value twice is that value."""
        p, _, top = FORMATS[dtype]
        largest = math.ldexp(2**p - 1, top - p)
        assert row(average([largest] * 2, attributes([2], [1]), dtype).expected) == [largest]

    @pytest.mark.parametrize("dtype", FORMATS)
    def test_rounding_past_the_largest_value(self, dtype):
        """From half a unit past the largest finite value on, the result is infinite."""
        p, _, top = FORMATS[dtype]
        largest, unit = Fraction(2) ** top - Fraction(2) ** (top - p), Fraction(2) ** (top - p)
        element = array([0], dtype).dtype
        assert rounded(largest + unit / 2, element) == INF
        assert rounded(-largest - unit / 2, element) == -INF
        assert float(rounded(largest + unit / 2 - Fraction(1, 10**6), element)) == largest

    @given(st.integers(-(10**30), 10**30), st.integers(1, 10**30))
    def test_rounding_agrees_with_true_division(self, numerator, denominator):
        """Division of Python integers is correctly rounded to float64 as well."""
        exact = Fraction(numerator, denominator)
        assert rounded(exact, np.dtype("float64")) == numerator / denominator

    @given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["f2", "f4"]))
    def test_rounding_agrees_with_numpy(self, value, dtype):
        """The conversion of numpy from float64 rounds once, to nearest even."""
        with np.errstate(all="ignore"):
            converted = np.float64(value).astype(dtype)
        assert rounded(Fraction(value), np.dtype(dtype)) == converted

    @pytest.mark.parametrize(
        ("values", "mean"),
        [
            ([NAN, 1], NAN),
            ([NAN, INF], NAN),
            ([INF, -INF], NAN),
            ([INF, 1], INF),
            ([-INF, 1], -INF),
            ([INF, INF], INF),
        ],
    )
    def test_special_values_in_a_mean(self, values, mean):
        """Any NaN or both infinities make NaN, else an infinity stays."""
        result = average(values, attributes([2], [1]))
        np.testing.assert_array_equal(result.expected, array([[[mean]]]))
        assert result.exact[0, 0, 0] == str(mean)

    @pytest.mark.parametrize(
        ("values", "propagated", "ignored"),
        [
            ([NAN, 1], NAN, 1),
            ([-INF, -INF], -INF, -INF),
            ([-INF, -5], -5, -5),
            ([INF, 1], INF, INF),
            ([NAN, -INF], NAN, -INF),
        ],
    )
    def test_special_values_in_a_maximum(self, values, propagated, ignored):
        """NaN propagates or is ignored; -inf is an ordinary smallest value."""
        for reading, expected in (("propagates", propagated), ("ignored", ignored)):
            result = maximum(values, attributes([2], [1]), nan_in_maximum=reading)
            np.testing.assert_array_equal(result.expected, array([[[expected]]]))

    def test_a_window_of_nan_alone(self):
        """Under `ignored` a window of NaN alone is undefined."""
        result = maximum([NAN, NAN, 1], attributes([2], [1]), nan_in_maximum="ignored")
        assert row(result.undefined) == [True, False]

    def test_a_maximum_ignores_the_padding(self):
        """Padding never wins against negative cells, and padding alone is undefined."""
        given = attributes([1], [1], pads_begin=[1])
        result = maximum([-3, -2], given)
        assert row(result.undefined) == [True, False, False]
        assert row(result.expected)[1:] == [-3, -2]

    def test_a_maximum_of_integers(self):
        """Integers beyond the precision of float64 stay exact."""
        big = 2**62
        assert row(maximum([big, big + 1], attributes([2], [1]), "int64").expected) == [big + 1]

    def test_the_measures_of_a_mean(self):
        """Zeros are not addends; the magnitude is the mean of the absolute values."""
        result = average([3, 0, -4, 0.0, -0.0], attributes([5], [1]))
        assert (row(result.addends), row(result.divisor)) == ([2], [5])
        assert (row(result.magnitude), row(result.exact)) == ([Fraction(7, 5)], [Fraction(-1, 5)])

    def test_the_measures_of_a_maximum(self):
        """A maximum has no addends, divisor 1 and magnitude 0."""
        result = maximum([3, 4], attributes([2], [1]))
        assert (row(result.addends), row(result.divisor), row(result.magnitude)) == ([0], [1], [0])


VALID = attributes([2], [1])


class TestRefusals:
    """Cases without an answer."""

    @pytest.mark.parametrize(
        ("shape", "given"),
        [
            ((1, 1, 2), attributes([3], [1])),
            ((1, 1, 2), attributes([3], [1], auto_pad="valid", pads_end=[9])),
            ((1, 1, 2), attributes([5], [2], pads_end=[2], rounding_type="ceil")),
            ((0, 1, 2), VALID),
            ((1, 0, 2), VALID),
            ((1, 1, 0), VALID),
        ],
        ids=str,
    )
    def test_whole_case_undefined(self, shape, given):
        """The kernel is longer than the padded axis, or a dimension is empty."""
        with pytest.raises(WholeCaseUndefined):
            oracle("AvgPool-1", [np.zeros(shape, np.float32)], given)

    def test_integer_averages_are_undefined(self):
        """Only nGraph admits any type, and says nothing of rounding."""
        with pytest.raises(WholeCaseUndefined):
            oracle("nGraph-AvgPool", [np.ones((1, 1, 2), np.int32)], {"window_shape": [2]})

    def test_an_empty_output(self):
        """An output size of 0 is an empty dimension."""
        with pytest.raises(WholeCaseUndefined):
            adaptive([1, 2], 0)

    def test_invalid_comes_before_undefined(self):
        """Attributes are judged before shapes."""
        with pytest.raises(ValueError, match="strides"):
            oracle("AvgPool-1", [np.zeros((0, 1, 2), np.float32)], VALID | {"strides": [0]})

    def test_mistakes_in_tests_are_not_value_errors(self):
        """An unknown operator or reading is nobody's right answer."""
        with pytest.raises(LookupError):
            oracle("AvgPool-2", [], {})
        with pytest.raises(LookupError):
            average([1, 2], VALID, same_output_size="halved")
