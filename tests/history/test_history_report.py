"""What a history shows."""

from __future__ import annotations

import pytest
from support.releases import history_of, release

from conformance.history import Release
from conformance.history.history_report import describe
from conformance.report import markdown


@pytest.fixture(scope="module")
def page():
    """Return the page of four releases, one of which has no environment and one was left out."""
    first = release("1.0", conforms="cd", old="ab", always="x")
    gaps = Release("1.1", "No matching distribution found"), Release("1.2")
    last = release("2.0", conforms="ab", unsupported="d", new="c", always="x")
    return markdown.render(describe([history_of(first, *gaps, last)]))


def test_it_says_what_was_run(page):
    assert "2 releases of engine-cpu, 5 vectors of tier standard, Linux x86" in page


def test_each_release_has_its_verdicts(page):
    assert "| release | conforms | mismatch | unsupported |" in page
    assert "| 2.0 | 2 | 2 | 1 |" in page.replace("*", "")


def test_what_was_not_run_is_said_with_the_reason(page):
    assert "1.1 not run: No matching distribution found" in page
    assert "Not run, since the same vectors fail before and after: 1.2" in page


@pytest.mark.parametrize("row", ["| new | - | 1 |", "| always | 1 | 1 |", "| old | 2 | - |"])
def test_each_group_has_its_failures_in_each_release(page, row):
    assert row in page


def test_only_what_changed_came_or_went(page):
    changes = page.partition("came and went")[2]
    assert "came in 2.0, after 1.0: 1 vector (1 conforms in 1.0)" in changes
    assert "went in 2.0, after 1.0: 2 vectors (2 conforms in 2.0)" in changes
    assert "always" not in changes
