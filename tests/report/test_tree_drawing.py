"""Trees of additions drawn in characters."""

import pytest

from conformance.report.tree_drawing import draw_tree
from conformance.reveal.trees import RULES


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("first to last", ["0 ─┬─┬─┬", "1 ─┘ │ │", "2 ───┘ │", "3 ─────┘"]),
        ("last to first", ["0 ─────┬", "1 ───┬─┘", "2 ─┬─┘", "3 ─┘"]),
        ("folded", ["0 ─┬─┬", "2 ─┘ │", "1 ─┬─┘", "3 ─┘"]),
    ],
)
def test_an_addition_joins_two_lines(rule, lines):
    assert draw_tree(RULES[rule]((4,)), "0123") == lines


def test_labels_are_as_wide_as_the_widest():
    assert draw_tree(((0, 1),), ["1", "10"]) == [" 1 ─┬", "10 ─┘"]


def test_the_order_of_independent_additions_changes_nothing():
    one, other = ((0, 1), (2, 3), (4, 5)), ((2, 3), (0, 1), (4, 5))
    assert draw_tree(one, "0123") == draw_tree(other, "0123")
