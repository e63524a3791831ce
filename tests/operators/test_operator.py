"""Operators as values: what they refuse to be, how one extends another, and two languages."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operators import (
    AUTO_PADS,
    MAXIMUM,
    NORM,
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
            ("rounding", {}, "values mean"),
            ("rounding", {"values": {1: "up"}}, "values mean"),
            ("kernel", {"values": ROUNDINGS}, "values mean"),
            ("auto_pad", {"values": AUTO_PADS, "default": "same"}, "default is one of"),
        ],
    )
    def test_what_no_attribute_can_say_is_refused(self, role, changes, why):
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

    @pytest.mark.parametrize("of", [MAXIMUM, NORM])
    def test_the_pipeline_of_another_reduction_is_refused(self, of):
        """It would compute one thing and be judged as another."""
        with pytest.raises(ValueError, match=f"its pipeline is that of the reduction {of.name}"):
            dataclasses.replace(AVERAGE, pipeline=sliding(of), constants={})

    def test_one_that_extends_another_says_only_what_it_adds(self):
        """Attributes of the same key are said anew; all else stays, but for the examples."""
        zeros = Attribute("pads_begin", "pads_begin", "new", default=0)
        newer = AVERAGE.extended(zeros, name="AvgPool-99", document="a newer document")
        assert newer.attribute("pads_begin") is zeros
        assert [each.key for each in newer.attributes] == [each.key for each in AVERAGE.attributes]
        assert newer.pipeline is AVERAGE.pipeline
        assert newer.examples == ()


LEFT_OPEN = {
    "exponent": {"reduction": NORM, "pipeline": sliding(NORM)},
    "include_pad": {"without": "include_pad"},
    "kernel": {"without": "kernel"},
    "index_axis": {"outputs": (Output("value"), Output("index", "int64", is_index=True))},
    "index_type": {"outputs": (Output("value"), Output("index", ("int32", "int64")))},
}
"""Changes of AvgPool-1 that leave a value open, by its role."""


def left_open(role, **further):
    """Return AvgPool-1 with a change that leaves a role open."""
    changes = {**LEFT_OPEN[role], **further}
    gone = changes.pop("without", None)
    attributes = tuple(each for each in AVERAGE.attributes if each.role != gone)
    return dataclasses.replace(AVERAGE, attributes=attributes, examples=(), **changes)


class TestConstants:
    """What the values depend on is an attribute, or a constant of the document."""

    @pytest.mark.parametrize("role", LEFT_OPEN)
    def test_an_operator_that_leaves_it_open_is_refused(self, role):
        """The error names the role."""
        with pytest.raises(ValueError, match=rf"no attribute and no constant .* role {role}$"):
            left_open(role)

    @pytest.mark.parametrize(
        ("role", "value"),
        [("exponent", 2), ("include_pad", True), ("index_axis", 2), ("index_type", "int32")],
    )
    def test_a_constant_states_it(self, role, value):
        """It is the parameter of every case."""
        fixed = left_open(role, constants={role: value})
        given = {"strides": [1], "pads_begin": [0], "pads_end": [0], "kernel": [2]}
        given |= {} if role == "include_pad" else {"exclude_pad": True}
        params = fixed.validate([np.zeros((1, 1, 5), np.float32)], given)
        assert getattr(params, role) == value

    @pytest.mark.parametrize(
        ("constants", "why"),
        [
            ({"exponent": 0}, "makes a norm"),
            ({"exponent": 2.0}, "must be an integer"),
            ({"index_axis": True}, "must be an integer"),
            ({"rounding": "up"}, "must be one of"),
            ({"storage_order": 0}, "must be one of"),
            ({"kernel": 2}, "has one of the roles"),
            ({"width": 2}, "has one of the roles"),
            ({"include_pad": True}, "the role of an attribute"),
        ],
    )
    def test_what_no_document_can_fix_is_refused(self, constants, why):
        """The error says what a constant may be."""
        with pytest.raises(ValueError, match=rf"operator 'AvgPool-1': .*{why}"):
            dataclasses.replace(AVERAGE, constants=constants)

    def test_an_attribute_of_a_newer_document_replaces_a_constant(self):
        """The older one is unchanged."""
        fixed = left_open("include_pad", constants={"include_pad": True})
        attribute = AVERAGE.attribute("include_pad")
        newer = fixed.extended(attribute, name="AvgPool-99", document="a newer document")
        assert newer.constants == {}
        assert fixed.constants == {"include_pad": True}


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
