"""Trees of additions: their one form, their sizes and back, the rules that make them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reveal.trees import (
    RULES,
    canonical,
    common_rules,
    nested,
    sizes_of,
    tree_of,
)


@st.composite
def trees(draw, most=12):
    """Draw any tree of at most so many cells."""
    cells = draw(st.integers(2, most))
    numbers = [*range(cells)]
    additions = []
    while len(numbers) > 1:
        a = numbers.pop(draw(st.integers(0, len(numbers) - 1)))
        b = numbers.pop(draw(st.integers(0, len(numbers) - 1)))
        additions.append((a, b))
        numbers.append(cells + len(additions) - 1)
    return tuple(additions)


@given(trees())
def test_a_tree_follows_from_its_sizes(tree):
    assert tree_of(sizes_of(tree)) == canonical(tree)


@given(trees())
def test_canonical_form_has_the_same_sizes(tree):
    assert np.array_equal(sizes_of(canonical(tree)), sizes_of(tree))


def test_sizes_of_no_tree_give_none():
    sizes = np.array([[1, 2, 3], [2, 1, 2], [3, 2, 1]])
    assert tree_of(sizes) is None


def test_sizes_are_the_cells_under_the_addition_where_two_meet():
    assert sizes_of(((0, 1), (3, 2))).tolist() == [[1, 2, 3], [2, 1, 3], [3, 3, 1]]


@pytest.mark.parametrize(
    ("rule", "kernel", "text"),
    [
        ("first to last", (4,), "(((0 1) 2) 3)"),
        ("last to first", (4,), "(((3 2) 1) 0)"),
        ("by halves", (5,), "((0 1) (2 (3 4)))"),
        ("by halves, the larger first", (5,), "(((0 1) 2) (3 4))"),
        ("by neighbours", (5,), "(((0 1) (2 3)) 4)"),
        ("folded", (4,), "((0 2) (1 3))"),
        ("2 lanes, joined in order", (5,), "(((0 2) 4) (1 3))"),
        ("2 lanes, joined in order, then the rest", (5,), "(((0 2) (1 3)) 4)"),
        ("blocks of 2, joined backwards", (5,), "((4 (2 3)) (0 1))"),
        ("axis by axis, the last first: first to last", (2, 2), "((0 1) (2 3))"),
        ("axis by axis, the first first: first to last", (2, 2), "((0 2) (1 3))"),
    ],
)
def test_rule(rule, kernel, text):
    assert nested(RULES[rule](kernel)) == text


def test_common_rules_are_those_of_every_window():
    rule = RULES["8 lanes, joined folded"]
    found = common_rules({kernel: rule(kernel) for kernel in [(3, 3), (37,)]})
    assert found == ["8 lanes, joined folded"]
