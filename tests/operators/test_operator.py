"""Operators as values: what they refuse to be, how one extends another, and two languages."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operators import (
    AUTO_PADS,
    MAXIMUM,
    OPERATORS,
    ROUNDINGS,
    Attribute,
    Operator,
    Output,
    sliding,
)

AVERAGE = OPERATORS["AvgPool-1"]
KERNEL = Attribute("size", "kernel", "s", least=1)
ONE_LIST = Operator(
    "OneList-1",
    "a document with pads in one list",
    MAXIMUM,
    (
        KERNEL,
        Attribute("pads", "pads", "s", default=0),
        Attribute("up", "rounding", "s", default=0, values={0: "floor", 1: "ceil"}),
    ),
    sliding(MAXIMUM),
)


class TestAttribute:
    """An attribute says what its values mean."""

    @pytest.mark.parametrize(
        ("role", "changes", "why"),
        [
            ("width", {}, "no role 'width'"),
            ("output", {}, "no role 'output'"),
            ("rounding", {}, "values mean"),
            ("rounding", {"values": {1: "up"}}, "values mean"),
            ("kernel", {"values": ROUNDINGS}, "values mean"),
            ("auto_pad", {"values": AUTO_PADS, "default": "same"}, "default is one of"),
        ],
    )
    def test_what_no_attribute_can_say_is_refused(self, role, changes, why):
        """The error names the attribute."""
        with pytest.raises(ValueError, match=rf"attribute 'key': .*{why}"):
            Attribute("key", role, "s", **changes)

    def test_true_is_not_one(self):
        """Values are told apart by type, as documents do."""
        flag = Attribute("flag", "include_pad", "s", values={True: True, False: False})
        number = Attribute("number", "rounding", "s", values={0: "floor", 1: "ceil"})
        assert flag.check(True, 1) is True
        for attribute, value in ((flag, 1), (number, True), (number, 1.0)):
            with pytest.raises(ValueError, match="must be"):
                attribute.check(value, 1)


class TestOperator:
    """An operator is checked when it is made."""

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"name": "two words"}, "name"),
            ({"name": "../up"}, "name"),
            ({"attributes": (KERNEL, KERNEL)}, "same key"),
            ({"attributes": (KERNEL, dataclasses.replace(KERNEL, key="other"))}, "same role"),
            ({"outputs": ()}, "at least one output"),
            ({"dtypes": ("complex64",)}, "element types"),
            ({"input_names": ("a", "b", "c")}, "inputs"),
            ({"axes": (0, 3)}, "spatial axis"),
        ],
    )
    def test_what_no_operator_can_be_is_refused(self, changes, why):
        """The error names the operator and the rule."""
        with pytest.raises(ValueError, match=rf"operator .*{why}"):
            dataclasses.replace(AVERAGE, **changes)

    def test_outputs_of_a_sum_are_compared_within_its_bound_unless_it_says_otherwise(self):
        """The first is; others, and those of a reduction that chooses a cell, are exact."""
        outputs = (Output("first"), Output("second"), Output("third", comparison="bound"))
        summed = dataclasses.replace(AVERAGE, outputs=outputs)
        chosen = dataclasses.replace(ONE_LIST, outputs=outputs[:2])
        assert [each.comparison for each in summed.outputs] == ["bound", "exact", "bound"]
        assert [each.comparison for each in chosen.outputs] == ["exact", "exact"]

    def test_one_that_extends_another_says_only_what_it_adds(self):
        """Attributes of the same key are said anew; all else stays, but for the examples."""
        zeros = Attribute("pads_begin", "pads_begin", "new", default=0)
        newer = AVERAGE.extended(zeros, name="AvgPool-99", document="a newer document")
        assert newer.attribute("pads_begin") is zeros
        assert [each.key for each in newer.attributes] == [each.key for each in AVERAGE.attributes]
        assert newer.pipeline is AVERAGE.pipeline
        assert newer.examples == ()


class TestTranslation:
    """A document's attributes and `Params` say the same."""

    @given(
        kernel=st.lists(st.integers(1, 9), min_size=2, max_size=2),
        begin=st.lists(st.integers(0, 9), min_size=2, max_size=2),
        end=st.lists(st.integers(0, 9), min_size=2, max_size=2),
        rounding=st.sampled_from(list(ROUNDINGS)),
    )
    def test_what_is_said_in_roles_is_understood(self, kernel, begin, end, rounding):
        """Pads in one list are all begins and then all ends; words are spelled anew."""
        said = {"kernel": kernel, "pads_begin": begin, "pads_end": end, "rounding": rounding}
        attributes = ONE_LIST.attributes_of(said)
        assert attributes == {
            "size": kernel,
            "pads": begin + end,
            "up": {"floor": 0, "ceil": 1}[rounding],
        }
        data = np.zeros((1, 1, 20, 20), np.float32)
        params = ONE_LIST.validate([data], attributes)
        assert {role: getattr(params, role) for role in said} == {
            "kernel": tuple(kernel),
            "pads_begin": tuple(begin),
            "pads_end": tuple(end),
            "rounding": rounding,
        }

    def test_what_a_document_cannot_say_is_left_out(self):
        """It has no attribute for it."""
        assert ONE_LIST.attributes_of({"kernel": (2,), "strides": (3,)}) == {"size": [2]}

    def test_windows_have_strides_and_pads_without_attributes_for_them(self):
        """They are next to one another, and nothing is padded."""
        operator = dataclasses.replace(ONE_LIST, attributes=(KERNEL,))
        params = operator.validate([np.zeros((1, 1, 5), np.float32)], {"size": [2]})
        assert (params.strides, params.pads_begin, params.pads_end) == ((1,), (0,), (0,))

    def test_the_length_of_pads_in_one_list_is_twice_the_axes(self):
        """The error says so."""
        with pytest.raises(ValueError, match="must be a list of 2 integers >= 0, two per spatial"):
            ONE_LIST.validate([np.zeros((1, 1, 5), np.float32)], {"size": [2], "pads": [1]})
