"""Older versions of ONNX's documents: what they have, and where their answers are others."""

import numpy as np
import pytest
from support.oracle import ONNX_SINCE, ONNX_VERSIONS, array

from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, clauses_of, disputed_of, evaluate, vector_of
from conformance.vector import Case

ROW = array([[[1, 2, 3, 4, 5, 6]]], "float32")
OLDER = [name for name, operator in OPERATORS.items() if operator.newer is not None]


def values(operator, data, readings=None, **attributes):
    """Return the first output of a row, as a list."""
    outputs = evaluate(operator, [data], attributes, readings)
    return (outputs[0] if isinstance(outputs, tuple) else outputs)[0, 0].tolist()


def vector(operator, data, **attributes):
    """Return the vector of a case."""
    return vector_of(Case("case", operator, attributes, (data,)))


def test_the_versions_are_those_of_onnx():
    """Each but the newest of every kind; MaxUnpool has its newest alone."""
    named = {f"ONNX-{kind}-{n}" for kind, versions in ONNX_VERSIONS.items() for n in versions}
    assert set(OLDER) == named
    assert all(OPERATORS[name].newest.name.endswith("-22") for name in OLDER)


@pytest.mark.needs_engine("onnx")
def test_attributes_defaults_types_and_outputs_are_those_of_the_schema():
    """As the package onnx has them; a default that it lacks is ruled."""
    from onnx import defs, helper  # noqa: PLC0415 - an optional dependency

    names = {"float16": "float16", "float32": "float", "float64": "double"}
    for name in OLDER:
        operator = OPERATORS[name]
        _, kind, version = name.split("-")
        schema = defs.get_schema(kind, int(version), "")
        assert {each.key for each in operator.attributes} == set(schema.attributes), name
        for attribute in operator.attributes:
            declared = schema.attributes[attribute.key]
            assert attribute.required == declared.required, (name, attribute.key)
            if declared.default_value.type:
                default = helper.get_attribute_value(declared.default_value)
                text = default.decode() if isinstance(default, bytes) else default
                assert attribute.default == text, (name, attribute.key)
        types = {f"tensor({names.get(dtype, dtype)})" for dtype in operator.dtypes}
        assert types == set(schema.type_constraints[0].allowed_type_strs), name
        assert len(operator.outputs) == schema.max_output, name


def test_an_older_version_is_the_next_newer_one_without_what_came_later():
    """No other part of it is new, but for clauses, types, and what an attribute means."""
    for kind, since in ONNX_SINCE.items():
        for version in ONNX_VERSIONS[kind]:
            operator = OPERATORS[f"ONNX-{kind}-{version}"]
            keys = {attribute.key for attribute in operator.attributes}
            assert keys - {"kernel_shape", "strides", "pads", "auto_pad"} == {
                key for key, first in since.items() if first <= version
            }
            assert not operator.has_gradient
            assert operator.levels == "least"


def test_version_makes_an_operator_without_attributes_and_with_changed_ones():
    newest = OPERATORS["ONNX-AveragePool-22"]
    rounding = OPERATORS["ONNX-AveragePool-19"].attribute("rounding")
    older = newest.version(20, rounding, without=("dilations",), dtypes=("float32",))
    assert (older.name, older.document) == ("ONNX-AveragePool-20", "ONNX AveragePool-20")
    assert older.attribute("dilations") is None
    assert older.attribute("rounding") is rounding
    assert older.newer is newest
    assert older.version(18).newest is newest
    assert newest.newest is newest
    assert older.extended(name="ONNX-AveragePool-99", document="another").newer is None


# (4 + 0 + 3 - 2) / 3 rounded up + 1 is 3: windows at 0, 3 and 6, past 4 cells.
PAST = {"kernel_shape": [2], "strides": [3], "pads": [0, 3], "ceil_mode": 1}


class TestCeilMode:
    """Windows that start in the end padding, which version 22 ignores."""

    @pytest.mark.parametrize("version", [10, 11, 19])
    def test_averages_have_such_windows_or_none(self, version):
        name, data = f"ONNX-AveragePool-{version}", ROW[..., :4]
        found = vector(name, data, count_include_pad=1, **PAST)
        assert found.clauses["ceil-window-past-input"] == ("kept", "dropped", "all-dropped")
        shapes = {outcome.outputs[0].values.shape[2] for outcome in found.values}
        assert shapes == {2, 3}
        counted = PAST | {"count_include_pad": 1}
        assert values(name, data, **counted) == [1.5, 2, 0]
        dropped = {"ceil-window-past-input": "dropped"}
        assert values(name, data, dropped, **counted) == [1.5, 2]
        assert values("ONNX-AveragePool-22", data, **counted) == [1.5, 2]

    @pytest.mark.parametrize("version", [10, 11, 12])
    def test_maxima_have_such_windows_or_none(self, version):
        found = vector(f"ONNX-MaxPool-{version}", ROW[..., :4], **PAST)
        assert {outcome.outputs[0].values.shape[2] for outcome in found.values} == {2, 3}
        assert "all-padding-maximum" in found.clauses


