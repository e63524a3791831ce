"""Each clause touches the cases its rule names and no others: hand-made cases by reading."""

import math

import numpy as np
import pytest
from support.accepted_answers import disputed, row, values_under, vector
from support.oracle import array
from support.random_cases import pooling

from conformance.dtypes import float_format
from conformance.vector import Arithmetic


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


class TestAccumulator:
    """Sums that come out otherwise in the element type."""

    average = pooling([2], exclude_pad=True)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_types_are_touched(self, dtype):
        """Both bounds are on offer, for the same values."""
        found = row("AvgPool-1", [256, 512, 768], self.average, dtype)
        assert disputed(found) == {"accumulator": ("wider", "element-type")}
        assert [(o.arithmetic, o.readings) for o in found.outcomes] == [
            (Arithmetic(0), ({"accumulator": "wider"},)),
            (Arithmetic.ELEMENT_TYPE, ({"accumulator": "element-type"},)),
        ]

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_others_are_not(self, dtype):
        """Their own type is the widest that is asked for, also where a sum overflows."""
        for value in (0.1, float(np.finfo(dtype).max)):
            assert "accumulator" not in row("AvgPool-1", [value] * 2, self.average, dtype).clauses

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


class TestSumOverflow:
    """Sums beyond the largest number, of means that are not."""

    average = pooling([2], exclude_pad=True)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_every_type_is_touched(self, dtype):
        """Twice the largest number has a mean, but no sum in its own type."""
        largest = float_format(dtype).largest
        small = row("AvgPool-1", [largest / 4] * 2, self.average, dtype)
        assert "sum-overflow" not in small.clauses
        found = row("AvgPool-1", [largest] * 2, self.average, dtype)
        assert found.clauses["sum-overflow"] == ("finite", "overflows")
        assert values_under(found) == [largest]

    @pytest.mark.parametrize(
        ("dtype", "accumulator", "overflow"),
        [
            ("float16", "wider", False),
            ("float16", "element-type", True),
            ("bfloat16", "wider", True),  # float32 has no larger range
            ("bfloat16", "element-type", True),
            ("float32", "wider", True),
            ("float64", "wider", True),
        ],
    )
    def test_only_where_the_accumulator_is_too_narrow(self, dtype, accumulator, overflow):
        """An outcome accepts sums that overflow where those of its accumulator can."""
        found = row("AvgPool-1", [float_format(dtype).largest] * 2, self.average, dtype)
        own = accumulator == "element-type"
        accepting = [
            Arithmetic.OVERFLOWS in outcome.arithmetic
            for outcome in found.outcomes
            if (Arithmetic.ELEMENT_TYPE in outcome.arithmetic) is own
            and any(each["sum-overflow"] == "overflows" for each in outcome.readings)
        ]
        assert accepting == [overflow]

    def test_a_maximum_is_not(self):
        """It has no sum."""
        assert row("MaxPool-1", [6e4, 6e4], pooling([2]), "float16").clauses == {}


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
        assert {o.arithmetic for o in found.outcomes} >= {Arithmetic(0), Arithmetic.FLUSHED}
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

    @pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower"])
    def test_pads_that_same_makes_may_be_refused(self, auto_pad):
        """A kernel of two cells that reaches over five gets two pads at each end."""
        made = pooling([2], dilations=[4], auto_pad=auto_pad)
        found = row("MaxPool-8", [1, 2, 3, 4, 5, 6], made)
        assert disputed(found)["pads-not-below-undilated-kernel"] == ("accepted", "rejected")
        assert [o.kind for o in found.outcomes].count("raises") == 1

    def test_pads_that_same_makes_below_the_kernel_do_not_touch(self):
        """A kernel of two cells that reaches over three gets one pad at each end."""
        made = pooling([2], dilations=[2], auto_pad="same_upper")
        found = row("MaxPool-8", [1, 2, 3, 4, 5, 6], made)
        assert "pads-not-below-undilated-kernel" not in found.clauses


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

    def test_a_window_of_nan_is_not_padding(self):
        """What is undefined where NaN is ignored is part of that reading, not of all-padding."""
        found = row("MaxPool-1", [math.nan, 1], pooling([1]))
        assert "all-padding-maximum" not in found.clauses

    def test_adaptive_windows_never_are(self):
        """Every block has a cell, however many blocks are asked for."""
        found = vector("AdaptiveAvgPool-8", [array([[[1, 2]]]), np.array([7])], {})
        assert found.clauses == {}
