"""Texts from outside are made safe to show: short, on one line, and without control characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.text import cut, masked, one_line, quoted, visible, without_unprintable

HOSTILE = "red \x1b[31m, \u202edrow, half \ud800\r\nsecond\tline"


def test_what_is_not_printable_becomes_an_escape():
    """It is seen, and does nothing."""
    assert visible(HOSTILE) == r"red \x1b[31m, \u202edrow, half \ud800\r\nsecond\tline"
    assert visible("a\n\x07", keep="\n") == "a\n\\x07"


def test_a_mask_keeps_the_length():
    """Columns of a table stay in line."""
    assert masked("a\x1bb\nc") == "a\ufffdb\nc"
    assert masked("a\x1bb\nc", keep="", mask="?") == "a?b?c"


@pytest.mark.parametrize(
    ("text", "expected"), [("", ""), ("abcde", "abcde"), ("abcdef", "ab...")], ids=repr
)
def test_a_long_text_is_cut(text, expected):
    """Dots say that there was more."""
    assert cut(text, 5) == expected


def test_a_quoted_text_is_a_literal():
    """Its quotes and escapes are those of Python."""
    assert quoted("it's\n") == '"it\'s\\n"'
    assert quoted("a" * 100, 10) == "'aaaaaaa...'"


@given(st.text(), st.integers(4, 40))
def test_one_line_is_printable_and_short(text, most):
    line = one_line(text, most)
    assert line.isprintable()
    assert len(line) <= most


@given(st.text())
def test_what_is_left_out_leaves_single_spaces(text):
    """And doing it again changes nothing."""
    line = without_unprintable(text)
    assert line.isprintable()
    assert "  " not in line
    assert without_unprintable(line) == line
