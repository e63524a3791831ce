"""A row of a table of cases: of planes and axes, in a line, and as cases."""

from dataclasses import replace

import numpy as np

from conformance.cases.sweep.sweep_model import build, case_of_axes, cases_of
from conformance.operators import OPERATORS
from conformance.operators.axis import Axis

AXIS = Axis(9, 3, 2, 1, 0, output=4, dilations=2)


def test_an_operator_is_given_the_numbers_that_it_knows():
    """Of one and the same axis."""
    plain = ((2, 3), (AXIS,), "index", "float32", {})
    maximum = case_of_axes(OPERATORS["MaxPool-1"], *plain)
    assert maximum.shape == (2, 3, 9)
    assert maximum.attributes == {
        "kernel": [3],
        "strides": [2],
        "pads_begin": [1],
        "pads_end": [0],
    }
    dilated = case_of_axes(OPERATORS["MaxPool-8"], *plain)
    assert dilated.attributes == maximum.attributes | {"dilations": [2]}
    adaptive = case_of_axes(OPERATORS["AdaptiveAvgPool-8"], *plain)
    assert (adaptive.attributes, adaptive.output_size) == ({}, ((4,), "int64"))


def test_axes_that_must_be_more_have_one_cell():
    """Those before the others."""
    planes = OPERATORS["AvgPool-1"].extended(
        name="Planes", document="Planes of two axes", axes=(2, 2)
    )
    spec = case_of_axes(planes, (1, 1), (AXIS,), "index", words={"include_pad": True})
    assert spec.shape == (1, 1, 1, 9)
    assert spec.attributes["kernel"] == [1, 3]
    assert spec.attributes["exclude_pad"] is False


def test_lists_and_their_order_are_chosen_by_role():
    """Attributes are given in this order; a list that is not chosen is left out."""
    spec = case_of_axes(
        OPERATORS["MaxPool-8"],
        *((1, 1), (AXIS,), "index", "float32", {}),
        roles=("pads_begin", "kernel"),
    )
    assert list(spec.attributes) == ["pads_begin", "kernel"]


def test_what_has_to_be_said_is_by_default():
    """The type is the plain one, and a required word has its first meaning."""
    spec = case_of_axes(OPERATORS["AvgPool-1"], (1, 1), (AXIS,), "index")
    assert spec.dtype == "float32"
    assert spec.attributes["exclude_pad"] is True
    assert "rounding_type" not in spec.attributes


def test_a_row_prints_as_one_line():
    """The id of its case without the digest, its tier and what it is for."""
    rows = [
        case_of_axes(OPERATORS[name], (2, 3), (AXIS,), "index", tier="smoke", tags=("long",))
        for name in ("MaxPool-1", "AdaptiveAvgPool-8", "MaxPool-1-backward")
    ]
    assert list(map(str, rows)) == [
        "MaxPool-1/float32/2x3x9/k3-s2-b1-e0/index smoke, long",
        "AdaptiveAvgPool-8/float32/2x3x9/o4/index smoke, long",
        "MaxPool-1-backward/float32/2x3x9/k3-s2-b1-e0/names-by-index smoke, long",
    ]
    assert all(build(row, seed=3).id.startswith(f"{row.name}-") for row in rows)


def test_a_row_with_data_gives_a_case_of_these():
    """And the digest is theirs."""
    row = case_of_axes(OPERATORS["AdaptiveAvgPool-8"], (2, 3), (AXIS,), "index")
    filled = build(row, seed=0)
    given = build(row.with_data(filled.data), seed=1)
    assert given.id == filled.id
    assert np.array_equal(given.data, filled.data)


def test_cases_of_rows_are_those_of_some_tiers_each_once():
    """One that was in another tier before is not repeated."""
    standard, smoke = (
        case_of_axes(OPERATORS["MaxPool-1"], (1, 1), (AXIS,), pattern, tier=tier)
        for pattern, tier in (("index", "standard"), ("names", "smoke"))
    )
    rows = [standard, smoke, replace(standard, tier="smoke")]
    assert [case.pattern for case in cases_of(rows)] == ["index", "names"]
    assert [case.pattern for case in cases_of(rows, tiers=("smoke",))] == ["names"]


def test_rows_that_leave_nothing_to_judge_may_be_left_out():
    """Sums of hundreds of numbers in half the bits."""
    window = (Axis(4096, 4096, output=1),)
    row = case_of_axes(OPERATORS["AvgPool-1"], (1, 1), window, "normals", "bfloat16")
    assert len(list(cases_of([row]))) == 1
    assert not list(cases_of([replace(row, if_judgeable=True)]))
