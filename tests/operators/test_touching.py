"""Each clause touches the cases its rule names and no others: hand-made cases by reading."""

from __future__ import annotations

import math

import numpy as np
import pytest
from answers import disputed, row, values_under, vector
from cases import pooling
from hypothesis import given
from hypothesis import strategies as st
from oracle import array


class TestSameOutputSize:
    """same_* and ceil(d / s) != d."""

    @given(d=st.integers(1, 9), k=st.integers(1, 4), s=st.integers(1, 4))
    def test_it_touches_where_the_sizes_differ(self, d, k, s):
        """Only the stride decides, and only for same_*."""
        for auto_pad in ("same_upper", "same_lower", "explicit", "valid"):
            if auto_pad in {"explicit", "valid"} and k > d:
                continue
            found = row("MaxPool-1", [1.0] * d, pooling([k], [s], auto_pad=auto_pad))
            expected = auto_pad.startswith("same") and math.ceil(d / s) != d
            assert ("same-output-size" in found.clauses) == expected

    def test_both_readings_have_values(self):
        """For d = 3, k = 1, s = 2: two windows, or three with T = 2 and the first on padding."""
        found = row("MaxPool-1", [5, 6, 7], pooling([1], [2], auto_pad="same_upper"))
        assert values_under(found, same_output_size="divided") == [5, 7]
        # T = (3 - 1) 2 + 1 - 3 = 2, one on each side: windows at -1, 1, 3
        assert values_under(found, same_output_size="same-as-input") == [None, 6, None]
        assert found.clauses["all-padding-maximum"] == ()


class TestSameWithCeil:
    """same_*, ceil, k < s."""

    @given(d=st.integers(1, 9), k=st.integers(1, 4), s=st.integers(1, 4))
    def test_it_touches_where_rounding_up_adds_a_window(self, d, k, s):
        """A padded input that ends within a stride of the last window gets one more."""
        given_attributes = pooling([k], [s], auto_pad="same_lower", rounding_type="ceil")
        found = row("MaxPool-1", [1.0] * d, given_attributes)
        extent = math.ceil(d / s)
        padded = d + max(0, (extent - 1) * s + k - d)
        expected = k < s and math.ceil((padded - k) / s) + 1 != extent
        assert ("same-with-ceil" in found.clauses) == expected
        given_attributes["rounding_type"] = "floor"
        assert "same-with-ceil" not in row("MaxPool-1", [1.0] * d, given_attributes).clauses

    def test_both_readings_have_values(self):
        """For d = 2, k = 1, s = 3: one window at 0, or one more at 3 that holds nothing."""
        attributes = pooling([1], [3], auto_pad="same_upper", rounding_type="ceil")
        found = row("MaxPool-1", [5, 6], attributes)
        divided = {"same_output_size": "divided"}
        assert values_under(found, same_with_ceil="rounding-ignored", **divided) == [5]
        assert values_under(found, same_with_ceil="rounding-applied", **divided) == [5, None]


class TestCeilWindowPastInput:
    """ceil and (o - 1) s >= d + begin."""

    @given(d=st.integers(1, 9), k=st.integers(1, 4), s=st.integers(1, 4), pads=st.data())
    def test_it_touches_where_the_last_window_starts_past_the_input(self, d, k, s, pads):
        """In the end padding or beyond it, with ceil alone."""
        begin, end = (pads.draw(st.integers(0, k - 1)) for _ in range(2))
        room = d + begin + end - k
        if room < 0:
            return
        given_attributes = pooling([k], [s]) | {"pads_begin": [begin], "pads_end": [end]}
        ceil = row("MaxPool-1", [1.0] * d, given_attributes | {"rounding_type": "ceil"})
        last = math.ceil(room / s) * s
        assert ("ceil-window-past-input" in ceil.clauses) == (last >= d + begin)
        floor = row("MaxPool-1", [1.0] * d, given_attributes)
        assert "ceil-window-past-input" not in floor.clauses

    def test_both_readings_have_values(self):
        """For d = 3, k = 2, s = 3, end 1: ceil(2 / 3) + 1 = 2 windows, the second at 3."""
        attributes = pooling([2], [3], rounding_type="ceil") | {"pads_end": [1]}
        found = row("MaxPool-1", [5, 6, 7], attributes)
        assert list(disputed(found)) == ["ceil-window-past-input"]
        assert values_under(found, ceil_window_past_input="kept") == [6, None]
        assert values_under(found, ceil_window_past_input="dropped") == [6]


