"""The oracle against values worked out by hand; the arithmetic stands beside each."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import FORMATS, READINGS, array, oracle, plan, rounded

INF = math.inf


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


def row(output: Any) -> list[Any]:
    """Return the only row of an output."""
    return output[0, 0].tolist()


class TestGeometry:
    """Windows, divisors and the readings that move them."""

    def test_adaptive_11_to_7(self):
        """The block bounds are exact integers where float32 arithmetic goes wrong."""
        # starts floor(11 i / 7): 0, 1.57, 3.14, 4.71, 6.29, 7.86, 9.43
        # ends ceil(11 (i + 1) / 7): 1.57, 3.14, 4.71, 6.29, 7.86, 9.43, 11
        inputs = [np.zeros((1, 1, 11), np.float32), np.array([7])]
        (axis,) = plan("AdaptiveAvgPool-8", inputs, {}).axes
        bounds = [(w.inside[0], w.inside[-1] + 1) for w in axis]
        assert bounds == [(0, 2), (1, 4), (3, 5), (4, 7), (6, 8), (7, 10), (9, 11)]

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


VALID = attributes([2], [1])


class TestRefusals:
    """Cases without an answer."""

    def test_mistakes_in_tests_are_not_value_errors(self):
        """An unknown operator or reading is nobody's right answer."""
        with pytest.raises(LookupError):
            oracle("AvgPool-2", [], {})
        with pytest.raises(LookupError):
            average([1, 2], VALID, same_output_size="halved")
