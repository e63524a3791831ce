"""A comparison on a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter

import pytest
from rich.console import Console

from conformance.check.report import ClauseReport, UndefinedReport
from conformance.compare.comparison import Compared, Comparison
from conformance.operators import OPERATORS
from conformance.report import compare_console

CONFORMING = {"AvgPool-1": {"float32": Counter({"conforms": 1})}}
FAILING = Counter({"mismatch": 1234, "error": 22, "timed-out": 1})
NAMES = ("my_backend.py:the_first_one", "my_backend.py:the_other_one", "my_backend.py:third")


def shown(*backends, width=80):
    """Return the lines of a comparison, without the spaces at their ends."""
    found = Comparison(backends, (), "standard", 1, "", "Linux x86_64")
    console = Console(width=width)
    with console.capture() as captured:
        console.print(compare_console.render(found, width=width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_line_of_failures_goes_on_with_the_next_operator():
    """What is said of one operator is on one line, under the name of the backend."""
    counts = {name: {"float32": FAILING} for name in OPERATORS}
    lines = shown(Compared("b", counts=counts))
    start = lines.index("Failures and their likely causes")
    assert lines[start + 1 :] == [
        "  b",
        "    AvgPool-1: 1,234 mismatch, 22 error, 1 timed-out;",
        "    MaxPool-1: 1,234 mismatch, 22 error, 1 timed-out;",
        "    AdaptiveAvgPool-8: 1,234 mismatch, 22 error, 1 timed-out;",
        "    nGraph-AvgPool: 1,234 mismatch, 22 error, 1 timed-out",
    ]


def test_readings_go_on_with_the_next_backend():
    """The values by which one is split stay beside it."""
    split = ClauseReport("accumulator", "split", by="axes", values={"1": "wider", "2": "wider"})
    lines = shown(*(Compared(name, counts=CONFORMING, readings=(split,)) for name in NAMES))
    start = lines.index("  accumulator")
    assert lines[start + 1 :] == [
        "    wider  my_backend.py:the_first_one (axes: 1, 2),",
        "           my_backend.py:the_other_one (axes: 1, 2),",
        "           my_backend.py:third (axes: 1, 2)",
    ]


def test_what_is_done_where_nothing_is_defined_goes_on_with_the_next_thing_done():
    """A name and its number stay together."""
    counts = {"raised": 4444, "lowest": 333, "nan": 33, "unsupported": 22, "other": 1}
    undefined = (UndefinedReport("zero-sign", counts),)
    lines = shown(Compared(NAMES[0], counts=CONFORMING, undefined=undefined))
    start = lines.index("  zero-sign")
    assert lines[start + 1 :] == [
        "    my_backend.py:the_first_one  raised 4,444, lowest 333, nan 33,",
        "                                 unsupported 22, other 1",
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_what_is_longer_than_a_line_is_folded(width):
    """Nothing is lost, and no line is longer than the terminal."""
    named = Compared("b" * 100, counts={"AvgPool-1": {"float32": FAILING}})
    lines = shown(named, width=width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "").count("b" * 100) >= 1
    assert "AvgPool-1: 1,234 mismatch," in "\n".join(lines)
