"""Comparisons in words."""

from __future__ import annotations

import pytest

from conformance.check.report import ClauseReport
from conformance.report import compare_words as say


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        (None, ""),
        (ClauseReport("c", "followed", followed="kept"), "kept"),
        (ClauseReport("c", "either"), "either"),
        (ClauseReport("c", "inconsistent"), "inconsistent"),
        (
            ClauseReport("c", "split", by="dtype", values={"float16": "a", "float32": "b"}),
            "a (float16); b (float32)",
        ),
        (
            ClauseReport("c", "split", by="axes", values={"1": "a", "2": "b", "3": "b"}),
            "a (axes: 1); b (axes: 2, 3)",
        ),
        (
            ClauseReport("c", "split", by="dtype", values={"float16": "a", "float64": "either"}),
            "a (float16)",
        ),
    ],
)
def test_readings_of_a_cell(clause, text):
    """What is followed, and by which values it is split."""
    assert say.reading(clause) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0000123, "12.3 µs"), (0.0021, "2.1 ms"), (1.5, "1.5 s"), (0, "0 µs")]
)
def test_durations(seconds, text):
    """Three digits and a unit."""
    assert say.duration(seconds) == text


def test_a_share_of_nothing_is_a_dash():
    """Unsupported vectors are in no denominator."""
    shares = [say.share({"unsupported": 3}), say.share({"conforms": 1200, "error": 1})]
    assert [str(each) for each in shares] == ["-", "1,200/1,201"]
    assert [each.whole for each in shares] == [True, False]