class TestAutoPadOfAveragePool11:
    """Its formulas without ceil_mode have another floor."""

    def test_valid_keeps_the_last_window_that_fits_or_not(self):
        # Windows of 2 at 0, 2 and 4 fit into 6; floor((6 - 2 + 1) / 2) is 2.
        given = {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID"}
        found = vector("ONNX-AveragePool-11", ROW, **given)
        assert found.clauses["onnx-valid-floor"] == ("all-that-fit", "as-printed")
        assert values("ONNX-AveragePool-11", ROW, **given) == [1.5, 3.5, 5.5]
        printed = {"onnx-valid-floor": "as-printed"}
        assert values("ONNX-AveragePool-11", ROW, printed, **given) == [1.5, 3.5]

    def test_valid_is_as_in_other_versions_where_the_formulas_agree(self):
        # floor((6 - 3 + 1) / 2) and floor((6 - 3) / 2) + 1 are 2.
        given = {"kernel_shape": [3], "strides": [2], "auto_pad": "VALID"}
        assert "onnx-valid-floor" not in vector("ONNX-AveragePool-11", ROW, **given).clauses

    def test_without_windows_as_printed_an_exception_is_right_too(self):
        # floor((2 - 2 + 1) / 2) is 0.
        given = {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID"}
        found = vector("ONNX-AveragePool-11", ROW[..., :2], **given)
        assert [outcome.kind for outcome in found.outcomes] == ["values", "raises"]

    def test_pads_in_place_of_valid_are_not_rounded_so(self):
        given = {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID", "pads": [0, 0]}
        readings = {"onnx-valid-floor": "as-printed", "pads-with-auto-pad": "used"}
        assert values("ONNX-AveragePool-11", ROW, readings, **given) == [1.5, 3.5, 5.5]

    def test_same_has_the_size_that_the_text_of_auto_pad_says(self):
        # ceil(5 / 2) is 3, floor(5 / 2) would be 2.
        given = {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_UPPER"}
        assert values("ONNX-AveragePool-11", ROW[..., :5], **given) == [1.5, 3.5, 5]

    def test_no_other_version_has_the_clause(self):
        named = [name for name in OPERATORS if "onnx-valid-floor" in clauses_of(OPERATORS[name])]
        assert named == ["ONNX-AveragePool-11"]


def test_the_first_average_leaves_padding_out():
    """There is no count_include_pad."""
    given = {"kernel_shape": [2], "pads": [1, 0]}
    assert values("ONNX-AveragePool-1", ROW[..., :2], **given) == [1, 1.5]
    with pytest.raises(InvalidCase, match="no such attribute"):
        values("ONNX-AveragePool-1", ROW, count_include_pad=0, **given)


def test_maxima_have_indices_from_version_8_on():
    assert len(evaluate("ONNX-MaxPool-8", [ROW], {"kernel_shape": [2]})) == 2
    assert isinstance(evaluate("ONNX-MaxPool-1", [ROW], {"kernel_shape": [2]}), np.ndarray)


@pytest.mark.parametrize(("version", "windows"), [(1, {3, 6}), (2, {3, 6}), (11, {3})])
def test_same_of_older_norms_may_be_as_large_as_the_input(version, windows):
    """It is to match the input, and up to version 2 there is no formula."""
    given = {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_UPPER"}
    found = vector(f"ONNX-LpPool-{version}", ROW, **given)
    assert {outcome.outputs[0].values.shape[2] for outcome in found.values} == windows


class TestNormsOfVersion1:
    """p is a float, and kernel_shape may be left out."""

    def test_a_whole_number_is_an_exponent(self):
        assert values("ONNX-LpPool-1", ROW[..., 2:4], kernel_shape=[2], p=2.0) == [5]
        assert values("ONNX-LpPool-1", ROW[..., 2:4], kernel_shape=[2]) == [5]
        assert values("ONNX-GlobalLpPool-1", ROW[..., 2:4], p=1.0) == [7]

    @pytest.mark.parametrize("operator", ["ONNX-LpPool-1", "ONNX-GlobalLpPool-1"])
    @pytest.mark.parametrize("p", [1.5, 0.0, -2.0, 1025.0, float("inf"), float("nan")])
    def test_any_other_leaves_the_whole_case_open(self, operator, p):
        given = {"p": p} | ({"kernel_shape": [2]} if operator == "ONNX-LpPool-1" else {})
        found = vector(operator, ROW, **given)
        assert [outcome.kind for outcome in found.outcomes] == ["anything"]
        assert [*found.clauses] == ["lp-float-exponent"]

    def test_an_integer_is_refused(self):
        with pytest.raises(InvalidCase, match="must be a float"):
            values("ONNX-GlobalLpPool-1", ROW, p=2)

    def test_without_a_kernel_anything_is_right(self):
        found = vector("ONNX-LpPool-1", ROW, strides=[1])
        assert [outcome.kind for outcome in found.outcomes] == ["anything"]
        assert [*found.clauses] == ["lp-without-kernel"]
        with pytest.raises(InvalidCase, match="leaves such a call open"):
            evaluate("ONNX-LpPool-1", [ROW], {})
        assert vector("ONNX-LpPool-1", ROW, strides=[0]).outcomes[0].kind == "raises"


def test_bfloat16_came_with_version_22():
    data = array([[[1, 2]]], "bfloat16")
    for name in OLDER:
        with pytest.raises(InvalidCase, match="bfloat16"):
            evaluate(name, [data], {})


def test_every_disputed_clause_of_a_version_is_one_of_its_newest_but_for_older_texts():
    """What the newest version settles may be open in an older one."""
    opened = {"same-output-size", "onnx-valid-floor"}
    for name in OLDER:
        newest = {clause.name for clause in disputed_of(OPERATORS[name].newest)}
        assert {clause.name for clause in disputed_of(OPERATORS[name])} <= newest | opened, name
