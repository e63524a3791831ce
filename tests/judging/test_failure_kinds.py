"""Failures named in two or three words."""

from __future__ import annotations

import pytest
from support.arbitrary_reports import result

from conformance.judging.failure_kinds import kind_of


@pytest.mark.parametrize(
    ("verdict", "detail", "kind"),
    [
        ("mismatch", "dtype float64 instead of float32", "wrong dtype"),
        ("mismatch", "accepted an invalid case: strides=[0]", "no exception"),
        ("mismatch", "returned list instead of numpy.ndarray", "no array"),
        ("mismatch", "follows a=x, y is required", "follows a=x"),
        ("error", "IndexError: 3", "raised IndexError"),
        ("crashed", "signal 11", "crashed"),
        ("timed-out", "after 5 s", "timed-out"),
    ],
)
def test_kind_says_what_happened(verdict, detail, kind):
    """The kind comes from the verdict and the first words of the detail."""
    assert kind_of(result("a", verdict, detail=detail)) == kind