class TestOverhangDivisor:
    """exclude_pad=false, ceil overhang, some pad that is not zero."""

    attributes = pooling([2], [2], rounding_type="ceil", exclude_pad=False)

    def test_both_readings_have_values(self):
        """For d = 4, begin 1: windows -1:1, 1:3, 3:5, the last half overhanging."""
        found = row("AvgPool-1", [4, 4, 4, 4], self.attributes | {"pads_begin": [1]})
        assert list(disputed(found)) == ["overhang-divisor"]
        assert values_under(found, overhang_divisor="padded-extent") == [2, 4, 4]
        assert values_under(found, overhang_divisor="whole-kernel") == [2, 4, 2]

    @pytest.mark.parametrize(
        "changes",
        [
            {"pads_begin": [0]},  # no padding: a ruling, not a dispute
            {"exclude_pad": True},
            {"rounding_type": "floor"},
            {"pads_end": [1]},  # 6 cells: the last window fits
            {"auto_pad": "valid"},
        ],
    )
    def test_anything_less_leaves_it_alone(self, changes):
        """Each condition is needed."""
        attributes = self.attributes | {"pads_begin": [1]} | changes
        assert "overhang-divisor" not in row("AvgPool-1", [4] * 4, attributes).clauses

    def test_padding_of_another_axis_counts(self):
        """Some pad on any axis is enough for the overhang of another."""
        attributes = pooling([2, 1], [2, 1], rounding_type="ceil", exclude_pad=False)
        data = [np.full((1, 1, 3, 3), 6, np.float32)]
        assert vector("AvgPool-1", data, attributes).clauses == {}
        found = vector("AvgPool-1", data, attributes | {"pads_end": [0, 1]})
        assert "overhang-divisor" in found.clauses


class TestNan:
    """A NaN in a window of a maximum."""

    def test_both_readings_have_values(self):
        """It is the maximum, or no candidate; a window of NaN alone is then undefined."""
        found = row("MaxPool-1", [1, math.nan, math.nan, 2], pooling([2]))
        assert list(disputed(found)) == ["nan-in-maximum"]
        propagated = values_under(found, nan_in_maximum="propagates")
        assert all(math.isnan(value) for value in propagated)
        assert values_under(found, nan_in_maximum="ignored") == [1, None, 2]

    def test_a_nan_that_no_window_reads_is_no_dispute(self):
        """It lies between two windows."""
        assert row("MaxPool-1", [1, math.nan, 2], pooling([1], [2])).clauses == {}

    def test_a_window_of_nan_is_not_padding(self):
        """What is undefined under `ignored` is part of that reading, not of all-padding."""
        found = row("MaxPool-1", [math.nan, 1], pooling([1]))
        assert "all-padding-maximum" not in found.clauses

    def test_averages_have_no_dispute(self):
        """A sum with a NaN is a NaN."""
        found = row("AvgPool-1", [1, math.nan], pooling([2], exclude_pad=True))
        assert "nan-in-maximum" not in found.clauses


class TestAccumulator:
    """Sums that come out otherwise in the element type."""

    average = pooling([2], exclude_pad=True)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_types_are_touched(self, dtype):
        """Both bounds are on offer, for the same values."""
        found = row("AvgPool-1", [256, 512, 768], self.average, dtype)
        assert disputed(found) == {"accumulator": ("wider", "element-type")}
        assert [(o.accumulator, o.readings) for o in found.outcomes] == [
            ("wider", ({"accumulator": "wider"},)),
            ("element-type", ({"accumulator": "element-type"},)),
        ]

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_others_are_touched_where_a_sum_overflows(self, dtype):
        """Twice the largest number has a mean, but no sum in its own type."""
        largest = float(np.finfo(dtype).max)
        assert disputed(row("AvgPool-1", [largest / 4] * 2, self.average, dtype)) == {}
        found = row("AvgPool-1", [largest] * 2, self.average, dtype)
        assert list(disputed(found)) == ["accumulator"]
        assert values_under(found) == [largest]

    def test_zeros_are_not(self):
        """A sum of zeros is the same in every type."""
        assert row("AvgPool-1", [0, 0], self.average, "float16").clauses == {}

    def test_a_maximum_is_not(self):
        """It has no sum."""
        assert row("MaxPool-1", [6e4, 6e4], pooling([2]), "float16").clauses == {}

    def test_more_addends_than_the_bound_can_judge_are_not(self):
        """200 addends in bfloat16 have no bound for sums in that type: held to wider sums."""
        found = row("AvgPool-1", [256.0] * 200, pooling([200], exclude_pad=True), "bfloat16")
        assert "accumulator" not in found.clauses


