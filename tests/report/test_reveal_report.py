"""What a report says of the arithmetic of a backend."""

from dataclasses import replace

import pytest
from support.rendered import RENDERERS, in_terminal

from conformance.report import html, reveal_report
from conformance.reveal.values import (
    Evidence,
    Prediction,
    Property,
    Refused,
    Revealed,
    RevealedAverage,
    RevealedMaximum,
    Window,
    WindowOrder,
)

MASK = Evidence((3,), (32768.0, 0.5, -32768.0), 0.0)
TREE = WindowOrder(Window((3,), per_plane=2), "tree", ((0, 1), (3, 2)), evidence=MASK)
PROPERTIES = {
    "sums": Property(("float32",), (Evidence((3,), (1.0, 0.25, 0.5), 0.5, "float64", 0.75),)),
    "quotient": Property(("float32", "float64")),
    "division": Property(("divide",)),
    "narrowing": Property(("nearest even",)),
    "subnormals": Property(("kept",)),
}
ONE = RevealedAverage(
    *("AvgPool-1", "float32", (TREE,), "first to last"),
    properties=PROPERTIES,
    probes=320,
    rounded_once=300,
    nan="everywhere",
    prediction=Prediction(3, 50, 0),
)


def described(*averages, maxima=(), refused=()):
    """Return the description of some findings."""
    return reveal_report.describe(Revealed("engine", "1.2", averages, maxima, refused))


def text_of(*averages, **others):
    """Return what a terminal shows of some findings, in one line."""
    return " ".join(" ".join(in_terminal(described(*averages, **others))).split())


def test_an_arithmetic_in_facts_and_a_drawing():
    lines = in_terminal(described(ONE))
    for fact in (
        "backend engine 1.2",
        "AvgPool-1 in float32",
        "  order         first to last",
        "  sums          in float32",
        "  division      divide, in float32 or float64",
        "  rounded once  300 of 320 probes are the exact mean, rounded once",
        "  0 ─┬─┬",
        "  2 ───┘",
    ):
        assert fact in lines


@pytest.mark.parametrize("medium", RENDERERS)
def test_every_medium_draws_the_tree(medium):
    assert "1 ─┘ │" in RENDERERS[medium](described(ONE))


def test_operators_with_one_arithmetic_stand_together():
    text = text_of(ONE, replace(ONE, operator="AvgPool-14"), replace(ONE, dtype="float64"))
    assert "AvgPool-1 and AvgPool-14 in float32" in text
    assert "all 100 averages of 6 vectors are bit for bit what this model computes" in text
    assert "AvgPool-1 in float64" in text


def test_exceptions_are_counted_with_what_they_share():
    found = Prediction(9, 50, 8, ("a", "b"), "padding counts", {"padding": (2, 3)}, 1, 4)
    text = text_of(replace(ONE, prediction=found))
    assert "42 of 50 averages are bit for bit" in text
    assert "exceptions in 2 of 9 vectors, where padding counts; for example a, b" in text
    assert "left out: 1 vector of unknown windows and 4 vectors without a result" in text


def test_why_a_window_has_no_tree():
    window = WindowOrder(Window((4, 4), 16), "none", problem="sums slide")
    text = text_of(replace(ONE, windows=(window,), order="", properties={}, problem="no known way"))
    assert "order no tree" in text
    assert "arithmetic no known way" in text
    assert "4x4 in 16 channels: sums slide" in text


def test_trees_without_a_rule_are_all_drawn():
    other = WindowOrder(Window((2, 2), per_plane=2), "tree", ((0, 2), (1, 3), (4, 5)))
    text = text_of(replace(ONE, windows=(TREE, other), order=""))
    assert "no rule that is known makes all the trees below" in text
    assert "a window of 3, 2 in a plane 0 " in text
    assert "a window of 2x2, 2 in a plane 0,0 " in text


def test_a_whole_plane_in_another_order_has_a_line_and_a_drawing():
    plane = WindowOrder(Window((3,)), "tree", ((1, 2), (3, 0)))
    found = replace(ONE, windows=(TREE, plane), order_of_plane="last to first")
    text = text_of(found)
    assert "order first to last order of a whole plane last to first" in text
    assert "a window of 3, 2 in a plane 0 " in text
    assert "a window of 3 0 " in text


def test_exact_sums_have_no_order():
    window = WindowOrder(Window((3,)), "exact")
    assert "no order shows" in text_of(replace(ONE, windows=(window,)))


def test_maxima_that_differ_in_type_alone_share_a_row():
    one = RevealedMaximum("MaxPool-8", "float32", (5,), "first", "last", "all", "in cell 0")
    text = text_of(maxima=(one, replace(one, dtype="float64")))
    assert "MaxPool-8 float32, float64 first last all in cell 0" in text


def test_refusals_of_one_text_share_a_line():
    refused = (
        Refused("AvgPool-1", "float16", "no halves"),
        Refused("MaxPool-1", "float16", "no halves"),
    )
    assert "AvgPool-1 and MaxPool-1 in float16: no halves" in text_of(refused=refused)


def test_a_page_has_the_evidence():
    page = html.render(described(ONE))
    assert "32768 0.5 -32768" in page
    assert "0.75" in page


def test_the_conclusion_counts_what_is_predicted():
    other = replace(ONE, dtype="float64", properties={}, prediction=None)
    text = text_of(ONE, other)
    assert text.endswith("a model of 1 of 2 averages; 50 of 50 results predicted bit for bit")


def test_a_whole_plane_that_is_computed_otherwise_has_a_line():
    other = {**PROPERTIES, "division": Property(("multiply by reciprocal",))}
    text = text_of(replace(ONE, properties_of_plane=other))
    assert "a whole plane sums in float32; multiply by reciprocal, in float32" in text
