"""Comparisons as markdown and HTML: other people's texts stay texts."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from fakes import right, vector

from conformance.compare import compare
from conformance.report import compare_html, compare_json, compare_markdown

HOSTILE = '<script>alert(1)</script> | `a` **b** [c](http://d) "e"'


@pytest.fixture(scope="module")
def comparison():
    """Return a comparison of a backend with a hostile name and one that cannot be loaded."""
    return compare({HOSTILE: right, "gone": "no_such_module_anywhere:pool"}, [vector()])


class Texts(HTMLParser):
    """Collects tags and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        """Note the tag."""
        self.tags.add(tag)

    def handle_data(self, data):
        """Note the text."""
        self.text += data


def test_names_stay_texts_in_html(comparison):
    """A name is shown as it is, and brings no element with it."""
    page = Texts()
    page.feed(compare_html.render(comparison, command=HOSTILE))
    assert HOSTILE in page.text
    assert "script" not in page.tags


def test_html_stands_alone(comparison):
    """Nothing is loaded from anywhere."""
    page = Texts()
    page.feed(compare_html.render(comparison))
    assert not page.tags & {"link", "img", "script", "iframe"}


def test_names_break_no_markdown_table(comparison):
    """Each row of a table has as many cells as its head, and no sign of a name means anything."""
    page = compare_markdown.render(comparison, command=HOSTILE)
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines[:4]} == {lines[0].count("|")}
    assert "<script>" not in page.replace(f"``{HOSTILE}``", "")
    assert "**b**" not in "".join(lines)


@pytest.mark.parametrize("render", [compare_html.render, compare_markdown.render])
def test_a_backend_that_was_not_run_says_why_on_a_page(comparison, render):
    """It is never left out without a word."""
    assert "not run: backend" in render(comparison)


def test_json_has_no_numbers_that_json_lacks(comparison):
    """NaN and infinities would break strict readers."""
    assert "NaN" not in compare_json.render(comparison)