class TestSubnormals:
    """Subnormal inputs or results."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
    def test_a_subnormal_input_touches(self, operator, dtype):
        """Half the smallest normal number may count as zero."""
        normal = {"float16": 2.0**-14, "float64": 2.0**-1022}.get(dtype, 2.0**-126)
        attributes = pooling([1]) | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
        found = row(operator, [normal / 2], attributes, dtype)
        assert found.clauses["subnormals"] == ("kept", "flushed")
        assert {o.subnormals for o in found.outcomes} == {"kept", "flushed"}
        kept = row(operator, [1.0], attributes, "float32")
        assert kept.clauses == {}

    def test_a_subnormal_result_touches(self):
        """The smallest normal number over two is subnormal."""
        found = row("AvgPool-1", [2.0**-126, 0.0], pooling([2], exclude_pad=True))
        assert "subnormals" in found.clauses

    def test_normal_maxima_do_not(self):
        """A maximum makes no number that was not there."""
        assert row("MaxPool-1", [2.0**-126, -1.0], pooling([2])).clauses == {}


class TestPads:
    """pads >= kernel on an axis."""

    @pytest.mark.parametrize(
        ("operator", "attributes"),
        [
            ("MaxPool-1", pooling([2]) | {"pads_end": [2]}),
            ("AvgPool-1", pooling([2], exclude_pad=False) | {"pads_begin": [3]}),
            ("nGraph-AvgPool", {"window_shape": [2], "padding_above": [2]}),
        ],
    )
    def test_a_refusal_conforms_too(self, operator, attributes):
        """An exception is one more outcome, the values stay."""
        found = row(operator, [1, 2, 3], attributes)
        assert disputed(found)["pads-not-below-kernel"] == ("accepted", "rejected")
        assert [o.kind for o in found.outcomes].count("raises") == 1
        assert found.outcomes[0].kind == "values"

    @pytest.mark.parametrize(
        ("kernel", "changes"),
        [
            (3, {"pads_end": [2]}),
            (2, {"pads_end": [2], "auto_pad": "valid"}),
            (2, {"pads_end": [2], "auto_pad": "same_upper"}),
        ],
    )
    def test_smaller_or_ignored_pads_do_not_touch(self, kernel, changes):
        """Pads given for nothing are not refused."""
        found = row("MaxPool-1", [1, 2, 3], pooling([kernel]) | changes)
        assert "pads-not-below-kernel" not in found.clauses


class TestAllPadding:
    """Windows without an input cell."""

    def test_an_average_without_padding_in_the_divisor(self):
        """The window of padding alone is undefined, its neighbours are not."""
        attributes = pooling([1], exclude_pad=True) | {"pads_begin": [1]}
        found = row("AvgPool-1", [4, 6], attributes)
        assert found.clauses["all-padding-average"] == ()
        assert values_under(found) == [None, 4, 6]

    def test_an_average_with_padding_in_the_divisor_is_zero(self):
        """Zero over its cells is defined."""
        attributes = pooling([1], exclude_pad=False) | {"pads_begin": [1]}
        found = row("AvgPool-1", [4, 6], attributes)
        assert "all-padding-average" not in found.clauses
        assert values_under(found) == [0, 4, 6]

    def test_a_maximum(self):
        """A maximum of nothing is undefined."""
        found = row("MaxPool-1", [4, 6], pooling([1]) | {"pads_end": [1]}, "int32")
        assert found.clauses["all-padding-maximum"] == ()
        assert values_under(found) == [4, 6, None]

    def test_adaptive_windows_never_are(self):
        """Every block has a cell, however many blocks are asked for."""
        found = vector("AdaptiveAvgPool-8", [array([[[1, 2]]]), np.array([7])], {})
        assert found.clauses == {}
