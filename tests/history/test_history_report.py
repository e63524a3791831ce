"""What a history shows."""

import pytest
from support.releases import history_of, not_run, release

from conformance.history.history_report import describe
from conformance.report import markdown


@pytest.fixture(scope="module")
def page():
    """Return the page of four releases, one of which has no environment and one was left out."""
    first = release("1.0", conforms="cd", old="ab", always="x")
    gap = not_run("1.1", "No matching distribution found")
    last = release("2.0", conforms="ab", unsupported="d", new="c", always="x")
    return markdown.render(describe([history_of(first, gap, last, left_out=("1.2",))]))


def test_each_release_has_its_verdicts(page):
    assert "| release | conforms | mismatch | unsupported |" in page
    assert "| 2.0 | 2 | 2 | 1 |" in page.replace("*", "")


def test_what_was_not_run_is_said_with_the_reason(page):
    assert "1.1 not run: No matching distribution found" in page
    assert "Not run, since the same vectors fail before and after: 1.2" in page


def test_what_came_and_went_is_a_table_by_release(page):
    """With the verdicts in the other of two releases; what did not change is not in it."""
    changes = page.partition("came and went")[2].replace("*", "")
    assert "| 2.0 | 1.0 | came | new | 1 | 1 conforms |" in changes
    assert "| 2.0 | 1.0 | went | old | 2 | 2 conforms |" in changes
    assert "always" not in changes


def test_where_nothing_changed_that_is_said():
    page = markdown.render(describe([history_of(release("1.0", old="a"), release("2.0", old="a"))]))
    assert "Nothing: the same vectors fail in all of them." in page
